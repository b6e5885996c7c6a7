"""The adapter to the package of Anchors, with a package of our own in its place."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import cpx
from cpx import solve
from cpx.answers.result import Status, Termination
from cpx.backends import base
from cpx.data import Background, Empirical, Uniform
from cpx.errors import EngineMissing
from cpx.models.monomial.explainers.rule import RuleExplainer


class Fake:
    """Stands for ``anchor.anchor_base.AnchorBaseBeam``; keeps what it is called with."""

    answer: dict[str, Any]
    options: dict[str, Any]
    sample: Any

    @classmethod
    def anchor_beam(cls, sample: Any, **options: Any) -> dict[str, Any]:
        cls.sample, cls.options = staticmethod(sample), options
        rows, data, labels = sample([], 50)
        assert rows.shape == (50, 0)
        assert labels.shape == (50,)
        cls.width = data.shape[1]
        return cls.answer


def record(*features: int, precision: float = 0.97) -> dict[str, Any]:
    steps = len(features)
    return {
        "feature": list(features),
        "precision": [0.5] * (steps - 1) + [precision] * (steps > 0),
        "coverage": [0.5] * (steps - 1) + [0.25] * (steps > 0),
        "all_precision": precision if not steps else 0,
    }


@pytest.fixture(autouse=True)
def _package(monkeypatch: pytest.MonkeyPatch) -> None:
    package, module = ModuleType("anchor"), ModuleType("anchor.anchor_base")
    module.AnchorBaseBeam = Fake
    monkeypatch.setitem(sys.modules, "anchor", package)
    monkeypatch.setitem(sys.modules, "anchor.anchor_base", module)
    real = base.find_spec
    monkeypatch.setattr(base, "find_spec", lambda name: name == "anchor" or real(name))
    Fake.answer = record(2, 0)


def explainer(d: int = 6) -> RuleExplainer:
    background = np.random.default_rng(0).integers(0, 2, (40, d))
    return RuleExplainer(lambda z: z[:, 0] & z[:, 2], background, distribution=Uniform(d))


X = [1, 0, 1, 1, 0, 0]


def test_figures_are_ours() -> None:
    result = explainer().solve(X, k=3, backend="anchors")
    assert result.status is Status.FEASIBLE
    assert result.bound is None
    assert result.verified
    assert result.explanation is not None
    assert result.explanation.features == (0, 2)
    assert result.explanation.precision == 1
    assert result.explanation.fresh is not None
    assert result.explanation.fresh.value == 1
    assert result.raw_status == "the package's estimates: precision 0.970, coverage 0.250"
    assert result.sizes["queries"] == 50
    assert Fake.options["max_anchor_size"] == 3
    assert Fake.options["beam_size"] == 4
    assert Fake.options["desired_confidence"] == 0.95


def test_samples_are_those_of_the_statement() -> None:
    explainer().explain(X, k=3, backend="anchors")
    _, data, labels = Fake.sample([0], 400)
    assert data[:, 0].all()
    assert 0.4 < data[:, 1].mean() < 0.6
    # Agreement is with x, and labels say whether the class is that of x.
    assert (labels == (data[:, 0] & data[:, 2])).all()
    _, data, labels = Fake.sample([], 400, compute_labels=False)
    assert not labels.any()
    assert data.shape == (400, 6)


def test_constraints_reach_the_package() -> None:
    Fake.answer = record(1)
    problem = explainer().problem(X, k=3, required=[2], forbidden=[1])
    result = solve(problem, "anchors")
    assert Fake.width == 4
    assert Fake.options["max_anchor_size"] == 2
    assert result.explanation is not None
    # The second of the free features 0, 3, 4, 5, and the required one.
    assert result.explanation.features == (2, 3)
    _, data, labels = Fake.sample([0], 100)
    assert data.shape == (100, 4)
    assert labels.all()


def test_a_rule_of_no_mass_speaks_for_nothing() -> None:
    background = np.array([[0, 0, 1], [0, 1, 1], [1, 0, 0]] * 9)
    rows = Empirical(Background(background))
    empirical = RuleExplainer(lambda z: z[:, 0], background, distribution=rows)
    Fake.answer = record(0)
    assert empirical.solve([1, 1, 1], k=2, backend="anchors").status is Status.FEASIBLE
    _, data, labels = Fake.sample([0, 1], 30)
    assert not data.any()
    assert not labels.any()


def test_an_empty_anchor() -> None:
    Fake.answer = record()
    result = explainer().solve(X, k=3, backend="anchors")
    assert result.explanation is not None
    assert result.explanation.features == ()
    assert result.raw_status == "the package's estimates: precision 0.970, coverage 1.000"


def test_k_zero_does_not_call_the_package() -> None:
    Fake.options = {}
    result = explainer().solve(X, k=0, backend="anchors")
    assert result.status is Status.FEASIBLE
    assert Fake.options == {}


def test_reuse_of_samples_is_told() -> None:
    background = np.random.default_rng(0).integers(0, 2, (40, 6))
    written_in = RuleExplainer(lambda z: z[:, 0], background, distribution="perturbed")
    result = written_in.solve(X, k=3, backend="anchors")
    assert any("reuses the samples" in text for text in result.warnings)


def test_missing_precision_is_told() -> None:
    Fake.answer = record(3, precision=0.4)
    result = explainer().solve(X, k=1, backend="anchors")
    assert any("reached the precision 0.95" in text for text in result.warnings)


def test_a_broken_constraint_is_told() -> None:
    background = np.random.default_rng(0).integers(0, 2, (40, 6))
    uniform = Uniform(6, groups=[0, 0, 0, 1, 2, 3])
    grouped = RuleExplainer(lambda z: z[:, 0], background, distribution=uniform)
    result = solve(grouped.problem(X, k=3, one_per_group=True), "anchors")
    assert result.status is Status.UNKNOWN
    assert any("[0, 2] breaks a constraint" in text for text in result.warnings)


def test_the_time_limit_stops_it() -> None:
    result = explainer().solve(X, k=3, backend="anchors", time_limit=1e-9)
    assert (result.status, result.termination) == (Status.UNKNOWN, Termination.TIME_LIMIT)


def test_a_missing_package_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "find_spec", lambda name: None)
    with pytest.raises(EngineMissing, match="pip install 'anchor-exp"):
        cpx.explain(lambda z: z[:, 0], np.eye(3, dtype=int), [1, 0, 0], 1, backend="anchors")
