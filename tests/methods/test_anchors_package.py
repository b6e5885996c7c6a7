"""Anchors with the real package, where the extra ``anchors`` is installed."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from cpx.answers.result import Status
from cpx.data import Uniform
from cpx.models.monomial.explainers.rule import RuleExplainer

pytest.importorskip("anchor.anchor_base")


def test_a_conjunction_is_found() -> None:
    background = np.random.default_rng(0).integers(0, 2, (40, 8))
    explainer = RuleExplainer(lambda z: z[:, 1] & z[:, 6], background, distribution=Uniform(8))
    result = explainer.solve([1] * 8, k=4, backend="anchors")
    assert result.status is Status.FEASIBLE
    assert result.bound is None
    assert result.verified
    assert result.explanation is not None
    assert result.explanation.features == (1, 6)


@pytest.mark.parametrize("distribution", ["empirical", "product", "uniform"])
def test_its_estimate_is_confirmed_where_samples_are_conditioned(distribution: str) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    explainer = RuleExplainer.train("tree", X, y, distribution=distribution)
    result = explainer.solve(X.iloc[75], k=4, backend="anchors", fresh=2000)
    assert result.explanation is not None
    assert result.explanation.fresh is not None
    told = float(result.raw_status.split("precision ")[1].split(",")[0])
    assert result.explanation.fresh.low - 0.05 <= told <= result.explanation.fresh.high + 0.05


def test_at_most_k_conditions() -> None:
    background = np.random.default_rng(0).integers(0, 2, (40, 8))
    explainer = RuleExplainer(lambda z: z[:, :4].all(axis=1), background, distribution=Uniform(8))
    result = explainer.solve([1] * 8, k=2, backend="anchors")
    assert result.explanation is not None
    assert len(result.explanation.features) <= 2
    assert any("reached the precision" in text for text in result.warnings)


def test_the_seed_repeats_it() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    explainer = RuleExplainer.train("tree", X, y)
    first, second = (explainer.solve(X.iloc[75], k=3, backend="anchors") for _ in range(2))
    assert first.raw_status == second.raw_status
    assert first.explanation == second.explanation
