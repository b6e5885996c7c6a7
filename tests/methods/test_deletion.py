"""Deletion and the best of many orders, against brute force and against their definition."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cpx import KMonomial, MinCertificate, Samples, SufficientReason, solve
from cpx.answers.result import Status, Termination
from cpx.errors import InvalidInstance, InvalidOption
from cpx.models.sufficient_reason.brute import SufficientReason as AllRows
from cpx.models.sufficient_reason.cases import least_weight, random_votes, three_definitions
from cpx.models.sufficient_reason.draw import random_reason
from cpx.models.sufficient_reason.features import LEVELS
from cpx.models.sufficient_reason.methods.orders import few_by_statement
from cpx.models.sufficient_reason.minimum_subset.problem import MinimumSubset
from cpx.testing import conformance
from tests.engines import DELETERS
from tests.seeds import each


def _random(seed: int) -> MinimumSubset:
    """Return a random problem: every definition and level, and the full one of several trees."""
    try:
        return random_reason(seed, definition="sufficient") if seed % 2 else random_reason(seed)
    except InvalidInstance:  # a missing value is no row of conditions
        return random_reason(seed)


@each(range(80), 20)
def test_nothing_can_be_left_out(seed: int) -> None:
    problem, best = _random(seed), least_weight(_random(seed))
    for name in DELETERS:
        result = solve(problem, name)
        conformance.check_result(result, problem, best, closed=True)
        assert (result.explanation is None) == (best is None)
        if result.explanation is None:
            continue
        features = set(result.explanation.features)
        for j in features.difference(problem.required):
            assert not problem.enough(tuple(sorted(features - {j})))


@each(range(10), 3)
def test_more_orders_are_no_worse(seed: int) -> None:
    problem = random_votes(seed, 15, 10)
    sizes = [
        solve(problem, name, seed=seed).objective
        for name in ("deletion", "best-of-orders:3", "best-of-orders:30")
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] >= solve(problem, "hitting-sets").objective


def test_many_orders_find_what_one_misses() -> None:
    problem = random_votes(1, 25, 14)
    one, many = solve(problem, "deletion"), solve(problem, "best-of-orders:100")
    assert one.objective > many.objective == solve(problem, "hitting-sets").objective
    assert (many.engine, many.raw_status, many.bound) == ("best-of-orders:100", "100 orders", None)


@each(range(24), 6)
def test_a_majority_of_trees_says_soon_what_is_enough(seed: int) -> None:
    level = LEVELS[seed % 3]
    problem = replace(random_votes(seed, 9, 4), level=level, definition="sufficient", unit=None)
    asked = replace(problem, weights=[1 + j % 3 for j in range(problem.n_features)])
    few = few_by_statement(asked.form(), seed, lambda: False)
    assert few is not None
    majoritary = replace(asked, definition="majoritary")
    truth = AllRows(asked.to_dict())
    assert truth.enough(frozenset(few))
    assert majoritary.enough(tuple(few))
    assert not any(majoritary.enough(tuple(j for j in few if j != left)) for left in few)
    deleted = solve(asked, "deletion")
    assert deleted.objective <= asked.cost(tuple(few))


@pytest.mark.parametrize("engine", ["deletion", "hitting-sets"])
def test_what_a_statement_says_is_asked(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_votes(1, 15, 8)
    told = solve(problem, engine)
    form = replace(problem, definition="majoritary").losses
    everything = replace(form, slacks=tuple(10**6 for _ in form.slacks))  # a lie: nothing is lost
    monkeypatch.setattr(SufficientReason, "_stricter", property(lambda _: lambda: everything))
    result = solve(problem, engine)
    assert result.explanation is not None
    assert problem.enough(result.explanation.features)
    assert result.objective >= 1
    if engine == "hitting-sets":
        assert result.objective == told.objective


def test_the_heaviest_go_first() -> None:
    samples = Samples([[1, 0, 1], [0, 1, 0]], [False, True])
    # Feature 1 alone tells x from the sample that disagrees.
    light = solve(MinCertificate(samples), "deletion")
    assert light.explanation is not None
    assert light.explanation.features == (1,)
    rows = [[1, 0], [0, 1], [0, 0]]
    both = MinCertificate(Samples([*rows], [True, True, False]), weights=(1, 9))
    assert solve(both, "deletion").objective == 1


def test_a_hint_is_where_it_starts() -> None:
    problem = random_votes(1, 25, 14)
    best = solve(problem, "hitting-sets").explanation
    assert best is not None
    result = solve(problem, "deletion", hint=best)
    assert result.explanation is not None
    assert result.explanation.features == best.features
    assert not result.warnings


def test_a_hint_loses_what_no_tree_tests() -> None:
    model = three_definitions()
    problem = SufficientReason(model, (1, 1, 1), definition="sufficient", required=("a",))
    result = solve(problem, "deletion", hint=[0, 2])
    assert result.explanation is not None
    assert result.explanation.features == (0,)


@pytest.mark.parametrize("orders", ["0", "-1", "many", ""])
def test_a_wrong_number_of_orders(orders: str) -> None:
    with pytest.raises(InvalidOption, match="a number from 1"):
        solve(random_votes(0, 3, 3), f"best-of-orders:{orders}")


def test_what_is_not_to_be_had() -> None:
    model = three_definitions()
    problem = SufficientReason(model, (1, 1, 1), forbidden=("a", "b"), definition="majoritary")
    result = solve(problem, "deletion")
    assert (result.status, result.raw_status) == (
        Status.UNKNOWN,
        "what is not forbidden is not enough",
    )
    both = SufficientReason(model, (1, 1, 1), required=("a",), forbidden=("a",))
    assert solve(both, "best-of-orders").raw_status == "required and forbidden contradict"
    with pytest.raises(InvalidOption, match="cannot solve problems of kind 'k-monomial'"):
        solve(KMonomial(Samples([[1]], [1]), 1), "deletion")


def test_time_is_short() -> None:
    problem = random_votes(0, 15, 10)
    result = solve(problem, "best-of-orders:10000000", time_limit=0.3)
    assert result.termination is Termination.TIME_LIMIT
    assert result.status is Status.FEASIBLE
    assert "of 10000000" in result.raw_status
    # The oracle of the problem decides again afterwards.
    assert problem.evaluate(result.explanation).feasible


def test_the_oracle_is_patient_again_after_hitting_sets() -> None:
    problem = random_votes(2, 40, 16)
    solve(problem, "hitting-sets")
    oracle = problem.row_oracle()
    assert (oracle.patience, oracle.deadline, oracle.stop) == (None, None, None)
