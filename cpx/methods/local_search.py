"""Greedy and local search over sets of rules: the start of every engine, and a method itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cpx.answers.result import Termination
from cpx.backends.base import Backend, Outcome, Progress
from cpx.errors import InvalidOption, shown
from cpx.models.base import form_of
from cpx.models.rule_set.form import RuleSelection
from cpx.models.rule_set.presolve import presolved

if TYPE_CHECKING:
    from cpx.models.base import Problem
    from cpx.models.side_constraints.form import LinearConstraint
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
    A set is better than another one if it lacks less of what side constraints ask for, or as
    much and costs less.

    Examples
    --------
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
        return isinstance(form_of(problem), RuleSelection)

    def solve(self, problem: Problem, options: SolveOptions, progress: Progress) -> Outcome:
        """Search until the rounds are over; see :class:`~cpx.backends.base.Backend`."""
        form = form_of(problem)
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


class _Moves:
    """The neighbours of sets of rules, measured by products of matrices."""

    def __init__(self, form: RuleSelection) -> None:
        self.presolved = presolved(form)
        self.form = merged = self.presolved.form
        self.rules = np.array(self.presolved.kept, dtype=np.int64)
        self.place = {int(r): x for x, r in enumerate(self.rules)}
        self.lacking = _Lacking(form.side.linear, self.place) if form.side else None
        self.nothing = np.zeros(self.rules.size, dtype=np.int64)
        self.steps = 0
        numbers = np.abs(merged.weights).sum() + merged.prices.max(initial=0)
        exact = max(int(numbers), int(merged.counted.sum())) < _EXACT
        self.dtype: Any = np.float32 if exact else np.float64
        # The sums rank moves; costs are compared in integers.
        self.covers = merged.covers[self.rules].astype(self.dtype)
        self.weights = merged.weights.astype(self.dtype)
        self.counted = merged.counted.astype(self.dtype)
        self.prices = merged.prices[self.rules].astype(self.dtype)

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
        """Return how much of the side constraints a set lacks, and what it costs."""
        return self._lacking(chosen)[0], self.form.cost(chosen)

    def _places(self, chosen: Rules) -> list[int]:
        return [self.place[r] for r in chosen]

    def _lacking(self, chosen: Rules) -> tuple[int, NDArray[np.int64]]:
        """Return what a set lacks of the side constraints, and what with each other rule."""
        if self.lacking is None:
            return 0, self.nothing
        return self.lacking.around(self._places(chosen))

    def descend(self, chosen: Rules, stop: Callable[[], bool]) -> Rules:
        """Take the best move again and again, until none helps."""
        cost = self.cost(chosen)
        while not stop():
            found = self._best_move(chosen)
            if found is None or found[0] >= cost:
                break
            cost, chosen = found
            self.steps += 1
        return chosen

    def _best_move(self, chosen: Rules) -> tuple[Cost, Rules] | None:
        """Return the best neighbour with its cost; None if there is none."""
        candidates: list[tuple[Cost, Rules]] = []
        for dropped in (None, *(r for r in chosen if r not in self.form.required)):
            rest = tuple(r for r in chosen if r != dropped)
            lacking, with_each = self._lacking(rest)
            if dropped is not None:
                candidates.append(((lacking, self.form.cost(rest)), rest))
            place = self._best_addition(rest, with_each)
            if place is not None:
                grown = tuple(sorted((*rest, int(self.rules[place]))))
                candidates.append(((int(with_each[place]), self.form.cost(grown)), grown))
        return min(candidates, default=None)

    def _best_addition(self, chosen: Rules, lacking: NDArray[np.int64]) -> int | None:
        """Return the place of the rule that saves most, of those that may be added, or None.

        With each of them the set lacks so much of the side constraints: the least counts.
        """
        form = self.form
        if form.max_rules is not None and len(chosen) >= form.max_rules:
            return None
        times = form.times_covered(chosen)
        saved = self._sums(times == 0, self.weights) - self.prices
        allowed = np.ones(self.rules.size, dtype=bool)
        allowed[self._places(chosen)] = False
        if form.max_literals is not None:
            left = form.max_literals - int(form.lengths[list(chosen)].sum())
            allowed &= form.lengths[self.rules] <= left
        if form.max_overlap is not None:
            left = form.max_overlap - form.overlap(chosen)
            allowed &= self._sums(times == 1, self.counted) <= left
        if not allowed.any():
            return None
        if self.lacking is not None:
            allowed &= lacking == lacking[allowed].min()
        return int(np.where(allowed, saved, -np.inf).argmax())

    def _sums(self, rows: NDArray[np.bool_], weights: Floats) -> Floats:
        """Return the weight of the rows that each rule covers, of some rows."""
        # Not a product of matrices: BLAS would start threads, which take longer to wake.
        chosen: Floats = np.where(rows, weights, 0).astype(self.dtype)
        sums: Floats = np.einsum("rm,m->r", self.covers, chosen)  # type: ignore[arg-type]
        return sums


class _Lacking:
    """How much sets of rules lack of side constraints, by the terms that hold for each rule."""

    def __init__(self, linear: Sequence[LinearConstraint], place: Mapping[int, int]) -> None:
        terms = [(c, factor, T) for c, row in enumerate(linear) for factor, T in row.terms]
        number = {T: t for t, T in enumerate({T: None for _, _, T in terms})}
        found = [(place[r], t) for T, t in number.items() for r in T if r in place]
        rules, of_rules = np.array(found, dtype=np.int64).reshape(-1, 2).T
        self._has = np.zeros((len(place), len(number)), dtype=np.bool_)
        self._has[rules, of_rules] = True
        self._factors = np.zeros((len(number), len(linear)), dtype=np.int64)
        for c, factor, T in terms:
            self._factors[number[T], c] += factor
        self._least = np.array([row.at_least for row in linear])
        self._alone = np.zeros((len(place), len(linear)), dtype=np.int64)
        np.add.at(self._alone, rules, self._factors[of_rules])
        self._shared = bool((self._has.sum(axis=0) > 1).any())

    def around(self, chosen: list[int]) -> tuple[int, NDArray[np.int64]]:
        """Return how much a set lacks, and how much with each of the other rules."""
        more = self._alone
        left = self._least - more[chosen].sum(axis=0)
        if self._shared:  # a term counts once
            there = self._has[chosen].any(axis=0)
            has, factors = self._has[:, there], self._factors[there]
            left = self._least - factors.sum(axis=0)
            more = more - np.einsum("rt,tc->rc", has, factors)
        lacking = np.maximum(left - more, 0).sum(axis=1)
        return int(np.maximum(left, 0).sum()), np.asarray(lacking)
