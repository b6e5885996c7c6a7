"""Problems of one rule of the library: whose labels are known functions, or a classifier's."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from cpx.library import samples as drawn
from cpx.library.family import Draw, Family
from cpx.library.samples import Drawn
from cpx.modelling.base import Problem
from cpx.models.monomial.precision_coverage import MaxPrecision
from cpx.models.monomial.weighted import KMonomial

_POINTS = [
    (400, 24, 4),
    (100, 24, 4),
    (1600, 24, 4),
    (400, 12, 4),
    (400, 48, 4),
    (400, 84, 4),
    (400, 24, 2),
    (400, 24, 6),
]
_MDK = "m samples, d features, at most k conditions"


def _seeded(draw: Callable[[int, int, int, np.random.Generator], Drawn]) -> Draw:
    return lambda m, d, k, seed: draw(m, d, k, np.random.default_rng(seed))


def _trained(kind: str) -> Draw:
    return lambda m, d, k, seed: drawn.trained(kind, m, d, seed)


def _loss(name: str, words: str, draw: Draw, sizes: str = _MDK) -> Family:
    def build(m: int, d: int, k: int, seed: int) -> Problem:
        return KMonomial(draw(m, d, k, seed).samples, min(k, d))

    return Family(name, f"least loss; {words}", sizes, _POINTS[0], _POINTS, build, draw)


_planted = _seeded(drawn.planted)


def _precision(m: int, d: int, k: int, seed: int) -> Problem:
    return MaxPrecision(_planted(m, d, k, seed).samples, min(k, d), min_coverage=Fraction(1, 25))


FAMILIES = (
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
        _POINTS,
        _precision,
        _planted,
    ),
)
