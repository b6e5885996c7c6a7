"""Tiny problems with a known optimum, of all families, for the conformance suite.

A bug found in one engine becomes a case for all. Families register sets of cases by name.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from cpx.answers.values import Value
from cpx.errors import InvalidInstance, UnknownName
from cpx.modelling.base import Problem
from cpx.modelling.encodings import encodings_of
from cpx.support.families import families
from cpx.support.lazy_imports import named_object

__all__ = ["Case", "cases", "names", "stated"]


@dataclass(frozen=True)
class Case:
    """A tiny problem and its optimum, None when it has no solution."""

    name: str
    problem: Problem
    optimum: Value | None

    def __str__(self) -> str:
        return self.name

    @property
    def encodings(self) -> tuple[str, ...]:
        """Encodings that can state the problem."""
        return encodings_of(self.problem)


def names() -> tuple[str, ...]:
    """Return the names of the sets of cases.

    >>> "rule-set" in names()
    True
    """
    return tuple(name for family in families() for name in family.cases)


def cases(*sets: str) -> tuple[Case, ...]:
    """Return the cases of some sets, of all where none are named.

    Raises
    ------
    UnknownName
        For a set that no family registers.

    Examples
    --------
    >>> cases("kernel-rule")[0].optimum
    5
    """
    return tuple(case for name in sets or names() for case in _cases(name))


def stated(*sets: str) -> tuple[tuple[Case, str], ...]:
    """Return each case of some sets with each encoding that can state it."""
    return _with_encodings(cases(*sets))


def _with_encodings(found: Iterable[Case]) -> tuple[tuple[Case, str], ...]:
    return tuple((case, encoding) for case in found for encoding in case.encodings)


@cache
def _cases(name: str) -> tuple[Case, ...]:
    registered = {name: value for family in families() for name, value in family.cases.items()}
    if name not in registered:
        raise UnknownName("set of cases", name, tuple(registered))
    listed = named_object(registered[name], f"cases {name}", InvalidInstance)
    return tuple(Case(*case) for case in listed())
