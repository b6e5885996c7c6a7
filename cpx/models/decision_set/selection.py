"""Candidate rules, the optimal decision set of them, and how certain its lead over rivals is."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from cpx.answers.result import Result, Status, Termination
from cpx.errors import EngineError, shown
from cpx.models.decision_set.actions import Actions
from cpx.models.decision_set.attributes import Numbers
from cpx.models.decision_set.growing import grow
from cpx.models.decision_set.state import Evidence, State
from cpx.models.rule_set.selection import RuleSetSelection
from cpx.options import SolveOptions
from cpx.solving.run import run

__all__ = ["Candidates", "Rival", "Selection", "leads"]

BoolArray = npt.NDArray[np.bool_]

GROWN = 20
"""Rules grown per round, on all instances and on what is left uncovered."""

SHIFTS = (-8, -4, -2, -1, 1, 2, 4, 8)
"""Cells by which the ends of intervals are moved."""


class Candidates:
    """Rules to select from, the best by their own gain, and those that must stay.

    most: How many are kept.
    """

    def __init__(self, evidence: Evidence, most: int, max_conditions: int) -> None:
        self._evidence, self._most, self._max_conditions = evidence, most, max_conditions
        self.masks: list[BoolArray] = []

    def extend(self, chosen: list[BoolArray], rng: np.random.Generator) -> None:
        """Add rules that fit the instances so far, around a decision set.

        These are rules grown on all instances and on those that the set leaves uncovered, all
        that one local action makes of its rules, and its rules with intervals that begin or
        end a little elsewhere.
        """
        evidence, state = self._evidence, State(self._evidence, chosen)
        new = grow(State(evidence), GROWN, self._max_conditions, rng)
        new += grow(state, GROWN, self._max_conditions, rng)
        near = Actions(state, [], 0.0, 0.0, self._max_conditions)
        shifted = [one for mask in chosen for one in self._shifted(mask)]
        self._take(chosen, [*shifted, *near.masks, *new])

    def covers(self) -> BoolArray:
        """Return what each candidate covers, shape (candidates, instances)."""
        return np.array([self._evidence.covered(mask) for mask in self.masks])

    def _shifted(self, mask: BoolArray) -> list[BoolArray]:
        """Return a rule with one end of an interval moved by 1, 2, 4, ... cells."""
        domain, found = self._evidence.domain, []
        for a in domain.constrained(mask).tolist():
            if not isinstance(domain.attributes[a], Numbers):
                continue
            span = domain.span(a)
            inside = np.flatnonzero(mask[span])
            first, last, k = int(inside[0]), int(inside[-1]), domain.attributes[a].width - 1
            for step in SHIFTS:
                for i, j in ((first + step, last), (first, last + step)):
                    if 0 <= i <= j < k and (i, j) != (0, k - 1):
                        moved = mask.copy()
                        moved[span] = False
                        moved[span.start + i : span.start + j + 1] = True
                        found.append(moved)
        return found

    def _take(self, chosen: list[BoolArray], new: Iterable[BoolArray]) -> None:
        kept = {mask.tobytes(): mask for mask in chosen}
        rest = {mask.tobytes(): mask for mask in [*self.masks, *new]}
        sign = np.where(self._evidence.labels, 1, -1)
        others = [mask for name, mask in rest.items() if name not in kept]
        gains = [-int(sign[self._evidence.covered(mask)].sum()) for mask in others]
        best = np.argsort(gains, kind="stable")[: max(0, self._most - len(kept))]
        self.masks = [*kept.values(), *(others[i] for i in best.tolist())]


@dataclass(frozen=True)
class Rival:
    """A set of candidates, and the lower limit of the lead of the best set over it."""

    chosen: tuple[int, ...]
    lead: float


def leads(
    ours: BoolArray, theirs: BoolArray, labels: BoolArray, n_real: int, chance: float
) -> npt.NDArray[np.float64]:
    """Return lower limits of the lead in fidelity of a decision set over others.

    Where two sets differ, one of them is right. With p the share of instances there, and a
    the share of those where the first is right, the difference is ``p * (2a - 1)``. For a, the
    lower limit of Hoeffding's inequality is taken, on all labelled instances there. For p, that
    of the real instances, if one more were there: so it is not 0 where nothing was seen.

    ours: What the set covers.
    theirs: What each of the others covers.
    labels: What should be covered.
    n_real: So many of the first instances are real.
    chance: Chance that one of the limits on a is wrong.

    >>> ours = np.array([1, 1, 0, 0], dtype=bool)
    >>> leads(ours, np.array([[1, 1, 1, 1], [1, 1, 0, 0]], dtype=bool), ours, 4, 0.05).round(3)
    array([-0.552, -0.2  ])
    """
    differs = theirs != ours
    n = differs.sum(axis=1)
    p = (differs[:, :n_real].sum(axis=1) + 1) / (n_real + 1)
    seen = np.maximum(n, 1)
    right = (differs & (ours == labels)).sum(axis=1) / seen
    low = np.maximum(0.0, right - np.sqrt(np.log(len(theirs) / chance) / (2 * seen)))
    return np.asarray(p * (2 * np.where(n > 0, low, 0.0) - 1))


class Selection:
    """Selects from candidates, by an exact engine.

    n_real: So many of the first instances are real.
    time_limit: Of each solve.
    stop: Ends a solve with the best set so far when it is set.
    chosen: The best set, once :meth:`solve` was called.
    objective, bound: Its Q, and what no set of candidates exceeds.
    """

    def __init__(
        self,
        covers: BoolArray,
        labels: BoolArray,
        n_real: int,
        penalty: float,
        backend: str,
        time_limit: float | None,
        stop: threading.Event | None = None,
    ) -> None:
        self._covers, self._labels, self._n_real = covers, labels, n_real
        self._penalty, self._backend, self._time_limit = penalty, backend, time_limit
        self._stop = stop or threading.Event()
        self._problem = RuleSetSelection.of_coverage(
            covers, labels, texts=[f"candidate {r}" for r in range(len(covers))], penalty=penalty
        )
        self.chosen: tuple[int, ...] = ()
        self.objective = self.bound = 0.0
        self.proved = False

    def solve(self, known: Sequence[int]) -> None:
        """Find the best set, from a known one."""
        result = self._solve(self._problem, known)
        if result.explanation is not None:
            self.chosen = result.explanation.features
        self.objective = self._quality(self._problem.selection_form.cost(self.chosen))
        self.bound = 1.0 if result.bound is None else self._quality(result.bound)
        self.proved = result.status is Status.OPTIMAL

    def _solve(self, problem: RuleSetSelection, known: Sequence[int]) -> Result:
        options = SolveOptions(time_limit=self._time_limit, hint=tuple(known))
        result = run(problem, self._backend, options, cancel=self._stop)
        if result.termination is Termination.INTERRUPTED and not self._stop.is_set():
            raise KeyboardInterrupt
        if result.status is Status.ERROR:
            raise EngineError(
                f"backend {shown(self._backend)} failed to select: {result.raw_status}"
            )
        return result

    def _quality(self, cost: float | Fraction) -> float:
        return 1 - float(Fraction(cost) / (self._problem.scale * self._problem.total))

    def rivals(self, confidence: float) -> list[Rival]:
        """Return rivals of the best set, the least certain to be worse first.

        These are the best sets without each of its rules, and all that come of adding a
        candidate or putting it in the place of a rule.
        """
        sets = set()
        for r in self.chosen:
            rest = tuple(i for i in self.chosen if i != r)
            other = replace(self._problem, forbidden=(r,))
            result = self._solve(other, rest)
            sets.add(rest if result.explanation is None else result.explanation.features)
        for new in set(range(len(self._covers))) - set(self.chosen):
            sets.add(tuple(sorted((*self.chosen, new))))
            for r in self.chosen:
                sets.add(tuple(sorted((*(i for i in self.chosen if i != r), new))))
        if not sets:
            return []
        found = sorted(sets)
        theirs = np.array([self.covered(one) for one in found])
        longer = self._penalty * (np.array([len(one) for one in found]) - len(self.chosen))
        low = longer + leads(
            self.covered(self.chosen), theirs, self._labels, self._n_real, 1 - confidence
        )
        return [Rival(found[i], float(low[i])) for i in np.argsort(low, kind="stable").tolist()]

    def covered(self, chosen: Sequence[int]) -> BoolArray:
        """Return what a set covers, shape (n,)."""
        return np.asarray(self._covers[list(chosen)].any(axis=0))
