"""Encodings by name: a problem's own, and those that families or this process have added.

A family names an :class:`~cpx.modelling.statement.Encoding` for the problems of a kind as
``KIND.NAME``; it is imported when it is first asked for. A name of the problem's own stays its
own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from cpx.errors import InvalidOption, UnknownName, shown
from cpx.support.families import families
from cpx.support.lazy_imports import named_object

if TYPE_CHECKING:
    from cpx.modelling.base import Problem
    from cpx.modelling.statement import Cost, Encoding

_registered: dict[tuple[str, str], Encoding[Any]] = {}


def find_encoding(problem: Problem | type[Problem], name: str | None = None) -> Encoding[Any]:
    """Return the encoding of that name, or the default.

    Raises
    ------
    UnknownName
        With the list of encodings and the nearest name.
    """
    if name is None:
        return problem.encodings[0]
    own = (encoding for encoding in problem.encodings if encoding.name == name)
    found = next(own, None) or added_encoding(problem, name)
    if found is None:
        raise UnknownName(f"encoding of {problem.kind}", name, encoding_names(problem))
    return found


def encoding_names(problem: Problem | type[Problem]) -> tuple[str, ...]:
    """Return the names of a problem's encodings, then those that others have added.

    Examples
    --------
    >>> from cpx import KMonomial
    >>> encoding_names(KMonomial)[:2]
    ('clausal', 'channelling')
    """
    own = [encoding.name for encoding in problem.encodings]
    kind = _kind(problem)
    named = (tuple(key.split(".", 1)) for family in families() for key in family.encodings)
    added = {name for one, name in (*_registered, *named) if one == kind}
    return (*own, *(name for name in sorted(added) if name not in own))


def stated_in(problem: Problem, name: str | None = None) -> Encoding[Any]:
    """Return the encoding of that name, or the default, that can state this instance.

    Raises
    ------
    UnknownName, InvalidOption
        When there is none, or it cannot state what the instance asks.
    """
    encoding = find_encoding(problem, name)
    if problem._unstated:
        raise InvalidOption(problem._unstated)
    if not encoding.limits and getattr(problem, "limits", None) is not None:
        raise InvalidOption(
            f"encoding {shown(encoding.name)} cannot state limits on coverage and precision"
        )
    return encoding


def encodings_of(problem: Problem) -> tuple[str, ...]:
    """Return the names of the encodings that can state a problem: not all of them take limits.

    A ratio is stated in steps, in the encodings of the steps.
    """
    return tuple(name for name in encoding_names(problem) if _states(problem, name))


def predicted_cost(problem: Problem, name: str, compiled: str) -> Cost | None:
    """Return what an encoding is predicted to take, stated and compiled; None where it is not.

    compiled: As :attr:`~cpx.modelling.statement.Encoding.cost` has it.
    """
    cost = find_encoding(problem, name).cost
    return None if cost is None else cost(problem.form(), compiled)


def _states(problem: Problem, name: str) -> bool:
    try:
        stated_in(problem, name)
    except InvalidOption:
        return False
    return True


def _kind(problem: Problem | type[Problem]) -> str:
    """Return the kind whose added encodings are a problem's; a step of a solve may have none."""
    return problem._stated_as or getattr(problem, "kind", "")


def remember(kind: str, encoding: Encoding[Any]) -> None:
    """Keep an encoding for the problems of a kind, in this process."""
    _registered[kind, encoding.name] = encoding


@contextmanager
def known_for_now(kind: str, encoding: Encoding[Any]) -> Iterator[Encoding[Any]]:
    """Make an encoding known to the problems of a kind for a while, by a name of its own."""
    known = replace(encoding, name=f"{encoding.name} (graded)")
    remember(kind, known)
    try:
        yield known
    finally:
        del _registered[kind, known.name]


def added_encoding(problem: Problem | type[Problem], name: str) -> Encoding[Any] | None:
    """Return an encoding that is added to problems of this kind; None where there is none.

    Raises
    ------
    InvalidOption
        When its module cannot be imported, or has no encoding of that name.
    """
    kind = _kind(problem)
    if (kind, name) in _registered:
        return _registered[kind, name]
    key = f"{kind}.{name}"
    values = (family.encodings[key] for family in families() if key in family.encodings)
    value = next(values, None)
    return None if value is None else _loaded(kind, name, value)


@cache
def _loaded(kind: str, name: str, value: str) -> Encoding[Any]:
    told = f"encoding {shown(name)} of {kind}"
    encoding: Any = named_object(value, told, InvalidOption)
    if getattr(encoding, "name", None) != name or not callable(getattr(encoding, "build", None)):
        raise InvalidOption(f"{told} ({value}) is no cpx.models.Encoding of that name")
    found: Encoding[Any] = encoding
    return found
