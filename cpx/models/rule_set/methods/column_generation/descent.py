"""Descent of the local search: rules are dropped, exchanged and added until no step helps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from cpx.compiled.kernel import Floats, Ints, Shorts2, Words2, bind, kernel
from cpx.models.rule_set.methods.column_generation.beams import FULL, WORK, Search, until
from cpx.models.rule_set.methods.column_generation.table import Features, Table

__all__ = ["Descent"]

NUMBER, PLACE, FAILED, LOOKS, RANDOM, MOST_SEEDS = range(6)
"""Places of numbers in ``Rules.at``."""

_WIDTH = 3


class Rules(NamedTuple):
    """A set of rules that is changed step by step."""

    literals: Shorts2  # of each rule, -1 behind, shape (R, longest)
    covers: Words2  # the samples that each covers, shape (R, words)
    price: Floats  # of a rule
    at: Ints  # see above


class Descent:
    """Descents from sets of rules, to others of at most k literals, on the samples of a table.

    For each rule of a set, and for none, take it out: each sample that no other rule covers is
    then worth its weight, or minus it, to a new rule. The best that beam search finds replaces
    the old one where it saves more; a rule that saves less than its price is dropped.

    beams: How many, each for a sample of the class that is drawn at each step.
    """

    def __init__(self, table: Table, k: int, beams: int) -> None:
        self._beams = table.beams
        weights = table.signed_weights(table.weights[table.own].astype(np.float64))
        self._search = self._beams.search(weights, beams, k, _WIDTH)
        self._numbers = np.zeros(6, dtype=np.int64)
        self._numbers[MOST_SEEDS] = beams

    def run(
        self,
        chosen: Sequence[Features],
        price: Fraction,
        rng: Generator,
        stop: Callable[[], bool],
        *,
        settled: bool = False,
    ) -> list[Features]:
        """Return the set after steps that help, until none does or ``stop`` says so.

        A set that is ``settled``, a local optimum at a greater price, stays if no rule can be
        added: the price of a rule that replaces another one does not matter.
        """
        number = len(chosen)
        self._numbers[:MOST_SEEDS] = number, number, number * settled, False, rng.integers(2**62)
        longest = max(1, self._search.sets.shape[2], *map(len, chosen))
        literals = np.full((2 * number + 8, longest), -1, dtype=np.int32)
        covers = np.zeros((len(literals), self._search.free.size), dtype=np.uint64)
        for r, features in enumerate(chosen):
            literals[r, : len(features)] = features
            covers[r] = self._beams.cover(features)
        rules = Rules(literals, covers, np.array([float(price)]), self._numbers)
        while until(bind(_descend, self._search, rules), self._search.at, stop) == FULL:
            literals = np.concatenate([rules.literals, np.full_like(rules.literals, -1)])
            covers = np.concatenate([rules.covers, np.zeros_like(rules.covers)])
            rules = rules._replace(literals=literals, covers=covers)
        self._beams.work += int(self._search.at[WORK])
        self._search.at[WORK] = 0
        found = rules.literals[: int(self._numbers[NUMBER])].tolist()
        return [tuple(j for j in rule if j >= 0) for rule in found]


@kernel
def _descend(search: Search, rules: Rules) -> int:
    """Take steps until none helps."""
