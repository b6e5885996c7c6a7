"""All sets of at most k attributes, where these are few enough.

Sets are made in the order of their sizes, each from the one without its last attribute, so that
one pass of the evaluator measures all that are made from one set. Its floats decide nothing: a set
that may be as good as the best one, for all that is known of their rounding, is measured by exact
fractions.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from math import comb, log

import numpy as np
from numpy.typing import NDArray

from cpx.backends.base import Progress
from cpx.modelling.base import Problem
from cpx.models.expected_prediction.evaluator import Stopped
from cpx.models.expected_prediction.form import ExpectationForm

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

_MOST_NUMBERS, _FEW_NUMBERS = 2e9, 2e7
"""Products that are worth a proof, some 10 s; and that need no answer before it."""

_FEW_SETS = 2**12

_MOST_MADE = 200_000_000
"""Sets of one size, times the attributes: bytes."""


class Enumeration:
    """All sets of at most so many attributes, by size.

    form: Its form.
    count: Sets measured.
    """

    def __init__(self, problem: Problem, form: ExpectationForm, progress: Progress) -> None:
        self.problem, self.form, self.progress = problem, form, progress
        self.evaluator = form.scores.evaluator
        self.count = 0
        self._required = sorted({*form.required})
        banned = {*self._required, *form.forbidden}
        self._free = np.array([j for j in range(form.n_features) if j not in banned], dtype=int)
        self._most = min(form.most - len(self._required), self._free.size)
        self._best = -np.inf

    @property
    def short(self) -> bool:
        """Whether all sets are measured in a moment."""
        return self._parents(self._most) * self.evaluator.numbers <= _FEW_NUMBERS

    @property
    def few(self) -> bool:
        """Whether sets are so few that the likeliest of equal ones is worth looking for."""
        return self._parents(self._most) <= _FEW_SETS

    def _parents(self, added: int) -> int:
        return sum(comb(self._free.size, r) for r in range(max(1, added)))

    def affordable(self, size: int) -> bool:
        """Whether all sets of at most so many attributes are few enough, or may be.

        Where sets must be likely, few may be left of them: that is seen on the way.
        """
        if self.form.likely is not None:
            return True
        added = min(size - len(self._required), self._free.size)
        made = max(comb(self._free.size, r) for r in range(max(0, added) + 1))
        return (
            self._parents(added) * self.evaluator.numbers <= _MOST_NUMBERS
            and made * self.form.n_features <= _MOST_MADE
        )

    def run(self) -> bool:
        """Measure all sets; return whether that was finished."""
        dual = self.form.least is not None
        for size, (sets, expected, logs) in enumerate(self._sizes()):
            if dual:
                self._reaching(sets, expected, logs)
                if self.progress.objective == len(self._required) + size:  # a hint may be larger
                    self.progress.bound(len(self._required) + size)
                    return not self._stopped()
            else:
                self._greatest(sets, expected, logs)
            if self._stopped():
                return False
            if dual and size < self._most:
                self.progress.bound(len(self._required) + size + 1)
        if self._finished and self.progress.objective is not None:
            self.progress.bound(self.progress.objective)
        return self._finished

    def smallest_sizes(self) -> str:
        """Show that no set of a small size reaches the threshold, as far as that is affordable."""
        size, low = 0, len(self._required)
        for size, (sets, expected, logs) in enumerate(self._sizes()):
            self._reaching(sets, expected, logs)
            if self._stopped():
                break
            known = self.progress.objective
            if known is not None and known <= low + size:
                self.progress.bound(low + size)
                break
            self.progress.bound(low + size + 1)
            if not self.affordable(low + size + 1):
                break
        return f"all sets of {low + size} attributes"

    def _stopped(self) -> bool:
        return self.progress.should_stop_among_ties

    def _sizes(self) -> Iterator[tuple[Bools, Floats, Floats]]:
        """Yield all sets of each size, with their expected scores and log-probabilities."""
        self._finished, self._spent = False, 0
        sets = np.zeros((1, self.form.n_features), dtype=np.bool_)
        sets[0, self._required] = True
        last = np.array([-1])
        yield sets, *self._counted(self.evaluator.evaluate(sets))
        threads = self.progress.options.threads
        with ThreadPoolExecutor(threads) if threads > 1 else nullcontext() as pool:
            for _ in range(self._most):
                parts = []
                for rows in self.evaluator.chunks(len(sets)):
                    try:
                        # What all components need is made by the first set, by one thread.
                        shared = (pool, threads) if len(sets) > 1 else ()
                        more = self.evaluator.extensions(sets[rows], self._stopped, *shared)
                    except Stopped:
                        return
                    place = np.arange(self._free.size)[None, :] > last[rows, None]
                    parent, added = np.nonzero(place)
                    grown = sets[rows][parent]
                    grown[np.arange(len(parent)), self._free[added]] = True
                    at = parent, self._free[added]
                    parts.append(
                        (grown, added, more.expected_with[at], more.log_probability_with[at])
                    )
                sets, last, expected, logs = (np.concatenate(part) for part in zip(*parts))
                if self.form.likely is not None:
                    enough = self.form.likely.among(logs, sets)
                    sets, last = sets[enough], last[enough]
                    expected, logs = expected[enough], logs[enough]
                    self._spent += len(sets) * self.evaluator.numbers
                    if not len(sets):
                        break
                    if self._spent > _MOST_NUMBERS or sets.size > _MOST_MADE:
                        return
                yield sets, *self._counted((expected, logs))
        self._finished = True

    def _counted(self, measured: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        self.count += len(measured[0])
        return measured

    def _doubt(self, logs: Floats) -> float:
        """Return by how much an expected score may be off, at most, in floats."""
        whole = float(np.abs(self.evaluator.values).sum())
        return self.evaluator.off(float(np.abs(logs).max())) * whole + 1e-300

    def _greatest(self, sets: Bools, expected: Floats, logs: Floats) -> None:
        """Measure exactly what may be the best set so far."""
        slack = 2 * self._doubt(logs) + 2 * float(self.form.unit)
        order = np.lexsort((-logs, -expected))
        best = self._best
        for i in order.tolist():
            if expected[i] < best - slack or self._stopped():
                break
            best = max(best, float(expected[i]))
            self._best = best
            self._offer(sets[i])

    def _reaching(self, sets: Bools, expected: Floats, logs: Floats) -> None:
        """Measure exactly what may reach the threshold, the likeliest first."""
        assert self.form.least is not None
        slack, threshold = 2 * self._doubt(logs), float(self.form.least)
        near = np.flatnonzero(expected >= threshold - slack - abs(threshold) * 1e-12)
        met: float | None = None
        for i in near[np.argsort(-logs[near], kind="stable")].tolist():
            # Penalties are rounded to 2**-20 bit: less likely than that, a set is no better.
            if self._stopped() or (met is not None and logs[i] < met - _PENALTY):
                break
            if self._offer(sets[i]) and met is None:
                met = float(logs[i])

    def _offer(self, chosen: Bools) -> bool:
        features = np.flatnonzero(chosen).tolist()
        return self.progress.found(self.problem.explanation(features)) is not None


_PENALTY = 4 * log(2) / 2**20
