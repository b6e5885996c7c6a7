"""Exact selection of rules: branch and bound on bitsets with Lagrangian bounds, anytime.

- ``driver``: a best-first queue of subproblems, threads, and the global bound;
- ``subproblem``: what is done with one; ``open_nodes``: the incumbent and the queue's entries;
- ``cost_splitting``: the bound, with its proof; ``dual_ascent``, ``multipliers``: how it is made
  good, and kept from one subproblem to the next;
- ``rows``: rules as sets of good and bad rows; ``bitsets``: the state of the kernels;
- ``tree``, ``node``: the kernels, with the proof of their bound;
- ``parallel``: one tree searched by several threads;
- ``record``: what is written down for a proof.
"""

from __future__ import annotations

import numpy as np

from cpx.answers.result import Termination
from cpx.backends.base import Outcome, Progress
from cpx.backends.search.form_search import FormSearch
from cpx.modelling.base import Problem
from cpx.models.rule_set.form import RuleSelection
from cpx.models.rule_set.presolve import presolved
from cpx.models.rule_set.search.driver import BestFirstSearch
from cpx.models.rule_set.search.open_nodes import Incumbent
from cpx.models.rule_set.search.record import RecordedTree

__all__ = ["optimise_sets"]


def optimise_sets(problem: Problem, form: RuleSelection, progress: Progress) -> Outcome:
    """Search a selection of rules whose form this is.

    The answer is, of the optimal sets of rules that the presolve keeps, the smallest, and of
    these the first in the order of sorted lists of rules, whatever the number of threads.
    """
    if not form.within_limits(form.required):
        # Limits never get tighter when a rule is left out: nothing else is allowed either.
        return Outcome(True, Termination.COMPLETED, "the required rules break a limit")
    with progress.phase("compile"):
        left = presolved(form)
    merged = left.form
    rules = np.array([r for r in left.kept if r not in form.required], dtype=np.int64)
    sizes = {"rules": rules.size, "rows": int(np.count_nonzero(merged.weights))}
    start: tuple[int, ...] | None = None
    if progress.explanation is not None:
        start = left.translate(progress.explanation.features)
    elif form.side.allow(form.required):
        start = form.required

    def stop() -> bool:
        # Without a gap, equal bound and cost are no end: which set is first is left to find.
        wanted = bool(progress.options.gap) and progress.gap_reached
        return wanted or progress.interrupted or progress.expired

    def tell() -> None:
        bound = search.bound()
        if bound < incumbent.beyond:  # else there is no set
            progress.bound(bound)

    with progress.phase("solve"):
        incumbent = Incumbent(form, problem, progress, start)
        search = BestFirstSearch(merged, rules, incumbent, stop)
        done = search.run(progress.options.threads, tell)
        tell()
    message = f"{search.nodes} nodes"
    if done and progress.record is not None:
        progress.record.append(RecordedTree(search.nodes, search.shared))
    claimed = None if progress.objective is None else int(progress.objective)
    if claimed is None and done:
        return Outcome(True, Termination.COMPLETED, message, sizes=sizes)
    if claimed is None or progress.best_bound != progress.objective:
        return Outcome(False, progress.why_stopped(), message, claimed, sizes)
    warnings = [] if done else [_UNSETTLED]
    if incumbent.cost == progress.objective:
        progress.explanation = problem.explanation(incumbent.key[2])
    return Outcome(True, Termination.COMPLETED, message, claimed, sizes, warnings)


_UNSETTLED = (
    "optimal, but whether it is the smallest and first of the optimal sets was not settled"
)

SEARCH = FormSearch(optimise_sets, keeps_side_constraints=True, tells_phases=True)
