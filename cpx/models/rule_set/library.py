"""Selections of rules of the library."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from cpx.data.samples import Samples
from cpx.library.family import Family
from cpx.library.samples import uniform
from cpx.modelling.base import Problem
from cpx.models.rule_set.selection import RuleSetSelection


def _rules(m: int, d: int, k: int, seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    agreement = uniform(m, d, rng)
    size = min(3, d)
    rules = tuple(tuple(sorted(rng.choice(d, size, replace=False).tolist())) for _ in range(4 * d))
    same = np.any([agreement[:, list(rule)].all(axis=1) for rule in rules[:k]], axis=0)
    labels = same ^ (rng.random(m) < 0.05)
    return RuleSetSelection(Samples(agreement, labels), rules, penalty=Fraction(1, 200))


FAMILIES = (
    Family(
        "rules",
        "the best set of rules out of 4 d; k of them are planted, a twentieth wrong",
        "m samples, d features, k planted rules",
        (400, 12, 3),
        [(400, 12, 3), (100, 12, 3), (1600, 12, 3), (400, 6, 3), (400, 24, 3), (400, 48, 3)],
        _rules,
    ),
)
