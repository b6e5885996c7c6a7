"""Smallest changes and enumeration of reasons against all subsets."""

from __future__ import annotations

import numpy as np
import pytest

from cpx.errors import InvalidInstance, InvalidOption
from cpx.models.sufficient_reason.methods import (
    contrastive,
    enumerate_reasons,
    necessary_attributes,
    relevant_attributes,
)
from cpx.trees import Attribute, Tree, TreeModel
from tests.methods.reasons.ensembles import KINDS, Truth, minimum_reason, random_model
from tests.methods.reasons.test_minimum import values
from tests.processor_time import processor_seconds
from tests.seeds import some


def minimal_ones(sets):
    return {s for s in sets if not any(other < s for other in sets)}


def cases(kind: str, n: int):
    for seed in range(n):
        model = random_model(seed, kind)
        truth = Truth(model)
        x = truth.row(seed)
        yield seed, model, truth, x, values(model, x)


@pytest.mark.parametrize("n", some(12, 40))
@pytest.mark.parametrize("kind", KINDS)
def test_the_smallest_change(kind: str, n: int) -> None:
    none = set()
    for seed, model, truth, x, row in cases(kind, n):
        rng = np.random.default_rng(seed)
        weights = rng.integers(1, 5, model.n_attributes)
        keep = np.flatnonzero(rng.random(model.n_attributes) < 0.2)
        own = truth.classes[(truth.cells == x).all(axis=1)][0]
        differs = truth.cells[truth.classes != own] != x
        allowed = differs[~differs[:, keep].any(axis=1)]
        found = contrastive(model, row, weights=weights.tolist(), must_keep=keep.tolist())
        assert found.proved
        none.add(found.upper is None)
        if not len(allowed):
            assert found.lower is found.upper is found.attributes is found.cells is None
            continue
        assert found.lower == found.upper == (allowed @ weights).min()
        cells = np.array(found.cells, dtype=np.int32)
        changed = np.flatnonzero(cells != model.cells(row)).tolist()
        assert set(changed) <= set(found.attributes) - set(keep.tolist())
        assert weights[list(found.attributes)].sum() == found.upper
        assert model.decide(model.totals_of(cells[np.newaxis]))[0] != own
    assert none == {True, False}


@pytest.mark.parametrize("n", some(20, 40))
@pytest.mark.parametrize("kind", KINDS)
def test_all_reasons_and_what_is_in_all_or_some(kind: str, n: int) -> None:
    several = 0
    for seed, model, truth, x, row in cases(kind, n):
        wanted = minimal_ones(truth.reasons(x))
        found = enumerate_reasons(model, row, seed=seed)
        assert found.complete
        assert sorted(map(sorted, wanted)) == sorted(map(list, found.reasons))
        everything = frozenset(range(model.n_attributes))
        refuted = {
            everything - frozenset(np.flatnonzero(mask).tolist())
            for mask in truth.cells[
                truth.classes != truth.classes[(truth.cells == x).all(axis=1)][0]
            ]
            == x
        }
        assert minimal_ones(refuted) == set(map(frozenset, found.changes))
        assert set(necessary_attributes(model, row)) == frozenset.intersection(*wanted)
        assert relevant_attributes(model, row) == (
            tuple(sorted(frozenset.union(*wanted))),
            (),
        )
        if len(wanted) > 1:
            several += 1
            first = enumerate_reasons(model, row, 1, seed=seed)
            assert len(first.reasons) == 1
            assert not first.complete
    assert several > n // 40


def test_wrong_arguments_are_refused() -> None:
    _, model, _, _, row = next(cases("sum", 1))
    with pytest.raises(InvalidOption, match="n must"):
        enumerate_reasons(model, row, 0)
    with pytest.raises(InvalidInstance, match="must_keep"):
        contrastive(model, row, must_keep=[99])
    with pytest.raises(InvalidOption, match="time_limit"):
        relevant_attributes(model, row, time_limit=-1)


def test_time_limits_are_kept() -> None:
    _, model, _, _, row = next(cases("sum", 1))
    for function in (contrastive, enumerate_reasons, relevant_attributes):
        start = processor_seconds()
        function(model, row, time_limit=60)
        assert processor_seconds() - start < 60


def test_a_model_of_one_class_needs_nothing() -> None:
    tree = Tree([0, -1, -1], [0] * 3, [0] * 3, [[1.0], [2.0]], (0,))
    model = TreeModel([Attribute("size")], ["all"], [tree], [[0.5]], "sum", "first", [0.0])
    assert minimum_reason(model, [0.0]).attributes == ()
    assert contrastive(model, [0.0]).proved
    assert enumerate_reasons(model, [0.0]).reasons == ((),)
    assert necessary_attributes(model, [0.0]) == ()
    assert relevant_attributes(model, [0.0]) == ((), ())


def test_a_model_without_tests_needs_nothing() -> None:
    leaf = Tree([-1], [0], [0], [[1.0]], (0,))
    model = TreeModel([Attribute("size")], [0, 1], [leaf], [[]], "sum", "positive", [0.0])
    assert minimum_reason(model, [0.0]).attributes == ()
    assert minimum_reason(model, [0.0], must_keep=[0]).attributes == (0,)
    assert contrastive(model, [0.0]).attributes is None
    assert enumerate_reasons(model, [0.0]).reasons == ((),)
    assert necessary_attributes(model, [0.0]) == ()
