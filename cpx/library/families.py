"""The instances of the library, of the families that problems register, and their suites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Any

from cpx.errors import InvalidInstance, UnknownName
from cpx.library.family import Family
from cpx.modelling.base import Problem
from cpx.support import families as registered
from cpx.support.lazy_imports import named_object
from cpx.support.validation import integer_in, valid_seed


@dataclass(frozen=True)
class Entry:
    """One instance of the library, by its family, its sizes and its seed."""

    family: str
    m: int
    d: int
    k: int
    seed: int

    @property
    def name(self) -> str:
        """Name of the instance and of its file."""
        return f"{self.family}-m{self.m}-d{self.d}-k{self.k}-s{self.seed}"

    def problem(self) -> Problem:
        """Make the instance."""
        return make(self.family, self.m, self.d, self.k, self.seed)


@cache
def families() -> Mapping[str, Family]:
    """Return the families of instances by name.

    >>> families()["planted"].usual
    (400, 24, 4)
    """
    listed = (
        named_object(family.library, f"library of {family.name}", InvalidInstance)
        for family in registered.families()
        if family.library
    )
    return MappingProxyType({one.name: one for several in listed for one in several})


def make(
    family: str, m: int | None = None, d: int | None = None, k: int | None = None, seed: int = 0
) -> Problem:
    """Make one instance of the library.

    Parameters
    ----------
    family : str
        A name of :func:`families`.
    m, d, k : int, optional
        The sizes, from 1; what they are differs between families.
    seed : int
        The same sizes and seed give the same instance.

    Raises
    ------
    UnknownName, InvalidOption

    Examples
    --------
    >>> problem = make("planted", m=50, d=6, k=2, seed=1)
    >>> problem.name, problem.kind, problem.samples.agreement.shape
    ('planted-m50-d6-k2-s1', 'k-monomial', (50, 6))
    """
    if family not in families():
        raise UnknownName("family of instances", family, families())
    chosen = families()[family]
    m, d, k = (
        usual if given is None else integer_in(name, given, 1, 10**6)
        for name, given, usual in zip("mdk", (m, d, k), chosen.usual, strict=True)
    )
    problem: Any = chosen.build(m, d, k, valid_seed(seed))
    named: Problem = replace(problem, name=Entry(family, m, d, k, seed).name)
    return named


def _small() -> list[Entry]:
    return [
        Entry(family.name, *point, seed)
        for family in families().values()
        for point in family.growth
        for seed in range(3)
    ]


SUITES = MappingProxyType(
    {
        "try": "one instance of each family",
        "small": "all families, each size growing by itself, three seeds: 204 instances",
    }
)
"""What the suites are, by name."""


def suite(name: str) -> Sequence[Entry]:
    """Return the instances of a suite.

    Examples
    --------
    >>> [entry.name for entry in suite("try")][:2]
    ['planted-m400-d24-k4-s0', 'parity-m400-d24-k4-s0']
    >>> len(suite("small"))
    204
    """
    if name == "try":
        return [Entry(family.name, *family.usual, 0) for family in families().values()]
    if name == "small":
        return _small()
    raise UnknownName("suite", name, SUITES)
