"""Which values rows may lack, and columns of models without names, in the shell."""

from __future__ import annotations

import json
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import cpx
from cpx.trees import read_model
from tests.cli.conftest import Run

MAKE = ("make", "reason")
NAMES = ["income", "phone", "age"]


@pytest.fixture
def people(tmp_path: Path) -> pd.DataFrame:
    """Write a table in which those who tell no phone are of the class no, and a model of it."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.integers(0, 3, (60, 3)).astype(float), columns=NAMES)
    X.loc[rng.random(60) < 0.25, "phone"] = np.nan
    X["paid"] = np.where((X["income"] > 0) & X["phone"].notna(), "yes", "no")
    X.to_csv(tmp_path / "people.csv", index=False)
    tree = DecisionTreeClassifier(random_state=0).fit(X[NAMES], X["paid"])
    joblib.dump(tree, tmp_path / "tree.joblib")
    (tmp_path / "plain.json").write_text(json.dumps(read_model(tree, missing="never").to_dict()))
    X.loc[X["paid"] == "yes", NAMES].iloc[[0]].to_csv(tmp_path / "row.csv", index=False)
    return X


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ((), "income > 0.5 and phone is not missing force yes"),
        (("--missing-in", "always"), "income > 0.5 and phone is not missing force yes"),
        (("--missing-in", "age,phone"), "income > 0.5 and phone is not missing force yes"),
        (
            ("--missing-in", "never"),
            "income > 0.5 forces yes, whatever the other 2 columns are, none of them missing",
        ),
        (
            ("--missing-in", "age"),
            "income > 0.5 forces yes, whatever the other 2 columns are, of which only age may be "
            "missing",
        ),
    ],
)
def test_reasons(run: Run, people: pd.DataFrame, asked: tuple[str, ...], told: str) -> None:
    row = people.index[people["paid"] == "yes"][0]
    where = ("people.csv", "--target", "paid", "--row", row, "--model", "tree")
    explained = run("explain", *where, "--kind", "reason", *asked)
    assert explained.exit_code == 0, explained.output
    assert told in explained.stdout
    for model in (("tree.joblib", "--trust"), ("plain.json",)):
        if not asked and model[0] == "plain.json":
            continue
        made = run(*MAKE, "row.csv", "--model", *model, *asked, "-o", "reason.json")
        assert made.exit_code == 0, made.output
        assert ("neither x nor the model shows any but in phone" in made.stderr) == (not asked)
        run("solve", "reason.json", "-o", "result.json")
        result = cpx.Result.from_json(Path("result.json").read_text())
        assert told in str(result)
        assert run("check", "reason.json", "result.json").exit_code == 0


def test_a_file_that_shows_nothing_says_what_it_took(run: Run, people: pd.DataFrame) -> None:
    made = run(*MAKE, "row.csv", "--model", "plain.json", "-o", "reason.json")
    assert "missing values: neither x nor the model shows any; rows that lack a" in made.stderr
    assert "none of them missing" in run("solve", "reason.json").stdout


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ((), "missing values: of phone only, as often as the distribution says"),
        (("--missing-in", "never"), "missing values: none; rows that lack a value are left out"),
        (("--missing-in", "age"), "missing values: of age only"),
    ],
)
def test_expectations(run: Run, people: pd.DataFrame, asked: tuple[str, ...], told: str) -> None:
    row = people.index[people["paid"] == "yes"][0]
    where = ("people.csv", "--target", "paid", "--row", row, "--model", "tree")
    options = ("-k", "1", "--distribution", "factorised", *asked)
    explained = run("explain", *where, "--kind", "expectation", *options)
    assert explained.exit_code == 0, explained.output
    assert told in explained.stdout
    assert ("rows of the background are left out" in explained.stderr) == bool(asked)
    files = ("people.csv", "--row", "row.csv", "--model", "tree.joblib", "--trust")
    files += ("--target", "paid")
    for at in (where, files):
        made = run("make", "expectation", *at, *options, "-o", "mlse.json")
        assert made.exit_code == 0, made.output
        assert told in run("solve", "mlse.json", "-b", "search", "-o", "result.json").stdout
        assert run("check", "mlse.json", "result.json").exit_code == 0


def test_wrong_use(run: Run, people: pd.DataFrame) -> None:
    where = ("people.csv", "--target", "paid", "--row", "0", "--model", "tree")
    gone, reason = people.index[people["phone"].isna()][0], ("--kind", "reason")
    for arguments, told in (
        (("explain", *where, "--missing-in", "age"), "--missing-in is for --kind reason"),
        (("make", "rule", *where, "--missing-in", "age"), "No such option: --missing-in"),
        (
            (*MAKE, "row.csv", "--model", "plain.json", "--missing-in", "agee"),
            "missing: 'agee' is no attribute (did you mean 'age'?)",
        ),
        (
            ("explain", *where[:4], gone, *where[5:], *reason, "--missing-in", "age"),
            "missing is ['age'], and x has no value of 'phone'",
        ),
    ):
        refused = run(*arguments)
        assert refused.exit_code == 2
        assert told in refused.stderr


def test_columns_of_a_model_without_names(run: Run, people: pd.DataFrame) -> None:
    """The header of the row is x2, x1, x0, and these are the columns 0, 1 and 2."""
    full = people.dropna()
    tree = DecisionTreeClassifier(random_state=0).fit(full[NAMES].to_numpy(), full["income"] > 0)
    joblib.dump(tree, "plain.joblib")
    Path("turned.csv").write_text("x2,x1,x0\n2,0,0\n")
    made = run(*MAKE, "turned.csv", "--model", "plain.joblib", "--trust", "-o", "reason.json")
    assert made.exit_code == 0, made.output
    assert "those given are taken in their order, so that its column x0 is what" in made.stderr
    assert run("solve", "reason.json").stdout.splitlines()[0] == "x2 > 0.5 => True"
    named = run(*MAKE, "turned.csv", "--model", "tree.joblib", "--trust")
    assert named.exit_code == 2
    told = "x lacks 'income', 'phone', 'age', columns of the model, and has 'x2', 'x1', 'x0', no"
    assert told in named.stderr
