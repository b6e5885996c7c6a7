"""The conformance suite: what every engine must get right.

Tiny problems with a known optimum, and rules of behaviour (hints, limits, interrupts,
events). For an engine of your own::

    import pytest
    from cpx.testing import conformance

    @pytest.mark.parametrize(("case", "encoding"), conformance.cases_of("mine"), ids=str)
    def test_optimum(case, encoding):
        conformance.check_case("mine", case, encoding)

    @pytest.mark.parametrize("behaviour", conformance.BEHAVIOURS, ids=lambda b: b.__name__)
    def test_behaviour(behaviour):
        behaviour("mine")

Every function takes the backend's name and raises ``AssertionError`` with the reason. The problems
are those that families register (:mod:`cpx.testing.cases`) and the engine takes.
Of a heuristic (``Backend.exact`` is False) no proof and no optimum is asked, but that it
claims none; everything else holds for it as well.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial
from typing import ClassVar

from cpx.answers.result import Result, Status, Termination
from cpx.answers.values import Value
from cpx.backends import backend as find_backend
from cpx.backends.base import DECLINED, Progress, takes
from cpx.errors import InvalidInstance, InvalidOption
from cpx.modelling.base import Problem
from cpx.modelling.encodings import stated_in
from cpx.modelling.ratio import RatioProblem
from cpx.options import SolveOptions
from cpx.solving import solve
from cpx.solving.run import default_engine, run
from cpx.support.families import families
from cpx.support.lazy_imports import named_object
from cpx.testing.cases import Case, cases, stated

__all__ = [
    "BEHAVIOURS",
    "Case",
    "cases",
    "cases_of",
    "check_case",
    "check_result",
    "stated",
]

# An engine with a limit of a twentieth of a second; processor time, to which a busy machine adds
# little.
_PROMPT_SECONDS = 10.0

# What another engine may take to confirm an optimum, or to bound it.
_OTHER_SECONDS = 5.0

# Whether an engine is right does not depend on how busy the machine is.
_solve = partial(solve, time_limit=None)


def cases_of(backend: str, *sets: str) -> list[tuple[Case, str | None]]:
    """Return the cases that an engine takes, each with each encoding where it needs a model.

    Parameters
    ----------
    backend : str
    *sets : str
        Names of :func:`cpx.testing.cases.names`; all when none are given.

    Examples
    --------
    >>> [case.name for case, _ in cases_of("search", "kernel-rule")][:2]
    ['kernel_all_positive', 'kernel_one_clause']
    """
    engine = find_backend(backend)
    taken = [case for case in cases(*sets) if takes(engine, case.problem)]
    return [
        (case, encoding)
        for case in taken
        for encoding in ((engine.needs_model and case.encodings) or (None,))
    ]


def check_case(backend: str, case: Case, encoding: str | None = None) -> Result:
    """Solve one case and check status, value, bound and explanation.

    An exact engine owes a proof.

    Raises
    ------
    AssertionError
        With what is wrong.
    """
    result = _solve(case.problem, backend, encoding=encoding)
    check_result(result, case.problem, case.optimum, closed=True)
    return result


def check_result(
    result: Result, problem: Problem, optimum: Value | None, *, closed: bool = False
) -> None:
    """Check a result against the known optimum.

    Parameters
    ----------
    result : Result
    problem : Problem
    optimum : int, Fraction or None
        The optimum, None when the problem has no solution.
    closed : bool
        Whether the engine had all the time it needs, so that a proof is due. An encoding
        that is not faithful owes only a valid bound. A heuristic never has one.
    """
    summary = f"{result.engine}, {result.encoding}: {result.status}, {result.raw_status}"
    summary += f", value {result.objective}, bound {result.bound}, {result.warnings}"
    assert result.status is not Status.ERROR, summary
    faithful = not result.encoding or stated_in(problem, result.encoding).faithful
    exact = find_backend(result.engine).exact
    if not exact:
        claims = result.status not in (Status.FEASIBLE, Status.UNKNOWN) or result.bound is not None
        assert not claims, f"a heuristic claims a proof: {summary}"
    if closed and exact and not result.raw_status.endswith(DECLINED):
        assert result.proved or not faithful, f"no proof: {summary}"
    if optimum is None:
        assert result.objective is None, f"a solution of an infeasible problem: {summary}"
        assert result.status in (Status.INFEASIBLE, Status.UNKNOWN), summary
        return
    assert result.status is not Status.INFEASIBLE, f"solvable problem: {summary}"
    sign = 1 if problem.sense == "min" else -1
    for value in (result.objective, result.bound):
        assert value is None or type(value) is type(optimum), f"of another type: {summary}"
    if result.bound is not None:
        assert sign * result.bound <= sign * optimum, (
            f"bound beyond the optimum {optimum}: {summary}"
        )
    if result.objective is not None:
        assert sign * result.objective >= sign * optimum, f"better than the {optimum}: {summary}"
        assert result.explanation is not None, summary
        found = problem.evaluate(result.explanation)
        assert found.feasible, f"infeasible explanation: {summary}"
        assert found.objective == result.objective, summary
        assert result.verified, f"not verified: {summary}"
    if result.status is Status.OPTIMAL:
        assert result.objective == optimum == result.bound, f"wrong optimum: {summary}"


def _media(backend: str, seed: int, m: int, d: int) -> Iterator[Problem]:
    """Yield the problems of medium size that an engine takes, of the first family with any."""
    engine = find_backend(backend)
    for family in families():
        if family.medium:
            drawn = named_object(family.medium, f"medium of {family.name}", InvalidInstance)
            if taken := [p for p in drawn(seed, m, d) if takes(engine, p)]:
                yield from taken
                return


def _medium(backend: str, seed: int = 0, m: int = 120, d: int = 14) -> Problem:
    """Return a problem of medium size that the engine takes."""
    for problem in _media(backend, seed, m, d):
        return problem
    raise InvalidOption(f"{backend} takes no problem of medium size that a family registers")


def takes_a_hint(backend: str) -> None:
    """A feasible hint never makes the answer worse; an infeasible one is refused loudly."""
    problem = _medium(backend)
    best = _solve(problem, backend)
    assert best.explanation is not None
    result = _solve(problem, backend, hint=best.explanation)
    check_result(result, problem, best.objective, closed=True)
    assert result.objective is not None
    assert best.objective is not None
    sign = 1 if problem.sense == "min" else -1
    assert sign * result.objective <= sign * best.objective, "worse than the hint"
    sets = ((), range(len(best.explanation.features) + 5))
    wrong = _solve(problem, backend, hint=next(S for S in sets if not _allowed(problem, S)))
    assert any("hint" in warning for warning in wrong.warnings), wrong.warnings
    check_result(wrong, problem, best.objective, closed=True)


def _allowed(problem: Problem, features: Iterable[int]) -> bool:
    return problem.evaluate(problem.explanation(features)).feasible


def _ended_by_itself(backend: str, termination: Termination) -> bool:
    """Whether a heuristic was done before it was stopped, which an exact engine proves."""
    return termination is Termination.COMPLETED and not find_backend(backend).exact


def events_are_monotone(backend: str) -> None:
    """Values fall, bounds rise, times grow, and the trace ends in the result."""
    result = _solve(_medium(backend, 1), backend)
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
    ratios = (p for p in _media(backend, 8, 120, 14) if isinstance(p, RatioProblem))
    for problem in ratios:
        _answers_a_ratio(backend, problem)


def _answers_a_ratio(backend: str, problem: RatioProblem) -> None:
    best = _solve(problem, backend)
    check_result(best, problem, best.objective, closed=True)
    values = [point.objective for point in best.trace if point.objective is not None]
    bounds = [point.bound for point in best.trace if point.bound is not None]
    assert values == sorted(values), values
    assert bounds == sorted(bounds, reverse=True), bounds
    assert all(isinstance(value, Fraction) for value in (*values, *bounds)), best.trace
    again = _solve(problem, backend, hint=best.explanation)
    there = _solve(problem, backend, isolate=True)
    for result in (again, there):
        check_result(result, problem, best.objective, closed=True)
    assert there.trace[-1][1:] == (there.objective, there.bound), there.trace[-1]


def keeps_a_short_limit(backend: str) -> None:
    """A limit that is over at once: no proof, no infeasibility, and a quick return."""
    for problem in _media(backend, 2, 1000, 40):
        start = sum(os.times()[:4])
        result = solve(problem, backend, time_limit=0.05)
        took = sum(os.times()[:4]) - start
        assert took < _PROMPT_SECONDS, f"returned after {took:.1f} s of processor time"
        assert result.status in (Status.UNKNOWN, Status.FEASIBLE, Status.OPTIMAL), result.status
        if not result.proved and not _ended_by_itself(backend, result.termination):
            assert result.termination is Termination.TIME_LIMIT, result.termination
        if result.proved:
            # Another engine may need minutes for what this one proves at once.
            name = default_engine(problem)
            if name == find_backend(backend).full_name:
                name = default_engine(problem, problem.encodings[0].name)
            other = solve(problem, name, time_limit=_OTHER_SECONDS)
            sign = 1 if problem.sense == "min" else -1
            found, bound = other.objective, other.bound
            assert result.objective is not None
            told = f"proved {result.objective}; {other.engine} has {found} and bound {bound}"
            assert found is None or sign * result.objective <= sign * found, told
            assert bound is None or sign * bound <= sign * result.objective, told


def stops_when_told(backend: str) -> None:
    """A stop from another thread ends the solve without a false claim."""
    problem = _medium(backend, 3, m=1500, d=60)
    stop = threading.Event()
    timer = threading.Timer(0.5, stop.set)
    timer.start()
    try:
        result = run(problem, backend, SolveOptions(warm_start=False), cancel=stop)
    finally:
        timer.cancel()
    assert result.status not in (Status.INFEASIBLE, Status.ERROR), result.status
    if not result.proved and not _ended_by_itself(backend, result.termination):
        assert result.termination is Termination.INTERRUPTED, result.termination


def repeats_itself(backend: str) -> None:
    """One thread and the same seed give the same value and the same features.

    Engines side by side owe the value: which of them is first depends on the machine.
    """
    for problem in _media(backend, 4, 100, 14):
        first, second = (_solve(problem, backend, seed=7) for _ in range(2))
        assert first.objective == second.objective
        assert first.explanation is not None
        assert second.explanation is not None
        if not find_backend(backend)._starts_workers:
            assert first.explanation.features == second.explanation.features


class _Recorded(SolveOptions):
    """Options that remember which of them were asked for."""

    asked: ClassVar[set[str]] = set()

    def __getattribute__(self, name: str) -> object:
        _Recorded.asked.add(name)
        return super().__getattribute__(name)


def reads_what_it_supports(backend: str) -> None:
    """An engine that is given models looks at the options that it says it supports.

    Whether it stops at the gap shows elsewhere.
    """
    engine, problem = find_backend(backend), _medium(backend, 10, 40, 6)
    if not (engine.exact and engine.needs_model):
        return
    features = _solve(problem, default_engine(problem)).explanation
    assert features is not None
    options = _Recorded(threads=2, seed=3, hint=features.features)
    progress = Progress(problem, options)
    _Recorded.asked.clear()
    engine.solve(problem, options, progress)
    asked = _Recorded.asked | ({"hint"} if "hint_features" in _Recorded.asked else set())
    ignored = sorted(engine.supported_options - asked - {"gap"})
    assert not ignored, f"it says that it supports {', '.join(ignored)}, and never asks for it"


def stops_at_the_gap(backend: str) -> None:
    """With a generous gap the result is within it, whatever was proved."""
    problem = _medium(backend, 5)
    if "gap" not in find_backend(backend).supported_options:
        return
    result = _solve(problem, backend, gap=0.5)
    assert result.status in (Status.FEASIBLE, Status.OPTIMAL), result.status
    assert result.gap is not None, "no bound"
    assert result.gap <= 0.5, result.gap
    assert result.termination is Termination.COMPLETED, result.termination


def leaves_the_problem_alone(backend: str) -> None:
    """Solving changes nothing in the problem."""
    problem = _medium(backend, 6)
    before = problem.to_dict()
    _solve(problem, backend)
    assert problem.to_dict() == before


def answers_the_same_isolated(backend: str) -> None:
    """A worker process gives the same proved value as this process."""
    problem = _medium(backend, 7)
    here, there = _solve(problem, backend), _solve(problem, backend, isolate=True)
    assert (here.status, here.objective) == (there.status, there.objective)


BEHAVIOURS: tuple[Callable[[str], None], ...] = (
    takes_a_hint,
    events_are_monotone,
    answers_ratios,
    keeps_a_short_limit,
    stops_when_told,
    repeats_itself,
    reads_what_it_supports,
    stops_at_the_gap,
    leaves_the_problem_alone,
    answers_the_same_isolated,
)
"""Rules of behaviour; each takes the name of a backend."""
