"""Branch and bound for maximum precision: Dinkelbach's method around the linear search.

With a known ratio P/Q, a set is better if and only if P (bad covered) < (Q - P) (good covered):
if it costs less than (Q - P) G where the bad weight counts P and the good weight Q - P. So the
search looks for the least such cost, and starts anew from each better ratio it meets
(Dinkelbach, On nonlinear fractional programming, Management Science 13, 1967). It ends when
no set is better, which is the proof.

A branch in which no set was better than P/Q has none that is better than a greater ratio: it
stays closed.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from cpx.answers.result import Termination
from cpx.backends.base import Outcome
from cpx.backends.search.beam import beam_columns
from cpx.backends.search.driver import explore
from cpx.backends.search.linear import beam_width, break_ties
from cpx.backends.search.root import Root

if TYPE_CHECKING:
    from cpx.backends.base import Progress
    from cpx.backends.search.driver import Workers
    from cpx.backends.search.objective import Objective
    from cpx.backends.search.presolve import Reduced
    from cpx.models.base import Problem

__all__ = ["better_than", "optimise_ratio"]


def optimise_ratio(problem: Problem, reduced: Reduced, progress: Progress) -> Outcome:
    """Search a problem whose objective is the precision."""
    whole = Root.whole(reduced)
    least = max(1, reduced.objective.least)
    closed: frozenset[int] = frozenset()
    nodes = steps = 0

    def report(columns: list[int]) -> None:
        progress.found(problem.explanation(reduced.original(columns)))

    def bound(ratio: Fraction, limit: int, cost: int) -> None:
        # With cost = P c + (Q - P) l, limit - cost is Q times good - ratio * covered.
        progress.bound(ratio + Fraction(limit - cost, ratio.denominator) / least)

    report([])
    progress.bound(Fraction(1))
    _approach(problem, reduced, whole, progress)
    while True:
        ratio = progress.objective
        known = Fraction(0) if ratio is None else Fraction(ratio)
        objective = better_than(reduced.objective, known)
        root = whole.aiming_at(objective)
        # Any allowed set will do as long as none is known.
        limit = objective.highest + 1 if ratio is None else objective.beta * objective.good

        def watch(workers: Workers, limit: int = limit, known: Fraction = known) -> bool:
            cost, columns = workers.best()
            if columns is not None and cost < limit:
                return True
            bound(known, limit, workers.bound())
            return progress.should_stop

        done = explore(root, limit, progress.options.threads, watch, closed)
        nodes, steps = nodes + done.nodes, steps + 1
        message = f"{nodes} nodes, {steps} steps"
        better = done.columns is not None and done.cost < limit
        if done.columns is not None:
            report(done.columns)
        if better and not (progress.interrupted or progress.expired):
            closed = done.closed
            continue
        if progress.objective is None:
            why = Termination.COMPLETED if done.finished else progress.why_stopped()
            return Outcome(done.finished, why, message)
        # A bound that is met ends the search too, early or late; the choice among ties is left.
        proved = done.finished or progress.objective == progress.best_bound
        if better or not proved:
            return Outcome(False, progress.why_stopped(), message, progress.objective)
        progress.bound(progress.objective)
        first = done.columns if done.first and root.cost_of_none() > limit else None
        aimed = replace(reduced, objective=objective)
        warnings = break_ties(problem, aimed, progress, limit, nodes, first)
        return Outcome(True, Termination.COMPLETED, message, progress.objective, warnings=warnings)


def better_than(objective: Objective, ratio: Fraction) -> Objective:
    """Return the objective whose cost is below (Q - P) G for the sets above the ratio P/Q."""
    return replace(objective, alpha=ratio.numerator, beta=ratio.denominator - ratio.numerator)


def _approach(problem: Problem, reduced: Reduced, whole: Root, progress: Progress) -> None:
    """Report better and better sets of beam searches, as long as one improves on the last."""
    while whole.n > 0 and not progress.should_stop:
        before = progress.objective
        objective = better_than(reduced.objective, Fraction(before or 0))
        columns = beam_columns(whole.aiming_at(objective), beam_width(progress.options))
        progress.found(problem.explanation(reduced.original(columns)))
        if progress.objective == before:
            return
