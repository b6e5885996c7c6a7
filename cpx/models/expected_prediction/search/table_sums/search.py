"""The greatest value of k features; the fewest features, or the least penalty, of a value.

The fewest features are found by their number: for a number k, the greatest value of k features is
bounded until the bound is below the target, which proves that more are needed, or a set is met
that has it. The numbers that need no branching to be refused are found by bisection, as bounds
only grow with k. Of the sets of the fewest features, one of the least penalty is found after that.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cpx.answers.result import Termination
from cpx.backends.base import Outcome, Progress
from cpx.modelling.base import Problem
from cpx.models.expected_prediction.form import TableSumForm
from cpx.models.expected_prediction.search.table_sums.beam import beam
from cpx.models.expected_prediction.search.table_sums.branch_and_bound import BranchAndBound
from cpx.models.expected_prediction.search.table_sums.value_and_penalty import (
    GreatestValue,
    LeastPenalty,
    Solution,
)


class _Search:
    """Progress of the search, and the best known sets."""

    def __init__(self, problem: Problem, form: TableSumForm, progress: Progress) -> None:
        self.problem, self.form, self.progress = problem, form, progress
        self.nodes = 0

    def stop(self) -> bool:
        """Whether to stop: before the best of the ties is known only if a gap is allowed."""
        return self.progress.should_stop_among_ties

    def met(self, solution: Solution) -> None:
        """Report a set."""
        self.progress.found(self.problem.explanation(solution.features))

    def starts(self, objective: GreatestValue) -> list[Solution]:
        """Return the hint, if it has the target, and the first set of the beam that has it."""
        found = []
        hint = self.progress.explanation
        if hint is not None and self.form.allows(hint.features):
            found.append(objective.solution(hint.features))
        for chosen in beam(objective):
            solution = objective.solution(chosen)
            if objective.better(solution, None):
                found.append(solution)
                break
            if self.stop():
                break
        for solution in found:
            self.met(solution)
        return found

    def branch(
        self,
        objective: GreatestValue | LeastPenalty,
        best: Solution | None,
        stop: Callable[[BranchAndBound], bool],
        proved: Callable[[int], None] = lambda bound: None,
    ) -> tuple[BranchAndBound, bool]:
        """Search; return the tree, and whether it was finished."""
        tree = BranchAndBound(
            objective, best, found=self.met, proved=proved, stop=lambda: stop(tree)
        )
        done = tree.search()
        self.nodes += tree.nodes
        self.progress.count(nodes=tree.nodes)
        return tree, done


def greatest_value(
    problem: Problem, form: TableSumForm, progress: Progress, sizes: dict[str, int]
) -> Outcome:
    """Search for the set of the greatest value, of these one of the least penalty."""
    search, objective = _Search(problem, form, progress), GreatestValue(form, form.k)
    best = objective.solution(form.required)
    search.met(best)
    hint = progress.explanation
    starts = [hint.features] if hint is not None and form.allows(hint.features) else []
    for chosen in (*starts, *beam(objective)):
        if search.stop():
            break
        solution = objective.solution(chosen)
        if objective.better(solution, best):
            best = solution
    search.met(best)

    def proved(bound: int) -> None:
        assert tree.best is not None
        progress.bound(max(objective.most_valuable(bound), tree.best.value))

    tree = BranchAndBound(objective, best, found=search.met, proved=proved, stop=search.stop)
    done = not search.stop() and tree.search()
    proved(tree.bound)
    assert tree.best is not None
    progress.count(nodes=tree.nodes)
    message, value = f"{tree.nodes} nodes", tree.best.value
    # With a gap, a search may end within it.
    optimal = done or progress.best_bound == value
    if not optimal:
        return Outcome(False, progress.why_stopped(), message, value, sizes)
    return Outcome(True, Termination.COMPLETED, message, value, sizes, best_of_ties=done)


def fewest_features(
    problem: Problem, form: TableSumForm, progress: Progress, sizes: dict[str, int]
) -> Outcome:
    """Search for the fewest features whose value is at least the target."""
    search = _Search(problem, form, progress)
    target = form.target
    assert target is not None

    def ended(message: str) -> Outcome:
        return Outcome(False, progress.why_stopped(), message, sizes=sizes)

    known = search.starts(GreatestValue(form, form.k, target))
    most = min((len(solution.features) for solution in known), default=form.k + 1)
    least = len({*form.required})
    progress.bound(least)

    def refused(k: int) -> bool:
        """Whether the bound of the root says that k features are too few."""
        tree, done = search.branch(
            GreatestValue(form, k, target), None, lambda tree: tree.nodes > 1 or search.stop()
        )
        return done and tree.best is None

    high = most
    while least < high and not search.stop():
        middle = (least + high) // 2
        if refused(middle):
            least = middle + 1
            progress.bound(least)
        else:
            high = middle
    best: Solution | None = min(known, key=lambda s: len(s.features), default=None)
    while least < most and not search.stop():
        tree, done = search.branch(
            GreatestValue(form, least, target),
            None,
            lambda tree: tree.best is not None or search.stop(),
        )
        if tree.best is not None:
            best, most = tree.best, len(tree.best.features)
        elif done:
            least += 1
            if least <= form.k:
                progress.bound(least)
        else:
            break
    if least < most:
        return ended(f"{search.nodes} nodes")
    if best is None:
        return Outcome(
            True, Termination.COMPLETED, f"no set has the value, {search.nodes} nodes", sizes=sizes
        )
    progress.bound(most)
    done = not search.stop() and _least(search, most, best, lambda bound: None)
    message = f"{search.nodes} nodes"
    outcome = Outcome(True, Termination.COMPLETED, message, most, sizes)
    outcome.best_of_ties = done
    return outcome


def least_penalty(
    problem: Problem, form: TableSumForm, progress: Progress, sizes: dict[str, int]
) -> Outcome:
    """Search for the least penalty of at most k features whose value is at least the target."""
    search = _Search(problem, form, progress)
    assert form.target is not None
    known = search.starts(GreatestValue(form, form.k, form.target))
    best = min(known, key=lambda solution: solution.penalty, default=None)
    done = _least(search, form.k, best, lambda penalty: progress.bound(penalty))
    message = f"{search.nodes} nodes"
    if not done:
        return Outcome(False, progress.why_stopped(), message, sizes=sizes)
    claimed = None if progress.objective is None else int(progress.objective)
    return Outcome(True, Termination.COMPLETED, message, claimed, sizes)


def _least(search: _Search, k: int, best: Solution | None, proved: Callable[[int], None]) -> bool:
    """Search for the least penalty; return whether it is proved, or that no set has the value."""
    form = search.form
    assert form.target is not None
    # Value is exchanged for penalty as a term is for a feature; bounds hold at any rate.
    spread = sum(int(table.max()) - int(table.min()) for table in form.tables)
    typical = max(1.0, float(np.median(form.penalties)) if form.n_features else 1.0)
    rate = max(1.0, spread / max(1, len(form.tables))) / typical
    objective = LeastPenalty(form, k, form.target, rate)
    tree, done = search.branch(
        objective,
        best,
        lambda tree: search.stop(),
        lambda bound: proved(objective.least_penalty(bound)),
    )
    if done and tree.best is not None:
        proved(tree.best.penalty)
    return done
