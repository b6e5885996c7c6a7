"""Proofs that come with a result."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
import pytest

from cpx import KernelRule, KMonomial, MaxCoverage, MaxPrecision, Samples, solve
from cpx.answers.result import Status, Termination
from cpx.backends.base import Outcome
from cpx.backends.progress import Progress
from cpx.backends.search import Search
from cpx.check import on_trust
from cpx.check.proofs import Claim, Refused, proved
from cpx.errors import InvalidOption
from cpx.modelling.base import Problem
from cpx.models import RuleSetLearning
from cpx.models.sufficient_reason.draw import random_reason
from cpx.options import SolveOptions
from cpx.solving import proofs
from cpx.solving.proofs import prove, with_proof
from cpx.testing.drawing import side_constraint


def problem(d: int = 8, k: int = 3, m: int = 200) -> KMonomial:
    rng = np.random.default_rng(0)
    return KMonomial(Samples(rng.random((m, d)) < 0.5, rng.random(m) < 0.3), k=k)


@pytest.mark.parametrize("backend", ["search", "cpsat"])
def test_any_engine_comes_with_a_proof(backend: str) -> None:
    asked = problem()
    result = solve(asked, backend, proof=True)
    assert result.proof is not None
    assert result.proof.complete
    claim = proved(asked.to_dict(), result.proof.to_bytes())
    assert claim == Claim(result.objective)
    assert not [
        said for said in on_trust(asked.to_dict(), result.to_dict(), claim) if "word" in said
    ]
    assert "proof" in str(result)
    assert solve(asked, backend).proof is None


def test_infeasibility_is_proved() -> None:
    samples = Samples(np.eye(3, dtype=bool), np.array([True, False, False]))
    asked = MaxPrecision(samples, k=1, min_coverage="2/3", required=[0])
    result = solve(asked, "search", proof=True)
    assert result.status is Status.INFEASIBLE
    assert result.proof is not None
    assert proved(asked.to_dict(), result.proof.to_bytes()) == Claim(None)


def test_a_wrong_bound_is_found_out() -> None:
    asked = problem()
    right = solve(asked, "search")
    assert isinstance(right.bound, int)
    wrong = with_proof(asked, replace(right, backend="cpsat", bound=right.bound + 1))
    assert wrong.status is Status.ERROR
    assert wrong.error.startswith("proof failed: ")
    impossible = with_proof(
        asked, replace(right, backend="cpsat", status=Status.INFEASIBLE, bound=None)
    )
    assert impossible.status is Status.ERROR


def test_a_proof_that_takes_too_long_says_what_it_proves() -> None:
    asked = problem(d=40, k=6)
    result = solve(asked, "search")
    told = with_proof(asked, result, seconds=1e-9)
    assert told.proof is not None
    assert not told.proof.complete
    assert "the time was too short" in told.warnings[-1]
    in_time = with_proof(asked, result, seconds=600)
    assert in_time.proof is not None
    assert in_time.proof.complete
    claim = proved(asked.to_dict(), told.proof.to_bytes())
    assert claim.bound == told.proof.bound
    assert isinstance(claim.bound, int)
    assert isinstance(result.bound, int)
    assert claim.bound < result.bound


def test_what_claims_nothing_gets_no_proof() -> None:
    asked = problem()
    nothing = replace(solve(asked, "search"), bound=None)
    assert prove(asked, nothing) is None
    assert with_proof(asked, nothing).warnings[-1] == "no proof was made: nothing is claimed"


def test_that_nothing_was_proved_in_time_is_said() -> None:
    rng = np.random.default_rng(0)
    asked = KernelRule(rng.random((40, 8)) < 0.6, rng.integers(-5, 6, 40).tolist(), 1, 4)
    told = with_proof(asked, solve(asked, "search"), seconds=1e-9)
    assert told.proof is None
    assert "no proof was made: the time was too short" in told.warnings[-1]


def test_kinds_without_proofs_are_refused_by_name() -> None:
    asked = random_reason(0, definition="tree-specific")
    with pytest.raises(InvalidOption, match="there are none for the definition tree-specific"):
        solve(asked, "cpsat", proof=True)
    with pytest.raises(InvalidOption, match="there are none for the definition tree-specific"):
        prove(asked, solve(asked, "cpsat"))


ALL_ANSWERS = {
    "kernel-rule": lambda rng: KernelRule(
        rng.random((12, 4)) < 0.6, rng.integers(-5, 6, 12).tolist(), int(rng.integers(1, 3)), 2
    ),
    "learning": lambda rng: RuleSetLearning(
        Samples(rng.random((20, 3)) < 0.6, rng.random(20) < 0.5), 2, "0.02", "hamming"
    ),
}


@pytest.mark.parametrize("kind", ALL_ANSWERS)
def test_a_proof_for_all_answers_is_one_for_those_that_keep_side_constraints(kind: str) -> None:
    complete = less = 0
    for seed in range(12):
        rng = np.random.default_rng([5, seed])
        asked: Problem = ALL_ANSWERS[kind](rng)
        asked = asked.where(*(side_constraint(rng, 4) for _ in range(2)))
        result = solve(asked, "search", proof=True)
        assert result.status is not Status.ERROR
        if result.status is Status.INFEASIBLE:
            assert "contradict" in result.warnings[-1]
            continue
        if result.proof is None:
            continue
        claim = proved(asked.to_dict(), result.proof.to_bytes())
        assert claim.bound is not None
        assert isinstance(result.objective, int)
        sign = 1 if asked.sense == "min" else -1
        assert sign * claim.bound <= sign * result.objective
        assert result.proof.complete == (claim.bound == result.objective)
        complete += result.proof.complete
        less += not result.proof.complete
    assert complete
    assert less


def test_bounds_under_side_constraints_are_proved() -> None:
    asked = problem().where("not (x0 and x1)", "x2 or x3")
    result = solve(asked, "search", proof=True)
    assert result.proof is not None
    assert result.proof.complete
    assert proved(asked.to_dict(), result.proof.to_bytes()) == Claim(result.objective)
    # Another problem, without the constraints.
    with pytest.raises(Refused, match="another instance"):
        proved(problem().to_dict(), result.proof.to_bytes())


def test_what_side_constraints_contradict_is_proved_of_kinds_that_know_them() -> None:
    asked = problem().where("x0 or x1", "not x0", "not x1")
    result = solve(asked, "search", proof=True)
    assert result.status is Status.INFEASIBLE
    assert result.proof is not None
    assert proved(asked.to_dict(), result.proof.to_bytes()) == Claim(None)


def test_all_answers_are_bounded_in_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """And by what the search has bounded where it comes to no end."""
    limits = list[float | None]()

    def unfinished(
        _: object, asked: Problem, options: SolveOptions, progress: Progress
    ) -> Outcome:
        limits.append(options.time_limit)
        progress.found(asked.explanation([0]))
        progress.bound(0)
        return Outcome(False, Termination.TIME_LIMIT, "")

    monkeypatch.setattr(Search, "solve", unfinished)
    asked = problem()
    assert asked.evaluate(asked.explanation([0])).objective > 0
    for end in (math.inf, time.perf_counter() + 600, time.perf_counter()):
        assert proofs._of_all(asked, end) == Claim(0)
    assert limits[0] is None
    assert limits[1] is not None
    assert 500 < limits[1] <= 600
    assert limits[2] == 0.1


@pytest.mark.parametrize("k", [3, 5])
def test_a_trusted_bound_that_is_wrong_is_found_out_by_the_checker(k: int) -> None:
    asked = problem(d=12, k=k)
    right = solve(asked, "search")
    assert isinstance(right.bound, int)
    made = prove(asked, replace(right, bound=right.bound + 1), trusted=True)
    assert made is not None
    with pytest.raises(Refused):
        proved(asked.to_dict(), made.to_bytes())
    made = prove(asked, right, trusted=True)
    assert made is not None
    assert proved(asked.to_dict(), made.to_bytes()) == Claim(right.bound)


def test_an_answer_is_not_wrong_because_the_checker_cannot_add_it_up() -> None:
    rng = np.random.default_rng(0)
    samples = Samples(rng.random((600, 4)) < 0.5, rng.random(600) < 0.5)
    problem = MaxCoverage(samples, k=2, min_precision=1 / 3)
    result = solve(problem, "search", proof=True)
    assert result.status is Status.OPTIMAL
    assert result.proof is None
    assert "no proof was made: numbers are too large for the checker" in result.warnings
