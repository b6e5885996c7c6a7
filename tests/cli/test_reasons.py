"""Sufficient reasons in the shell: made from a model and a row, solved, checked, compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import joblib
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from cpx.trees import read_model
from tests.cli.conftest import Run

KIND = ("--problem", "sufficient-reason")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    X, y = load_iris(return_X_y=True, as_frame=True)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    path = tmp_path / "tree.json"
    path.write_text(json.dumps(read_model(tree).to_dict()))
    joblib.dump(tree, tmp_path / "tree.joblib")
    X.iloc[[60]].to_csv(tmp_path / "row.csv", index=False)
    return path


def test_from_a_model_to_a_checked_answer(run: Run, model: Path) -> None:
    made = run("make", model, "row.csv", *KIND, "-o", "inst.json")
    assert made.exit_code == 0, made.output
    assert "wrote inst.json: class 1: sufficient-reason, sufficient, 1 tree, 4" in made.stdout
    for engine in ("cpsat", "maxsat", "milp"):
        solved = run("solve", "inst.json", "-b", engine, "-o", "result.json")
        assert solved.exit_code == 0, solved.output
        first, *rest = solved.stdout.splitlines()
        assert first == "petal length (cm) <= 4.85 and 0.8 < petal width (cm) <= 1.75 => class 1"
        assert any(line.startswith("guarantee") and "whatever" in line for line in rest)
        assert not any(line.startswith(("precision", "coverage")) for line in rest)
        checked = run("check", "inst.json", "result.json")
        assert checked.exit_code == 0, checked.output
        assert checked.stdout.startswith("OK OPTIMAL, value 2")


def test_a_wrong_result_is_found(run: Run, model: Path) -> None:
    run("make", model, "row.csv", *KIND, "-o", "inst.json")
    run("solve", "inst.json", "-b", "cpsat", "-o", "result.json")
    data: dict[str, Any] = json.loads(Path("result.json").read_text())
    literals = [[0, "sepal length (cm) <= 5"], [3, "petal width (cm) <= 2"]]
    data["explanation"]["rule"]["literals"] = literals
    Path("wrong.json").write_text(json.dumps(data))
    checked = run("check", "inst.json", "wrong.json")
    assert checked.exit_code == 1
    assert "FAILED sufficiency: the features are not enough" in checked.stdout


def test_names_levels_and_definitions(run: Run, model: Path) -> None:
    asked = ("--forbid", "petal length (cm)", "--require", "0", "--definition", "tree-specific")
    run("make", model, "row.csv", *KIND, *asked, "-o", "a.json")
    parameters = json.loads(Path("a.json").read_text())["parameters"]
    assert parameters["definition"] == "tree-specific"
    assert (parameters["required"], parameters["forbidden"]) == ([0], [2])
    conditions = run("make", model, "row.csv", *KIND, "--level", "conditions")
    assert json.loads(conditions.stdout)["parameters"]["level"] == "conditions"


def test_a_pickle_needs_trust(run: Run, model: Path) -> None:
    refused = run("make", "tree.joblib", "row.csv", *KIND, "-o", "a.json")
    assert refused.exit_code == 2
    assert "can run any code" in refused.stderr
    assert run("make", "tree.joblib", "row.csv", *KIND, "--trust", "-o", "a.json").exit_code == 0
    assert run("make", model, "row.csv", *KIND, "-o", "b.json").exit_code == 0
    a, b = (json.loads(Path(name).read_text()) for name in ("a.json", "b.json"))
    assert a["model"]["trees"] == b["model"]["trees"]


def test_show_and_compare(run: Run, model: Path) -> None:
    run("make", model, "row.csv", *KIND, "-o", "inst.json")
    shown = run("show", "inst.json")
    assert "definition   sufficient" in shown.stdout
    assert "petal width (cm)" in shown.stdout
    for form in ("cpmpy", "wcnf", "lp"):
        assert run("show", "inst.json", "--as", form).exit_code == 0
    compared = run("compare", "inst.json", "--backends", "cpsat,milp", "-t", "20")
    assert compared.exit_code == 0, compared.output
    assert "sufficient-reason, sufficient, 1 tree, 4 attributes" in compared.stdout
    refused = run("compare", "inst.json", "--backends", "cpsat,search")
    assert refused.exit_code == 2
    assert "'search' cannot solve problems of kind 'sufficient-reason'" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tree.json", *KIND), "needs a model and a CSV file with the row"),
        (("tree.json", "row.csv", "--problem", "x"), "unknown problem 'x'"),
        (("tree.json", "row.csv", *KIND, "-m", "10"), "--m is for tables"),
        (("tree.json", "row.csv", *KIND, "--target", "y"), "--target is for tables"),
        (("row.csv", "--target", "y", "--row", "0", "--level", "conditions"), "--level is for"),
        (("row.csv", "--row", "0"), "--target is missing"),
        (("row.csv", "--target", "y"), "--row is missing"),
        (("tree.json", "no.csv", *KIND), "no.csv: there is no such file"),
        (("tree.json", "two.csv", *KIND), "two.csv: one row is wanted, there are 2"),
        (("tree.json", "less.csv", *KIND), "x lacks 'sepal width (cm)'"),
        (("tree.json", "words.csv", *KIND), "x lacks"),
        (("tree.json", "row.csv", *KIND, "--forbid", "age"), "'age' names no attribute"),
        (("tree.json", "row.csv", *KIND, "--level", "cells"), "level must be one of"),
        (("row.csv", "row.csv", *KIND), "row.csv"),
    ],
)
def test_wrong_use(run: Run, model: Path, arguments: tuple[str, ...], message: str) -> None:
    Path("two.csv").write_text("a\n1\n2\n")
    Path("less.csv").write_text("sepal length (cm)\n1\n")
    Path("words.csv").write_text("a,b\n1,red\n")
    result = run("make", *arguments, "-o", "inst.json")
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert not Path("inst.json").exists()
