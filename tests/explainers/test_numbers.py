"""Models that predict numbers: above a limit, below it, between two, by each kind and door."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor
from typer.testing import CliRunner

import cpx
from cpx.cli.app import app
from cpx.data.targets import Target
from cpx.errors import ClassifierError, InvalidOption

RANDOM = np.random.default_rng(1)
X = pd.DataFrame(RANDOM.integers(0, 4, (150, 4)), columns=list("abcd"))
Y = 10_000.0 * (2 * X["a"] + X["b"] * X["c"]) + RANDOM.normal(size=150)
FOREST = RandomForestRegressor(5, max_depth=4, random_state=0).fit(X, Y)
TREE = DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, Y)
EVERY = pd.DataFrame(list(product([-0.5, 0.5, 1.5, 2.5, 3.5], repeat=4)), columns=list("abcd"))
ASKED: list[dict[str, Any]] = [{"above": 50_000}, {"below": 30_000}, {"between": (30_000, 60_000)}]


def classes(model: Any, rows: pd.DataFrame, asked: dict[str, Any]) -> np.ndarray:
    target = Target(**asked)
    return np.array(target.classes)[target.classify(model.predict(rows))]


@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize("model", [FOREST, TREE, LinearRegression().fit(X, Y)], ids=str)
def test_a_rule_has_the_precision_of_predict(model: Any, asked: dict[str, Any]) -> None:
    explainer = cpx.Explainer(model, X, **asked)
    said = classes(model, X, asked)
    for i in (0, 7, 20):
        found = explainer.rule(i, k=2)
        covered = found.rule.mask(X)
        assert found.rule.conclusion == said[i]
        assert float(found.precision) == (said[covered] == said[i]).mean()
        assert f"predicts {Target(**asked).text(model.predict(X)[i])}: {said[i]}" in str(found.row)


@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize("model", [FOREST, TREE], ids=str)
def test_a_reason_forces_and_none_is_smaller(model: Any, asked: dict[str, Any]) -> None:
    explainer = cpx.Explainer(model, X, **asked)
    # Values between those of the table reach all leaves that any row reaches.
    rows, said = EVERY, classes(model, EVERY, asked)
    for i in range(0, 625, 157):
        x = EVERY.iloc[i]
        found = explainer.reason(x)
        assert found.verified
        assert found.minimum
        sizes = []
        for kept in product([False, True], repeat=4):
            columns = np.flatnonzero(kept)
            same = (rows.iloc[:, columns].to_numpy() == x.to_numpy()[columns]).all(axis=1)
            if (said[same] == said[i]).all():
                sizes.append(len(columns))
        assert found.weight == min(sizes)
        changed = explainer.contrast(x).weight if len(set(said)) > 1 else None
        differs = (rows.to_numpy() != x.to_numpy()).sum(axis=1)
        assert changed == min(differs[said != said[i]])


@pytest.mark.parametrize("asked", ASKED[:2], ids=str)
def test_an_expectation_says_the_number(asked: dict[str, Any]) -> None:
    explainer = cpx.Explainer(FOREST, X, distribution="factorised", **asked)
    found = explainer.expectation(0, k=4, required=list("abcd"))
    assert found.result.verified
    (told,) = [note for note in found.notes if note.startswith("the expected number is")]
    number = float(told.split(":")[0].split()[-1].replace(",", ""))
    limit = explainer.of("expectation").model.prediction.target.limits[0]
    sign = 1 if "above" in asked or found.rule.conclusion.startswith("at least") else -1
    assert number == pytest.approx(limit + sign * found.expected / 5, abs=1)
    assert number == pytest.approx(FOREST.predict(X)[0], abs=1)
    assert found.first_order_probability is None


def test_functions_predict_numbers_too() -> None:
    def rent(rows: pd.DataFrame) -> Any:
        return 100 * rows["a"] + 7

    found = cpx.explain(rent, X, X.iloc[0], k=1, above=250)
    side = "above 250" if rent(X)[0] > 250 else "at most 250"
    assert float(found.precision) == 1
    assert f"predicts {rent(X)[0]}" in str(found.row)
    assert str(found).endswith(side)
    with pytest.raises(ClassifierError, match="above=50_000, below="):
        cpx.explain(lambda rows: rows["a"] / 7, X, 1)
    with pytest.raises(ClassifierError, match="must answer with a number for each of"):
        cpx.explain(lambda rows: rows["a"].map(str) + "x", X, 1, above=3)


@pytest.mark.parametrize("kind", ["rule", "reason", "contrast", "expectation"])
def test_without_a_question_the_error_says_which(kind: str) -> None:
    with pytest.raises(InvalidOption, match="RandomForestRegressor predicts numbers: say what"):
        cpx.explain(FOREST, X, 0, kind=kind)
    with pytest.raises(InvalidOption, match="above is for models that predict numbers"):
        cpx.explain(_classifier(), X, 0, kind=kind, above=3)


def _classifier() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=1).fit(X, Y > 40_000)


def test_expectations_are_of_one_limit() -> None:
    with pytest.raises(InvalidOption, match="between is for rules, reasons and contrasts"):
        cpx.explain(FOREST, X, 0, kind="expectation", between=(1, 2))


def test_many_rows_and_training_by_name() -> None:
    explainer = cpx.Explainer.train("forest", X, Y, above=50_000)
    found = explainer.rules(X.iloc[:4], k=2)
    said = classes(explainer.model, X.iloc[:4], {"above": 50_000})
    assert [one.rule.conclusion for one in found] == said.tolist()


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "rents.csv"
    X.assign(rent=Y).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("kind", ["rule", "reason", "contrast", "expectation"])
def test_in_the_shell(table: Path, kind: str) -> None:
    asked = [*("explain", str(table), "--target", "rent", "--row", "3", "--model", "tree")]
    done = CliRunner().invoke(app, [*asked, "--kind", kind, "--above", "50000", "--no-isolate"])
    assert done.exit_code == 0, done.output
    assert "predicts " in done.output
    assert "above 50,000" in done.output or "at most 50,000" in done.output
    done = CliRunner().invoke(app, [*asked, "--kind", kind])
    assert done.exit_code == 2
    assert "--above 50000, --below or --between" in done.output


@pytest.mark.parametrize("model", ["mlp", "logistic", "forest", "boosting"])
def test_each_name_is_trained_on_numbers(table: Path, model: str) -> None:
    asked = ["explain", str(table), "--target", "rent", "--row", "3", "--model", model, "-k", "1"]
    done = CliRunner().invoke(app, [*asked, "--between", "30000,60000", "--no-isolate"])
    assert done.exit_code == 0, done.output
    assert "predicts " in done.output


def test_a_file_in_the_shell(table: Path, tmp_path: Path) -> None:
    import joblib

    joblib.dump(TREE, tmp_path / "rent.joblib")
    asked = [*("explain", str(table), "--target", "rent", "--row", "3"), "--no-isolate"]
    asked += ["--model", str(tmp_path / "rent.joblib"), "--trust", "--kind", "reason"]
    done = CliRunner().invoke(app, [*asked, "--below", "30000"])
    assert done.exit_code == 0, done.output
    assert "predicts " in done.output
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 2
    assert "on the command line that is --above, --below or --between" in done.output
    done = CliRunner().invoke(app, [*asked, "--between", "3"])
    assert done.exit_code == 2
    assert "between must be two numbers" in done.output


def test_texts_are_no_numbers(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,y\n1,low\n2,high\n3,low\n")
    done = CliRunner().invoke(
        app, ["explain", str(path), "--target", "y", "--row", "0", "--above", "3"]
    )
    assert done.exit_code == 2
    assert "the target 'y' has 'low', which is no number" in done.output
