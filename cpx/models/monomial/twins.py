"""Conditions, and rules, that are true of the same samples: one of them says all they say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cpx.data.samples import Samples

if TYPE_CHECKING:
    from cpx.answers.explanation import Explanation
    from cpx.modelling.base import Problem

_FIRST = 8  # bytes of samples that tell most conditions apart


def is_negated(text: str) -> bool:
    """Say whether a condition says what is not so."""
    return " != " in text or text.startswith("not ")


def negations(words: Iterable[str]) -> int:
    """Count the conditions that say what is not so."""
    return sum(map(is_negated, words))


def plainer_twins(samples: Samples, feature: int) -> list[int]:
    """Return the conditions without "!=" that are true of the same samples as one with it.

    Those of its own column come first.

    >>> table = np.array([[1, 1, 0], [0, 0, 1]], dtype=bool)
    >>> samples = Samples(table, np.array([True, False]), features=("a != x", "a = y", "b = z"))
    >>> plainer_twins(samples, 0), plainer_twins(samples, 1)
    ([1], [])
    """
    if not is_negated(samples.features[feature]):
        return []
    groups = samples.groups
    found = [j for j in _equal(samples.columns, feature) if not is_negated(samples.features[j])]
    if groups is None:
        return found
    return sorted(found, key=lambda j: bool(groups[j] != groups[feature]))


def _equal(columns: NDArray[np.uint8], feature: int) -> list[int]:
    """Return the packed columns that equal one, in their order."""
    equal = np.arange(len(columns))
    for part in (slice(_FIRST), slice(_FIRST, None)):
        equal = equal[(columns[equal, part] == columns[feature, part]).all(axis=1)]
    return [int(j) for j in equal]


def without_twins(problem: Problem, rules: Iterable[Explanation]) -> list[Explanation]:
    """Keep one of the rules of a size that cover the same samples.

    That is the one that says fewest values are not there, and of these that of the first features.
    """

    def order(rule: Explanation) -> tuple[int, tuple[int, ...]]:
        return negations(rule.rule.words), rule.features

    best: dict[tuple[int, bytes], Explanation] = {}
    for rule in rules:
        covered = problem.samples.covered(rule.features)  # type: ignore[attr-defined]
        key = len(rule.features), np.packbits(covered).tobytes()
        best[key] = min(best.get(key, rule), rule, key=order)  # in the place of the first
    return list(best.values())
