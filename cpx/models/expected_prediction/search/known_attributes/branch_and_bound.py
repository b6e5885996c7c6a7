"""Best-first search over sets of attributes under any distribution, with a bound by sums.

Let S be known, and L <= f <= U for the scores f of all rows with these values. For each attribute
j one pass of the evaluator gives

    n_j = E[(f - L) [x_j] | x_S],    m_j = E[(U - f) [x_j] | x_S],    m = E[U - f | x_S].

Neither f - L nor U - f is negative. So for every set R of further attributes

    N = E[(f - L) [x_R] | x_S] <= min_j n_j,    M = E[(U - f) [x_R] | x_S] >= m - sum_j (m - m_j),

and EP(S + R) = L + (U - L) N / (N + M) grows with N and falls with M, so that both limits bound
it. Attributes are added in one order, the least likely first: the later ones take little from M.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from heapq import heappop, heappush
from math import ceil, comb
from typing import Any

import numpy as np

from cpx.backends.base import Progress
from cpx.compiled.kernel import Floats, Ints, kernel
from cpx.modelling.base import Problem
from cpx.models.expected_prediction.evaluator import Extensions, Stopped
from cpx.models.expected_prediction.form import ExpectationForm

__all__ = ["BranchAndBound", "greatest_shares"]

_MOST_NUMBERS = 3e11
"""Products of all sets without their last attribute: with more, nothing ends in minutes."""

_MOST_WAITING, _AT_ONCE = 1_000_000, 16
"""Sets that wait to be extended, and how many are at once."""

_ROUNDED = 2.0**-36
"""What sums of thousands of floats lose, in parts of the greatest."""

_TOLD = 0.02
"""A bound is told when so large a part of the interval is gone."""


@kernel
def greatest_shares(
    high: Floats, low: Floats, whole: float, more: int, order: Ints, losses: Floats, share: Floats
) -> None:
    """Bound N / (N + M) for an attribute and one to ``more`` later ones, for each attribute.

    high, low: At least n_j and at most m_j, of the attributes as they are added.
    whole: At least m.
    order: The attributes by ``high``, the greatest first.
    losses: Room for ``more`` numbers.
    share: Gets the bounds; -1 where no attribute is later.
    """


class BranchAndBound:
    """Search for the set of greatest expected score.

    count: Sets measured with all their extensions.
    """

    def __init__(self, problem: Problem, form: ExpectationForm, progress: Progress) -> None:
        self.problem, self.form, self.progress, self.count = problem, form, progress, 0
        self.evaluator, self._unit = form.scores.evaluator, float(form.unit)
        self._required = sorted({*form.required})
        banned = {*self._required, *form.forbidden}
        self._free = np.array([j for j in range(form.n_features) if j not in banned], dtype=int)
        self._most = min(form.most - len(self._required), self._free.size)
        self._first = np.unique(form.scores.leaves.tree, return_index=True)[1]
        # What waits: minus a bound on what follows, and the places in ``_free`` of what is added.
        self._waiting: list[tuple[float, tuple[int, ...]]] = []

    @property
    def affordable(self) -> bool:
        """Whether all sets without their last attribute are measured in minutes, if need be."""
        sets = sum(comb(self._free.size, r) for r in range(max(1, self._most)))
        return sets * self.evaluator.numbers <= _MOST_NUMBERS

    @property
    def message(self) -> str:
        """What was done."""
        if self._waiting:
            return f"{self.count} sets extended, {len(self._waiting)} waited for that"
        return f"{self.count} sets extended, the others excluded by bounds"

    def run(self) -> bool:
        """Search, and tell the bound; return whether that was finished."""
        evaluator, threads = self.evaluator, self.progress.options.threads
        least = float(evaluator.evaluate(np.ones((1, self.form.n_features), dtype=np.bool_))[1][0])
        self._off = evaluator.off(least)
        self._doubt = self._off * float(np.abs(evaluator.values).sum())
        self._slack = 2 * (self._doubt + self._unit)
        known = self.progress.objective
        self._best = -np.inf if known is None else int(known) * self._unit
        self._top = self._told = np.inf
        with ThreadPoolExecutor(threads) if threads > 1 else nullcontext() as pool:
            shared = () if pool is None else (pool, threads)
            try:
                finished = self._search(shared)
            except Stopped:
                finished = False
        if finished and self.progress.objective is not None:
            self.progress.bound(self.progress.objective)
        elif self._top < np.inf:
            self.progress.bound(ceil((self._top + self._slack) / self._unit))
        return finished

    def _search(self, shared: tuple[Any, ...]) -> bool:
        found = self._measured([()], ())  # makes what threads share later
        self._offer(float(found.expected[0]), ())
        likely = found.log_probability_with[0, self._free]
        self._free = self._free[np.argsort(likely, kind="stable")]
        if self._most:
            self._extend((), found, 0)
        first, began = self._highest(), self.progress.elapsed
        while self._waiting:
            self._top = self._highest()
            if self._top < self._best - self._slack:
                self._waiting.clear()
                break
            if self._told - self._top > _TOLD * (self._told - self._best):
                self._told = self._top
                self.progress.bound(ceil((self._top + self._slack) / self._unit))
            if self._hopeless(first, began):
                return False
            places = [heappop(self._waiting)[1] for _ in self._waiting[:_AT_ONCE]]
            found = self._measured(places, shared)
            for i, own in enumerate(places):
                self._extend(own, found, i)
        return True

    def _highest(self) -> float:
        """Return a bound on all sets that were not measured."""
        return -self._waiting[0][0] if self._waiting else -np.inf

    def _hopeless(self, first: float, began: float) -> bool:
        """Whether what waits takes longer than there is time, and no bound falls meanwhile."""
        left, spent = self.progress.remaining, self.progress.elapsed - began
        if len(self._waiting) > _MOST_WAITING:
            return True
        slow = left is not None and self.count > 4 * _AT_ONCE and self._top >= first
        return slow and spent / self.count * len(self._waiting) > float(left or 0)

    def _measured(self, places: list[tuple[int, ...]], shared: tuple[Any, ...]) -> Extensions:
        seen = np.zeros((len(places), self.form.n_features), dtype=np.bool_)
        seen[:, self._required] = True
        for row, own in zip(seen, places, strict=True):
            row[self._free[list(own)]] = True
        self.count += len(places)
        return self.evaluator.extensions(
            seen, lambda: self.progress.should_stop_among_ties, *shared
        )

    def _extend(self, places: tuple[int, ...], found: Extensions, i: int) -> None:
        """Offer a set with each later attribute, and let those wait that may be extended."""
        at = np.arange(places[-1] + 1 if places else 0, len(self._free))
        if self.form.likely is not None:
            # What is too unlikely stays so with more attributes.
            seen = np.zeros((1, self.form.n_features), dtype=np.bool_)
            seen[0, [*self._required, *self._free[list(places)]]] = True
            enough = self.form.likely.extended(found.log_probability_with[[i]], seen)
            at = at[enough[0, self._free[at]]]
        later = self._free[at]
        means = found.expected_with[i, later]
        for j in np.argsort(-means, kind="stable").tolist():
            if not self._offer(float(means[j]), (*places, int(at[j]))):
                break
        more = self._most - len(places) - 1
        if more < 1 or len(later) < 2:
            return
        low, high = self._limits(places)
        chance = np.exp(found.log_probability_with[i, later] - found.log_probability[i])
        n = (np.maximum(means - low, 0) + self._doubt) * chance * (1 + self._off)
        m = np.maximum(high - means - self._doubt, 0) * chance * (1 - self._off)
        whole = (max(0.0, high - float(found.expected[i])) + self._doubt) * (1 + _ROUNDED)
        share, losses, order = np.empty(len(later)), np.zeros(more), np.argsort(-n)
        greatest_shares(n, m, whole, more, order, losses, share)
        bounds = low + (high - low) * share
        for j in np.flatnonzero((share >= 0) & (bounds >= self._best - self._slack)).tolist():
            heappush(self._waiting, (-float(bounds[j]), (*places, int(at[j]))))

    def _limits(self, places: tuple[int, ...]) -> tuple[float, float]:
        """Return limits of the scores of all rows with what is known, tree by tree."""
        evaluator, scores = self.evaluator, self.form.scores
        reached = scores.reached([*self._required, *self._free[list(places)]])[0]
        values, first = evaluator.values, self._first
        low = np.minimum.reduceat(np.where(reached, values, np.inf), first).sum()
        high = np.maximum.reduceat(np.where(reached, values, -np.inf), first).sum()
        base = evaluator.base
        return base + float(low) - self._doubt, base + float(high) + self._doubt

    def _offer(self, mean: float, places: tuple[int, ...]) -> bool:
        """Measure a set exactly if it may be as good as the best one; return whether it may."""
        if mean < self._best - self._slack or self.progress.should_stop_among_ties:
            return False
        features = [*self._required, *self._free[list(places)].tolist()]
        if self.progress.found(self.problem.explanation(features)) is not None:
            self._best = max(self._best, mean)
        return True
