"""The conformance suite: what every engine must get right.

Tiny problems with a known optimum, and rules of behaviour (hints, limits, interrupts,
events). For an engine of your own::

    import pytest
    from cpx.testing import conformance

    @pytest.mark.parametrize(("case", "encoding"), conformance.STATED, ids=str)
    def test_optimum(case, encoding):
        conformance.check_case("mine", case, encoding)

    @pytest.mark.parametrize("behaviour", conformance.BEHAVIOURS, ids=lambda b: b.__name__)
    def test_behaviour(behaviour):
        behaviour("mine")

Every function takes the backend's name and raises ``AssertionError`` with the reason.
Of a heuristic (``Backend.exact`` is False) no proof and no optimum is asked, but that it
claims none; everything else holds for it as well.

A bug found in one engine becomes a case for all.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from cpx.backends import backend as find_backend
from cpx.backends.base import Progress
from cpx.data.samples import Samples
from cpx.models.base import Problem
from cpx.models.k_monomial import MONOMIAL_ENCODINGS, KMonomial
from cpx.models.max_coverage import MaxCoverage
from cpx.models.max_precision import MaxPrecision
from cpx.models.monomial import MonomialProblem
from cpx.models.negative_only import NegativeOnly
from cpx.options import SolveOptions
from cpx.result import Result, Status, Termination
from cpx.solving import solve
from cpx.testing.rule_sets import rule_set_cases
from cpx.testing.smallest import smallest_cases
from cpx.values import Value

__all__ = [
    "BEHAVIOURS",
    "CASES",
    "ENCODINGS",
    "RULE_SETS",
    "RULE_SETS_STATED",
    "SMALLEST",
    "SMALLEST_STATED",
    "STATED",
    "Case",
    "check_case",
    "check_result",
]

ENCODINGS: tuple[str, ...] = tuple(encoding.name for encoding in MONOMIAL_ENCODINGS)
"""Encodings of monomial problems; ``table1-literal`` is checked as the relaxation it is."""


@dataclass(frozen=True)
class Case:
    """A tiny problem and its optimum, None when it has no solution."""

    name: str
    problem: Problem
    optimum: Value | None

    def __str__(self) -> str:
        return self.name

    @property
    def encodings(self) -> tuple[str, ...]:
        """Encodings that can state the problem: not all of them take limits."""
        problem = self.problem
        limited = isinstance(problem, MonomialProblem) and problem.limits is not None
        # A ratio is stated in steps, which have the encodings of monomials.
        known = MONOMIAL_ENCODINGS if isinstance(problem, MonomialProblem) else problem.encodings
        return tuple(form.name for form in known if form.limits or not limited)


def _samples(rows: Sequence[str], labels: str, **more: object) -> Samples:
    agreement = np.array([[bit == "1" for bit in row] for row in rows])
    return Samples(agreement, np.array([bit == "1" for bit in labels]), **more)  # type: ignore[arg-type]


def _cases() -> tuple[Case, ...]:
    # With k = 2 over three features: {0, 1} covers exactly the two agreeing samples.
    plain = _samples(["110", "111", "100", "010", "001"], "11000")
    heavy = _samples(["110", "011", "101"], "100", weights=[10**6, 10**6 + 1, 3])
    groups = _samples(["110", "111", "100", "010"], "1100", groups=(0, 0, 1))
    same = ["10", "01", "11"]
    return (
        Case("exact_rule", KMonomial(plain, k=2), 0),
        Case("size_limit_binds", KMonomial(plain, k=1), 1),
        Case("empty_rule_is_best", KMonomial(_samples(["00", "00"], "11"), k=2), 0),
        Case("all_agreeing", KMonomial(_samples(same, "111"), k=2), 0),
        Case("none_agreeing_avoidable", KMonomial(_samples(same, "000"), k=2), 1),
        Case("none_agreeing_all_avoided", KMonomial(_samples(["10", "01"], "00"), k=2), 0),
        Case("k_zero", KMonomial(plain, k=0), 3),
        Case("k_equals_d", KMonomial(plain, k=3), 0),
        Case("one_sample_one_feature", KMonomial(_samples(["1"], "0"), k=1), 1),
        Case("one_feature_excludes", KMonomial(_samples(["0"], "0"), k=1), 0),
        Case("ties", KMonomial(_samples(["10", "01"], "11"), k=1), 0),
        Case("tie_of_two_rules", KMonomial(_samples(["101", "011", "001"], "100"), k=1), 0),
        Case(
            "duplicate_samples",
            KMonomial(_samples(["10"] * 4 + ["11"] * 3, "1111" + "000"), k=2),
            3,
        ),
        Case("duplicate_features", KMonomial(_samples(["110", "001", "000"], "100"), k=3), 0),
        Case("big_weights", KMonomial(heavy, k=1), 3),
        Case("big_weights_two_features", KMonomial(heavy, k=2), 0),
        Case("big_weights_unavoidable", KMonomial(heavy, k=0), 10**6 + 4),
        Case("required", KMonomial(plain, k=2, required=(2,)), 1),
        Case("required_only", KMonomial(plain, k=1, required=(2,)), 2),
        Case("forbidden", KMonomial(plain, k=2, forbidden=(0,)), 1),
        Case("all_forbidden", KMonomial(plain, k=3, forbidden=(0, 1, 2)), 3),
        Case("infeasible_required_too_many", KMonomial(plain, k=1, required=(0, 1)), None),
        Case(
            "infeasible_required_and_forbidden",
            KMonomial(plain, k=2, required=(0,), forbidden=(0,)),
            None,
        ),
        Case("infeasible_at_k_zero", KMonomial(plain, k=0, required=(0,)), None),
        Case("one_per_group", KMonomial(groups, k=3, one_per_group=True), 1),
        Case("groups_without_restriction", KMonomial(groups, k=3), 0),
        Case(
            "infeasible_group",
            KMonomial(groups, k=3, required=(0, 1), one_per_group=True),
            None,
        ),
        Case("negative_only", NegativeOnly(plain, k=1), 1),
        Case("negative_only_ignores_agreeing", NegativeOnly(_samples(same, "110"), k=0), 1),
        Case("negative_only_all_agreeing", NegativeOnly(_samples(same, "111"), k=1), 0),
        Case("negative_only_all_constant", NegativeOnly(_samples(["11", "11"], "00"), k=2), 2),
        Case(
            "negative_only_weights",
            NegativeOnly(_samples(["10", "01", "11"], "000", weights=[5, 7, 2]), k=1),
            7,
        ),
        Case(
            "negative_only_infeasible",
            NegativeOnly(plain, k=2, required=(1,), forbidden=(1,)),
            None,
        ),
    )


def _limited_cases() -> tuple[Case, ...]:
    # Agreeing of covered weight: {} 2/5, {0} and {1} 2/3, {2} 1/2, {0,1} 2/2, the others 1/1.
    plain = _samples(["110", "111", "100", "010", "001"], "11000")
    heavy = _samples(["110", "011", "101"], "100", weights=[10**6, 10**6 + 1, 3])
    groups = _samples(["110", "111", "100", "010"], "1100", groups=(0, 0, 1))
    halves = _samples(["10", "10", "01", "01", "01", "01"], "101100")
    apart, never = _samples(["10", "01"], "00"), _samples(["0", "0"], "00")
    third, half = Fraction(2, 3), Fraction(1, 2)
    return (
        Case("max_precision", MaxPrecision(plain, k=2), Fraction(1)),
        Case("max_precision_k_one", MaxPrecision(plain, k=1), third),
        Case("max_precision_k_zero", MaxPrecision(plain, k=0), Fraction(2, 5)),
        Case("max_precision_floor", MaxPrecision(plain, k=2, min_coverage="3/5"), third),
        Case("max_precision_floor_rounds_up", MaxPrecision(plain, k=2, min_coverage=0.5), third),
        Case("max_precision_floor_met", MaxPrecision(plain, k=2, min_coverage=0.4), Fraction(1)),
        Case("max_precision_ceiling", MaxPrecision(plain, k=1, max_coverage="0.4"), half),
        Case("max_precision_ceiling_rounds_down", MaxPrecision(plain, 1, max_coverage=0.59), half),
        Case("max_precision_ties", MaxPrecision(halves, k=1), half),
        Case("max_precision_none_agreeing", MaxPrecision(apart, k=1), Fraction(0)),
        Case("max_precision_heavy", MaxPrecision(heavy, k=1), Fraction(10**6, 10**6 + 3)),
        Case("max_precision_required", MaxPrecision(plain, k=1, required=(2,)), half),
        Case(
            "max_precision_required_floor",
            MaxPrecision(plain, k=2, required=(2,), min_coverage="2/5"),
            half,
        ),
        Case(
            "max_precision_groups",
            MaxPrecision(groups, k=3, one_per_group=True, min_coverage=0.5),
            third,
        ),
        Case(
            "max_precision_infeasible_coverage",
            MaxPrecision(plain, k=3, min_coverage=0.8, max_coverage=0.8),
            None,
        ),
        Case("max_precision_infeasible", MaxPrecision(plain, k=1, min_precision=0.75), None),
        Case("max_precision_uncovered", MaxPrecision(never, k=1, required=(0,)), None),
        Case("max_coverage", MaxCoverage(plain, k=2), 2),
        Case("max_coverage_precision_binds", MaxCoverage(plain, k=1, min_precision=third), 3),
        Case("max_coverage_above_a_ratio", MaxCoverage(plain, k=1, min_precision=0.41), 3),
        Case("max_coverage_at_a_ratio", MaxCoverage(plain, k=1, min_precision=0.4), 5),
        Case(
            "max_coverage_ceiling", MaxCoverage(plain, 2, min_precision=0.4, max_coverage=0.5), 2
        ),
        Case("max_coverage_infeasible", MaxCoverage(plain, k=1), None),
        Case("max_coverage_any_precision", MaxCoverage(never, k=1, min_precision=0), 2),
        Case("max_coverage_nothing_precise", MaxCoverage(never, k=1, min_precision=1), None),
        Case("max_coverage_heavy", MaxCoverage(heavy, k=1, min_precision=0.99), 10**6 + 3),
        Case("loss_floor", KMonomial(plain, k=2, min_coverage=0.6), 1),
        Case("loss_ceiling", KMonomial(plain, k=1, max_coverage=0.4), 2),
        Case("loss_precision", KMonomial(plain, k=1, min_precision=third), 1),
        Case("loss_infeasible_precision", KMonomial(plain, k=1, min_precision=0.7), None),
        Case("loss_something_covered", KMonomial(apart, k=2, min_precision=0), 1),
        Case("loss_required_floor", KMonomial(plain, k=2, required=(2,), min_coverage=0.4), 2),
        Case("negative_only_floor", NegativeOnly(plain, k=2, min_coverage=0.6), 1),
        Case("negative_only_ceiling", NegativeOnly(plain, k=0, max_coverage=0.8), None),
        Case("negative_only_precision", NegativeOnly(plain, k=1, min_precision=0.6), 1),
    )


CASES: tuple[Case, ...] = (*_cases(), *_limited_cases())
"""Problems of one rule with known optimum."""

SMALLEST: tuple[Case, ...] = tuple(Case(*case) for case in smallest_cases())
"""Smallest certificates and sufficient reasons, for engines that solve statements."""

RULE_SETS: tuple[Case, ...] = tuple(Case(*case) for case in rule_set_cases())
"""Selections of rules, for engines that solve statements or take their plain arrays."""

STATED: tuple[tuple[Case, str], ...] = tuple(
    (case, encoding) for case in CASES for encoding in case.encodings
)
"""Each case with each encoding that can state it."""

SMALLEST_STATED: tuple[tuple[Case, str], ...] = tuple(
    (case, encoding) for case in SMALLEST for encoding in case.encodings
)
"""The same for :data:`SMALLEST`."""

RULE_SETS_STATED: tuple[tuple[Case, str], ...] = tuple(
    (case, encoding) for case in RULE_SETS for encoding in case.encodings
)
"""The same for :data:`RULE_SETS`."""


def check_case(backend: str, case: Case, encoding: str | None = None) -> Result:
    """Solve one case and check status, value, bound and explanation.

    An exact engine owes a proof.

    Raises
    ------
    AssertionError
        With what is wrong.
    """
    result = solve(case.problem, backend, encoding=encoding)
    check_result(result, case.problem, case.optimum, closed=True)
    return result


def check_result(
    result: Result, problem: Problem, optimum: Value | None, *, closed: bool = False
) -> None:
    """Check a result against the known optimum.

    Parameters
    ----------
    result : Result
    problem : MonomialProblem
    optimum : int, Fraction or None
        The optimum, None when the problem has no solution.
    closed : bool
        Whether the engine had all the time it needs, so that a proof is due. An encoding
        that is not faithful owes only a valid bound. A heuristic never has one.
    """
    told = f"{result.engine}, {result.encoding}: {result.status}, {result.raw_status}"
    told += f", value {result.objective}, bound {result.bound}, {result.warnings}"
    assert result.status is not Status.ERROR, told
    faithful = not result.encoding or problem.stated_in(result.encoding).faithful
    exact = find_backend(result.engine).exact
    if not exact:
        claims = result.status not in (Status.FEASIBLE, Status.UNKNOWN) or result.bound is not None
        assert not claims, f"a heuristic claims a proof: {told}"
    if closed and exact:
        assert result.proved or not faithful, f"no proof: {told}"
    if optimum is None:
        assert result.objective is None, f"a solution of an infeasible problem: {told}"
        assert result.status in (Status.INFEASIBLE, Status.UNKNOWN), told
        return
    assert result.status is not Status.INFEASIBLE, f"solvable problem: {told}"
    sign = 1 if problem.sense == "min" else -1
    for value in (result.objective, result.bound):
        assert value is None or type(value) is type(optimum), f"of another type: {told}"
    if result.bound is not None:
        assert sign * result.bound <= sign * optimum, f"bound beyond the optimum {optimum}: {told}"
    if result.objective is not None:
        assert sign * result.objective >= sign * optimum, f"better than the {optimum}: {told}"
        assert result.explanation is not None, told
        found = problem.evaluate(result.explanation)
        assert found.feasible, f"infeasible explanation: {told}"
        assert found.objective == result.objective, told
        assert result.verified, f"not verified: {told}"
    if result.status is Status.OPTIMAL:
        assert result.objective == optimum == result.bound, f"wrong optimum: {told}"


def _medium(seed: int = 0, m: int = 120, d: int = 14) -> KMonomial:
    rng = np.random.default_rng(seed)
    agreement = rng.random((m, d)) < 0.6
    same = agreement[:, :3].all(axis=1) ^ (rng.random(m) < 0.1)
    return KMonomial(Samples(agreement, same), k=4)


def takes_a_hint(backend: str) -> None:
    """A feasible hint never makes the answer worse; an infeasible one is refused loudly."""
    problem = _medium()
    best = solve(problem, backend)
    assert best.explanation is not None
    result = solve(problem, backend, hint=best.explanation)
    check_result(result, problem, best.objective, closed=True)
    assert result.objective is not None
    assert best.objective is not None
    assert result.objective <= best.objective, "worse than the hint"
    wrong = solve(problem, backend, hint=range(9))
    assert any("hint" in warning for warning in wrong.warnings), wrong.warnings
    check_result(wrong, problem, best.objective, closed=True)


def _ended_by_itself(backend: str, termination: Termination) -> bool:
    """Whether a heuristic was done before it was stopped, which an exact engine proves."""
    return termination is Termination.COMPLETED and not find_backend(backend).exact


def events_are_monotone(backend: str) -> None:
    """Values fall, bounds rise, times grow, and the trace ends in the result."""
    result = solve(_medium(1), backend)
    seconds = [point.seconds for point in result.trace]
    values = [point.objective for point in result.trace if point.objective is not None]
    bounds = [point.bound for point in result.trace if point.bound is not None]
    assert result.trace, "no event at all"
    assert seconds == sorted(seconds), seconds
    assert values == sorted(values, reverse=True), values
    assert bounds == sorted(bounds), bounds
    assert result.trace[-1][1:] == (result.objective, result.bound), result.trace[-1]


def answers_ratios(backend: str) -> None:
    """A ratio: the same optimum with a hint and in a worker, and a trace of fractions."""
    medium = _medium(8)
    problem = MaxPrecision(medium.samples, k=3, min_coverage="1/10")
    best = solve(problem, backend)
    check_result(best, problem, best.objective, closed=True)
    values = [point.objective for point in best.trace if point.objective is not None]
    bounds = [point.bound for point in best.trace if point.bound is not None]
    assert values == sorted(values), values
    assert bounds == sorted(bounds, reverse=True), bounds
    assert all(isinstance(value, Fraction) for value in (*values, *bounds)), best.trace
    again = solve(problem, backend, hint=best.explanation)
    there = solve(problem, backend, isolate=True)
    for result in (again, there):
        check_result(result, problem, best.objective, closed=True)
    assert there.trace[-1][1:] == (there.objective, there.bound), there.trace[-1]


def keeps_a_short_limit(backend: str) -> None:
    """A limit that is over at once: no proof, no infeasibility, and a quick return."""
    weighted = _medium(2, m=2000, d=40)
    for problem in (weighted, MaxPrecision(weighted.samples, k=4)):
        start = time.perf_counter()
        result = solve(problem, backend, time_limit=0.05)
        assert time.perf_counter() - start < 10, "returned after more than 10 s"
        assert result.status in (Status.UNKNOWN, Status.FEASIBLE, Status.OPTIMAL), result.status
        if not result.proved and not _ended_by_itself(backend, result.termination):
            assert result.termination is Termination.TIME_LIMIT, result.termination


def stops_when_told(backend: str) -> None:
    """A stop from another thread ends the solve without a false claim."""
    problem = _medium(3, m=3000, d=60)
    progress = Progress(problem, SolveOptions())
    timer = threading.Timer(0.5, progress.stop)
    timer.start()
    try:
        outcome = find_backend(backend).solve(problem, progress.options, progress)
    finally:
        timer.cancel()
    if not outcome.proved and not _ended_by_itself(backend, outcome.termination):
        assert outcome.termination is Termination.INTERRUPTED, outcome.termination
    assert not (outcome.proved and progress.objective is None), "claimed infeasibility"


def repeats_itself(backend: str) -> None:
    """One thread and the same seed give the same value and the same features."""
    first, second = (solve(_medium(4), backend, seed=7) for _ in range(2))
    assert first.objective == second.objective
    assert first.explanation is not None
    assert second.explanation is not None
    assert first.explanation.features == second.explanation.features


def stops_at_the_gap(backend: str) -> None:
    """With a generous gap the result is within it, whatever was proved."""
    problem = _medium(5)
    if "gap" not in find_backend(backend).honours:
        return
    result = solve(problem, backend, gap=0.5)
    assert result.status in (Status.FEASIBLE, Status.OPTIMAL), result.status
    assert result.gap is not None, "no bound"
    assert result.gap <= 0.5, result.gap
    assert result.termination is Termination.COMPLETED, result.termination


def leaves_the_problem_alone(backend: str) -> None:
    """Solving changes nothing in the problem."""
    problem = _medium(6)
    before = problem.to_dict()
    solve(problem, backend)
    assert problem.to_dict() == before


def answers_the_same_isolated(backend: str) -> None:
    """A worker process gives the same proved value as this process."""
    problem = _medium(7)
    here, there = solve(problem, backend), solve(problem, backend, isolate=True)
    assert (here.status, here.objective) == (there.status, there.objective)


BEHAVIOURS: tuple[Callable[[str], None], ...] = (
    takes_a_hint,
    events_are_monotone,
    answers_ratios,
    keeps_a_short_limit,
    stops_when_told,
    repeats_itself,
    stops_at_the_gap,
    leaves_the_problem_alone,
    answers_the_same_isolated,
)
"""Rules of behaviour; each takes the name of a backend."""
