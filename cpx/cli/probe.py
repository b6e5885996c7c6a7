"""The self-test of ``cpx doctor``: engines on a tiny problem whose optimum is known."""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cpx.modelling.base import Problem

_LIMIT = 60.0


def probe(engines: list[str]) -> dict[str, object]:
    """Load the engines and solve one tiny problem with each, in this process.

    Return the seconds to load and to solve, and ``error``: empty when every engine proved the
    known optimum of a problem of a kind that it takes, and every heuristic found it.
    """
    from cpx.backends import backend
    from cpx.solving import solve

    start = time.perf_counter()
    for name in engines:
        for module in backend(name).requires:
            import_module(module)
    load = time.perf_counter() - start
    start = time.perf_counter()
    errors = []
    for name in engines:
        asked = next(filter(backend(name).accepts, _problems()), None)
        if asked is None:
            errors.append(f"{name}: it takes no problem of any family")
            continue
        result = solve(asked, name, time_limit=_LIMIT)
        wanted = ("OPTIMAL", 1, 1) if backend(name).exact else ("FEASIBLE", 1, None)
        if (str(result.status), result.objective, result.bound) != wanted:
            errors.append(
                f"{name}: {result.status}, value {result.objective}, bound {result.bound}; "
                f"expected {', '.join(map(str, wanted))} ({result.raw_status})"
            )
    return {"load": load, "solve": time.perf_counter() - start, "error": "\n".join(errors)}


def _problems() -> Iterator[Problem]:
    """Yield the tiny problems of all families, whose optimum is 1."""
    from cpx.support.families import families
    from cpx.support.lazy_imports import named_object

    for family in families():
        if family.probes:
            yield from named_object(family.probes, f"probes of {family.name}", ImportError)()
