"""Minimum reasons against all subsets and all completions."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from cpx import SufficientReason, solve
from cpx.errors import DataError, InvalidInstance, InvalidOption
from cpx.models.sufficient_reason.methods import Stopped, SufficiencyOracle
from cpx.trees import TreeModel
from tests.methods.reasons.ensembles import KINDS, Truth, minimum_reason, random_model
from tests.seeds import some


def values(model: TreeModel, cells: np.ndarray) -> list[float]:
    """Return a row of values in these cells; thresholds are 0.5, 1.5, ..."""
    row = []
    for a, cell in zip(model.attributes, cells.tolist()):
        row.append(np.nan if cell < 0 else max(float(cell), a.lower or 0.0))
    return row


@pytest.mark.parametrize("n", some(15, 60))
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_the_minimum(n: int, kind: str) -> None:
    more = 0
    for seed in range(n):
        model = random_model(seed, kind)
        truth = Truth(model)
        x = truth.row(seed)
        reasons = truth.reasons(x)
        found = minimum_reason(model, values(model, x), seed=seed)
        assert found.proved
        assert found.feasible
        assert found.lower == found.upper == len(found.attributes) == min(map(len, reasons))
        assert frozenset(found.attributes) in reasons
        more += found.upper > 1
    assert more > n // 30


@pytest.mark.parametrize("n", some(16, 60))
@pytest.mark.parametrize("kind", KINDS)
def test_weights_and_attributes_kept_and_avoided(kind: str, n: int) -> None:
    feasible = set()
    for seed in range(n):
        model = random_model(seed, kind)
        truth = Truth(model)
        x = truth.row(seed)
        rng = np.random.default_rng(seed)
        d = model.n_attributes
        weights = rng.integers(1, 6, d).tolist()
        drawn = rng.random(d)
        keep = frozenset(np.flatnonzero(drawn < 0.15).tolist())
        avoid = frozenset(np.flatnonzero(drawn > 0.6).tolist())
        allowed = [r for r in truth.reasons(x) if keep <= r and not avoid & r]
        found = minimum_reason(
            model, values(model, x), weights=weights, must_keep=keep, must_avoid=avoid
        )
        feasible.add(found.feasible)
        assert found.proved
        assert found.feasible == bool(allowed)
        if not allowed:
            assert found.lower is found.upper is found.attributes is None
            continue
        least = min(sum(weights[a] for a in r) for r in allowed)
        assert found.lower == found.upper == least
        assert frozenset(found.attributes) in allowed
        assert sum(weights[a] for a in found.attributes) == least
    assert feasible == {True, False}


@pytest.mark.parametrize("n", some(12, 40))
def test_a_search_cut_short_at_any_call_has_a_valid_interval(n: int) -> None:
    open_ones = 0
    for seed in range(n):
        kind = KINDS[seed % len(KINDS)]
        model = random_model(seed, kind)
        truth = Truth(model)
        x = truth.row(seed)
        reasons = truth.reasons(x)
        least = min(map(len, reasons))
        for last in range(0, 12):

            class Short(SufficiencyOracle):
                def change(self, free, last=last):
                    if self.calls >= last:
                        raise Stopped
                    return super().change(free)

            seen, row = [], values(model, x)
            oracle = Short.of_row(model, row)
            found = minimum_reason(model, row, oracle, listen=lambda *e, s=seen: s.append(e))
            assert found.lower <= least <= found.upper
            assert frozenset(found.attributes) in reasons
            assert found.proved == (found.lower == found.upper)
            open_ones += not found.proved
            assert seen[-1] == (found.lower, found.upper, found.attributes)
            lowers, uppers, _ = zip(*seen)
            assert sorted(lowers) == list(lowers)
            assert sorted(uppers, reverse=True) == list(uppers)
    assert open_ones > n // 2


def test_equal_arguments_give_equal_answers() -> None:
    for seed in range(10):
        model = random_model(seed + 100, "sum")
        x = values(model, Truth(model).row(0))
        first, second = (
            dataclasses.replace(minimum_reason(model, x, seed=seed), seconds=0.0) for _ in "ab"
        )
        assert first == second


def test_wrong_arguments_are_refused() -> None:
    model = random_model(8, "sum")
    d = model.n_attributes
    x = values(model, Truth(model).row(0))
    with pytest.raises(DataError, match="rows must have"):
        minimum_reason(model, [*x, 0.0])
    with pytest.raises(InvalidInstance, match="must_keep has the feature"):
        minimum_reason(model, x, must_keep=[d])
    with pytest.raises(InvalidInstance, match=r"have \[0\] in common"):
        minimum_reason(model, x, must_keep=[0], must_avoid=[0])
    with pytest.raises(
        InvalidInstance, match=r"weights\[0\] must be an integer of at least 1, got 0"
    ):
        minimum_reason(model, x, weights={0: 0})
    with pytest.raises(InvalidInstance, match=f"weights must have {d} integers"):
        minimum_reason(model, x, weights=[1] * (d + 1))
    with pytest.raises(InvalidOption, match="time_limit"):
        minimum_reason(model, x, time_limit=0)
    with pytest.raises(InvalidOption, match="seed"):
        minimum_reason(model, x, seed=-1)


@pytest.mark.parametrize("kind", KINDS)
def test_the_answer_of_deletion_comes_first(kind: str) -> None:
    for seed in range(8):
        model = random_model(seed, kind, wide=True)
        x = values(model, Truth(model).row(seed))
        weights = np.random.default_rng(seed).integers(1, 3, model.n_attributes).tolist()
        problem = SufficientReason(model, x, definition="sufficient", weights=weights)
        deleted = solve(problem, "deletion", seed=seed).explanation
        heard: list[tuple[int, tuple[int, ...]]] = []
        minimum_reason(
            model, x, weights=weights, seed=seed,
            listen=lambda lower, upper, reason, heard=heard: heard.append((lower, reason)),
        )  # fmt: skip
        assert (0, tuple(sorted(deleted.features))) in heard
