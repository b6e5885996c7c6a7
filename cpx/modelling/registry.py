"""The kinds of problems that are known: those that families register.

A class is imported when its kind is first asked for. One that says :func:`register` of itself is
known in its process.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, TypeVar

from cpx.errors import InvalidInstance, InvalidOption, UnknownName, shown
from cpx.modelling.base import Problem
from cpx.modelling.encodings import remember
from cpx.modelling.statement import Encoding
from cpx.support.families import GROUP, families, family_of
from cpx.support.lazy_imports import named_object

__all__ = ["PROBLEMS", "add_encoding", "problem_class", "register", "require_registered"]

ProblemT = TypeVar("ProblemT", bound=Problem)

_registered: dict[str, type[Problem]] = {}


def register(cls: type[ProblemT]) -> type[ProblemT]:
    """Register a class of problems under its kind, without an entry point; a decorator.

    It is known in this process. Others, and other sessions, know the classes that families
    name (:class:`~cpx.support.families.Family`). What it saves can be loaded where it is
    registered again.
    """
    _registered[cls.kind] = cls
    return cls


@cache
def _loaded(kind: str, name: str) -> type[Problem]:
    cls = named_object(name, f"problem {shown(kind)}", InvalidInstance)
    if not (isinstance(cls, type) and issubclass(cls, Problem) and cls.kind == kind):
        raise InvalidInstance(
            f"problem {shown(kind)} ({name}) is no cpx.models.Problem of that kind"
        )
    return cls


class _Problems(Mapping[str, type[Problem]]):
    """Classes of problems by their kind, in its order; a registered one comes before others."""

    def __getitem__(self, kind: str) -> type[Problem]:
        if kind in _registered:
            return _registered[kind]
        family = family_of(kind)
        if family is None:
            raise KeyError(kind)
        return _loaded(kind, family.problems[kind])

    def __contains__(self, kind: object) -> bool:
        return kind in _registered or family_of(kind) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*_registered, *(kind for f in families() for kind in f.problems)}))

    def __len__(self) -> int:
        return sum(1 for _ in self)


PROBLEMS: Mapping[str, type[Problem]] = _Problems()
"""Problem classes by their kind, of all installed packages."""


def problem_class(kind: object) -> type[Problem]:
    """Return the class of a kind of problem.

    Raises
    ------
    UnknownName
        With the known kinds and the nearest one.
    InvalidInstance
        When the module of a registered one cannot be imported, or has no such problem.

    Examples
    --------
    >>> problem_class("k-monomial").__name__
    'KMonomial'
    """
    if not isinstance(kind, str) or kind not in PROBLEMS:
        raise UnknownName("problem", kind, PROBLEMS)
    return PROBLEMS[kind]


def add_encoding(kind: str, encoding: Encoding[Any]) -> None:
    """Add an encoding to the problems of a kind in this process, without an entry point.

    Workers and other sessions know those of installed packages only.

    Raises
    ------
    UnknownName
        For a kind that no class of problems has.
    InvalidOption
        For what is no Encoding, and for the name of one that the problems have of their own.
    """
    cls = problem_class(kind)
    if not isinstance(encoding, Encoding):
        raise InvalidOption(f"an encoding must be a cpx.models.Encoding, got {shown(encoding)}")
    if any(own.name == encoding.name for own in cls.encodings):
        raise InvalidOption(f"{kind} has an encoding {shown(encoding.name)} of its own")
    remember(kind, encoding)


def require_registered(problem: Problem) -> None:
    """Raise InvalidInstance unless the class of a problem is the one its kind stands for.

    What is saved under the name of another class, such as a parent, would be read as that.
    """
    cls, kind = type(problem), problem.kind
    known = PROBLEMS.get(kind)
    if known is not cls:
        why = f"its kind {shown(kind)} is not registered"
        if known is not None:
            why = f"its kind {shown(kind)} is that of {known.__name__}"
        raise InvalidInstance(
            f"{cls.__name__} cannot be saved: {why}; a package names its family in the entry "
            f"points {GROUP}"
        )
