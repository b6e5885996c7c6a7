"""The independent check of full reasons: against all completions, on forests, and its time."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from cpx import SufficientReason, check, solve
from cpx.answers.result import Status
from cpx.trees import read_sklearn
from tests.methods.reasons.ensembles import KINDS, Truth, random_model
from tests.seeds import some


def claim(features: tuple[int, ...]) -> dict:
    rule = {"literals": []}
    found = {"features": list(features), "rule": rule}
    size = len(features)
    return {"status": "FEASIBLE", "objective": size, "bound": 0, "gap": None, "trace": [],
            "explanation": found}  # fmt: skip


@pytest.mark.parametrize("n", some(7, 40))
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_every_set_is_decided_as_by_all_completions(kind: str, wide: bool, n: int) -> None:
    seen = set()
    for seed in range(n):
        model = random_model(seed, kind, wide)
        truth = Truth(model)
        cells = truth.row(seed)
        x = np.where(cells < 0, np.nan, cells)  # the thresholds are halves
        instance = SufficientReason(model, x, definition="sufficient").to_dict()
        d = model.n_attributes
        sets = [s for k in range(d + 1) for s in itertools.combinations(range(d), k)]
        for S, said in zip(sets, check.violations_each(instance, map(claim, sets)), strict=True):
            refused = any(words.startswith("sufficiency") for words in said)
            assert refused != truth.sufficient(cells, S), (seed, S, said)
            seen.add(refused)
    assert seen == {True, False}


@pytest.fixture(scope="module")
def forest():
    X, y = load_breast_cancer(return_X_y=True)
    trees = RandomForestClassifier(50, max_depth=6, random_state=0).fit(X, y)
    return read_sklearn(trees, rule="vote"), X


def judged(model, x, features, seconds: float) -> list[str]:
    instance = SufficientReason(model, x, definition="sufficient").to_dict()
    said = check.violations(instance, claim(features), seconds)
    return [words for words in said if words.startswith(("sufficiency", check.UNDECIDED))]


def deleted(model, x) -> tuple[int, ...]:
    """Return the reason that deletion leaves."""
    problem = SufficientReason(model, x, definition="sufficient")
    return solve(problem, "deletion").explanation.features


def test_reasons_of_a_forest_are_confirmed_and_smaller_sets_refuted(forest) -> None:
    model, X = forest
    for row in (1, 2):
        reason = deleted(model, X[row])
        assert judged(model, X[row], reason, 30.0) == []
        for j in reason[:3]:
            smaller = tuple(a for a in reason if a != j)
            assert judged(model, X[row], smaller, 30.0) == [
                "sufficiency: the features are not enough"
            ]


def test_without_time_the_check_is_left_undecided(forest) -> None:
    model, X = forest
    reason = deleted(model, X[1])
    assert judged(model, X[1], reason, 0.0) == [check.UNDECIDED]


def test_solve_gives_the_check_what_is_left_of_the_limit(forest, monkeypatch) -> None:
    model, X = forest
    given = []

    def listen(instance, result, seconds):
        given.append(seconds)
        return [check.UNDECIDED]

    monkeypatch.setattr(check, "violations", listen)
    problem = SufficientReason(model, X[0], definition="sufficient")
    for limit, most in ((None, check.SECONDS), (40.0, 42.8), (0.2, 1.01)):
        result = solve(problem, "deletion", time_limit=limit)
        assert result.status is Status.FEASIBLE
        assert not result.verified
        assert 0 < given[-1] <= most
    assert given[0] == check.SECONDS
    assert given[1] > 20
