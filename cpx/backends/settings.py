"""Options of an engine by their own names: those given with its name, and those of a solve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cpx.backends.base import Backend
from cpx.errors import InvalidOption, UnknownName, shown
from cpx.options import EngineOption, SolveOptions


def set_options(engine: Backend, settings: Mapping[str, Any]) -> None:
    """Set options by their own names, and ``warm_start``; see :meth:`Backend.options`.

    Raises UnknownName, InvalidOption: For a name that the engine does not have, and for a value
        that it does not take.
    """
    known = {**engine.options(), "warm_start": EngineOption(bool)} if settings else {}
    for name, value in settings.items():
        if name not in known:
            raise UnknownName(f"option of backend {engine.full_name}", name, known)
        engine._settings = {**engine._settings, name: known[name].read(name, value)}


def configured(engine: Backend, options: SolveOptions) -> SolveOptions:
    """Return the options of a solve with those that were given with the engine's name."""
    for name in engine._settings.keys() & options.engine.keys():
        if engine._settings[name] != options.engine[name]:
            raise InvalidOption(
                f"{name} is {shown(options.engine[name])} in the options and "
                f"{shown(engine._settings[name])} in {engine}"
            )
    set_options(engine, options.engine)
    if not engine._settings:
        return options
    own = dict(engine._settings)
    warm_start = own.pop("warm_start", options.warm_start)
    return replace(options, engine=own, warm_start=warm_start)
