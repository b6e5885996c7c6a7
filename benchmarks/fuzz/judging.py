"""Judging an answer by brute force, and the checker by altered answers."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from benchmarks.fuzz.asking import Ask
from cpx import check
from cpx.answers.result import Result, Status, Termination, relative_gap
from cpx.backends import backend
from cpx.modelling.base import Problem
from cpx.modelling.encodings import stated_in
from cpx.testing.truth import Truth, Value, subsets

_ADDED_EXACTLY = 2**20
"""What every engine adds up exactly, rows and objective: beyond it some refuse, and say so."""

_EXACT = ("search", "hitting-sets", "column-generation")
"""Engines that count in integers whatever the weights are."""


def owes_a_proof(result: Result, problem: Problem, right: Truth, how: Ask) -> bool:
    """Say whether the engine must have closed the question."""
    return how.patient and _able(result, problem, right, how)


def _able(result: Result, problem: Problem, right: Truth, how: Ask) -> bool:
    """Say whether an engine that has the time closes the question, or a gap."""
    engine = backend(how.engine)
    if not engine.exact or (result.encoding and not stated_in(problem, result.encoding).faithful):
        return False
    return right.magnitude < _ADDED_EXACTLY or engine.name in _EXACT


def faults(result: Result, problem: Problem, right: Truth, how: Ask) -> list[str]:
    """Return what is wrong with an answer by the brute force."""
    found: list[str] = []

    def fault(wrong: bool, text: str) -> None:
        if wrong:
            found.append(text)

    optimum, status, value, bound = right.optimum, result.status, result.objective, result.bound
    if status is Status.ERROR:
        return [f"error: {result.raw_status}; {'; '.join(result.warnings)}"]
    exact = backend(how.engine).exact
    fault(not exact and (result.proved or bound is not None), "claim: a heuristic claims a proof")
    fault(
        not result.proved and owes_a_proof(result, problem, right, how),
        f"no proof: {status} without a limit, {result.raw_status!r}",
    )
    fault(
        status is Status.INFEASIBLE and optimum is not None,
        f"infeasible: it is claimed, and {right.best} is a solution",
    )
    if value is None:
        fault(
            status in (Status.OPTIMAL, Status.FEASIBLE) or result.explanation is not None,
            f"nothing: {status} without a value",
        )
    else:
        found += _wrong_solution(result, right, value)
    if bound is not None and optimum is not None:
        fault(right.better(optimum, bound), f"bound: {bound} is beyond the optimum {optimum}")
    if status is Status.OPTIMAL:
        fault(value != optimum or bound != optimum, f"optimum: {value} claimed, it is {optimum}")
    fault(
        status is Status.FEASIBLE and value == bound,
        f"status: FEASIBLE, and value and bound are both {value}",
    )
    if how.hint is not None and (known := right.value(how.hint)) is not None:
        fault(value is None, f"hint: {status}, but the hint is a solution")
        fault(value is not None and right.better(known, value), f"hint: {known} is better")
    closed = status in (Status.OPTIMAL, Status.FEASIBLE, Status.INFEASIBLE)
    # On a busy machine the check of a short limit may have no time, and says so.
    told = how.time_limit is not None and f"not verified: {check.UNDECIDED}" in result.warnings
    fault(closed and not result.verified and not told, "check: the answer is not verified")
    if how.gap is not None and not how.cut_short and _able(result, problem, right, how):
        # A better value than that at which it stopped can have a larger relative gap, near 0.
        points = [result.gap, *(relative_gap(p.objective, p.bound) for p in result.trace)]
        within = result.proved or any(gap is not None and gap <= how.gap for gap in points)
        done = result.termination is Termination.COMPLETED
        fault(done and bound is not None and not within, f"gap: {result.gap}")
    fault(
        how.time_limit is None and result.termination is Termination.TIME_LIMIT,
        "termination: TIME_LIMIT without a limit",
    )
    fault(Result.from_json(result.to_json()) != result, "file: the saved result is another one")
    return found + _wrong_trace(result, right)


def _wrong_solution(result: Result, right: Truth, value: Value) -> list[str]:
    if result.explanation is None:
        return [f"nothing: the value {value} has no explanation"]
    features = result.explanation.features
    recomputed = right.value(features)
    if recomputed is None:
        return [f"solution: {list(features)} breaks a constraint"]
    if recomputed != value or type(recomputed) is not type(value):
        return [f"value: the result says {value!r}, {list(features)} has {recomputed!r}"]
    return []


def _wrong_trace(result: Result, right: Truth) -> list[str]:
    seconds = [point.seconds for point in result.trace]
    values = [point.objective for point in result.trace if point.objective is not None]
    bounds = [point.bound for point in result.trace if point.bound is not None]
    sign = -1 if right.maximised else 1
    for listed in (seconds, [-sign * v for v in values], [sign * b for b in bounds]):
        if listed != sorted(listed):
            return ["trace: it does not grow"]
    return []


# ------------------------------------------------------------------- the checker


def faults_of_the_check(
    instance: dict[str, Any], result: Result, right: Truth, rng: np.random.Generator
) -> list[str]:
    """Return where the checker complains of a right answer, or not of an altered one."""
    answer = json.loads(result.to_json())
    if violations := check.violations(instance, answer):
        return [f"check: complains of a right answer: {violations}"]
    found = []
    for name, other in altered(answer, instance, right, rng):
        try:
            accepted = not check.violations(instance, other)
        except Exception as error:  # whatever a file says, the checker answers
            found.append(f"altered {name}: {type(error).__name__}: {error}")
            continue
        if accepted:
            found.append(f"altered {name}: the checker accepts it")
    return found


def altered(
    answer: dict[str, Any], instance: dict[str, Any], right: Truth, rng: np.random.Generator
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what a right answer could be turned into, none of which is right."""

    def other(**changes: Any) -> dict[str, Any]:
        new = copy.deepcopy(answer)
        for key, value in changes.items():
            (new if key in answer else new["explanation"])[key] = value
        return new

    if answer["explanation"] is None:
        if answer["status"] == "INFEASIBLE":
            yield "status", other(status="OPTIMAL")
        return
    value = _read(answer["objective"])
    worse = _worse(value, right)
    better = _worse(value, right, -1)
    yield "objective", other(objective=_written(better), bound=_written(better), status="OPTIMAL")
    yield "objective", other(objective=_written(worse), bound=None, status="FEASIBLE")
    yield "bound", other(bound=_written(worse))
    if answer["status"] == "FEASIBLE":
        yield "status", other(status="OPTIMAL")
    if _refutable(instance, right):
        nothing = {"objective": None, "bound": None, "explanation": None, "gap": None}
        yield "status", other(status="INFEASIBLE", **nothing)
    features = np.flatnonzero(rng.random(right.n) < rng.uniform(0, 1)).tolist()
    if right.value(features) != value:
        yield "features", other(features=features)
    said = answer["explanation"]
    for share in ("precision", "coverage"):
        if said.get(share) is not None:
            new = Fraction(said[share]) / 2 + Fraction(1, 3)
            if new != Fraction(said[share]):
                yield share, other(**{share: str(new)})
    claim = said.get("claim") or {}
    for part in ("over", "figures"):
        for key, figure in claim.get(part, {}).items():
            if type(figure) is int:
                changed = {**claim, part: {**claim[part], key: figure + 1}}
                yield f"claim {part} {key}", other(claim=changed)
    yield "conclusion", other(rule={**said["rule"], "conclusion": "something else"})
    if said["rule"].get("figures"):
        yield "figures", other(rule={**said["rule"], "figures": "none"})


def _read(value: Any) -> Value:
    return Fraction(value) if isinstance(value, str) else int(value)


def _written(value: Value) -> Any:
    return f"{value.numerator}/{value.denominator}" if isinstance(value, Fraction) else value


def _worse(value: Value, right: Truth, sign: int = 1) -> Value:
    step = Fraction(1, 1000) if isinstance(value, Fraction) else 1
    return value - sign * step if right.maximised else value + sign * step


def _refutable(instance: dict[str, Any], right: Truth) -> bool:
    """Say whether the checker decides that there is a solution, as it promises."""
    if instance["problem"] in ("k-monomial", "negative-only", "max-precision", "max-coverage"):
        required = instance["parameters"].get("required") or ()
        free = [j for j in range(right.n) if j not in required]
        some = (more for more in subsets(free) if len(more) <= 2)
        return any(right.value((*required, *more)) is not None for more in some)
    # With side constraints the largest, or the least, set that is allowed need not be a solution.
    return right.optimum is not None and not instance.get("where")
