"""Exact expected scores, bounds on scores and probabilities, given some attributes of x."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.data.fitted.circuit import dyadic_sum
from cpx.data.fitted.distribution import StateDistribution, as_mixture
from cpx.data.fitted.tree_mixture import ONE
from cpx.models.expected_prediction.evaluator import Evaluator
from cpx.models.expected_prediction.leaves import LeafForm

Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ExactScores:
    """What a model is expected to say of rows that have the states of x in some attributes.

    codes: The states of x.
    """

    leaves: LeafForm
    distribution: StateDistribution
    codes: NDArray[np.int32]
    _known: dict[tuple[int, ...], Fraction] = field(default_factory=dict, repr=False)
    _masses: dict[int, list[int]] = field(default_factory=dict, repr=False)

    @cached_property
    def agrees(self) -> Bools:
        """Of each test, whether the state of x leads on."""
        return self.leaves.masks.having(self.codes)[self.leaves.mask]

    def numerators(self, component: int = 0) -> list[int]:
        """Return the probability of each mask, over 2**30; without edges."""
        if component not in self._masses:
            tables = as_mixture(self.distribution).tables[component]
            masses = self.leaves.masks.sums(np.concatenate([table[0] for table in tables]))
            self._masses[component] = masses.tolist()
        return self._masses[component]

    def expected(self, chosen: Iterable[int]) -> Fraction:
        """Return the expected score given the states of x in the chosen attributes."""
        S = tuple(sorted({*chosen}))
        if S not in self._known:
            if len(self._known) > _MOST_KNOWN:
                self._known.clear()
            edgeless = self.distribution.edgeless
            self._known[S] = self._product(S) if edgeless else self._by_events(S)
        return self._known[S]

    def probability(self, chosen: Iterable[int]) -> Fraction:
        """Return the probability of the states of x in the chosen attributes."""
        S = {*chosen}
        if self.distribution.edgeless:
            return Fraction(sum(self._joint(S)), ONE ** (len(S) + 1))
        numerator, power = self.distribution.circuit.exact_events(self._event(S), ())[0]
        return Fraction(numerator, ONE**power)

    def _joint(self, S: Iterable[int]) -> list[int]:
        """Return the probability of each component and these states of x, over powers of 2**30."""
        mixture, found = as_mixture(self.distribution), []
        for tables, joint in zip(mixture.tables, mixture.weights.tolist(), strict=True):
            for a in S:
                joint *= int(tables[a][0, self.codes[a]])
            found.append(joint)
        return found

    def reached(self, S: Iterable[int]) -> tuple[Bools, Bools]:
        """Return which leaves these states of x allow, and which tests they know nothing of."""
        leaves, held = self.leaves, np.zeros(self.leaves.n_attributes, dtype=np.bool_)
        held[list(S)] = True
        known = held[leaves.attribute]
        reached = np.ones(len(leaves.values), dtype=np.bool_)
        reached[leaves.leaf[known & ~self.agrees]] = False
        return reached, ~known & reached[leaves.leaf]

    def _unknown(self, S: Iterable[int]) -> tuple[list[Any], list[list[int]]]:
        """Return the values but 0 of leaves that are reached, and the masks they are tested by."""
        leaves = self.leaves
        reached, rest = self.reached(S)
        reached &= leaves.values != 0
        rest &= reached[leaves.leaf]
        left = np.flatnonzero(reached)
        ends = np.searchsorted(leaves.leaf[rest], left, side="right").tolist()
        masks = leaves.mask[rest].tolist()
        tests = [masks[first:end] for first, end in zip([0, *ends], ends)]
        return leaves.values[left].tolist(), tests

    def _product(self, S: tuple[int, ...]) -> Fraction:
        """Return the expected score for components whose attributes are independent."""
        values, unknown = self._unknown(S)
        joint = self._joint(S)
        longest = max(map(len, unknown), default=0)
        powers = [ONE ** (longest - count) for count in range(longest + 1)]
        numerator = 0
        for c, weight in enumerate(joint):
            total, masses = 0, self.numerators(c)
            for value, masks in zip(values, unknown, strict=True):
                for m in masks:
                    value *= masses[m]
                total += value * powers[len(masks)]
            numerator += weight * total
        mean = Fraction(numerator, sum(joint) * ONE**longest)
        return (self.leaves.base + mean) / self.leaves.scale

    def _event(self, S: Iterable[int]) -> dict[int, Bools]:
        sizes = self.distribution.cardinalities
        return {a: np.arange(sizes[a]) == self.codes[a] for a in S}

    def _by_events(self, S: tuple[int, ...]) -> Fraction:
        """Return the expected score where attributes depend on each other: an event for a leaf."""
        attribute, values = self._attributes, list[Any]()
        events = list[dict[int, Bools]]()
        for value, tests in zip(*self._unknown(S), strict=True):
            values.append(value)
            events.append({attribute[m]: self.leaves.masks.states(m) for m in tests})
        whole, parts = self.distribution.circuit.exact_events(self._event(S), events)
        total, power = dyadic_sum(values, parts)
        alone, least = whole
        shared = min(power, least)  # powers of 2**30 that both have
        mean = Fraction(total << 30 * (least - shared), alone << 30 * (power - shared))
        return (self.leaves.base + mean) / self.leaves.scale

    @cached_property
    def _attributes(self) -> dict[int, int]:
        """The attribute of each mask."""
        return dict(zip(self.leaves.mask.tolist(), self.leaves.attribute.tolist()))

    # ------------------------------------------------- what floats decide, where they can

    @cached_property
    def evaluator(self) -> Evaluator:
        """The same of many sets at once, in floats."""
        return Evaluator(self.leaves, self.distribution, self.codes)

    def rounded(self, chosen: Iterable[int], unit: Fraction) -> int:
        """Return the expected score in units, rounded: by floats unless it is near a half."""
        S = tuple(chosen)
        mean, off = self._near(S)
        low, high = (round(Fraction(limit) / unit) for limit in (mean - off, mean + off))
        return low if low == high else round(self.expected(S) / unit)

    def at_least(self, chosen: Iterable[int], least: Fraction) -> bool:
        """Say whether the expected score is at least a number: by floats unless it is near."""
        S = tuple(chosen)
        mean, off = self._near(S)
        if abs(Fraction(mean) - least) > off:
            return mean > least
        return self.expected(S) >= least

    def _near(self, S: tuple[int, ...]) -> tuple[float, float]:
        """Return the expected score as a float, and by how much it is off, at most.

        A term is a leaf's value, which was rounded, times one factor for each test of it, which
        is exact, times the weight of its component, which was rounded; and the sum is rounded.
        """
        if tuple(sorted(S)) in self._known:
            mean = self.expected(S)
            return float(mean), abs(float(mean)) * 2.0**-52 + _TINY
        evaluator = self.evaluator
        seen = np.zeros((1, self.leaves.n_attributes), dtype=np.bool_)
        seen[0, list(S)] = True
        if not self.distribution.edgeless:
            steps = self.distribution.circuit.roundings + len(evaluator.values) + 2
            size = abs(evaluator.base) + float(np.abs(evaluator.values).sum())
            return float(evaluator.expected(seen)[0]), steps * size * 2.0**-52 + _TINY
        joint = self._joint({*S})
        terms, size, whole = [evaluator.base], abs(evaluator.base), sum(joint)
        weights = np.array([weight / whole for weight in joint])
        for some in evaluator.groups(1):
            term = evaluator.reached(some, seen)[:, 0] * evaluator.values * weights[some, None]
            terms += term[term != 0].tolist()
            size += float(np.abs(term).sum())
        steps = int(np.diff(self.leaves.starts).max(initial=0)) + 8
        # Twice what a rounding is off; and what is lost where numbers get too small for floats.
        return fsum(terms), steps * size * 2.0**-52 + _TINY

    # ------------------------------------------------------------------ bounds

    def greatest(self, chosen: Iterable[int]) -> Fraction:
        """Return a bound on the score of every row with these states of x.

        It is the sum of the greatest leaf of each tree that such a row reaches, each tree by
        itself; no row need reach all of these leaves together.
        """
        return Fraction(self.leaves.base + sum(self.tree_maxima(chosen)), self.leaves.scale)

    def best_set(
        self, k: int, required: Iterable[int] = (), forbidden: Iterable[int] = ()
    ) -> tuple[int, ...] | None:
        """Return at most k attributes of the greatest expectation, where that is plain."""
        return None

    def most_expected(
        self, k: int, required: Iterable[int] = (), forbidden: Iterable[int] = ()
    ) -> Fraction:
        """Return what no set of at most k attributes has more than."""
        return self.greatest(required)

    def tree_maxima(self, chosen: Iterable[int]) -> list[Any]:
        """Return the greatest leaf of each tree that a row with these states of x reaches."""
        values, ranks = self.ranks
        left = np.flatnonzero(self.reached({*chosen})[0])
        _, first = np.unique(self.leaves.tree[left], return_index=True)
        return [values[rank] for rank in np.maximum.reduceat(ranks[left], first).tolist()]

    @cached_property
    def ranks(self) -> tuple[list[Any], NDArray[np.int64]]:
        """The different values of leaves, increasing, and which of them each leaf has."""
        own = self.leaves.values.tolist()
        values = sorted({*own})
        rank = {value: place for place, value in enumerate(values)}
        return values, np.array([rank[value] for value in own], dtype=np.int64)

    def bound(self, chosen: Iterable[int], greatest: Fraction | None = None) -> Fraction:
        """Return a lower bound on the probability of the same decision; 0 where nothing is known.

        With T the threshold and U a bound on all scores, at most U above T and at most T
        elsewhere, ``EP <= T (1 - q) + U q`` for the probability q of a score above T. So q is at
        least ``(EP - T) / (U - T)`` where U > T. Where U <= T, no row is above T.

        greatest: U; :meth:`greatest` unless it is given.
        """
        S = tuple(chosen)
        T = self.leaves.threshold
        U = self.greatest(S) if greatest is None else greatest
        if U <= T:
            same = U == T == self.expected(S) and self.leaves.tied
            return Fraction(int(same))
        return max(Fraction(0), (self.expected(S) - T) / (U - T))


_MOST_KNOWN = 4096

_TINY = 1e-290
