"""From an engine's answer to a probabilistic explanation, of one size or of all, or to why not."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from cpx.answers.result import Result, Status
from cpx.errors import EngineError, Infeasible
from cpx.models.expected_prediction.answer import ExpectedExplanation
from cpx.models.expected_prediction.base import ExpectedPrediction
from cpx.models.expected_prediction.fewest import FewestExpected
from cpx.models.expected_prediction.frontier import Frontier
from cpx.models.expected_prediction.leaves import has_probability
from cpx.models.expected_prediction.problem import MLSE
from cpx.models.expected_prediction.same_decision import SameDecision
from cpx.options import TIME_LIMIT
from cpx.solving.run import solve_with
from cpx.support.shares import ExactFloat

_NEAR = Fraction(1, 2_000_000)
"""The greatest bound is told so nearly."""


def with_same_class(problem: ExpectedPrediction, result: Result, fresh: int, seed: int) -> Result:
    """Return a result that says how many rows with the known values get the class of x.

    It is computed where there are few rows of states, else estimated on ``fresh`` rows drawn.
    """
    found: Any = result.explanation
    if found is None:
        return result
    asked = SameDecision(problem)
    if problem.prediction == "decision":
        exact: float | None = float(problem.scores.expected(found.features))
    else:
        exact = asked.exact(found.features)
    if exact is not None:
        found = found.with_same(exact)
    else:
        found = replace(found, fresh=asked.sampled(found.features, fresh, seed))
    if problem.measured == "score" and has_probability(problem.tree_model):
        found = replace(found, probability=asked.mean_probability(found.features, fresh, seed))
    return replace(result, explanation=found)


def answered(
    problem: ExpectedPrediction, result: Result, checked: str, remarks: Sequence[str]
) -> ExpectedExplanation:
    """Return the explanation of a result with remarks, and with what was asked."""
    told = [*remarks, *result.warnings]
    if result.verified:
        told.append(f"checked: code that no engine uses confirms {checked}")
    found: Any = result.explanation
    answer: ExpectedExplanation = replace(
        found, remarks=tuple(dict.fromkeys(told)), result=result, problem=problem
    )
    return answer


def all_sizes(problem: MLSE, width: int, threads: int, seed: int) -> Frontier:
    """Return the explanations of at most 0, 1, ..., k attributes.

    Each is proved where there is a statement; else all come from one run of the beam search.
    """
    from cpx.models.expected_prediction.search.known_attributes.beam import frontier

    found: list[Any] = []
    proved: list[bool] = []
    if not problem._unstated:
        for size in range(len(problem.required), problem.k + 1):
            result = solve_with(replace(problem, k=size), None, seed, {"time_limit": None})
            if result.explanation is None:
                raise nothing_found(problem, result, seed)
            found.append(result.explanation)
            proved.append(result.status is Status.OPTIMAL)
    else:
        for known in frontier(problem, problem.k, width, threads):
            found.append(problem.figures(problem.explanation(known.features)))
            proved.append(not known.features)
    return Frontier(tuple(replace(e, problem=problem) for e in found), tuple(proved))


def nothing_found(problem: ExpectedPrediction, result: Result, seed: int) -> EngineError:
    """Return the error that says why there is no answer, and what can be reached."""
    words = "".join(f"; {remark}" for remark in result.remarks)
    if result.status is Status.INFEASIBLE:
        asked, best, value = "", "", None
        if isinstance(problem, FewestExpected):
            asked, (best, value) = f" with {problem.reached}", _best_reachable(problem, seed)
        return Infeasible(
            f"there is no set of attributes{asked}; {result.engine} proved it{best}{words}",
            result,
            {} if value is None else {"expected": ExactFloat(value)},
        )
    what = "nothing" if result.explanation is None else "an answer that is wrong"
    return EngineError(
        f"{result.engine} found {what}: {result.status}, {result.termination}, "
        f"{result.raw_status}{words}",
        result,
    )


def _best_reachable(problem: FewestExpected, seed: int) -> tuple[str, Fraction | None]:
    """Return in words and exactly what can be expected at most, below a threshold."""
    if problem.bounded:
        return _greatest_bound(problem, seed)
    greatest = MLSE(
        problem.tree_model,
        problem.x,
        problem.coding,
        problem.distribution,
        k=problem.n_features,
        required=problem.required,
        forbidden=problem.forbidden,
        prediction=problem.prediction,
        side_constraints=problem.side_constraints,
    )
    found = solve_with(greatest, None, seed, {"time_limit": TIME_LIMIT})
    if found.explanation is None:
        return "", None
    best = greatest.scores.expected(found.explanation.features)
    return _told(problem, best, found.proved), best


def _greatest_bound(problem: FewestExpected, seed: int) -> tuple[str, Fraction | None]:
    """Halve the thresholds between a bound that a set has and one that none reaches."""
    low, high = Fraction(0), problem.tau
    until = time.monotonic() + TIME_LIMIT
    while high - low > _NEAR:
        middle = replace(problem, threshold=(low + high) / 2)
        options = {"time_limit": max(0.1, until - time.monotonic())}
        found = solve_with(middle, None, seed, options)
        if found.status is Status.INFEASIBLE:
            high = middle.tau
        elif found.explanation is not None and time.monotonic() < until:
            low = max(middle.tau, problem.scores.bound(found.explanation.features))
        else:
            return (_told(problem, low, False), low) if low else ("", None)
    if not low:
        return f"; none has more than {float(_NEAR):.7f}", None
    return _told(problem, low, True), low


def _told(problem: FewestExpected, best: Fraction, proved: bool) -> str:
    """Say what a set has, rounded down: that is a threshold with an answer."""
    if best >= problem.tau:
        return (
            f"; one has it, and misses it where leaves are rounded down to multiples of "
            f"{problem.in_units(1)}: ask for a little less, or for a smaller unit"
        )
    down = Context(prec=6, rounding=ROUND_FLOOR)
    told = down.divide(Decimal(best.numerator), Decimal(best.denominator))
    return f"; the greatest {'is' if proved else 'that was found is'} {told}"
