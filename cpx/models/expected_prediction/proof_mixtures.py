"""Mixture distributions in proofs: limits of components' weights, and many sets at once.

A distribution is a mixture of components. Given the states of x in a set S, component c has the
share u_c(S) / sum of u_d(S), where u_c(S) is its weight times the probability that it gives to
these states; and what is expected is the mean of what each component expects, by these shares.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cpx.check.proofs.branching import Part
from cpx.models.expected_prediction.judge import Greatest
from cpx.models.expected_prediction.judge_scores import ExactScores
from cpx.models.expected_prediction.proof_terms import Terms

__all__ = ["Mixture", "greatest_mean", "most_added", "number_of_sets"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# Factors from 2**-30 to 2**30 of which floats can form the product.
_MOST_FACTORS = 32
# By this part floats of shares may be off: much more than they are.
_OFF = 2.0**-30
# Sets.
_AT_ONCE = 2**12
# At which tangents are laid.
_POINTS = 60


class Mixture:
    """The components of a distribution without edges, and what they expect of the states of x.

    components: Of each component; the tables of all have the same attributes.
    """

    def __init__(self, scores: ExactScores, components: Sequence[Terms]) -> None:
        self._components, chances = components, scores.chances
        # Of components and attributes. A single component has the share 1, whatever is known.
        self._given, self._weights = np.ones((1, scores.n)), np.ones(1)
        if len(components) > 1:
            self._own = [chances.masses(a, 1 << at) for a, at in enumerate(scores.states.own)]
            self._given = np.array(self._own, dtype=np.float64).T / 2.0**30
            self._weights = np.array(chances.weights) / 2.0**30
        # Of a posterior the shares are the values, and counted exactly.
        self._exact = chances.weights if scores.prediction == "posterior" else None
        self._label = scores.label
        self._bits = np.zeros((scores.n, components[0].start.size))
        for t, members in enumerate(components[0].attributes):
            self._bits[members, t] = 2.0 ** np.arange(len(members))

    def limits(self, part: Part, room: int) -> list[Fraction]:
        """Return the greatest share that a set of the part gives each component, or more.

        Proof. The share of c is 1 / (sum over d of u_d / u_c). A set with at most ``room`` more
        attributes multiplies u_c / u_d by no more than the ``room`` greatest of its factors above
        1. Floats are off by a part of 2**-53 for each factor.
        """
        count = len(self._components)
        if self._exact is not None:
            own = self._posterior(part, room, self._exact)
            return [own if c == self._label else Fraction(1) for c in range(count)]
        if int(part.kept.sum()) + room > _MOST_FACTORS or count == 1:
            return [Fraction(1)] * count
        ratios = self._given[:, None, :] / self._given[None, :, :]
        gains = -np.sort(-np.maximum(ratios[:, :, part.free], 1), axis=2)[:, :, :room]
        first = self._weights[:, None] / self._weights[None, :]
        most = first * ratios[:, :, part.kept].prod(axis=2) * gains.prod(axis=2)
        shares = (1 + _OFF) / (1 / most).sum(axis=1)
        return [Fraction(min(1.0, share)) for share in shares.tolist()]

    def _posterior(self, part: Part, room: int, weights: Sequence[int]) -> Fraction:
        """Return the greatest share of the component of the class, or more where others are two.

        Each other one is made as small as it can be by itself, in whole numbers.
        """
        own, whole = self._label, Fraction(1)
        kept = np.flatnonzero(part.kept).tolist()
        for c in range(len(weights)):
            if c == own:
                continue
            ratios = [(Fraction(of[c], of[own]), a) for a, of in enumerate(self._own)]
            more = sorted((r, a) for r, a in ratios if r < 1 and part.free[a])[:room]
            masses = [self._own[a] for a in [*kept, *(a for _, a in more)]]
            other, first = (weights[i] * math.prod(of[i] for of in masses) for i in (c, own))
            whole += Fraction(other, first)
        if len(weights) == 2:
            return 1 / whole
        return min(1 / whole, Fraction(self.most_probable(part, room)[0]))

    def most_probable(self, part: Part, room: int) -> tuple[float, Floats]:
        """Return what the share of the class is at most in a part, and at which point that is.

        Proof. The share is 1 / (1 + F), F the sum of the odds of the other classes. log F is a
        convex function of the numbers 0 and 1 that say which attributes are in the set, so that
        a tangent at any point is below it; the least of the tangent has the attributes of the
        least slopes. The points are chosen to make that great. Floats are off by far less than
        the part that is added.
        """
        own = np.log(self._given[self._label])
        others = np.arange(len(self._weights)) != self._label
        apart = np.log(self._given[others]) - own
        first = np.log(self._weights[others]) - math.log(self._weights[self._label])
        free = np.flatnonzero(part.free)
        adds, point, least = apart[:, free], np.zeros(free.size), -math.inf
        logs = start = first + apart[:, part.kept].sum(axis=1)
        best = point
        for step in range(_POINTS):
            value = float(np.logaddexp.reduce(logs))
            slopes = np.exp(logs - value) @ adds
            corner = np.zeros(free.size)
            corner[np.argsort(slopes, kind="stable")[:room]] = 1
            corner[slopes >= 0] = 0
            gap = float(slopes @ (corner - point))
            if value + gap > least:
                least, best = value + gap, point
            point = point + 2 / (step + 2) * (corner - point)
            logs = start + adds @ point
        whole = np.zeros(part.free.size)
        whole[free] = best
        return min(1.0, (1 + _OFF) / (1 + math.exp(max(-700.0, min(least, 700.0))))), whole

    def near(self, part: Part, room: int, most: int) -> Iterator[frozenset[int]]:
        """Yield the sets that may be worth more than ``most``, for all that their tables say.

        They are those of a part, with at most ``room`` more attributes.
        """
        for sets in _sets(part, room):
            for at in self._near(sets, most).tolist():
                yield frozenset(sets[at].tolist())

    def _near(self, sets: Ints, most: int) -> Ints:
        """Return which sets may be worth more than ``most``.

        Proof. A component expects no more than its tables say and the slack, so the mean is no
        more than that of the tables and the slack. Floats are off by a part of 2**-53 for each
        factor and term.
        """
        if sets.shape[1] > _MOST_FACTORS:
            return np.arange(len(sets))
        held = np.zeros((len(sets), self._given.shape[1]))
        held[np.arange(len(sets))[:, None], sets] = 1
        first = self._components[0]
        places = (held @ self._bits).astype(np.int64) + first.start
        shares = self._weights[:, None] * self._given[:, sets].prod(axis=2)
        shares /= shares.sum(axis=0)
        mean, largest = np.zeros(len(sets)), 0
        for terms, share in zip(self._components, shares, strict=True):
            found = terms.constant + terms.values[places].sum(axis=1)
            largest = max(largest, int(np.abs(found).max(initial=0)))
            mean += share * found
        limit = float(most + 1 - first.slack)
        off = (sets.shape[1] + 2 * len(shares) + 8) * 2.0**-52 * (largest + abs(limit) + 1)
        return np.flatnonzero(mean + off >= limit)


def _sets(part: Part, room: int) -> Iterator[Ints]:
    """Yield the sets of a part with at most so many more attributes, some of one size at once."""
    kept, free = np.flatnonzero(part.kept), np.flatnonzero(part.free)
    for size in range(min(room, free.size) + 1):
        every = itertools.combinations(free.tolist(), size)
        while some := list(itertools.islice(every, _AT_ONCE)):
            added = np.array(some, dtype=np.int64).reshape(len(some), size)
            yield np.hstack([np.tile(kept, (len(some), 1)), added])


def number_of_sets(part: Part, room: int) -> int:
    """Return how many sets a part has with at most so many more attributes."""
    free = int(part.free.sum())
    return sum(math.comb(free, size) for size in range(min(room, free) + 1))


def most_added(scores: Greatest, kept: Sequence[int], free: Sequence[int]) -> int:
    """Return how many free attributes a likely set may have beside the kept ones, or more.

    Proof. Of independent attributes, those that cost the fewest steps are as many as may be. The
    probability of a set under a component is at most that of the kept attributes and as many free
    ones of the greatest probabilities under it; all components together are likely enough or not.
    """
    if scores.chances.factorised:
        costs = sorted(scores.steps[a] for a in free)
        left = scores.budget - sum(scores.steps[a] for a in kept)
        return sum(spent <= left for spent in itertools.accumulate(costs))
    if not scores.chances.edgeless:
        return len(free)
    chances, own = scores.chances, scores.states.own
    masses = {a: chances.masses(a, 1 << own[a]) for a in (*kept, *free)}
    greatest = [
        (weight, [masses[a][c] for a in kept], sorted((masses[a][c] for a in free), reverse=True))
        for c, weight in enumerate(chances.weights)
    ]
    for room in range(1, len(free) + 1):
        sums = sum(w * math.prod([*first, *more[:room]]) for w, first, more in greatest)
        if Fraction(sums, 1 << 30 * (1 + len(kept) + room)) < scores.least:
            return room - 1
    return len(free)


def greatest_mean(values: Sequence[int], limits: Sequence[Fraction]) -> Fraction:
    """Return the greatest mean of values by shares that add up to 1, each up to its limit.

    Where limits add up to less, the rest has the greatest value.

    >>> greatest_mean([10, 50, 30], [Fraction(1), Fraction(1, 4), Fraction(1, 2)])
    Fraction(30, 1)
    """
    left, mean = Fraction(1), Fraction(0)
    for value, limit in sorted(zip(values, limits, strict=True), reverse=True):
        taken = min(left, limit)
        mean, left = mean + taken * value, left - taken
    return mean + left * max(values)
