"""How rules are listed: by the exact search in one go, or by any engine one after the other."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from cpx.answers.explanation import Explanation
from cpx.backends.base import Progress
from cpx.backends.progress import run_interruptibly
from cpx.methods.listing import MOST, CoverageListing, Listed
from cpx.modelling.base import Problem
from cpx.models.monomial.form import MonomialForm, RatioMonomial, monomial_form
from cpx.models.monomial.problem import MonomialProblem
from cpx.models.monomial.search.presolve import reduce, sample_weights
from cpx.models.monomial.twins import plainer_twins, without_twins

if TYPE_CHECKING:
    from cpx.models.monomial.search.solution_pool import BestSets


class MonomialListing(CoverageListing):
    """Rules without a condition that excludes nothing of what the others cover."""

    engines: ClassVar[tuple[str, ...]] = ("search", "cpsat")
    searched: ClassVar[bool] = True
    form: MonomialForm

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        form = monomial_form(problem)
        assert form is not None
        self.form = form

    @cached_property
    def rows(self) -> Any:
        """Which samples that count agree with each feature."""
        matters = sample_weights(self.form).signed != 0
        matters &= self.form.covered(self.form.required)
        return self.form.agreement[matters]

    def by_search(
        self, best: Explanation, progress: Progress, n: int, as_good: bool
    ) -> Listed | None:
        """List them on one walk; of rules of a size that cover the same samples one."""
        wanted = n + 1
        while True:
            found = _search(self.form, progress, best.features, wanted, as_good)
            if found is None:
                return None
            columns, pool = found
            rules = [self.problem.explanation(features) for features in columns]
            once = self.once(rules)
            enough = len(once) > n
            if enough or not pool.finished or len(rules) < wanted or wanted > MOST:
                if enough:
                    last, following = (self.problem.evaluate(once[i]) for i in (n - 1, n))
                    pool.more = last.objective == following.objective
                return Listed(once[:n], pool.finished, pool.more)
            wanted = min(2 * wanted, MOST + 1)

    def begin(self) -> None:
        """Cut off conditions with "!=" in place of which others without it always do."""
        problem = self.problem
        assert isinstance(problem, MonomialProblem)
        forbidden, groups = problem.forbidden, problem.choice_groups
        found = []
        for j in set(self.every).difference(self.required, forbidden):
            for twin in plainer_twins(problem.samples, j):
                alike = groups is None or groups[twin] == groups[j]
                if alike and twin not in forbidden and self.harmless((), j, twin):
                    found.append(j)
                    break
        self.leave_out((), sorted(found))

    def once(self, answers: list[Explanation]) -> list[Explanation]:
        """Keep one of the rules of a size that cover the same samples."""
        return without_twins(self.problem, answers)


def _search(
    form: MonomialForm, progress: Progress, best: tuple[int, ...], n: int, as_good: bool
) -> tuple[list[tuple[int, ...]], BestSets] | None:
    """Return the sets, and how they were found; None when it was stopped before it began."""
    from cpx.models.monomial.search.solution_pool import best_sets

    reduced = reduce(form, every=True)
    assert reduced is not None
    if progress.expired or progress.interrupted:
        return None
    signal = np.zeros(2, dtype=np.int64)
    known = [int(j) for j in np.flatnonzero(np.isin(reduced.features, best))]

    def stop() -> None:
        signal[0] = 1

    ratio = isinstance(form, RatioMonomial)
    found = run_interruptibly(
        lambda: best_sets(reduced, n, known, ratio=ratio, as_good=as_good, signal=signal),
        progress,
        stop,
    )
    return [reduced.original(columns) for columns in found.columns], found
