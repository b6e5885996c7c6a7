"""Search for expected predictions under dependent attributes, or with many tests in a leaf.

The others are sums of tables, one for each tree: ``table_sums`` searches for these.

- ``beam``: the best sets of each size by beam search, which are the first answers;
- ``swaps``: better sets by exchanges, where attributes depend on each other;
- ``enumeration``: all sets of attributes, where these are few enough: a proof;
- ``branch_and_bound``: a proof by bounds where these sets are not too many;
- ``components``: a bound from the components of a mixture, each a sum of tables;
- ``dinkelbach``: better bounds, and sets, by Dinkelbach's method;
- ``sizes``: how many attributes a threshold takes at least, by bounds on those of each size.
"""

from __future__ import annotations

import math
from time import thread_time

from cpx.answers.result import Termination
from cpx.backends.base import Outcome, Progress
from cpx.modelling.base import Problem
from cpx.models.expected_prediction.form import ExpectationForm

__all__ = ["solve_known_attributes"]

_WIDTH = 5
"""Sets of each size that the beam keeps."""

_PATIENCE = 0.5
"""Seconds of the processor after which better sets are told, where these take long."""


def solve_known_attributes(problem: Problem, form: ExpectationForm, progress: Progress) -> Outcome:
    """Search for attributes of x; see :class:`~cpx.backends.base.Backend`."""
    from cpx.models.expected_prediction.fewest import FewestExpected
    from cpx.models.expected_prediction.search.known_attributes.beam import beam_levels
    from cpx.models.expected_prediction.search.known_attributes.branch_and_bound import (
        BranchAndBound,
    )
    from cpx.models.expected_prediction.search.known_attributes.components import (
        bound_by_components,
    )
    from cpx.models.expected_prediction.search.known_attributes.enumeration import Enumeration
    from cpx.models.expected_prediction.search.known_attributes.sizes import raise_bound
    from cpx.models.expected_prediction.search.known_attributes.swaps import exchanged

    sizes = {**form.sizes(), "components": form.scores.distribution.n_components}
    if form.contradicts:
        return Outcome(
            True, Termination.COMPLETED, "the required features contradict", sizes=sizes
        )
    if form.least is None:
        if (most_valuable := problem._trivial_bound()) is not None:
            progress.bound(most_valuable)
    elif form.scores.greatest(form.required) < form.least:
        return Outcome(True, Termination.COMPLETED, "no row has a score as high", sizes=sizes)
    most, evaluator = form.most, form.scores.evaluator
    enumeration = Enumeration(problem, form, progress)
    best_of_all = form.scores.best_set(most, form.required, form.forbidden)
    if best_of_all is not None:
        if form.least is not None and form.scores.expected(best_of_all) < form.least:
            return Outcome(True, Termination.COMPLETED, "no set has as much", sizes=sizes)
        progress.found(problem.explanation(best_of_all))
        if form.least is not None:
            progress.bound(fewest := problem._trivial_bound() or 0)
            smaller = form.scores.best_set(int(fewest), form.required, form.forbidden)
            if smaller is not None and form.scores.expected(smaller) >= form.least:
                progress.found(problem.explanation(smaller))
        if progress.gap_reached and not progress.options.gap and not enumeration.few:
            value = int(progress.objective or 0)
            return Outcome(True, Termination.COMPLETED, "log-odds add up", value, sizes)

    def stop() -> bool:
        return progress.should_stop

    if not enumeration.short or not enumeration.affordable(most):
        best, best_set, met, offered = -math.inf, tuple[int, ...](), None, thread_time()
        # Sets are evaluated exactly, which takes long where attributes depend on each other.
        patience = 0.0 if form.scores.distribution.edgeless else _PATIENCE
        chosen, threads = (form.required, form.forbidden), progress.options.threads
        of = evaluator, most, _WIDTH, *chosen, stop, threads, form.likely
        for level in beam_levels(*of):
            if form.least is not None:
                found = (progress.found(problem.explanation(known.features)) for known in level)
                if any(one is not None for one in found):
                    break
            elif level[0].expected > best:
                best, met = level[0].expected, level[0].features
                best_set = met
            if met is not None and (stop() or thread_time() - offered >= patience):
                progress.found(problem.explanation(met))
                met, offered = None, thread_time()
            if stop():
                return Outcome(False, progress.why_stopped(), "beam search", sizes=sizes)
        if form.least is None and best_set and not form.scores.distribution.edgeless:
            # Of others, components bring better sets, with the bound.
            better, _ = exchanged(evaluator, best_set, *chosen, stop, form.likely)
            met = better if better != best_set else met
        if met is not None:
            progress.found(problem.explanation(met))
    if enumeration.affordable(most):
        if enumeration.run():
            claimed = None if progress.objective is None else int(progress.objective)
            message = f"all {enumeration.count} sets"
            done = Outcome(True, Termination.COMPLETED, message, claimed, sizes)
            done.best_of_ties = True
            return done
        if stop() or form.likely is None:
            return Outcome(False, progress.why_stopped(), "stopped early", sizes=sizes)
    if form.least is None:
        message = "beam search and exchanges"
        if form.scores.distribution.edgeless:
            message = bound_by_components(problem, form, progress)
        tree = BranchAndBound(problem, form, progress)
        if tree.affordable and not progress.should_stop:
            finished = tree.run()
            message = f"{message}; {tree.message}"
            if finished:
                claimed = None if progress.objective is None else int(progress.objective)
                done = Outcome(True, Termination.COMPLETED, message, claimed, sizes)
                done.best_of_ties = True
                return done
    else:
        message = enumeration.smallest_sizes()
        if isinstance(problem, FewestExpected) and not (problem.bounded or problem.by_leaf):
            message += raise_bound(problem, progress, solve_known_attributes)
        if progress.gap_reached and not progress.options.gap:
            return Outcome(
                True, Termination.COMPLETED, message, int(progress.objective or 0), sizes
            )
    return Outcome(False, progress.why_stopped(), message, sizes=sizes)
