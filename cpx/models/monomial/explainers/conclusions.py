"""What is concluded of a solved question: ties, what is guaranteed and noted, comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, replace
from typing import TYPE_CHECKING, Any

from cpx import check
from cpx.answers.claim import Claim
from cpx.answers.result import Result, Status, Times
from cpx.answers.values import Value
from cpx.errors import CheckFailed
from cpx.modelling.claims import asked, claimed
from cpx.models.monomial.explainers.guarantees import guarantee
from cpx.models.monomial.precision_coverage import MaxPrecision
from cpx.models.monomial.problem import MonomialProblem
from cpx.solving import solve

if TYPE_CHECKING:
    from cpx.answers.explanation import Explanation
    from cpx.models.monomial.explainers.question import Question


def break_tie(problem: MonomialProblem, result: Result) -> Result:
    """Return a result of maximum precision with the rule of maximum coverage.

    Often many rules have the maximum precision, and the first of them is no better than the
    others on the samples. One that covers more says more, and its precision rests on more
    samples. So a second problem is solved, the maximum coverage with that precision as its
    floor, in what is left of the time limit; when the limit comes first, the rule that covers
    most so far is returned.

    problem: What was solved. Problems other than :class:`cpx.MaxPrecision` are left alone.
    result: An answer of the exact search with its proof; other results are returned as they are.
    Returns: With the same objective and bound. Its times are those of both solves.

    >>> from cpx import MaxPrecision, Samples, solve
    >>> samples = Samples([[1, 0], [0, 1], [0, 1], [0, 0]], [1, 1, 1, 0], features=("a", "b"))
    >>> problem = MaxPrecision(samples, k=1)
    >>> first = solve(problem, "search")
    >>> str(first.explanation), str(break_tie(problem, first).explanation)
    ('a => same class as x', 'b => same class as x')
    """
    found = result.explanation
    eligible = result.backend == "search" and result.status is Status.OPTIMAL
    if not isinstance(problem, MaxPrecision) or not eligible or found is None:
        return result
    limit = result.options.get("time_limit")
    left = None if limit is None else limit - result.times.total
    if left is not None and left <= 0:
        return result
    threads = int(result.options.get("threads", 1))
    wider = problem.covering(result.objective)
    best = solve(wider, "search", time_limit=left, threads=threads, hint=found.features)
    if best.explanation is None or best.status not in (Status.OPTIMAL, Status.FEASIBLE):
        return result
    rule = problem.explanation(best.explanation.features)
    rule = problem._conclude(rule, True, result.objective, result.bound)
    if best.status is Status.OPTIMAL and rule.claim is not None:
        rule = replace(rule, claim=replace(rule.claim, best_of_ties=True))
    both = zip(astuple(result.times), astuple(best.times), strict=True)
    times = Times(*(first + second for first, second in both))
    answer = replace(result, explanation=rule, times=times)
    for violation in check.violations(problem._to_check(), answer.to_dict()):
        if violation != check.UNJUDGED:
            raise CheckFailed(f"check of the rule that covers most failed: {violation}")
    return answer


def with_guarantee(
    question: Question,
    problem: MonomialProblem,
    explanation: Explanation,
    bound: Value | None,
    time_limit: float | None = None,
) -> Explanation:
    """Return a rule with what holds of the rows that its samples are from.

    problem, explanation, bound: As for
        :func:`~cpx.models.monomial.explainers.guarantees.guarantee`; the samples may be all rows.
    time_limit: Seconds for the guarantee.
    """
    samples = problem.samples
    if not samples.population:
        told = guarantee(problem, explanation, bound, question.delta, time_limit)
        return with_beyond(problem, explanation, told)
    rows = samples.context["distribution"]["name"]
    return with_beyond(problem, explanation, {"rows": rows, "samples": samples.total})


def with_beyond(
    problem: MonomialProblem, explanation: Explanation, beyond: Mapping[str, Any]
) -> Explanation:
    """Return an explanation that claims something of more than the samples."""
    claim = explanation.claim or Claim(problem.kind, asked(problem))
    return replace(explanation, claim=replace(claim, beyond=beyond))


def compared(problem: MonomialProblem, explanation: Explanation, best: Result) -> Explanation:
    """Return a rule with what compares it with the best one.

    problem: Which rules are compared, and by what.
    explanation: The rule, with its figures on the samples.
    best: Of solving the problem.
    """
    found = problem.evaluate(explanation)
    if found.feasible and best.proved and best.objective == found.objective:
        return problem._conclude(explanation, True, found.objective, best.bound)
    rival = None if best.explanation is None else best.explanation.to_dict()
    figures = {"feasible": found.feasible, "best": rival, "closed": best.proved}
    return claimed(problem, explanation, False, found.objective, None, **figures)
