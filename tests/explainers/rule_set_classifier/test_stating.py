"""The problem that a classifier by rules solves, and its rules as an answer to it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cpx import RuleSetClassifier, solve
from cpx.answers.result import Status
from cpx.check import violations
from cpx.errors import DataError, InvalidOption
from cpx.modelling import instances


def _table(seed: int) -> tuple[pd.DataFrame, Any]:
    """Numbers with gaps, two and three categories, and labels that rules can nearly tell."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": np.where(rng.random(60) < 0.2, np.nan, rng.integers(0, 9, 60)),
            "age": rng.integers(0, 6, 60),
            "sex": rng.choice(["f", "m"], 60),
            "tint": rng.choice(["r", "g", "b", None], 60),
        }
    )
    truth = ((frame["size"] > 4) & (frame["sex"] == "m")) | (frame["tint"] == "r")
    return frame, np.where(truth ^ (rng.random(60) < 0.1), "yes", "no")


@pytest.mark.parametrize("seed", range(4))
def test_the_rules_answer_the_problem_with_the_reported_loss(seed: int) -> None:
    X, y = _table(seed)
    weights = (1, 2) if seed % 2 else None
    model = RuleSetClassifier(2, "1/50", n_bins=4, class_weights=weights, time_limit=None)
    problem = model.problem(X, y, "sixty")
    assert (problem.name, problem.samples.total) == ("sixty", 60)
    result = model.fit(X, y).answer(problem)
    assert result.objective is not None
    assert Fraction(result.objective, problem.scale) == model.objective_
    assert (result.status, result.bound, result.verified) == (Status.FEASIBLE, None, True)
    again = instances.loads(instances.dumps(problem))
    assert violations(again.to_dict(), result.to_dict()) == []
    best = solve(again, "search")
    assert best.proved
    assert best.objective <= result.objective


def test_no_rules_are_an_answer() -> None:
    X, y = _table(0)
    model = RuleSetClassifier(1, 1, n_bins=3, time_limit=None)
    with pytest.warns(UserWarning, match="every row of fit gets the class"):
        result = model.fit(X, y).answer(model.problem(X, y))
    assert str(result.explanation) == "(never) => yes"
    assert result.objective == (y == "yes").sum()


def test_what_is_no_answer_or_no_instance() -> None:
    X, y = _table(1)
    model = RuleSetClassifier(2, "1/50", n_bins=4, time_limit=None).fit(X, y)
    with pytest.raises(DataError, match="no literal '"):
        model.answer(model.problem(X.rename(columns=str.upper), y))
    assert max(map(len, model.rules_)) == 2
    shorter = RuleSetClassifier(1, "1/50", n_bins=4).problem(X, y)
    with pytest.raises(DataError, match="at most 1 literal, got '"):
        model.answer(shorter)
    imitating = RuleSetClassifier(2, black_box=lambda rows: rows["age"] > 2, max_queries=0)
    with pytest.raises(InvalidOption, match="black_box"):
        imitating.problem(X, y)
    with pytest.raises(DataError, match="black box"):
        imitating.fit(X).answer(shorter)
    with pytest.raises(DataError, match="not fitted"):
        RuleSetClassifier().answer(shorter)
