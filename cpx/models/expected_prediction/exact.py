"""Exact expected scores, bounds on scores and probabilities, given some attributes of x."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cpx.data.tree_mixture import ONE

if TYPE_CHECKING:
    from cpx.data.tree_mixture import TreeMixture
    from cpx.models.expected_prediction.leaves import LeafForm

__all__ = ["ExactScores", "LeafTest"]

LeafTest = tuple[int, int, bool]
"""Attribute, mask, and whether the state of x leads on to the leaf."""


@dataclass(frozen=True, eq=False)
class ExactScores:
    """What a model is expected to say of rows that have the states of x in some attributes.

    Parameters
    ----------
    leaves : LeafForm
    distribution : TreeMixture
    codes : (A,) array of int
        The states of x.
    """

    leaves: LeafForm
    distribution: TreeMixture
    codes: NDArray[np.int32]
    _known: dict[tuple[int, ...], tuple[Fraction, Fraction]] = field(
        default_factory=dict, repr=False
    )

    @cached_property
    def tests(self) -> tuple[tuple[LeafTest, ...], ...]:
        """The tests of each leaf."""
        leaves = self.leaves
        agrees = [masks[:, s] for masks, s in zip(leaves.masks, self.codes.tolist(), strict=True)]
        rows = list(zip(leaves.attribute.tolist(), leaves.mask.tolist(), strict=True))
        starts = leaves.starts.tolist()
        return tuple(
            tuple((a, m, bool(agrees[a][m])) for a, m in rows[first:end])
            for first, end in pairwise(starts)
        )

    def numerators(self, component: int = 0) -> tuple[list[int], ...]:
        """Return the probability of each mask of each attribute, over 2**30; without edges."""
        tables = self.distribution.tables[component]
        return tuple(
            [int(table[0][mask].sum()) for mask in masks]
            for table, masks in zip(tables, self.leaves.masks, strict=True)
        )

    def expected(self, chosen: Iterable[int]) -> Fraction:
        """Return the expected score given the states of x in the chosen attributes."""
        return self._of(chosen)[0]

    def probability(self, chosen: Iterable[int]) -> Fraction:
        """Return the probability of the states of x in the chosen attributes."""
        return self._of(chosen)[1]

    def _of(self, chosen: Iterable[int]) -> tuple[Fraction, Fraction]:
        S = tuple(sorted({*chosen}))
        if S not in self._known:
            if len(self._known) > _MOST_KNOWN:
                self._known.clear()
            edgeless = self.distribution.edgeless
            self._known[S] = self._product(S) if edgeless else self._by_events(S)
        return self._known[S]

    def _product(self, S: tuple[int, ...]) -> tuple[Fraction, Fraction]:
        """Return both for components whose attributes are independent."""
        held, mixture = {*S}, self.distribution
        longest = max(map(len, self.tests), default=0)
        powers = [ONE**power for power in range(longest + 1)]
        numerator = mass = 0
        for c, weight in enumerate(mixture.weights.tolist()):
            joint = weight
            for a in S:
                joint *= int(mixture.tables[c][a][0, self.codes[a]])
            total, masses = 0, self.numerators(c)
            for value, tests in zip(self.leaves.values.tolist(), self.tests, strict=True):
                factors = 0
                for a, m, agrees in tests:
                    if a not in held:
                        value *= masses[a][m]
                        factors += 1
                    elif not agrees:
                        break
                else:
                    total += value * powers[longest - factors]
            numerator += joint * total
            mass += joint
        expected = self.leaves.base + Fraction(numerator, mass * powers[longest])
        return expected / self.leaves.scale, Fraction(mass, ONE ** (len(S) + 1))

    def _by_events(self, S: tuple[int, ...]) -> tuple[Fraction, Fraction]:
        """Return both where attributes depend on each other: an event for each leaf."""
        held, mixture = {*S}, self.distribution
        masks: list[NDArray[np.bool_] | None] = [None] * mixture.n_attributes
        for a in S:
            masks[a] = np.arange(mixture.cardinalities[a]) == self.codes[a]
        mass, total = mixture.exact_event_probability(masks), Fraction(0)
        for value, tests in zip(self.leaves.values.tolist(), self.tests, strict=True):
            if not value or any(a in held and not agrees for a, _, agrees in tests):
                continue
            event = list(masks)
            for a, m, _ in tests:
                if a not in held:
                    event[a] = self.leaves.masks[a][m]
            total += value * mixture.exact_event_probability(event)
        return (self.leaves.base + total / mass) / self.leaves.scale, mass

    def greatest(self, chosen: Iterable[int]) -> Fraction:
        """Return a bound on the score of every row with these states of x.

        It is the sum of the greatest leaf of each tree that such a row reaches, each tree by
        itself; no row need reach all of these leaves together.
        """
        return Fraction(self.leaves.base + sum(self.tree_maxima(chosen)), self.leaves.scale)

    def tree_maxima(self, chosen: Iterable[int]) -> list[Any]:
        """Return the greatest leaf of each tree that a row with these states of x reaches."""
        held, best = {*chosen}, dict[int, Any]()
        pairs = zip(self.leaves.values.tolist(), self.leaves.tree.tolist(), strict=True)
        for (value, tree), tests in zip(pairs, self.tests, strict=True):
            reached = all(agrees or a not in held for a, _, agrees in tests)
            if reached and (tree not in best or value > best[tree]):
                best[tree] = value
        return [best[tree] for tree in sorted(best)]

    def bound(self, chosen: Iterable[int], greatest: Fraction | None = None) -> Fraction:
        """Return a lower bound on the probability of the same decision; 0 where nothing is known.

        With T the threshold and U a bound on all scores, at most U above T and at most T
        elsewhere, ``EP <= T (1 - q) + U q`` for the probability q of a score above T. So q is at
        least ``(EP - T) / (U - T)`` where U > T. Where U <= T, no row is above T.

        Parameters
        ----------
        chosen : iterable of int
        greatest : Fraction, optional
            U; :meth:`greatest` unless it is given.
        """
        S = tuple(chosen)
        T = self.leaves.threshold
        U = self.greatest(S) if greatest is None else greatest
        if U <= T:
            same = U == T == self.expected(S) and self.leaves.tied
            return Fraction(int(same))
        return max(Fraction(0), (self.expected(S) - T) / (U - T))


_MOST_KNOWN = 4096
