"""Bounds by sums with rounded weights, before the search on exact ones.

Where a constraint adds up weights of hundreds of thousands, a SAT solver learns little from
binary adders. With weights rounded down to some hundreds there are more solutions, the sum is a
small decision diagram, and the least cost is a bound that often is the optimum.
Imports PySAT: to be imported only where something is solved.
"""

from __future__ import annotations

from cpx.backends.maxsat.core import CoreGuided
from cpx.backends.maxsat.oracle import Stopped
from cpx.backends.maxsat.search import Search

_PARTS = (150, 1000)
"""Parts of the bound of a sum, by round."""

_SECONDS = 10.0
"""Where there is no limit."""


class _Rounded(Search):
    """A search on clauses that say less than those of another, which it tells what it proves."""

    def __init__(self, exact: Search) -> None:
        super().__init__(exact.statement, exact.compiled, exact.progress)
        self._exact = exact

    def see(self, model: list[int]) -> None:
        """Take note of a model that is a solution of the problem."""
        self.progress.incumbent(self.compiled.values(model))
        self._exact.adopt()
        self._end_if_solved()
        self.oracle.check()

    def prove(self, lower: int) -> None:
        """Report that no solution costs less than ``lower``."""
        if lower > self._exact.lower:
            self._exact.prove(lower)
            self._end_if_solved()

    def _end_if_solved(self) -> None:
        if self._exact.solved:
            raise Stopped


def rounds_of_bounds(search: Search, share: float) -> None:
    """Prove bounds of a started search, which has wide sums: of few parts first, then of more.

    A round adds its sums to those of the rounds before, and its bound goes on from theirs.

    share: Of the time left.
    """
    remaining = search.progress.remaining
    seconds = _SECONDS if remaining is None else share * remaining
    coarse, compiled = _Rounded(search), search.compiled
    algorithm = None
    try:
        with coarse.oracle.watched(), coarse.oracle.slice(seconds):
            coarse.oracle.load(compiled.without_wide_sums())
            algorithm = CoreGuided(coarse)
            for parts in _PARTS:
                coarse.oracle.load(compiled.rounded(parts, coarse.pool))
                algorithm.run()
    finally:
        if algorithm is not None:
            algorithm.delete()
        search.progress.count(**coarse.oracle.statistics())
        coarse.oracle.delete()
