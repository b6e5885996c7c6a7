"""Light hitting sets of a growing family of sets, with a lower bound, by SAT calls of Glucose."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Any

__all__ = ["HittingSets"]

# Conflicts between two looks at the clock: some hundredths of a second.
_CONFLICTS = 500
# Clauses of the sum, which are made without a look at the clock: less than half a second.
_CLAUSES = 200_000


class HittingSets:
    """Sets of little weight that meet every set of a family.

    One solver keeps what it learns while sets are added: all there is besides their clauses is
    the sum of the weights, whose bound is an assumption.

    Parameters
    ----------
    weights : mapping from int to int
        The elements, and what each costs, more than 0.
    upper : int
        More than 0: sets that weigh so much are of no interest.

    Examples
    --------
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
        new = count(len(weights) + 1).__next__
        self._sum = sum_encoding(literals, upper, new, self._solver.add_clause, _CLAUSES)
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

    def below(self, upper: int, look: Callable[[], None] | None = None) -> frozenset[int] | None:
        """Return a set that meets all and weighs less than a bound, or None: there is none.

        ``lower`` rises until there is such a set. The steps double, so there may be sets that
        weigh less; asked again with the weight of the answer, this finds them.

        Parameters
        ----------
        upper : int
            No more than the one given at first.
        look : callable, optional
            Called now and then; may raise what ends the search.
        """
        step, self.lower = 1, max(self.lower, self._bound)
        while self.lower < upper:
            bound = min(self.lower + step, upper) - 1
            if self._within(bound, look):
                model = self._solver.get_model()
                return frozenset(self._element[v] for v in model if v in self._element)
            self.lower = bound + 1
            step *= 2
        return None

    def _within(self, bound: int, look: Callable[[], None] | None) -> bool:
        assumptions = self._sum.at_most(bound)
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
