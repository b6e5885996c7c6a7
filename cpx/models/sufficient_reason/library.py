"""Sufficient reasons of the library."""

from __future__ import annotations

from dataclasses import replace

from cpx.library.family import Family
from cpx.modelling.base import Problem
from cpx.models.sufficient_reason.cases import random_votes


def _reason(m: int, d: int, k: int, seed: int) -> Problem:
    return replace(random_votes(seed, m, max(3, d)), definition="majoritary")


FAMILIES = (
    Family(
        "reason",
        "the smallest majoritary reason of a random forest that votes",
        "m trees, d attributes, no k",
        (15, 12, 1),
        [(15, 12, 1), (5, 12, 1), (25, 12, 1), (45, 12, 1), (15, 6, 1), (15, 24, 1)],
        _reason,
    ),
)
