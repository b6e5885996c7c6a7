"""Encodings that other packages add to problems that are there: the entry points cpx.encodings.

An entry point ``KIND.NAME`` leads to an :class:`~cpx.modelling.base.Encoding` of that name for the
problems of that kind, and is imported when it is first asked for. A name of the problem's own
stays its own.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from cpx.errors import InvalidOption, shown
from cpx.support.lazy_imports import named_object

__all__ = ["added_encoding", "added_names", "remember"]

GROUP = "cpx.encodings"

# Encodings; their class is built on this module.
_registered: dict[tuple[str, str], Any] = {}


def remember(kind: str, encoding: Any) -> None:
    """Keep an encoding for the problems of a kind, in this process."""
    _registered[kind, encoding.name] = encoding


def added_names(kind: str) -> list[str]:
    """Return the names of the encodings that are added to a kind of problems, sorted."""
    return sorted({name for own, name in (*_registered, *_entry_points()) if own == kind})


def added_encoding(kind: str, name: str) -> Any:
    """Return an encoding that is added to a kind of problems; None where there is none.

    Raises
    ------
    InvalidOption
        When its module cannot be imported, or has no encoding of that name.
    """
    if (kind, name) in _registered:
        return _registered[kind, name]
    return _loaded(kind, name) if (kind, name) in _entry_points() else None


@cache
def _entry_points() -> dict[tuple[str, str], EntryPoint]:
    found = {}
    for point in entry_points(group=GROUP):
        kind, _, name = point.name.partition(".")
        found[kind, name] = point
    return found


@cache
def _loaded(kind: str, name: str) -> Any:
    point = _entry_points()[kind, name]
    told = f"encoding {shown(name)} of {kind}"
    encoding = named_object(point.value, told, InvalidOption)
    if getattr(encoding, "name", None) != name or not callable(getattr(encoding, "build", None)):
        raise InvalidOption(f"{told} ({point.value}) is no cpx.models.Encoding of that name")
    return encoding
