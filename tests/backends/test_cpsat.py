"""What is particular to CP-SAT."""

from __future__ import annotations

import math
from dataclasses import replace

import cpmpy as cp
import numpy as np
import pytest

from cpx import KMonomial, MaxCoverage, Samples, solve
from cpx.answers import Status
from cpx.answers.result import Termination
from cpx.backends import backend, cpsat
from cpx.backends.base import Progress
from cpx.backends.cpsat.compile import DirectOrtools, compile_cp_model, safe_parameters
from cpx.errors import UnknownName
from cpx.models.monomial.draw import random_problem
from cpx.models.sufficient_reason.cases import stated_cases
from cpx.options import SolveOptions
from cpx.testing import conformance
from cpx.testing.brute import brute_force
from tests.seeds import each


class Behind(Progress):
    """A progress whose clock is behind that of the engine."""

    @property
    def expired(self) -> bool:
        return False

    def _past(self, share: float) -> bool:
        return False


def test_the_limit_is_the_reason_also_when_the_engine_is_first() -> None:
    rng = np.random.default_rng(0)
    agreement = rng.random((600, 40)) < 0.5
    same = (agreement[:, :3].sum(axis=1) >= 2) ^ (rng.random(600) < 0.2)
    problem = KMonomial(Samples(agreement, same), k=5)
    options = SolveOptions(time_limit=0.5, encoding="clausal")
    outcome = backend("cpsat").solve(problem, options, Behind(problem, options))
    assert not outcome.proved
    assert outcome.termination is Termination.TIME_LIMIT


def _hard(seed: int, m: int = 60, d: int = 9) -> KMonomial:
    """Return a problem that presolve does not solve."""
    rng = np.random.default_rng(seed)
    agreement = rng.random((m, d)) < 0.5
    same = agreement[:, :2].all(axis=1) ^ (rng.random(m) < 0.2)
    return KMonomial(Samples(agreement, same, rng.integers(1, 4, m)), k=4, required=(8,))


@each(range(6), 3)
@pytest.mark.parametrize("phase", cpsat._PHASES, ids=range(len(cpsat._PHASES)))
def test_the_parameters_of_each_phase_claim_no_more_than_is_true(phase, seed, monkeypatch) -> None:
    monkeypatch.setattr(cpsat, "_PHASES", (phase._replace(units=math.inf),))
    for problem in (_hard(seed), random_problem(300 + seed)):
        best = brute_force(problem)
        for hint in (None, (8,), best and best[1]):
            if hint is None or max(hint, default=0) < problem.n_features:
                result = solve(problem, "cpsat", hint=hint)
                conformance.check_result(result, problem, best and best[0], closed=True)


def test_a_phase_starts_from_the_best_solution_and_the_last_one_proves(monkeypatch) -> None:
    problem = replace(_hard(7, m=500, d=25), k=3)
    first, second, last = cpsat._PHASES
    phases = (first._replace(units=0.01), second._replace(units=0.01), last)
    monkeypatch.setattr(cpsat, "_PHASES", phases)
    started = []

    def add_hint(*arguments) -> None:
        started.append(arguments[-1])

    monkeypatch.setattr(cpsat, "_add_hint", add_hint)
    result = solve(problem, "cpsat", warm_start=False)
    assert result.objective == result.bound == brute_force(problem)[0]
    # Nothing at first; then what was found, at the start of each further phase.
    assert len(started) in (1, 2, 3)
    assert all(8 in features for features in started)


def test_the_search_for_a_better_rule_than_a_known_one_is_told_no_hint(monkeypatch) -> None:
    # From the solution it is told, it takes ten times as long.
    monkeypatch.setattr(cpsat, "_BETTER", cpsat._BETTER._replace(units=0.0))
    # Nor does it end with what the statement begins with.
    monkeypatch.setattr(Progress, "stated", lambda self, statement: None)
    problem = replace(_hard(7, m=500, d=25), required=())
    told = []

    def solver(phase, options, progress):
        told.append((phase.from_best, len(model.proto.solution_hint.vars)))
        return made(phase, options, progress)

    def compiled(statement):
        nonlocal model
        model, variables = compile_cp_model(statement)
        return model, variables

    model, made = None, cpsat._solver
    monkeypatch.setattr("cpx.backends.cpsat.compile.compile_cp_model", compiled)
    monkeypatch.setattr(cpsat, "_solver", solver)
    result = solve(problem, "cpsat", hint=[0, 1])
    assert (result.encoding, result.proved) == ("triples", True)
    assert told[0] == (False, 0)
    assert len(told) > 1
    assert all(from_best and n > 0 for from_best, n in told[1:])


@each(range(12))
def test_presolve_of_the_whole_claims_no_more_than_is_true(seed, monkeypatch) -> None:
    monkeypatch.setattr(cpsat, "_PHASES", ())
    problem = _hard(seed)
    best, _ = brute_force(problem)
    conformance.check_result(solve(problem, "cpsat"), problem, best)


def test_strong_relaxations_are_searched_by_in_one_phase() -> None:
    statement = replace(_hard(1).model("triples"), relaxed=True)
    model, _ = compile_cp_model(statement)
    (phase,) = cpsat._phases(model, statement, SolveOptions())
    assert (phase.parameters, phase.from_best) == ({"linearization_level": 2}, True)
    (alone,) = cpsat._phases(model, statement, SolveOptions(engine={"cp_model_probing_level": 0}))
    assert alone.parameters == {"cp_model_probing_level": 0}
    assert all(problem.model().relaxed for _, problem, _ in stated_cases())


def test_parameters_of_the_engine_stand_alone() -> None:
    problem = _hard(1)
    for encoding, phases in (("clausal", 3), ("sizes", 4)):
        statement = problem.model(encoding)
        model, _ = compile_cp_model(statement)
        given = SolveOptions(engine={"linearization_level": 0})
        (alone,) = cpsat._phases(model, statement, given)
        assert (dict(alone.parameters), alone.of_core) == (given.engine, False)
        assert len(cpsat._phases(model, statement, SolveOptions(threads=2))) == 1
        assert len(cpsat._phases(model, statement, SolveOptions())) == phases


@pytest.mark.parametrize("engine", ["cpsat", "cpmpy:ortools"])
def test_unequal_weights_of_a_precision_keep_the_optimum(engine: str) -> None:
    """The engine's own presolve proved 23,977,272 less than what [] covers."""
    rows = [
        "011110",
        "000111",
        "110000",
        "010111",
        "111011",
        "110011",
        "010010",
        "001110",
        "011001",
        "110010",
        "111100",
    ]
    weights = [237122, 4163832, 19471, 46977302, 14, 753083464, 45, 4359267, 23901127, 85, 56674]
    samples = Samples(
        [[int(bit) for bit in row] for row in rows], [int(b) for b in "01110110001"], weights
    )
    problem = MaxCoverage(samples, k=1, min_precision="0.458")
    result = solve(problem, engine)
    assert (result.status, result.objective) == (Status.OPTIMAL, sum(weights))
    assert result.explanation is not None
    assert not result.explanation.features


def test_only_models_with_unequal_weights_lose_a_part_of_presolve() -> None:
    a, b, c = cp.boolvar(shape=3, name="v")
    equal = cp.Model(2 * a - 2 * b + 2 * c <= 2, minimize=3 * a + b)
    unequal = cp.Model(2 * a - 3 * b + 2 * c <= 2)
    assert safe_parameters(DirectOrtools(equal).ort_model) == {}
    assert safe_parameters(DirectOrtools(unequal).ort_model)
    with pytest.raises(UnknownName, match="presolve_inclusion_work_limit"):
        solve(_hard(1), "cpsat{presolve_inclusion_work_limit=1000}")


def test_phases_divide_what_the_limit_counts(monkeypatch) -> None:
    problem = _hard(7)
    for limits, share in (
        ({"cpu_limit": 10.0, "time_limit": 1e6}, 0.25 * 4),
        ({"cpu_limit": 10.0}, 0.25 * 4),
        ({"cpu_limit": 1e6, "time_limit": 1e-9}, 0.0),
        ({}, 5.0),
    ):
        options = SolveOptions(**limits)
        progress = Progress(problem, options)
        monkeypatch.setattr(progress, "_cpu", lambda before=progress._cpu_before: before + 6.0)
        parameters = cpsat._solver(cpsat._PHASES[1], options, progress).parameters
        assert parameters.max_deterministic_time == pytest.approx(share)
        assert (parameters.max_time_in_seconds > 100) == (limits.get("time_limit") != 1e-9)
