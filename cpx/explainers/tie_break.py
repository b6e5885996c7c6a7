"""Of the most precise rules, the one that covers most."""

from __future__ import annotations

from dataclasses import astuple, replace
from typing import TYPE_CHECKING, Any

from cpx import check
from cpx.answers.result import Result, Status, Times
from cpx.errors import CheckFailed
from cpx.models.monomial.max_coverage import MaxCoverage
from cpx.models.monomial.max_precision import MaxPrecision
from cpx.solving import solve

if TYPE_CHECKING:
    from cpx.models.monomial.problem import MonomialProblem

__all__ = ["break_tie"]

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
    limits: dict[str, Any] = {**problem.shares, "min_precision": result.objective}
    wider = MaxCoverage(
        samples=problem.samples,
        k=problem.k,
        required=problem.required,
        forbidden=problem.forbidden,
        one_per_group=problem.one_per_group,
        **limits,
    )
    threads = int(result.options.get("threads", 1))
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
    for complaint in check.complaints(problem.to_dict(), answer.to_dict()):
        if complaint != check.UNJUDGED:
            raise CheckFailed(f"check of the rule that covers most failed: {complaint}")
    return answer
