"""The fewest features of a small error, by exact search: one size after the other."""

from __future__ import annotations

from cpx.answers.result import Termination
from cpx.backends.base import Outcome, Progress
from cpx.backends.search.form_search import FormSearch
from cpx.modelling.base import Problem
from cpx.models.certificate.precise_form import PreciseForm
from cpx.models.monomial.search.driver import Workers, explore
from cpx.models.monomial.search.presolve import reduce
from cpx.models.monomial.search.root import Root


def solve(problem: Problem, form: PreciseForm, progress: Progress) -> Outcome:
    """Search the rules of 0, 1, 2, ... features for one that is precise.

    The error does not fall with every feature, so that no set says anything of those that
    contain it. But whether a rule of at most k features is precise is whether one of the least
    cost is (:meth:`PreciseForm.gains`), which the search for weighted monomials decides. Each
    size without a precise rule is a bound.
    """
    _shorten(problem, form, progress)
    nodes = 0
    for k in range(len(form.required), form.n_features + 1):
        weighted, most = form.gains(k)
        progress.bound(k)
        if progress.objective == k:
            break
        if progress.should_stop:
            return Outcome(False, progress.why_stopped(), f"{nodes} nodes", progress.objective)
        reduced = reduce(weighted)
        if reduced is None:
            # Side constraints may want more features than k.
            continue
        limit = (most - reduced.base) // reduced.scale
        found: list[int] | None = []
        if not problem.evaluate(problem.explanation(reduced.original([]))).feasible:
            root = Root.whole(reduced)

            def watch(workers: Workers, limit: int = limit) -> bool:
                cost, columns = workers.best()
                return (columns is not None and cost <= limit) or progress.should_stop

            done = explore(root, limit + 1, progress.options.threads, watch)
            nodes += done.nodes
            progress.count(nodes=done.nodes)
            found = done.columns if done.columns is not None and done.cost <= limit else None
            if found is None and not done.finished:
                message = f"{nodes} nodes"
                return Outcome(False, progress.why_stopped(), message, progress.objective)
        if found is not None:
            progress.found(problem.explanation(reduced.original(found)))
            break
    message = f"{nodes} nodes"
    return Outcome(True, Termination.COMPLETED, message, progress.objective)


def _shorten(problem: Problem, form: PreciseForm, progress: Progress) -> None:
    """Report all features that are allowed, and what is left of them as long as it is precise."""
    chosen = [j for j in range(form.n_features) if j not in form.forbidden]
    progress.found(problem.explanation(chosen))
    idle = [j for j in reversed(chosen) if j not in form.required]
    for j in idle:
        if progress.should_stop:
            return
        rest = [i for i in chosen if i != j]
        if form.precise(rest):
            chosen = rest
    progress.found(problem.explanation(chosen))


SEARCH = FormSearch(solve, keeps_side_constraints=True)
