"""Exact choice of features by a sum of tables: branch and bound with Lagrangian bounds, anytime.

- ``objective``: value and penalties as one integer, and which of two sets is better, with proofs;
- ``beam``: the first good sets;
- ``forest``, ``terms``: tables joined along a spanning forest, as arrays; features are decided;
- ``ascent``: the bound, with its proof, and the kernel that improves it;
- ``branch_and_bound``: the tree;
- ``fewest``: the fewest features, or the least penalty, of a value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpx.answers.result import Termination
from cpx.backends.base import Outcome
from cpx.compiled.machine_code import load

if TYPE_CHECKING:
    from cpx.backends.base import Progress
    from cpx.backends.search.table_sums.objective import Solution
    from cpx.models.base import Problem
    from cpx.models.expected_prediction.form import TableSumForm

__all__ = ["greatest_value", "solve_table_sum"]


def solve_table_sum(problem: Problem, form: TableSumForm, progress: Progress) -> Outcome:
    """Search for the best set of features; see :class:`~cpx.backends.base.Backend`."""
    with progress.phase("compile"):
        load()
    sizes = {
        "features": form.n_features,
        "tables": len(form.tables),
        "entries": sum(table.size for table in form.tables),
    }
    required = {*form.required}
    if len(required) > form.k or required & {*form.forbidden}:
        return Outcome(
            True, Termination.COMPLETED, "the required features contradict", None, sizes
        )
    if form.target is None:
        return greatest_value(problem, form, progress, sizes)
    from cpx.backends.search.table_sums.fewest import fewest_features

    return fewest_features(problem, form, progress, sizes)


def greatest_value(
    problem: Problem, form: TableSumForm, progress: Progress, sizes: dict[str, int]
) -> Outcome:
    """Search for the set of the greatest value, of these one of the least penalty."""
    from cpx.backends.search.table_sums.beam import beam
    from cpx.backends.search.table_sums.branch_and_bound import BranchAndBound
    from cpx.backends.search.table_sums.objective import GreatestValue

    def stop() -> bool:
        # Without a gap, equal bound and value are no end: the least penalty is left to find.
        wanted = bool(progress.options.gap) and progress.gap_reached
        return wanted or progress.interrupted or progress.expired

    objective = GreatestValue(form, form.k)
    best: Solution | None = None

    def met(solution: Solution) -> None:
        progress.found(problem.explanation(solution.features))

    hint = progress.explanation
    starts = [] if hint is None else [tuple(hint.features)]
    for chosen in (*(s for s in starts if form.allows(s)), *beam(objective)):
        solution = objective.solution(chosen)
        if objective.better(solution, best):
            best = solution
            met(solution)
        if stop():
            break
    assert best is not None  # the required features are allowed
    value = best.value

    def proved(bound: int) -> None:
        progress.bound(
            max(objective.most_valuable(bound), tree.best.value if tree.best else value)
        )

    tree = BranchAndBound(objective, best, found=met, proved=proved, stop=stop)
    done = tree.search()
    assert tree.best is not None
    best = tree.best
    message = f"{tree.nodes} nodes"
    progress.bound(max(objective.most_valuable(tree.bound), best.value))
    if progress.objective == best.value:
        # Of equal values, the progress keeps the first.
        progress.explanation = problem.explanation(best.features)
    if not done and progress.best_bound != best.value:
        return Outcome(False, progress.why_stopped(), message, best.value, sizes)
    warnings = [] if done else [_UNSETTLED]
    return Outcome(True, Termination.COMPLETED, message, best.value, sizes, warnings)


_UNSETTLED = "optimal, but whether it is the likeliest of the optimal sets was not settled"
