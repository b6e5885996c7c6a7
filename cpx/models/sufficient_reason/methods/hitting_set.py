"""Light hitting sets of a growing family of sets, with a lower bound, by SAT calls of Glucose."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from random import Random
from typing import Any

from cpx.models.sufficient_reason.sufficiency.row_oracle import RowOracle
from cpx.models.sufficient_reason.sufficiency.set_family import places
from cpx.support.validation import valid_seed

__all__ = ["HittingSetSearch", "HittingSets"]

# Conflicts between two looks at the clock: some hundredths of a second.
_CONFLICTS = 500
# Clauses of the sum, which are made without a look at the clock: less than half a second.
_CLAUSES = 200_000


class HittingSets:
    """Sets of little weight that meet every set of a family.

    One solver keeps what it learns while sets are added: all there is besides their clauses is
    the sum of the weights, whose bound is an assumption.

    weights: The elements, and what each costs, more than 0.
    upper: More than 0: sets that weigh so much are of no interest.

    >>> sets = HittingSets({0: 1, 1: 1, 2: 1}, 3)
    >>> sets.add([0, 1]), sets.add([1, 2])
    (None, None)
    >>> sorted(sets.below(3)), sets.lower
    ([1], 1)
    """

    def __init__(self, weights: Mapping[int, int], upper: int) -> None:
        from pysat.solvers import Solver

        from cpx.support.totalizer import sum_encoding

        self._solver: Any = Solver("glucose4")
        self._variable = {a: v for v, a in enumerate(weights, start=1)}
        self._element = {v: a for a, v in self._variable.items()}
        literals = {self._variable[a]: weight for a, weight in weights.items()}
        self._variables = count(len(weights) + 1).__next__
        self._sum = sum_encoding(
            literals, upper, self._variables, self._solver.add_clause, _CLAUSES
        )
        # A literal that lets sets be found that were put off, and what these weigh.
        self._again, self._later = self._variables(), list[int]()
        self._weights, self._packed, self._bound = dict(weights), set[int](), 0
        self.lower = 0
        """Proved: no set that meets all weighs less."""

    def add(self, elements: Iterable[int]) -> None:
        """Ask for sets that meet this one too."""
        elements = set(elements)
        if not elements & self._packed:
            # Of disjoint sets, each costs its lightest element.
            self._packed |= elements
            self._bound += min(self._weights[a] for a in elements)
        self._solver.add_clause([self._variable[a] for a in elements])

    def exclude(self, elements: Iterable[int]) -> None:
        """Ask for sets that do not have all of these."""
        self._solver.add_clause([-self._variable[a] for a in elements])

    def postpone(self, elements: Iterable[int]) -> None:
        """Ask for sets that have not all of these, until there is none that weighs no more."""
        elements = [*elements]
        self._later.append(sum(self._weights[a] for a in elements))
        self._solver.add_clause([self._again, *(-self._variable[a] for a in elements)])

    def below(self, upper: int, look: Callable[[], None] | None = None) -> frozenset[int] | None:
        """Return a set that meets all and weighs less than a bound, or None: there is none.

        ``lower`` rises until there is such a set. The steps double, so there may be sets that
        weigh less; asked again with the weight of the answer, this finds them.

        upper: No more than the one given at first.
        look: Called now and then; may raise what ends the search.
        """
        step, self.lower = 1, max(self.lower, self._bound)
        while self.lower < upper:
            bound = min(self.lower + step, upper) - 1
            if self._within(bound, look):
                model = self._solver.get_model()
                return frozenset(self._element[v] for v in model if v in self._element)
            if min(self._later, default=upper) <= bound:
                self._solver.add_clause([self._again])
                self._again, self._later = self._variables(), []
                continue
            self.lower = bound + 1
            step *= 2
        return None

    def _within(self, bound: int, look: Callable[[], None] | None) -> bool:
        assumptions = [*self._sum.at_most(bound), -self._again]
        while True:
            self._solver.conf_budget(_CONFLICTS)
            found: bool | None = self._solver.solve_limited(assumptions=assumptions)
            if found is not None:
                return found
            if look is not None:
                look()

    def close(self) -> None:
        """Free the solver."""
        self._solver.delete()


class HittingSetSearch(ABC):
    """The search for a lightest set that an oracle says yes to, by implicit hitting sets.

    Each such set meets all sets of a dual family. So a minimum hitting set of those known so far
    weighs no more than the answer; where the oracle says no to it, it tells more of the family.

    cost: The places to choose from, and what each costs.
    seed: Of the orders in which places are tried.
    base: Weight of what is chosen anyway.
    on_change: Called when a bound gets better.
    lower, upper: No set weighs less than ``lower``; the best one known weighs ``upper``.
    best: The best set, by the places that may be chosen.
    none: It is proved that there is no set.
    excluded: Sets are wanted that have not all of any of these.
    undecided: Hitting sets that the oracle gave up on, to be asked about when there are no others.
    """

    excluded: tuple[int, ...] = ()

    def __init__(
        self,
        oracle: RowOracle,
        cost: Mapping[int, int],
        seed: int,
        base: int = 0,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self.oracle, self.cost, self.base, self.on_change = oracle, cost, base, on_change
        self.free = sum(1 << place for place in cost)
        self.random = Random(valid_seed(seed))
        self.lower, self.rounds, self.none = base, 0, False
        self.upper: int | None = None
        self.best: int | None = None
        self.family: set[int] = set()
        self.undecided: list[int] = []
        self._new: list[int] = []

    @abstractmethod
    def decide(self, chosen: int) -> None:
        """Take a minimum hitting set for a better set, or learn what of the family it misses."""

    @property
    def proved(self) -> bool:
        """Whether the best set is a minimum, or it is proved that there is none."""
        return self.none or (self.upper is not None and self.lower >= self.upper)

    def found(self, chosen: int) -> None:
        """Note a set that the oracle says yes to."""
        upper = self.weight(chosen)
        if self.upper is None or upper < self.upper:
            self.best, self.upper = chosen, upper
            self.on_change()

    def weight(self, chosen: int) -> int:
        """Return what a set weighs, with what is chosen anyway."""
        return self.base + sum(self.cost[place] for place in places(chosen))

    def learn(self, dual: int) -> None:
        """Note a set that each set must meet."""
        if dual not in self.family:
            self.family.add(dual)
            self._new.append(dual)

    def close_in(self, calls: float = math.inf, rounds: float = math.inf) -> None:
        """Raise the lower bound and look for better sets than a known one, until they meet.

        calls, rounds: After so many sets that the oracle was asked about, or so many hitting sets,
            it stops, whatever is proved.
        """
        assert self.upper is not None
        sets = HittingSets(self.cost, self.upper - self.base)
        calls, rounds = calls + self.oracle.calls, rounds + self.rounds
        for known in self.excluded:
            sets.exclude(places(known))
        try:
            while self.oracle.calls < calls and self.rounds < rounds:
                for dual in self._new:
                    sets.add(places(dual))
                self._new.clear()
                hitting = sets.below(self.upper - self.base, self.oracle.look)
                self.bounded(sets.lower + self.base)
                self.rounds += 1
                if hitting is None:
                    return
                self.decide(sum(1 << place for place in hitting))
                while self.undecided:
                    sets.postpone(places(self.undecided.pop()))
        finally:
            sets.close()
            self.bounded(sets.lower + self.base)

    def bounded(self, lower: int) -> None:
        """Note a lower bound."""
        if lower > self.lower:
            self.lower = lower
            self.on_change()
