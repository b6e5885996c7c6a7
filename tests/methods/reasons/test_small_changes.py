"""Small changes against all completions, and minima where questions are put off."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cpx.models.sufficient_reason.methods import SufficiencyOracle
from cpx.models.sufficient_reason.methods import minimum as minimum_module
from cpx.models.sufficient_reason.search.small_changes import SmallChanges
from tests.methods.reasons.ensembles import KINDS, Truth, minimum_reason, random_model
from tests.methods.reasons.test_minimum import values
from tests.seeds import some


@pytest.mark.parametrize("n", some(8, 40))
@pytest.mark.parametrize("kind", KINDS)
def test_each_is_a_change_that_leaves_what_is_held(kind: str, n: int) -> None:
    told = 0
    for seed in range(n):
        model = random_model(seed, kind, wide=bool(seed % 2))
        truth = Truth(model)
        x = truth.row(seed)
        oracle = SufficiencyOracle(model, x)
        changes = SmallChanges(oracle, seed)
        for k in range(model.n_attributes):
            for held in itertools.combinations(range(model.n_attributes), k):
                for change in changes.avoiding(oracle.bits(held)):
                    told += 1
                    changed = oracle.features(change)
                    assert not changed & {*held}
                    fixed = {*range(model.n_attributes)} - changed
                    assert not truth.sufficient(x, sorted(fixed))
                    assert oracle.change(change) is not None
    assert told > n


@pytest.mark.parametrize("kind", KINDS)
def test_minima_where_every_question_is_put_off_at_first(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(minimum_module, "_PATIENCE", 1)
    monkeypatch.setattr(minimum_module, "_WORK", 0)
    monkeypatch.setattr(SmallChanges, "avoiding", lambda self, held: iter(()))
    for seed in range(12):
        model = random_model(seed, kind)
        truth = Truth(model)
        x = truth.row(seed)
        found = minimum_reason(model, values(model, x), seed=seed)
        assert found.proved
        assert found.lower == found.upper == min(map(len, truth.reasons(x)))
        assert frozenset(np.array(found.attributes, dtype=int).tolist()) in truth.reasons(x)
