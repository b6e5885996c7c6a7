"""After the solve: ties broken by coverage, what is guaranteed, how a rule compares."""

from __future__ import annotations

from dataclasses import astuple, replace
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from time import monotonic
from typing import TYPE_CHECKING, Any

from cpx import check
from cpx.answers.result import Result, Status, Times
from cpx.answers.values import in_words
from cpx.data.statistics import UniformLimits
from cpx.errors import CheckFailed
from cpx.explainers.guarantees import (
    allowed_rules,
    highest_precision,
    rounded_down,
    rounded_up,
)
from cpx.models.monomial.precision_coverage import MaxCoverage, MaxPrecision
from cpx.solving import solve

if TYPE_CHECKING:
    from cpx.answers.explanation import Explanation
    from cpx.answers.values import Value
    from cpx.explainers.question import Question
    from cpx.models.monomial.problem import MonomialProblem

__all__ = ["DELTA", "break_tie", "chance", "compared", "covering", "guarantee", "with_remarks"]

DELTA = 0.05
"""Failure probability of what is guaranteed, unless it is given."""

_PROVED = "no rule that is as precise covers more"
_BACKEND = "search"


def break_tie(problem: MonomialProblem, result: Result) -> Result:
    """Return a result of maximum precision with the rule of maximum coverage.

    Often many rules have the maximum precision, and the first of them is no better than the
    others on the samples. One that covers more says more, and its precision rests on more
    samples. So a second problem is solved, the maximum coverage with that precision as its
    floor, in what is left of the time limit; when the limit comes first, the rule that covers
    most so far is returned.

    Parameters
    ----------
    problem : MonomialProblem
        What was solved. Problems other than :class:`cpx.MaxPrecision` are left alone.
    result : Result
        An answer of the exact search with its proof; other results are returned as they are.

    Returns
    -------
    Result
        With the same objective and bound. Its times are those of both solves.

    Examples
    --------
    >>> from cpx import MaxPrecision, Samples, solve
    >>> samples = Samples([[1, 0], [0, 1], [0, 1], [0, 0]], [1, 1, 1, 0], features=("a", "b"))
    >>> problem = MaxPrecision(samples, k=1)
    >>> first = solve(problem, "search")
    >>> str(first.explanation), str(break_tie(problem, first).explanation)
    ('a => same class as x', 'b => same class as x')
    """
    found = result.explanation
    eligible = result.backend == _BACKEND and result.status is Status.OPTIMAL
    if not isinstance(problem, MaxPrecision) or not eligible or found is None:
        return result
    limit = result.options.get("time_limit")
    left = None if limit is None else limit - result.times.total
    if left is not None and left <= 0:
        return result
    threads = int(result.options.get("threads", 1))
    wider = covering(problem, result.objective)
    best = solve(wider, _BACKEND, time_limit=left, threads=threads, hint=found.features)
    if best.explanation is None or best.status not in (Status.OPTIMAL, Status.FEASIBLE):
        return result
    rule = problem.explanation(best.explanation.features)
    rule = problem.conclude(rule, True, result.objective, result.bound)
    if best.status is Status.OPTIMAL:
        rule = replace(rule, proved=f"{rule.proved}; {_PROVED}")
    both = zip(astuple(result.times), astuple(best.times), strict=True)
    times = Times(*(first + second for first, second in both))
    answer = replace(result, explanation=rule, times=times)
    for violation in check.violations(problem.to_check(), answer.to_dict()):
        if violation != check.UNJUDGED:
            raise CheckFailed(f"check of the rule that covers most failed: {violation}")
    return answer


def covering(problem: MaxPrecision, floor: Value | None) -> MaxCoverage:
    """Return the problem of the rule that covers most of those with at least this precision."""
    limits: dict[str, Any] = {**problem.shares, "min_precision": floor}
    return MaxCoverage(
        samples=problem.samples,
        k=problem.k,
        required=problem.required,
        forbidden=problem.forbidden,
        one_per_group=problem.one_per_group,
        side_constraints=problem.side_constraints,
        **limits,
    )


def with_remarks(
    question: Question,
    problem: MonomialProblem,
    explanation: Explanation,
    bound: Value | None,
    proved: bool = False,
    time_limit: float | None = None,
) -> Explanation:
    """Return a rule with what is guaranteed of it, and noted for those who read it.

    Parameters
    ----------
    question, problem, explanation, bound
        As for :func:`guarantee`.
    proved : bool
        Whether the rule is proved to be the best.
    time_limit : float, optional
        Seconds for the guarantee.
    """
    note = _always_predicting(question, explanation) if proved else ""
    return replace(
        explanation,
        guarantee=guarantee(question, problem, explanation, bound, time_limit),
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
        f"is the best answer. It is right for {float(share or 0):.3f} of the samples; the "
        "objective precision asks for a rule that is right more often where it applies"
    )


def guarantee(
    question: Question,
    problem: MonomialProblem,
    explanation: Explanation,
    bound: Value | None,
    time_limit: float | None = None,
) -> str:
    """Return what holds of a rule under the distribution, with probability 1 - delta.

    Parameters
    ----------
    question : Question
        Its delta is 0.05 unless it is given.
    problem : MonomialProblem
        On the samples drawn for the question.
    explanation : Explanation
        The rule, best on the samples or not.
    bound : int, Fraction or None
        Proven bound on the objective of every rule allowed.
    time_limit : float, optional
        Seconds to find out how precise other rules can be.

    Returns
    -------
    str
        A sentence; the page on guarantees has its proof.
    """
    samples, rivals = problem.samples, problem.candidate()
    drawn = samples.context["distribution"]["name"]
    if samples.population:
        return f"exact: all {samples.total} rows of {drawn!r} were used, none was drawn by chance"
    if problem.min_precision:
        rivals += " on the samples"
    opening = f"with probability at least {chance(question)} over the samples drawn,"
    delta = question.delta or DELTA
    if question.objective in ("loss", "negative-only"):
        limits = UniformLimits(allowed_rules(problem), delta, 2)
        return _loss(question, problem, explanation, bound, limits, opening, rivals)
    limits = UniformLimits(allowed_rules(problem), delta)
    found, claims = problem.evaluate(explanation), []
    low = rounded_down(limits.lower(found.agreeing_covered, found.covered))
    if low > 0:
        claims.append(f"its precision is at least {low:g}")
    if (least := rounded_down(limits.lower(found.covered, found.total))) > 0:
        claims.append(f"it covers at least {least:g}")
    if bound is not None and question.objective == "coverage":
        most = rounded_up(limits.upper(int(bound), found.total))
        claims += [f"no {rivals} covers more than {most:g}"] if most < 1 else []
    elif bound is not None and isinstance(problem, MaxPrecision):
        known = limits.upper(found.agreeing_covered, found.covered)
        deadline = None if time_limit is None else monotonic() + time_limit
        high = rounded_up(highest_precision(problem, limits, Fraction(bound), known, deadline))
        claims += _more_precise(low, high, rivals)
    if not claims:
        return f"none: {samples.total} samples are too few, a smaller epsilon draws more"
    return f"{opening} of the rows of {drawn!r}: {'; '.join(claims)}"


def _more_precise(low: float, high: float, rivals: str) -> list[str]:
    """Say how much more precise than the rule another one can be, unless it is anything."""
    if low <= 0:
        return [f"no {rivals} has a precision above {high:g}"] if high < 1 else []
    return [f"no {rivals} is more than {max(0.0, round(high - low, 3)):g} more precise"]


def _loss(
    question: Question,
    problem: MonomialProblem,
    explanation: Explanation,
    bound: Value | None,
    limits: UniformLimits,
    opening: str,
    rivals: str,
) -> str:
    """Say how much more than the best rule this one gets wrong, at most."""
    if bound is None:
        return ""
    total, drawn = problem.samples.total, problem.samples.context["distribution"]["name"]
    value = int(problem.evaluate(explanation).objective)
    what = "gets wrong" if question.objective == "loss" else "covers in another class"
    most = rounded_up(limits.upper(value, total) - limits.lower(int(bound), total))
    return (
        f"{opening} the share of rows of {drawn!r} that the rule {what} is at most "
        f"{most:g} above that of every {rivals}"
    )


def chance(question: Question) -> Decimal:
    """Return 1 - delta, never more than is proved: 1 - 1e-7 to six digits would be 1."""
    delta = Decimal(repr(float(question.delta or DELTA)))
    return Context(rounding=ROUND_FLOOR).subtract(Decimal(1), delta)


def compared(problem: MonomialProblem, explanation: Explanation, best: Result) -> Explanation:
    """Return a rule with the sentence that compares it with the best one.

    Parameters
    ----------
    problem : MonomialProblem
        Which rules are compared, and by what.
    explanation : Explanation
        The rule, with its figures on the samples.
    best : Result
        Of solving the problem.
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
