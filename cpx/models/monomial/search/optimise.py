"""Branch and bound for a linear objective, and for maximum precision: incumbents, bound, proof.

For precision it is Dinkelbach's method (On nonlinear fractional programming, Management Science
13, 1967) around the linear search. With a known ratio P/Q, a set is better if and only if
P (bad covered) < (Q - P) (good covered): if it costs less than (Q - P) G where the bad weight
counts P and the good weight Q - P. So the search looks for the least such cost, and starts anew
from each better ratio it meets. It ends when no set is better, which is the proof.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from cpx.answers.result import Termination
from cpx.backends.base import Outcome, Progress
from cpx.modelling.ratio import RatioProblem
from cpx.models.monomial.form import WeightedMonomial
from cpx.models.monomial.search.beam import beam_columns
from cpx.models.monomial.search.conflicts import MOST_SECONDS, WORK_PER_SECOND
from cpx.models.monomial.search.driver import Cut, Workers, explore, first_optimal
from cpx.models.monomial.search.presolve import reduce
from cpx.models.monomial.search.root import Root
from cpx.processes.allowance import OPTIONAL, allowed

if TYPE_CHECKING:
    from collections.abc import Callable

    from cpx.answers.values import Value
    from cpx.modelling.base import Problem
    from cpx.models.monomial.form import RatioMonomial
    from cpx.models.monomial.search.driver import Elsewhere
    from cpx.models.monomial.search.objective import Objective
    from cpx.models.monomial.search.presolve import Reduced
    from cpx.options import SolveOptions

_BEAM_WIDTH, _START_WIDTH = 16, 128
_LARGE = 1500
"""Words of packed samples: a table of 1000 samples and 94 features."""
_TIE_NODES = 5_000_000
"""Nodes spent at most on the choice among equally good sets, besides those of the proof."""


def optimise(problem: Problem, reduced: Reduced, progress: Progress) -> Outcome:
    """Search a problem whose objective is the value of its form, up to sign and constant."""
    scale = _Scale(problem, reduced)
    report = _reporter(problem, reduced, progress)

    def watch(workers: Workers) -> bool:
        cost, columns = workers.best()
        if columns is not None and cost < scale.cost(progress.objective):
            report(columns)
        if progress.objective is not None:
            progress.bound(scale.objective(workers.bound()))
        return progress.should_stop

    options = progress.options
    root = _begun(problem, reduced, progress, beam_width(options))
    done = explore(
        root, scale.cost(progress.objective), options.threads, watch, elsewhere(progress)
    )
    message = f"{done.nodes} nodes"
    progress.count(nodes=done.nodes)
    if done.columns is not None:
        report(done.columns)
    if progress.objective is None:
        why = Termination.COMPLETED if done.finished else progress.why_stopped()
        return Outcome(done.finished, why, message, warnings=done.notes)
    least = scale.cost(progress.objective)
    progress.bound(scale.objective(min(done.bound, least)))
    if progress.best_bound != progress.objective:
        value = progress.objective
        return Outcome(False, progress.why_stopped(), message, value, warnings=done.notes)
    known = done.columns if done.first and root.cost_of_none() > least else None
    warnings = done.notes + break_ties(problem, reduced, progress, least, done.nodes, known)
    return Outcome(True, Termination.COMPLETED, message, progress.objective, warnings=warnings)


def begin(
    problem: Problem, form: WeightedMonomial | RatioMonomial, progress: Progress
) -> str | None:
    """Report a rule of a beam search, and the bound that the samples give without a search.

    Where that rule is not allowed, the search looks for the first one that is, for a tenth of the
    limit at most. Of large tables the bound is that with which the search begins: of small ones it
    would leave nothing to the engine. Returns who found the rule where it was not the beam search.
    """
    if (reduced := reduce(form)) is None:
        return "presolve"
    root = _begun(problem, reduced, progress, _START_WIDTH)
    if not root.n:
        return "presolve"
    if progress.objective is not None:
        ahead = root.bits.shape[0] * root.n**2
        quick = ahead <= WORK_PER_SECOND * min(MOST_SECONDS, allowed())
        if root.bits.shape[0] * root.n >= _LARGE and quick and isinstance(form, WeightedMonomial):
            scale = _Scale(problem, reduced)
            cost = scale.cost(progress.objective)
            least = min(cost, Workers(root, cost, 1, by_index=False).bound())
            progress.bound(scale.objective(least))
            told = f"the bound {progress.best_bound} is that with which the exact search begins"
            progress.contributed.append(told)
        return None

    def watch(workers: Workers) -> bool:
        late = progress.past(OPTIONAL)
        return late or progress.should_stop or workers.best()[1] is not None

    found = explore(root, root.objective.highest + 1, 1, watch).columns
    if found is not None:
        _reporter(problem, reduced, progress)(found)
    return "search"


def _begun(problem: Problem, reduced: Reduced, progress: Progress, width: int) -> Root:
    """Report what is had before a search, and return its root."""
    root, report = Root.whole(reduced), _reporter(problem, reduced, progress)
    report([])
    if isinstance(problem, RatioProblem):
        progress.bound(problem._trivial_bound())
        _approach(problem, reduced, root, progress, width)
        return root.aiming_at(better_than(reduced.objective, Fraction(0)))
    progress.bound(_Scale(problem, reduced).objective(0))
    if root.n > 0:
        report(beam_columns(root, width))
    return root


def _reporter(
    problem: Problem, reduced: Reduced, progress: Progress
) -> Callable[[list[int]], None]:
    """Return what reports a set of columns."""

    def report(columns: list[int]) -> None:
        progress.found(problem.explanation(reduced.original(columns)))

    return report


def beam_width(options: SolveOptions) -> int:
    """Return how many sets of each size the beam search for a first incumbent keeps."""
    return int(options.engine.get("beam_width", _BEAM_WIDTH))


def elsewhere(progress: Progress) -> Elsewhere | None:
    """Return what searches branches on a cluster; None for the threads here."""
    address = progress.options.engine.get("cluster")
    if address is None:
        return None
    from cpx.models.monomial.search.cluster import search_on_cluster

    return partial(search_on_cluster, str(address), progress.remaining)


class _Scale:
    """Costs of the search and objectives of the problem."""

    def __init__(self, problem: Problem, reduced: Reduced) -> None:
        self.reduced = reduced
        self.sign = 1 if problem.sense == "min" else -1
        # Covering nothing is worth nothing where the covered is maximised.
        self.zero = 0 if self.sign == 1 else reduced.uncovered

    def objective(self, cost: int) -> int:
        """Return the objective of a cost."""
        return self.zero + self.sign * self.reduced.value(cost)

    def cost(self, objective: Value | None) -> int:
        """Return the cost of an objective, that of no allowed set for None."""
        if objective is None:
            return self.reduced.objective.highest + 1
        value = self.sign * (int(objective) - self.zero)
        return -((self.reduced.base - value) // self.reduced.scale)


def break_ties(
    problem: Problem,
    reduced: Reduced,
    progress: Progress,
    cost: int,
    nodes: int,
    known: list[int] | None,
) -> list[str]:
    """Replace the answer by the first of the optimal sets, whose cost is known.

    ``known`` is that set where the search met it. Returns a warning when the choice takes
    too long.
    """
    assert progress.explanation is not None
    shortest = problem._shortened(progress.explanation).features
    most = min(len(shortest) - len(reduced.fixed), reduced.k)

    most_nodes = progress.options.engine.get("tie_nodes", _TIE_NODES) + nodes

    def stop(spent: int) -> bool:
        return progress.interrupted or progress.expired or spent > most_nodes

    try:
        if known is None:
            known = first_optimal(reduced, cost, most, progress.options.threads, stop)
    except Cut:
        return [
            "optimal, but whether it is the shortest and first of the optimal rules was not"
            " settled"
        ]
    features = reduced.original(known)
    if features != progress.explanation.features:
        progress.explanation = problem.explanation(features)
    return []


def optimise_ratio(problem: Problem, reduced: Reduced, progress: Progress) -> Outcome:
    """Search a problem whose objective is the precision."""
    least = max(1, reduced.objective.least)
    nodes = steps = 0
    notes: list[str] = []

    report = _reporter(problem, reduced, progress)

    def bound(ratio: Fraction, limit: int, cost: int) -> None:
        # With cost = P c + (Q - P) l, limit - cost is Q times good - ratio * covered.
        progress.bound(ratio + Fraction(limit - cost, ratio.denominator) / least)

    whole = _begun(problem, reduced, progress, beam_width(progress.options))
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

        options = progress.options
        done = explore(root, limit, options.threads, watch, elsewhere(progress))
        notes += done.notes
        nodes, steps = nodes + done.nodes, steps + 1
        progress.count(nodes=done.nodes)
        message = f"{nodes} nodes, {steps} steps"
        better = done.columns is not None and done.cost < limit
        if done.columns is not None:
            report(done.columns)
        if better and not (progress.interrupted or progress.expired):
            continue
        if progress.objective is None:
            why = Termination.COMPLETED if done.finished else progress.why_stopped()
            return Outcome(done.finished, why, message, warnings=notes)
        # A bound that is met ends the search too, early or late; the choice among ties is left.
        proved = done.finished or progress.objective == progress.best_bound
        if better or not proved:
            value = progress.objective
            return Outcome(False, progress.why_stopped(), message, value, warnings=notes)
        progress.bound(progress.objective)
        first = done.columns if done.first and root.cost_of_none() > limit else None
        aimed = replace(reduced, objective=objective)
        warnings = notes + break_ties(problem, aimed, progress, limit, nodes, first)
        return Outcome(True, Termination.COMPLETED, message, progress.objective, warnings=warnings)


def better_than(objective: Objective, ratio: Fraction) -> Objective:
    """Return the objective whose cost is below (Q - P) G for the sets above the ratio P/Q."""
    return replace(objective, alpha=ratio.numerator, beta=ratio.denominator - ratio.numerator)


def _approach(
    problem: Problem, reduced: Reduced, whole: Root, progress: Progress, width: int
) -> None:
    """Report better and better sets of beam searches, as long as one improves on the last."""
    while whole.n > 0 and not progress.should_stop:
        before = progress.objective
        objective = better_than(reduced.objective, Fraction(before or 0))
        columns = beam_columns(whole.aiming_at(objective), width)
        progress.found(problem.explanation(reduced.original(columns)))
        if progress.objective == before:
            return
