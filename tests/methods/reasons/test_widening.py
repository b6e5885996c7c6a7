"""The ranges of a reason against all completions."""

from __future__ import annotations

import numpy as np
import pytest

from cpx.models.sufficient_reason.methods import SufficiencyOracle
from cpx.models.sufficient_reason.sufficiency.widening import widest_ranges
from tests.methods.reasons.ensembles import KINDS, Truth, random_model
from tests.seeds import some


def forced(truth: Truth, x: np.ndarray, ranges: dict[int, tuple[int, int]]) -> bool:
    inside = np.ones(len(truth.cells), dtype=bool)
    for a, (low, high) in ranges.items():
        inside &= (low <= truth.cells[:, a]) & (truth.cells[:, a] <= high)
    own = truth.classes[(truth.cells == x).all(axis=1)][0]
    return bool((truth.classes[inside] == own).all())


@pytest.mark.parametrize("n", some(15, 60))
@pytest.mark.parametrize("kind", KINDS)
def test_ranges_force_the_class_and_cannot_be_extended(n: int, kind: str) -> None:
    wider = 0
    for seed in range(n):
        model = random_model(seed, kind)
        truth = Truth(model)
        x = truth.row(seed)
        oracle = SufficiencyOracle(model, x)
        reasons = truth.reasons(x)
        assert widest_ranges(oracle, reasons[0]) is not None
        for S in reasons[:3]:
            ranges = widest_ranges(oracle, sorted(S))
            assert sorted(ranges) == sorted(S)
            assert forced(truth, x, ranges)
            for a, (low, high) in ranges.items():
                assert low <= x[a] <= high
                wider += low < high
                if x[a] < 0 or forced(truth, x, {**ranges, a: (0, int(model.sizes[a]))}):
                    continue
                if low > 0:
                    assert not forced(truth, x, {**ranges, a: (0, high)})
                if high < model.sizes[a]:
                    assert not forced(truth, x, {**ranges, a: (low, int(model.sizes[a]))})
        some = [*range(model.n_attributes)][:1]
        if not truth.sufficient(x, some):
            assert widest_ranges(oracle, some) is None
    assert wider > n // 6
