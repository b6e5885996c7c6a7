"""Why there is no rule: the floor in words, and the best that can be had in its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from cpx.answers.explanation import Explanation
from cpx.answers.result import Result, Status
from cpx.answers.rule import Rule
from cpx.errors import Infeasible
from cpx.models.monomial.precision_coverage import MaxCoverage, MaxPrecision
from cpx.models.monomial.problem import MonomialProblem
from cpx.solving.run import solve_with
from cpx.support.shares import share_text

_MOST = 2**31  # weight of the samples that a precision is asked of


def with_reachable(
    problem: MonomialProblem, result: Result, wording: Callable[[Rule], Rule] | None = None
) -> Result:
    """Return a result without a rule with what is reachable as a warning; others unchanged."""
    if result.status is not Status.INFEASIBLE:
        return result
    return result.with_warnings(str(no_rule(problem, result, wording)))


def no_rule(
    problem: MonomialProblem, result: Result, wording: Callable[[Rule], Rule] | None = None
) -> Infeasible:
    """Return the error that says which floor no rule reaches, and what the best one has.

    problem: Without a solution.
    result: The proof that it has none; what is left of its time limit is for looking.
    wording: Joins the literals of one column in a rule.
    """
    told = [f"there is no {problem.candidate()}; {result.engine} proved it", *result.remarks]
    limit = result.options.get("time_limit")
    left = None if limit is None else limit - result.times.total
    if left is None or left > 0:
        for name, relaxed in _relaxed(problem):
            best = solve_with(relaxed, None, 0, {"time_limit": left})
            if best.explanation is None:
                continue
            rule = problem.explanation(best.explanation.features)
            if wording is not None:
                rule = replace(rule, rule=wording(rule.rule))
            value = rule.precision if name == "precision" else rule.coverage
            assert value is not None  # a rule that covers something
            if value.exact >= problem.shares[f"min_{name}"]:
                break  # it is not this floor alone
            found = "" if best.proved else " found"
            told.append(
                f"the greatest {name}{found} is {share_text(value)}, that of {_words(rule)}"
            )
            return Infeasible("; ".join(told), result, {name: value}, rule)
    return Infeasible("; ".join(told), result)


def _relaxed(problem: MonomialProblem) -> Iterator[tuple[str, MonomialProblem]]:
    """Yield problems without the floor of precision, then without any, and what they ask for."""
    shares, kept = (
        problem.shares,
        {
            name: getattr(problem, name)
            for name in (
                "samples",
                "k",
                "required",
                "forbidden",
                "one_per_group",
                "side_constraints",
            )
        },
    )
    if "min_precision" in shares and problem.samples.total < _MOST:
        limits: dict[str, Any] = {"min_coverage": 0, **shares, "min_precision": None}
        yield "precision", MaxPrecision(**{**kept, **limits})
    if shares.get("min_coverage"):
        yield "coverage", MaxCoverage(**kept, min_precision=0)


def _words(rule: Explanation) -> str:
    conditions = " and ".join(rule.rule.words) or "the empty rule"
    covers = f", which covers {share_text(rule.coverage or 0)} of the samples"
    return conditions + covers
