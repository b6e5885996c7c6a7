"""Exact selection of rules: branch and bound on bitsets with Lagrangian bounds, anytime.

- ``subproblem``: a part of all sets, searched and split; ``open_nodes``: the incumbent and parts
  that are open;
- ``cost_splitting``: the bound, with its proof; ``dual_ascent``, ``multipliers``: how it is made
  good, and kept from one subproblem to the next;
- ``rows``: rules as sets of good and bad rows; ``bitset_search``: the state of the kernels;
- ``tree``, ``node``: the kernels, with the proof of their bound;
- ``parallel``: one subproblem searched by several threads;
- ``record``: what is written down for a proof.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cpx.answers.result import Termination
from cpx.backends.base import Outcome, Progress
from cpx.backends.search.best_first import BestFirst
from cpx.backends.search.form_search import FormSearch
from cpx.modelling.base import Problem
from cpx.models.rule_set.form import RuleSelection
from cpx.models.rule_set.presolve import presolved
from cpx.models.rule_set.search.open_nodes import Incumbent, Subproblem
from cpx.models.rule_set.search.record import RecordedTree
from cpx.models.rule_set.search.subproblem import SubproblemSearch

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

    searches: list[SubproblemSearch] = []

    def expand(part: Subproblem, note: Callable[[int], None]) -> list[Subproblem]:
        search = SubproblemSearch(merged, incumbent, tree.pool, tree.over, note)
        searches.append(search)
        return search.explore(part)

    def prove(bound: int) -> None:
        lowest = min(bound, incumbent.cost)
        if lowest < incumbent.beyond:  # else there is no set
            progress.bound(lowest)

    with progress.phase("solve"):
        incumbent = Incumbent(form, problem, progress, start)
        # Parts differ in their rules: no set is met twice.
        tree = BestFirst(
            expand,
            lambda part: (part.bound,),
            lambda part: incumbent.beaten(part.bound, len(part.required)),
            prove,
            # Without a gap, equal bound and cost are no end: which set is first is left to find.
            lambda: progress.should_stop_among_ties,
        )
        root = Subproblem(tuple(merged.required), rules, merged.offset)
        done = tree.search(root, progress.options.threads)
        if done:
            prove(incumbent.cost)
    nodes = sum(search.nodes for search in searches)
    message = f"{nodes} nodes"
    progress.count(nodes=nodes)
    if done and progress.record is not None:
        shared = any(search.shared for search in searches)
        progress.record.append(RecordedTree(nodes, shared))
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
