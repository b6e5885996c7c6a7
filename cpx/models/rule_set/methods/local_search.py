"""Greedy and local search over sets of rules: the start of every engine, and a method itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cpx.answers.result import Termination
from cpx.backends.base import Backend, Outcome, Progress, StartWith
from cpx.backends.search.remaining_constraints import Remaining
from cpx.errors import InvalidOption, shown
from cpx.modelling.base import Problem
from cpx.modelling.side_constraints.form import SideConstraints
from cpx.models.rule_set.form import RuleSelection
from cpx.models.rule_set.presolve import presolved
from cpx.options import SolveOptions

__all__ = ["LocalSearch"]

Rules = tuple[int, ...]
Cost = tuple[int, int]
Floats = NDArray[Any]

_ROUNDS = 50
"""Starts from a disturbed best set."""

_EXACT = 2**24
"""Integers below are exact in floats of 32 bits, which take half the time."""


class LocalSearch(Backend):
    """Adds, drops and exchanges rules while that helps; then disturbs the best set and repeats.

    It begins with the greedy set, or with the hint. In every step the best of all sets that
    differ by one rule added, dropped or exchanged for another is taken. Where none is better, up
    to three rules of the best set are dropped and a random one is added, and the descent
    starts again, 50 times; ``local-search:N`` does that N times. Nothing is proved of the answer.
    A set is better than another one if it violates side constraints by less, or by as much and
    costs less.

    >>> LocalSearch().rounds, LocalSearch("0").rounds
    (50, 0)
    """

    name: ClassVar[str] = "local-search"
    requires: ClassVar[dict[str, str]] = {"numpy": "numpy>=2.0,<3"}
    supported_options: ClassVar[frozenset[str]] = frozenset({"seed", "hint"})
    needs_model: ClassVar[bool] = False
    exact: ClassVar[bool] = False
    summary: ClassVar[str] = "greedy and local search over sets of rules; local-search:N"

    def __init__(self, solver: str | None = None) -> None:
        if solver is not None and not (solver.isdecimal() and len(solver) < 10):
            raise InvalidOption(
                f"{self.name}:N is for N starts from a disturbed set, got {shown(solver)}"
            )
        self.solver = solver or ""

    @property
    def rounds(self) -> int:
        """How many times the search starts again from a disturbed set."""
        return int(self.solver) if self.solver else _ROUNDS

    def accepts(self, problem: Problem) -> bool:
        """Whether the problem is a selection of rules, or has few enough rules to be one."""
        return isinstance(problem.form(), RuleSelection)

    def solve(self, problem: Problem, options: SolveOptions, progress: Progress) -> Outcome:
        """Search until the rounds are over; see :class:`~cpx.backends.base.Backend`."""
        form = problem.form()
        assert isinstance(form, RuleSelection)
        with progress.phase("compile"):
            moves = _Moves(form)
        if not form.within_limits(form.required):
            return Outcome(False, Termination.COMPLETED, "the required rules break a limit")

        def found(rules: Rules) -> None:
            progress.found(problem.explanation(rules))

        rng = np.random.default_rng(options.seed)
        with progress.phase("solve"):
            found(form.required)
            hint = options.hint_features or ()
            start = hint if form.allows(hint) else form.required
            best = moves.descend(moves.known(start), lambda: progress.should_stop)
            found(best)
            for _ in range(self.rounds):
                if progress.should_stop:
                    return Outcome(False, progress.why_stopped(), moves.message)
                again = moves.descend(moves.disturb(best, rng), lambda: progress.should_stop)
                if moves.cost(again) < moves.cost(best):
                    best = again
                    found(best)
        return Outcome(False, Termination.COMPLETED, moves.message)


def found_by_descents(form: RuleSelection, chosen: Rules, rounds: int) -> Rules:
    """Return the best set of a descent from a set and from so many disturbed ones."""
    moves, rng = _Moves(form), np.random.default_rng(0)

    def descend(chosen: Rules) -> Rules:
        return moves.descend(chosen, lambda: False)

    best = descend(moves.known(chosen))
    for _ in range(rounds):
        best = min(best, descend(moves.disturb(best, rng)), key=moves.cost)
    return best


def start(engine: Backend, form: RuleSelection) -> StartWith:
    """Name one descent: an engine takes long to find the set that it finds at once."""
    return StartWith("local-search:0", "local search")


class _Moves:
    """The neighbours of sets of rules, measured by products of matrices."""

    def __init__(self, form: RuleSelection) -> None:
        self.presolved = presolved(form)
        self.form = merged = self.presolved.form
        self.rules = np.array(self.presolved.kept, dtype=np.int64)
        self.place = {int(r): x for x, r in enumerate(self.rules)}
        self.violations = _Violations(form.side, self.rules) if form.side else None
        self.nothing = np.zeros(self.rules.size, dtype=np.int64)
        self.steps = 0
        numbers = np.abs(merged.weights).sum() + merged.prices.max(initial=0)
        exact = max(int(numbers), int(merged.counted.sum())) < _EXACT
        dtype: Any = np.float32 if exact else np.float64
        # The sums rank moves; costs are compared in integers.
        covers = np.ascontiguousarray(merged.covers[self.rules].T, dtype=dtype)
        self.uncovered = _Sums(covers, merged.weights.astype(dtype))
        self.covered_once = _Sums(covers, merged.counted.astype(dtype))
        self.prices = merged.prices[self.rules].astype(dtype)

    @property
    def message(self) -> str:
        return f"{self.steps} steps"

    def known(self, chosen: Rules) -> Rules:
        """Return a set of rules that the presolve kept, no worse than a given one."""
        return self.presolved.translate(chosen)

    def disturb(self, chosen: Rules, rng: np.random.Generator) -> Rules:
        """Return the set without some rules, and with a random one where that is allowed."""
        free = [r for r in chosen if r not in self.form.required]
        dropped = rng.permutation(free)[: int(rng.integers(1, 4))].tolist()
        rest = tuple(r for r in chosen if r not in dropped)
        more = tuple(sorted({*rest, int(rng.choice(self.rules))})) if self.rules.size else rest
        return more if self.form.within_limits(more) else rest

    def cost(self, chosen: Rules) -> Cost:
        """Return by how much a set violates the side constraints, and what it costs."""
        return self._violation(chosen)[0], self.form.cost(chosen)

    def _places(self, chosen: Rules) -> list[int]:
        return [self.place[r] for r in chosen]

    def _violation(self, chosen: Rules) -> tuple[int, NDArray[np.int64]]:
        """Return by how much a set violates the side constraints, and with each other rule."""
        if self.violations is None:
            return 0, self.nothing
        return self.violations.around(self._places(chosen))

    def descend(self, chosen: Rules, stop: Callable[[], bool]) -> Rules:
        """Take the best move again and again, until none helps."""
        cost = self.cost(chosen)
        while not stop():
            found = self._best_move(chosen, cost[1])
            if found is None or found[0] >= cost:
                break
            cost, chosen = found
            self.steps += 1
        return chosen

    def _best_move(self, chosen: Rules, cost: int) -> tuple[Cost, Rules] | None:
        """Return the best neighbour of a set of so much cost, with its own; None if there is none.

        A neighbour costs as much but for the rows that only it, or only the set, leaves free.
        """
        form = self.form
        times, candidates = form.times_covered(chosen), list[tuple[Cost, Rules]]()
        for dropped in (None, *(r for r in chosen if r not in form.required)):
            rest, left, value = chosen, times, cost
            if dropped is not None:
                rest = tuple(r for r in chosen if r != dropped)
                own = form.covers[dropped]
                left = times - own
                value += int(form.weights[own & (left == 0)].sum()) - int(form.prices[dropped])
            violation, with_each = self._violation(rest)
            if dropped is not None:
                candidates.append(((violation, value), rest))
            place = self._best_addition(rest, left, with_each)
            if place is not None:
                added = int(self.rules[place])
                saved = int(form.weights[form.covers[added] & (left == 0)].sum())
                value += int(form.prices[added]) - saved
                grown = tuple(sorted((*rest, added)))
                candidates.append(((int(with_each[place]), value), grown))
        return min(candidates, default=None)

    def _best_addition(
        self, chosen: Rules, times: NDArray[np.int64], violation: NDArray[np.int64]
    ) -> int | None:
        """Return the place of the rule that saves most, of those that may be added, or None.

        times: How many rules of the set cover each row.
        violation: By how much the set violates the side constraints with each rule: the least
            counts.
        """
        form = self.form
        if form.max_rules is not None and len(chosen) >= form.max_rules:
            return None
        saved = self.uncovered.of(times == 0) - self.prices
        allowed = np.ones(self.rules.size, dtype=bool)
        allowed[self._places(chosen)] = False
        if form.max_literals is not None:
            left = form.max_literals - int(form.lengths[list(chosen)].sum())
            allowed &= form.lengths[self.rules] <= left
        if form.max_overlap is not None:
            left = form.max_overlap - form.overlap(chosen)
            allowed &= self.covered_once.of(times == 1) <= left
        if not allowed.any():
            return None
        if self.violations is not None:
            allowed &= violation == violation[allowed].min()
        return int(np.where(allowed, saved, -np.inf).argmax())


class _Sums:
    """The weight of the rows that each rule covers, of some rows and then of others.

    covers (m, R): Which rules cover each row, as numbers.
    """

    def __init__(self, covers: Floats, weights: Floats) -> None:
        self._covers, self._weights = covers, weights
        self._rows = np.zeros(len(weights), dtype=bool)
        self._sums = np.zeros(covers.shape[1], dtype=covers.dtype)

    def of(self, rows: NDArray[np.bool_]) -> Floats:
        """Return the sums of some rows: neighbours of a set differ in few of them."""
        other = np.flatnonzero(rows != self._rows)
        if 2 * len(other) > len(rows):
            other, self._sums = np.flatnonzero(rows), np.zeros_like(self._sums)
        weights = np.where(rows[other], self._weights[other], -self._weights[other])
        # Not a product of matrices: BLAS would start threads, which take longer to wake.
        self._sums = self._sums + np.einsum("m,mr->r", weights, self._covers[other])
        self._rows = rows
        return self._sums


class _Violations:
    """By how much sets of rules violate side constraints, from what each rule adds to them."""

    def __init__(self, side: SideConstraints, rules: NDArray[np.int64]) -> None:
        left = Remaining.of(side, rules, ())
        self._adds, self._start = left.changes
        # Terms of several rules count once, however many of them there are.
        shared = [
            (c, factor, np.isin(rules, T))
            for c, row in enumerate(left.linear)
            for factor, T in row.terms
            if len(T) > 1
        ]
        self._has = np.array([has for _, _, has in shared]).reshape(len(shared), len(rules))
        self._factors = np.zeros((len(shared), len(left.linear)), dtype=np.int64)
        for t, (c, factor, _) in enumerate(shared):
            self._factors[t, c] = factor

    def around(self, chosen: list[int]) -> tuple[int, NDArray[np.int64]]:
        """Return by how much a set violates them, and by how much with each of the other rules."""
        slack, adds = self._start + self._adds[chosen].sum(axis=0), self._adds
        if self._factors.size:
            times = self._has[:, chosen].sum(axis=1)
            there = times > 0
            slack -= np.einsum("t,tc->c", times - there, self._factors)
            adds = adds - np.einsum("tr,tc->rc", self._has[there], self._factors[there])
        violation = np.maximum(-slack - adds, 0).sum(axis=1)
        return int(np.maximum(-slack, 0).sum()), np.asarray(violation)
