"""What is concluded of a solved question: ties, what is guaranteed and noted, comparison."""

from __future__ import annotations

from dataclasses import astuple, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from cpx import check
from cpx.answers.result import Result, Status, Times
from cpx.answers.values import Value, in_words
from cpx.errors import CheckFailed
from cpx.explainers.options import BACKEND
from cpx.models.monomial.explainers.guarantees import guarantee
from cpx.models.monomial.precision_coverage import MaxPrecision
from cpx.models.monomial.problem import MonomialProblem
from cpx.solving import solve
from cpx.support.shares import share_text

if TYPE_CHECKING:
    from cpx.answers.explanation import Explanation
    from cpx.models.monomial.explainers.question import Question

_PROVED = "no rule that is as precise covers more"


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
    eligible = result.backend == BACKEND and result.status is Status.OPTIMAL
    if not isinstance(problem, MaxPrecision) or not eligible or found is None:
        return result
    limit = result.options.get("time_limit")
    left = None if limit is None else limit - result.times.total
    if left is not None and left <= 0:
        return result
    threads = int(result.options.get("threads", 1))
    wider = problem.covering(result.objective)
    best = solve(wider, BACKEND, time_limit=left, threads=threads, hint=found.features)
    if best.explanation is None or best.status not in (Status.OPTIMAL, Status.FEASIBLE):
        return result
    rule = problem.explanation(best.explanation.features)
    rule = problem.conclude(rule, True, result.objective, result.bound)
    if best.status is Status.OPTIMAL:
        rule = replace(rule, proved=f"{rule.proved}; {_PROVED}")
    both = zip(astuple(result.times), astuple(best.times), strict=True)
    times = Times(*(first + second for first, second in both))
    answer = replace(result, explanation=rule, times=times)
    for violation in check.violations(problem._to_check(), answer.to_dict()):
        if violation != check.UNJUDGED:
            raise CheckFailed(f"check of the rule that covers most failed: {violation}")
    return answer


def with_remarks(
    question: Question,
    problem: MonomialProblem,
    explanation: Explanation,
    bound: Value | None,
    proved: bool = False,
    time_limit: float | None = None,
) -> Explanation:
    """Return a rule with what is guaranteed of it, and noted for those who read it.

    problem, explanation, bound: As for
        :func:`~cpx.models.monomial.explainers.guarantees.guarantee`; the samples may be all rows.
    proved: Whether the rule is proved to be the best.
    time_limit: Seconds for the guarantee.
    """
    note = _always_predicting(question, explanation) if proved else ""
    samples = problem.samples
    if samples.population:
        drawn = samples.context["distribution"]["name"]
        told = f"exact: all {samples.total} rows of {drawn!r} were used, none was drawn by chance"
    else:
        told = guarantee(problem, explanation, bound, question.delta, time_limit)
    return replace(
        explanation,
        guarantee=told,
        notes=(*explanation.notes, note) if note else explanation.notes,
    )


def _always_predicting(question: Question, explanation: Explanation) -> str:
    """Say that the rule of least loss is the empty one.

    Where most samples agree with x, no condition may lower the loss: a fact about the loss,
    not about x, so a reader should know what else can be asked.
    """
    share = explanation.precision
    if question.objective != "loss" or explanation.features or share in (None, 1):
        return ""
    return (
        f"no condition lowers the loss: by loss, always predicting {explanation.rule.conclusion} "
        f"is the best answer. It is right for {share_text(share or Fraction(0))} of the samples; "
        "the objective precision asks for a rule that is right more often where it applies"
    )


def compared(problem: MonomialProblem, explanation: Explanation, best: Result) -> Explanation:
    """Return a rule with the sentence that compares it with the best one.

    problem: Which rules are compared, and by what.
    explanation: The rule, with its figures on the samples.
    best: Of solving the problem.
    """
    found = problem.evaluate(explanation)
    if found.feasible and best.proved and best.objective == found.objective:
        return problem.conclude(explanation, True, found.objective, best.bound)
    told = f"{problem.claim()} {in_words(found.objective)}"
    if not found.feasible:
        told += f", but it is not what was asked for, a {problem.candidate()}"
    if best.explanation is None:
        rest = "there is none" if best.proved else "none was found"
    else:
        rest = f"the best one found is {best.explanation}, {best.explanation.proved}"
    return replace(explanation, proved=f"{told}; {rest}")
