"""Encodings that are added to problems that are there: by families, or in this process.

A family names an :class:`~cpx.modelling.statement.Encoding` for the problems of a kind as
``KIND.NAME``; it is imported when it is first asked for. A name of the problem's own stays its
own.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from cpx.errors import InvalidOption, shown
from cpx.support.families import families
from cpx.support.lazy_imports import named_object

__all__ = ["added_encoding", "added_names", "remember"]

# Encodings; their class is built on this module.
_registered: dict[tuple[str, str], Any] = {}


def remember(kind: str, encoding: Any) -> None:
    """Keep an encoding for the problems of a kind, in this process."""
    _registered[kind, encoding.name] = encoding


def added_names(kind: str) -> list[str]:
    """Return the names of the encodings that are added to a kind of problems, sorted."""
    named = (tuple(key.split(".", 1)) for family in families() for key in family.encodings)
    return sorted({name for own, name in (*_registered, *named) if own == kind})


def added_encoding(kind: str, name: str) -> Any:
    """Return an encoding that is added to a kind of problems; None where there is none.

    Raises
    ------
    InvalidOption
        When its module cannot be imported, or has no encoding of that name.
    """
    if (kind, name) in _registered:
        return _registered[kind, name]
    key = f"{kind}.{name}"
    values = (family.encodings[key] for family in families() if key in family.encodings)
    value = next(values, None)
    return None if value is None else _loaded(kind, name, value)


@cache
def _loaded(kind: str, name: str, value: str) -> Any:
    told = f"encoding {shown(name)} of {kind}"
    encoding = named_object(value, told, InvalidOption)
    if getattr(encoding, "name", None) != name or not callable(getattr(encoding, "build", None)):
        raise InvalidOption(f"{told} ({value}) is no cpx.models.Encoding of that name")
    return encoding
