"""The greatest value of at most k features, and of the sets that have it the least penalty."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpx.answers.result import Termination
from cpx.backends.base import Outcome
from cpx.backends.search.table_sums.beam import beam
from cpx.backends.search.table_sums.branch_and_bound import BranchAndBound
from cpx.backends.search.table_sums.objective import GreatestValue, Solution

if TYPE_CHECKING:
    from cpx.backends.base import Progress
    from cpx.models.base import Problem
    from cpx.models.expected_prediction.form import TableSumForm

__all__ = ["greatest_value"]


def greatest_value(
    problem: Problem, form: TableSumForm, progress: Progress, sizes: dict[str, int]
) -> Outcome:
    """Search for the set of the greatest value, of these one of the least penalty."""

    def stop() -> bool:
        # Without a gap, equal bound and value are no end: the least penalty is left to find.
        wanted = bool(progress.options.gap) and progress.gap_reached
        return wanted or progress.interrupted or progress.expired

    def met(solution: Solution) -> None:
        progress.found(problem.explanation(solution.features))

    objective = GreatestValue(form, form.k)
    best = objective.solution(form.required)
    met(best)
    hint = progress.explanation
    starts = [hint.features] if hint is not None and form.allows(hint.features) else []
    for chosen in (*starts, *beam(objective)):
        if stop():
            break
        solution = objective.solution(chosen)
        if objective.better(solution, best):
            best = solution
    met(best)

    def proved(bound: int) -> None:
        assert tree.best is not None
        progress.bound(max(objective.most_valuable(bound), tree.best.value))

    tree = BranchAndBound(objective, best, found=met, proved=proved, stop=stop)
    done = not stop() and tree.search()
    proved(tree.bound)
    assert tree.best is not None
    message, value = f"{tree.nodes} nodes", tree.best.value
    # With a gap, a search may end within it.
    optimal = done or progress.best_bound == value
    if not optimal:
        return Outcome(False, progress.why_stopped(), message, value, sizes)
    return Outcome(True, Termination.COMPLETED, message, value, sizes, best_of_ties=done)
