"""Where the background is the population: all rows are used, and nothing is left to chance."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cpx
from cpx import check
from cpx.answers.explanation import Explanation, PrecisionEstimate
from cpx.data import distributions
from cpx.errors import DataError
from cpx.models.monomial.explainers.rule import RuleExplainer

N = 300


@pytest.fixture
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({name: rng.integers(0, 5, N) for name in "abcd"})


class Asked:
    """A classifier that remembers how many rows it was asked about."""

    def __init__(self) -> None:
        self.rows: list[int] = []

    def __call__(self, rows: pd.DataFrame) -> Any:
        self.rows.append(len(rows))
        return (rows["a"] + rows["b"] > 4) & (rows["c"] != 2)


def test_all_rows_are_used_once_and_no_seed_matters(table: pd.DataFrame) -> None:
    first = Asked()
    found = cpx.explain(first, table, table.iloc[1], k=3)
    assert first.rows == [1, N]
    for seed in (1, 2):
        other = cpx.explain(Asked(), table, table.iloc[1], k=3, seed=seed)
        assert other == found
    assert found.fresh is not None
    assert found.fresh.exact
    assert found.precision.exact == Fraction(found.fresh.agreeing, found.fresh.drawn)
    assert f"of all {N} rows" in found.summary()
    assert f"exact: all {N} rows of 'empirical' were used" in found.guarantee
    assert "fresh samples" not in found.summary()
    assert f"exact: all {N} rows" in found._repr_html_()


def test_the_figures_are_those_of_the_rows(table: pd.DataFrame) -> None:
    explainer, x = RuleExplainer(Asked(), table), table.iloc[1]
    bits = explainer.distribution.background.bits == explainer.oracle(x).bits
    same = Asked()(table) == Asked()(table.iloc[[1]]).iloc[0]
    best = max(
        (same[covered].mean(), covered.mean())
        for size in range(3)
        for rule in combinations(range(bits.shape[1]), size)
        if (covered := bits[:, list(rule)].all(axis=1)).mean() >= 0.05
    )
    found = explainer.explain(x, 2)
    assert (float(found.precision), float(found.coverage)) == pytest.approx(best)
    assert (found.fresh.value, found.fresh.low, found.fresh.high) == pytest.approx([best[0]] * 3)


def test_what_is_saved_says_so_and_is_checked(table: pd.DataFrame) -> None:
    explainer = RuleExplainer(Asked(), table, seed=5)
    problem = explainer.problem(table.iloc[1], 2)
    context = problem.to_dict()["context"]
    assert (context["population"], context["m"], "seed" in context) == (True, N, False)
    assert problem.samples.m < problem.samples.total == N  # identical rows are merged
    assert problem._brief()[0].startswith(f"all {N} rows (")
    result = explainer.solve(table.iloc[1], 2)
    saved = result.to_dict()
    assert check.violations(problem.to_dict(), saved) == []
    assert not [text for text in check.on_trust(problem.to_dict(), saved) if "fresh" in text]
    assert Explanation.from_dict(saved["explanation"]).fresh.exact
    wrong = PrecisionEstimate.known(saved["explanation"]["fresh"]["agreeing"] - 1, 200)
    saved["explanation"]["fresh"] = vars(wrong)
    (complaint,) = check.violations(problem.to_dict(), saved)
    assert complaint.startswith("fresh: the result says [")
    saved["explanation"]["fresh"]["high"] = 1.0
    (complaint,) = check.violations(problem.to_dict(), saved)
    assert complaint.startswith("fresh: must be counts and limits around their ratio")


def test_a_limit_or_another_distribution_draws(
    table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = table.iloc[1]
    model = Asked()
    found = cpx.explain(model, table, x, k=2, m=200, fresh=50)
    assert model.rows == [1, 200, 50]
    assert found.fresh.confidence == 0.95
    for name in ("product", "perturbed"):
        model = Asked()
        cpx.explain(model, table, x, k=2, distribution=name, fresh=50)
        assert model.rows == [1, 1000, 50]
    # As many samples as a guarantee needs, unless these are all rows or more.
    asked: dict[str, Any] = {"k": 1, "delta": 0.5, "fresh": 50, "objective": "loss"}
    model = Asked()
    cpx.explain(model, table, x, epsilon=0.4, **asked)
    assert model.rows[1] < N
    model = Asked()
    cpx.explain(model, table, x, epsilon=0.1, **asked)
    assert model.rows == [1, N]
    monkeypatch.setattr(distributions, "MOST_ROWS", N - 1)
    model = Asked()
    cpx.explain(model, table, x, k=2, fresh=50)
    assert model.rows == [1, 1000, 50]


def test_many_rows_are_explained_with_one_question_about_the_background(
    table: pd.DataFrame,
) -> None:
    model = Asked()
    explainer = cpx.Explainer(model, table)
    alone = [explainer.rule(table.iloc[[i]], 2) for i in range(3)]
    model.rows.clear()
    found = explainer.rules(table.iloc[:3], 2)
    assert sorted(model.rows) == [3, N]
    assert list(found) == alone
    model.rows.clear()
    explainer.rules(table.iloc[:2], 2, m=50, fresh=20)
    assert model.rows == [2, 50, 20, 50, 20]


def test_rows_that_have_no_list_are_refused(table: pd.DataFrame) -> None:
    explainer = RuleExplainer(Asked(), table, distribution="product")
    with pytest.raises(DataError, match="'product' has no list of all its rows: give m"):
        cpx.Samples.ask(explainer.oracle(table.iloc[0]), None, 0)


def test_a_known_precision_in_words() -> None:
    known = PrecisionEstimate.known(3, 4)
    assert (known.low, known.value, known.high, known.exact) == (0.75, 0.75, 0.75, True)
    assert str(known) == "0.750, exact: 3 of the 4 rows that it covers"
    assert not PrecisionEstimate(3, 4, 0.2, 0.99).exact
