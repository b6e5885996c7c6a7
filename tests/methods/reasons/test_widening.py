"""The ranges of a reason against all completions."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from cpx.models.sufficient_reason.methods import SufficiencyOracle
from cpx.models.sufficient_reason.sufficiency.widening import widest_ranges
from cpx.testing.random_trees import random_row, random_tree_model
from tests.methods.reasons.ensembles import KINDS, Truth, random_model
from tests.seeds import some


def forced(truth: Truth, x: np.ndarray, ranges: dict[int, tuple[int, int]]) -> bool:
    inside = np.ones(len(truth.cells), dtype=bool)
    for a, (low, high) in ranges.items():
        inside &= (low <= truth.cells[:, a]) & (truth.cells[:, a] <= high)
    own = truth.classes[(truth.cells == x).all(axis=1)][0]
    return bool((truth.classes[inside] == own).all())


def whole(x: Any, S: Iterable[int]) -> dict[int, tuple[int, int]]:
    """Return the cells of x of some attributes, as ranges."""
    return {a: (int(x[a]), int(x[a])) for a in sorted(S)}


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
        assert widest_ranges(oracle, whole(x, reasons[0])) is not None
        for S in reasons[:3]:
            spans = widest_ranges(oracle, whole(x, S))
            assert sorted(spans) == sorted(S)
            ranges = {a: own for a, (own,) in spans.items()}
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
            assert widest_ranges(oracle, whole(x, some)) is None
    assert wider > n // 6


def test_cells_of_set_tests_are_added_one_by_one() -> None:
    several = 0
    for seed in range(200):
        model = random_tree_model(seed)
        if not model.sets:
            continue
        x = model.cells(random_row(model, seed))
        kinds = [
            [*np.flatnonzero(may), *[-1][: model.attributes[a].missing]]
            if a in model.used
            else [x[a]]
            for a, may in enumerate(model.possible)
        ]
        cells = np.array([*itertools.product(*kinds)], dtype=np.int32)
        classes = model.decide(model.totals_of(cells))
        same = classes == classes[(cells == x).all(axis=1)][0]

        def holds(kept: dict[int, set[int]], cells=cells, same=same) -> bool:
            inside = np.ones(len(cells), dtype=bool)
            for a, those in kept.items():
                inside &= np.isin(cells[:, a], [*those])
            return bool(same[inside].all())

        S = [*range(model.n_attributes)]
        for a in [*S]:
            if holds({b: {int(x[b])} for b in S if b != a}):
                S.remove(a)
        spans = widest_ranges(SufficiencyOracle(model, x), whole(x, S))
        kept = {a: {c for low, end in spans[a] for c in range(low, end + 1)} for a in S}
        assert holds(kept)
        for a in S:
            several += model.has_sets(a) and len(spans[a]) > 1
            if not model.has_sets(a) or x[a] < 0 or kept[a] == {int(x[a])}:
                continue
            for other in {*np.flatnonzero(model.possible[a]).tolist()} - kept[a]:
                assert not holds({**kept, a: kept[a] | {other}})
    assert several > 2
