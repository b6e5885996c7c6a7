"""Model-improving search: ask for something better until there is nothing better.

The linear search SAT-UNSAT of MaxSAT for any weights, which PySAT has for unit weights only,
with what makes it anytime:

- a short core-guided phase first, for a lower bound;
- steps that double while they succeed, on a budget of conflicts; a step that is refuted
  raises the lower bound;
- between steps, large neighbourhood search: most named variables are held at the
  incumbent's values and the solver improves the others.

References
----------
J. Berg, E. Demirovic, P. Stuckey: Core-Boosted Linear Search for Incomplete MaxSAT, CPAIOR
2019. E. Demirovic, P. Stuckey: Techniques Inspired by Local Search for Incomplete MaxSAT and
the Linear Algorithm, CP 2019.
"""

from __future__ import annotations

import time

from cpx.backends.maxsat.core import core_guided
from cpx.backends.maxsat.search import Search
from cpx.support.totalizer import sum_encoding

# The core-guided phase gets this share of the time left, and no more than these seconds.
_CORE_SHARE, _CORE_SECONDS = 0.1, 3.0
_STEP_CONFLICTS = 2_000
_NEIGHBOURHOOD_CONFLICTS = 300


def linear_search(search: Search) -> None:
    """Run to the optimum; raise Stopped on the way when told to.

    Needs a started search, that is, a first solution.
    """
    remaining = search.progress.remaining
    seconds = _CORE_SECONDS if remaining is None else min(_CORE_SECONDS, _CORE_SHARE * remaining)
    with search.oracle.slice(seconds):
        core_guided(search)
    if not search.solved:
        _Descent(search).run()


class _Descent:
    def __init__(self, search: Search) -> None:
        self._search, self._oracle = search, search.oracle
        self._upper = self._current()
        self._step, self._conflicts = 1, _STEP_CONFLICTS
        self._held = 0.9
        self._free = search.compiled.free_variables()
        self._sum = sum_encoding(
            search.compiled.costs, self._upper, search.pool.id, search.oracle.add_clause
        )

    def _current(self) -> int:
        upper = self._search.upper
        assert upper is not None  # started
        return upper

    def run(self) -> None:
        """Alternate steps and neighbourhoods, an equal time for each."""
        spent = [0.0, 0.0]
        moves = (self._neighbourhood, self._try_step)
        self._tighten()
        while not self._search.solved:
            self._search.adopt()
            turn = 0 if spent[0] <= spent[1] else 1
            start = time.perf_counter()
            moves[turn]()
            spent[turn] += time.perf_counter() - start
            if self._current() < self._upper:
                self._tighten()

    def _tighten(self) -> None:
        """Demand something better than the incumbent, for good."""
        self._upper = self._current()
        if self._upper > 0:
            for literal in self._sum.at_most(self._upper - 1):
                self._oracle.add_clause([literal])
        self._oracle.set_phases(self._search.model)

    def _try_step(self) -> None:
        target = max(self._search.lower, self._upper - self._step)
        self._oracle.conf_budget(self._conflicts)
        answer = self._oracle.solve_limited(self._sum.at_most(target))
        if answer:
            self._step *= 2
        elif answer is False:
            self._search.prove(target + 1)
            self._step = max(1, self._step // 2)
        elif self._step > 1:
            self._step = 1
        else:
            self._conflicts += self._conflicts // 2

    def _neighbourhood(self) -> None:
        search = self._search
        incumbent = {abs(literal): literal for literal in search.model}
        held = [incumbent.get(v, -v) for v in self._free if search.random.random() < self._held]
        self._oracle.conf_budget(_NEIGHBOURHOOD_CONFLICTS)
        answer = self._oracle.solve_limited(held)
        # Neighbourhoods as large as the budget can search.
        if answer is False:
            self._held = max(0.0, self._held - 0.01)
        elif answer is None:
            self._held = min(0.98, self._held + 0.02)
