"""What is said where no rule keeps the limits: which floor, and the best that can be had."""

from __future__ import annotations

import itertools
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import cpx
from cpx.errors import Infeasible
from cpx.models.monomial.explainers.rule import RuleExplainer

RNG = np.random.default_rng(4)
X = RNG.integers(0, 2, (400, 5))
LABELS = {
    bytes(np.array(cell)): sum(cell) % 2 == 0 for cell in itertools.product((0, 1), repeat=5)
}
ROW = X[7]


def noise(rows: np.ndarray) -> np.ndarray:
    return np.array([LABELS[bytes(row)] for row in rows])


@pytest.fixture(scope="module")
def explainer() -> RuleExplainer:
    return RuleExplainer(noise, X)


def rules(k: int) -> list[tuple[Fraction, Fraction]]:
    """Precision and coverage of all rules of at most k conditions."""
    same, found = noise(X) == noise(ROW[None])[0], []
    for size in range(k + 1):
        for chosen in map(list, itertools.combinations(range(5), size)):
            covered = (X[:, chosen] == ROW[chosen]).all(axis=1)
            right, many = int((covered & same).sum()), int(covered.sum())
            found.append((Fraction(right, many), Fraction(many, len(X))))
    return found


@pytest.mark.parametrize(
    ("k", "limits"),
    [
        (2, {"objective": "coverage"}),
        (0, {"objective": "coverage"}),
        (2, {"objective": "loss", "min_precision": 0.99, "min_coverage": 0.2}),
        (2, {"min_precision": "999/1000", "min_coverage": 0.3}),
    ],
)
def test_a_floor_of_precision(explainer: RuleExplainer, k: int, limits: dict[str, Any]) -> None:
    least = Fraction(str(limits.get("min_coverage", 0)))
    best = max(precision for precision, coverage in rules(k) if coverage >= least)
    with pytest.raises(Infeasible, match="has a precision of at least") as raised:
        explainer.explain(ROW, k, **limits)
    error = pickle.loads(pickle.dumps(raised.value))
    assert error.reachable["precision"].exact == best
    assert error.explanation.precision.exact == best
    assert len(error.explanation.features) <= k
    assert str(error.result.status) == "INFEASIBLE"
    assert f"the greatest precision is {float(best):.3f}" in str(error)


def test_a_floor_of_coverage(explainer: RuleExplainer) -> None:
    literals = explainer.conditions(ROW).literals
    two = [next(text for text in literals if text.startswith(name)) for name in ("x0", "x1")]
    with pytest.raises(Infeasible, match="covers at least 90 %") as raised:
        explainer.explain(ROW, 2, min_coverage=0.9, required=two)
    both = Fraction(int((X[:, :2] == ROW[:2]).all(axis=1).sum()), len(X))
    assert raised.value.reachable["coverage"].exact == both


def test_limits_that_contradict_each_other_name_no_floor(explainer: RuleExplainer) -> None:
    first = explainer.conditions(ROW).literals[0]
    for asked in (
        {"required": [first], "forbidden": [first]},
        {"min_coverage": 0.97, "max_coverage": 0.98},
    ):
        with pytest.raises(Infeasible, match="there is no rule of at most 2 conditions") as raised:
            explainer.explain(ROW, 2, **asked)
        assert raised.value.reachable == {}


def test_lists_and_many_rows_say_it_too(explainer: RuleExplainer) -> None:
    best = max(precision for precision, _ in rules(2))
    told = f"the greatest precision is {float(best):.3f}"
    problem = explainer.problem(ROW, 2, objective="coverage")
    ranking = cpx.solutions(problem)
    assert len(ranking) == 0
    assert told in str(ranking)
    [found] = cpx.Explainer(noise, X).rules(X[7:8], 2, objective="coverage")
    assert told in found.why
    assert str(found.status) == "INFEASIBLE"
