"""Maximum-weight formulas (rules of kernel machines), by exact search.

First a formula is looked for that is true of all rows of positive weight and of no other
(``consistent``); it would be optimal. Otherwise the best formula of one clause, a maximum-weight
monomial, is improved by local search (``local_search``); then all clauses that a better formula
may need are enumerated (``candidates``, ``dominance``), and branch and bound over sets of them
(``branch_and_bound``), with Lagrangian bounds (``dual``, ``clause_weights``), proves the optimum.
A hint is one more formula to start from: the proof never rests on it. Side constraints (``terms``)
hold in all of these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cpx.answers.result import Termination
from cpx.backends.base import Outcome, Progress
from cpx.backends.search.form_search import FormSearch

if TYPE_CHECKING:
    from cpx.modelling.base import Problem
    from cpx.models.kernel_rule.form import DNFForm
    from cpx.models.kernel_rule.search.rows import Rows

__all__ = ["solve_dnf"]

_MOST_NODES = 500
"""Nodes of the search for a consistent formula: less than a second, some where rows are wide."""

_MOST_MONOMIALS, _MOST_BITS = 1_000_000, 50_000_000
"""Monomials that are enumerated, and clauses times rows for branch and bound: 0.4 GB."""

_MOST_PAIRS = 6_000_000
"""Positive times negative rows for branch and bound, whose multipliers take 0.4 GB then."""


def solve_dnf(problem: Problem, form: DNFForm, progress: Progress) -> Outcome:
    """Search for the formula of greatest weight; see :class:`~cpx.backends.base.Backend`."""
    from cpx.models.kernel_rule.search.consistent import Consistent, elements
    from cpx.models.kernel_rule.search.rows import Rows
    from cpx.models.kernel_rule.search.terms import within_side_constraints

    within = within_side_constraints(form)
    if within is None:
        return Outcome(True, Termination.COMPLETED, "the constraints contradict each other")
    free, features = within
    rows = Rows.of(free)
    sizes = {"samples": len(rows.gains) + len(rows.costs), "features": features.size}

    def report(clauses: Sequence[tuple[int, ...]]) -> None:
        named = [tuple(features[list(clause)].tolist()) for clause in clauses]
        progress.found(problem.explanation(form.features(named)))

    def allowed(clauses: list[int]) -> bool:
        return free.allows([tuple(elements(clause)) for clause in clauses])

    progress.bound(rows.greatest)
    search = Consistent(rows.inside, rows.outside, form.max_clauses, form.max_literals, allowed)
    found = search.find(_MOST_NODES, lambda: progress.should_stop)
    progress.count(nodes=search.nodes)
    if found is not None:
        report([tuple(elements(clause)) for clause in found])
        message = f"consistent with all support vectors, {search.nodes} nodes"
        return Outcome(True, Termination.COMPLETED, message, rows.greatest, sizes)
    if progress.should_stop:
        return Outcome(False, progress.why_stopped(), "stopped early", sizes=sizes)
    start: list[tuple[int, ...]] = []
    if progress.explanation is not None:
        place = {j: x for x, j in enumerate(features.tolist())}
        hint = form.clauses(progress.explanation.features)
        start = [tuple(sorted(place[j] for j in clause)) for clause in hint]
    return _general(free, rows, start, report, progress, sizes)


def _general(
    form: DNFForm,
    rows: Rows,
    start: list[tuple[int, ...]],
    report: Callable[[Sequence[tuple[int, ...]]], None],
    progress: Progress,
    sizes: dict[str, int],
) -> Outcome:
    from cpx.models.kernel_rule.search.branch_and_bound import BranchAndBound
    from cpx.models.kernel_rule.search.candidates import enumerate_clauses
    from cpx.models.kernel_rule.search.local_search import best_clause, improve, restarts
    from cpx.models.kernel_rule.search.record import Record, RecordedSearch
    from cpx.models.kernel_rule.search.terms import Terms

    def stop() -> bool:
        return progress.should_stop

    # The enumeration leaves out clauses that a formula better than this one does not need.
    alone = best_clause(form, [], stop)
    if alone is not None:
        report([alone])
        start = max([[alone], start], key=lambda some: (bool(some), form.value(some)))
    if not stop():
        start = improve(form, start, report, stop)
    if stop():
        return Outcome(False, progress.why_stopped(), "ended in local search", sizes=sizes)
    # No formula is worth as little.
    value = -int(rows.costs.sum()) - 1 if progress.objective is None else int(progress.objective)
    terms = Terms.of(form)
    candidates = None
    if len(rows.gains) * len(rows.costs) <= _MOST_PAIRS:
        loss = rows.greatest - value
        candidates = enumerate_clauses(rows, terms, form.max_literals, loss, _MOST_MONOMIALS, stop)
    if stop():
        return Outcome(False, progress.why_stopped(), "ended in the enumeration", sizes=sizes)
    if candidates is None or len(candidates) * sizes["samples"] > _MOST_BITS:
        restarts(form, start, report, stop)
        message = "local search only: too many clauses or rows"
        ended = progress.why_stopped() if stop() else Termination.COMPLETED
        return Outcome(False, ended, message, sizes=sizes)
    record = None
    if progress.record is not None and not len(terms):
        record = Record()
        progress.record.append(RecordedSearch(rows, record))
    tree = BranchAndBound(
        rows,
        terms,
        candidates,
        form.max_clauses,
        value,
        found=lambda chosen: report([candidates.clause(c) for c in chosen]),
        proved=progress.bound,
        stop=stop,
        record=record,
    )
    done = tree.search()
    progress.count(nodes=tree.nodes)
    sizes = {**sizes, "clauses": len(candidates)}
    message = f"{len(candidates)} clauses, {tree.nodes} nodes"
    if not done:
        return Outcome(False, progress.why_stopped(), message, sizes=sizes)
    if progress.objective is None:
        return Outcome(True, Termination.COMPLETED, message, sizes=sizes)
    progress.bound(tree.value)
    return Outcome(True, Termination.COMPLETED, message, tree.value, sizes)


SEARCH = FormSearch(solve_dnf, keeps_side_constraints=True)
