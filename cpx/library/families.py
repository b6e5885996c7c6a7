"""The families of instances: what they are, and how one is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np

from cpx.data.samples import Samples
from cpx.errors import UnknownName
from cpx.library import samples as drawn
from cpx.library.samples import Drawn
from cpx.modelling.base import Problem
from cpx.models.monomial.precision_coverage import MaxPrecision
from cpx.models.monomial.weighted import KMonomial
from cpx.models.rule_set.selection import RuleSetSelection
from cpx.models.sufficient_reason.cases import random_votes
from cpx.support.validation import integer_in, valid_seed


@dataclass(frozen=True)
class Family:
    """Instances of one definition, which grow in m, d and k.

    Attributes
    ----------
    name : str
    words : str
        What an instance is, in one line.
    sizes : str
        What m, d and k are.
    usual : tuple of int
        m, d and k where none are given.
    build : callable
        Takes m, d, k and the seed.
    draw : callable or None
        Takes the same, where the problem is one of samples of a definition.
    """

    name: str
    words: str
    sizes: str
    usual: tuple[int, int, int]
    build: Callable[[int, int, int, int], Problem]
    draw: Callable[[int, int, int, int], Drawn] | None = None


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


def make(
    family: str, m: int | None = None, d: int | None = None, k: int | None = None, seed: int = 0
) -> Problem:
    """Make one instance of the library.

    Parameters
    ----------
    family : str
        A name of :data:`FAMILIES`.
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
    if family not in FAMILIES:
        raise UnknownName("family of instances", family, FAMILIES)
    chosen = FAMILIES[family]
    m, d, k = (
        usual if given is None else integer_in(name, given, 1, 10**6)
        for name, given, usual in zip("mdk", (m, d, k), chosen.usual, strict=True)
    )
    problem: Any = chosen.build(m, d, k, valid_seed(seed))
    named: Problem = replace(problem, name=Entry(family, m, d, k, seed).name)
    return named


_MDK = "m samples, d features, at most k conditions"

Draw = Callable[[int, int, int, int], Drawn]


def _seeded(draw: Callable[[int, int, int, np.random.Generator], Drawn]) -> Draw:
    return lambda m, d, k, seed: draw(m, d, k, np.random.default_rng(seed))


def _trained(kind: str) -> Draw:
    return lambda m, d, k, seed: drawn.trained(kind, m, d, seed)


def _loss(name: str, words: str, draw: Draw, sizes: str = _MDK) -> Family:
    def build(m: int, d: int, k: int, seed: int) -> Problem:
        return KMonomial(draw(m, d, k, seed).samples, min(k, d))

    return Family(name, f"least loss; {words}", sizes, (400, 24, 4), build, draw)


_planted = _seeded(drawn.planted)


def _precision(m: int, d: int, k: int, seed: int) -> Problem:
    return MaxPrecision(_planted(m, d, k, seed).samples, min(k, d), min_coverage=Fraction(1, 25))


def _rules(m: int, d: int, k: int, seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    agreement = drawn.uniform(m, d, rng)
    size = min(3, d)
    rules = tuple(tuple(sorted(rng.choice(d, size, replace=False).tolist())) for _ in range(4 * d))
    same = np.any([agreement[:, list(rule)].all(axis=1) for rule in rules[:k]], axis=0)
    labels = same ^ (rng.random(m) < 0.05)
    return RuleSetSelection(Samples(agreement, labels), rules, penalty=Fraction(1, 200))


def _reason(m: int, d: int, k: int, seed: int) -> Problem:
    return replace(random_votes(seed, m, max(3, d)), definition="majoritary")


FAMILIES = MappingProxyType(
    {
        family.name: family
        for family in (
            _loss(
                "planted",
                "a monomial of k features is the class of x, a tenth of labels wrong",
                _planted,
            ),
            _loss("parity", "the class is the parity of k features", _seeded(drawn.parity)),
            _loss(
                "dnf",
                "the classifier is a random formula of 2 k terms of three literals",
                _seeded(drawn.dnf),
            ),
            _loss(
                "perceptron",
                "a perceptron trained on d features of breast cancer",
                _trained("perceptron"),
                f"{_MDK} (d at most 90)",
            ),
            _loss(
                "forest",
                "a forest of 25 trees trained on d features of breast cancer",
                _trained("forest"),
                f"{_MDK} (d at most 90)",
            ),
            _loss(
                "needle",
                "four samples of the class of x agree on k features",
                _seeded(drawn.needle),
            ),
            Family(
                "precision",
                "greatest precision at a coverage of 4 %; planted as above",
                _MDK,
                (400, 24, 3),
                _precision,
                _planted,
            ),
            Family(
                "rules",
                "the best set of rules out of 4 d; k of them are planted, a twentieth wrong",
                "m samples, d features, k planted rules",
                (400, 12, 3),
                _rules,
            ),
            Family(
                "reason",
                "the smallest majoritary reason of a random forest that votes",
                "m trees, d attributes, no k",
                (15, 12, 1),
                _reason,
            ),
        )
    }
)
"""The families by name."""


_GROWTH = {
    "rules": [(400, 12, 3), (100, 12, 3), (1600, 12, 3), (400, 6, 3), (400, 24, 3), (400, 48, 3)],
    "reason": [(15, 12, 1), (5, 12, 1), (25, 12, 1), (45, 12, 1), (15, 6, 1), (15, 24, 1)],
}
_MONOMIALS = [
    (400, 24, 4),
    (100, 24, 4),
    (1600, 24, 4),
    (400, 12, 4),
    (400, 48, 4),
    (400, 84, 4),
    (400, 24, 2),
    (400, 24, 6),
]
"""One size at a time grows from the first point."""


def _small() -> list[Entry]:
    return [
        Entry(family, *point, seed)
        for family in FAMILIES
        for point in _GROWTH.get(family, _MONOMIALS)
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
        return [Entry(family.name, *family.usual, 0) for family in FAMILIES.values()]
    if name == "small":
        return _small()
    raise UnknownName("suite", name, SUITES)
