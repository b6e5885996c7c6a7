"""Expected predictions as plain data: sums of tables, and exact scores of sets of attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cpx.modelling.side_constraints.form import NO_SIDE_CONSTRAINTS, SideConstraints
from cpx.models.expected_prediction.exact_scores import ExactScores
from cpx.models.expected_prediction.likelihood import LikelihoodFloor


@dataclass(frozen=True, eq=False)
class TableSumForm:
    """Choose at most k features that maximise a sum of tables over few features each.

    With a target, choose the fewest features whose sum is at least the target; k limits their
    number as well. In both cases, of the best sets one with the least sum of penalties is wanted.

    n_features: Number A of features.
    features: The features of each table, increasing; at most 16.
    tables: Table t has 2**len(features[t]) entries. Bit i of an index says whether
        ``features[t][i]`` is chosen. Entry 0 is 0.
    constant: The value of the empty set.
    required, forbidden: What a set must have, and must not have; they may contradict each other.
    penalties: At least 1 each.
    likeliest: With a target: the sum of penalties is minimised in place of the number of features.
    side: Further constraints on what is chosen.

    >>> form = TableSumForm(3, (np.array([0, 2], dtype=np.int32),), (np.array([0, 5, -1, 7]),),
    ...                     constant=10, k=2, penalties=np.ones(3, dtype=np.int64))
    >>> [form.value(S) for S in ((), (0,), (2,), (0, 1, 2))]
    [10, 15, 9, 17]
    """

    n_features: int
    features: tuple[NDArray[np.int32], ...]
    tables: tuple[NDArray[np.int64], ...]
    constant: int
    k: int
    penalties: NDArray[np.int64]
    required: tuple[int, ...] = ()
    forbidden: tuple[int, ...] = ()
    target: int | None = None
    likeliest: bool = False
    side: SideConstraints = NO_SIDE_CONSTRAINTS

    def value(self, chosen: Iterable[int]) -> int:
        """Return the constant and the entries of all tables for a set of features."""
        inside = np.zeros(self.n_features, dtype=np.int64)
        inside[list(chosen)] = 1
        total = self.constant
        for features, table in zip(self.features, self.tables, strict=True):
            total += int(table[int((inside[features] << np.arange(len(features))).sum())])
        return total

    def penalty(self, chosen: Iterable[int]) -> int:
        """Return the sum of the penalties of a set of features."""
        return int(self.penalties[list(chosen)].sum())

    def idle(self, chosen: Iterable[int]) -> NDArray[np.bool_]:
        """Return which features change no value beside a set, whatever is chosen besides.

        >>> form = TableSumForm(3, (np.array([0, 2], dtype=np.int32),), (np.array([0, 0, -1, 0]),),
        ...                     constant=10, k=2, penalties=np.ones(3, dtype=np.int64))
        >>> form.idle([]).tolist(), form.idle([0]).tolist()
        ([False, True, False], [True, True, True])
        """
        inside, found = {*chosen}, np.ones(self.n_features, dtype=np.bool_)
        for features, table in zip(self.features, self.tables, strict=True):
            # The bits of an index, the last first.
            names = features[::-1].tolist()
            known = tuple(slice(1, 2) if j in inside else slice(None) for j in names)
            cube = table.reshape((2,) * len(names))[known]
            for axis, j in enumerate(names):
                values = np.moveaxis(cube, axis, 0)
                found[j] &= bool((values == values[:1]).all())
        return found

    def allows(self, chosen: Iterable[int]) -> bool:
        """Whether a set may be chosen, and reaches the target where there is one."""
        S = {*chosen}
        return (
            len(S) <= self.k
            and S.issuperset(self.required)
            and S.isdisjoint(self.forbidden)
            and self.side.allow(S)
            and (self.target is None or self.value(S) >= self.target)
        )


@dataclass(frozen=True, eq=False)
class ExpectationForm:
    """Choose attributes of greatest expected score, or the fewest that reach one.

    Under every distribution sets have exact scores; under some the problem is a sum of tables.

    scores: Expected scores and probabilities of sets of attributes.
    n_features: Number A of attributes.
    most: So many attributes are chosen at most.
    required, forbidden: What a set must have, and must not have; they may contradict each other.
    least: The fewest attributes are wanted, and no set of a smaller expected score is enough; None
        where the greatest expected score is wanted.
    unit: What expected scores are rounded to multiples of.
    component: Returns the problem under one component of the distribution, by its number, as a sum
        of tables; None where that would be too large.
    table_sum: The problem as a sum of tables, where it is one that is not too large.
    likely: How likely a set must be; None where any will do.
    """

    scores: ExactScores
    n_features: int
    most: int
    required: tuple[int, ...]
    forbidden: tuple[int, ...]
    least: Fraction | None
    unit: Fraction
    component: Callable[[int], TableSumForm | None]
    table_sum: TableSumForm | None = None
    likely: LikelihoodFloor | None = None

    @property
    def contradicts(self) -> bool:
        """Whether no set has what is required and nothing forbidden, within its size."""
        required = {*self.required}
        if len(required) > self.most or not required.isdisjoint(self.forbidden):
            return True
        return self.likely is not None and not self.likely.allows(required)

    def idle(self, chosen: Iterable[int]) -> NDArray[np.bool_]:
        """Return which attributes change no score beside a set, as far as that is seen."""
        if self.table_sum is not None:
            return self.table_sum.idle(chosen)
        S = tuple(chosen)
        # The mean is the greatest where there is one score only.
        alone = self.scores.expected(S) == self.scores.greatest(S)
        return np.full(self.n_features, alone, dtype=np.bool_)

    def sizes(self) -> dict[str, int]:
        """Return the sizes for results."""
        return {"features": self.n_features, "leaves": len(self.scores.leaves.values)}
