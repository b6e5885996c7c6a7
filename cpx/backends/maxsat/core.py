"""Core-guided search: PySAT's RC2 and its stratified variant, with events.

Each unsatisfiable core raises the proven lower bound; every SAT model met on the way is
a solution. Imports PySAT: to be imported only where something is solved.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import Any

from pysat.examples.rc2 import RC2, RC2Stratified
from pysat.formula import WCNF

from cpx.backends.maxsat.search import Search
from cpx.errors import EngineError
from cpx.support.totalizer import generalised_size, sum_encoding

# Detection of at-most-one relations among soft clauses is quadratic in their number.
_ADAPT_LIMIT = 5000

# Seconds of processor time after which better solutions than a known one are asked for only, and
# how many clauses that may take: some half a second.
_CUT_AFTER, _CUT_CLAUSES = 0.5, 800_000


class CoreGuided(RC2):
    """RC2 (A. Ignatiev, A. Morgado, J. Marques-Silva, JSAT 2019) on a loaded oracle.

    search: Whose oracle holds the hard clauses already.
    """

    ask_at = math.inf
    """From when on, in processor time, it looks for better solutions than the best known only."""

    _cut: int | None = None

    def __init__(self, search: Search) -> None:
        self._search = search
        super().__init__(_soft_only(search), **_settings(search))

    def init(self, formula: Any, incr: bool = False) -> None:
        """Take the search's oracle and variables in place of new ones."""
        self.oracle, self.pool = self._search.oracle, self._search.pool
        for literal, weight in zip(formula.soft, formula.wght, strict=True):
            self.sels.append(literal[0])
            self.wght[literal[0]] = weight
        self.sels_set = set(self.sels)
        self.sall = self.sels[:]
        self.garbage: set[int] = set()
        self.vmap.e2i.update((v, v) for v in range(1, formula.nv + 1))
        self.vmap.i2e.update(self.vmap.e2i)

    def _call_oracle(
        self, assumptions: Iterable[int] = (), expect_interrupt: bool = False
    ) -> bool | None:
        # RC2 raises its cost only after an unsatisfiable call, so whenever it calls again
        # the cost so far is proven.
        self._prove()
        if time.process_time() > self.ask_at:
            self._ask_for_better()
        answer: bool | None = self.oracle.solve_limited(assumptions)
        return answer

    def _prove(self) -> None:
        """Report the cost so far: that of all solutions, or of those better than a known one."""
        cut = self._cut
        self._search.prove(self.cost if cut is None else min(self.cost, cut))

    def _ask_for_better(self) -> None:
        """Leave out all solutions that cost as much as the best known, or more."""
        self._search.adopt()
        self.ask_at = math.inf
        costs, known = self._search.compiled.costs, self._search.upper
        if not known or generalised_size(list(costs.values()), known) > _CUT_CLAUSES:
            return
        self._cut = known
        total = sum_encoding(costs, known, self.pool.id, self.oracle.add_clause)
        for literal in total.at_most(known - 1):
            self.oracle.add_clause([literal])

    def run(self) -> None:
        """Go on to the optimum, which clauses added since may have raised."""
        if self.compute(expect_interrupt=True) is not None:
            self._prove()
        elif self._cut is not None:  # there is nothing better
            self._search.prove(self._cut)
        else:
            raise EngineError("RC2 lost a solution of the hard clauses that had been found before")

    def process_core(self) -> None:
        """Raise the cost by the core that was found, and count it."""
        self._search.progress.count(
            cores=1, core_literals=len(self.core), core_sizes=[len(self.core)]
        )
        super().process_core()

    def delete(self) -> None:
        """Free the totalizers; the oracle is the search's."""
        totalizers: dict[int, Any] = self.tobj
        for totalizer in totalizers.values():
            totalizer.delete()
        totalizers.clear()


class StratifiedCoreGuided(CoreGuided, RC2Stratified):
    """RC2 with stratification: heavy soft clauses first, each level gives a solution."""

    def __init__(self, search: Search) -> None:
        self._search = search
        RC2Stratified.__init__(self, _soft_only(search), blo="div", **_settings(search))


def core_guided(search: Search, stratified: bool = False, only_better: bool = False) -> None:
    """Run to the optimum; raise Stopped on the way when told to.

    The hard clauses must be known to be satisfiable. The oracle can be used further: RC2
    adds only definitions of new variables and facts implied by the hard clauses, but for
    stratification, which may add that a solution is as good as the best known.

    only_better: Ask, after a while, for solutions that are better than the best known only, which
        is good where that is nearly the optimum. The oracle cannot be used further then.
    """
    algorithm = (StratifiedCoreGuided if stratified else CoreGuided)(search)
    if only_better:
        algorithm.ask_at = time.process_time() + _CUT_AFTER
    try:
        algorithm.run()
    finally:
        algorithm.delete()


def _settings(search: Search) -> dict[str, Any]:
    default = {
        "adapt": len(search.compiled.costs) <= _ADAPT_LIMIT,
        "exhaust": True,
        "minz": True,
        "trim": 0,
    }
    own = {name: search.settings.get(name, value) for name, value in default.items()}
    return {**own, "verbose": 2 * search.progress.options.log}


def _soft_only(search: Search) -> Any:
    formula = WCNF()
    formula.nv = search.compiled.top
    formula.soft = [[-literal] for literal in search.compiled.costs]
    formula.wght = list(search.compiled.costs.values())
    return formula
