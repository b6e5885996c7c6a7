"""Probabilistic explanations in the shell: explained, made, solved, checked."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cpx.trees import read_model
from tests.cli.conftest import Run

MAKE = ("make", "expectation")
MLSE = ("--distribution", "factorised", "-k", "2")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 3, (120, 3)), columns=["p", "q", "r"])
    X["hue"] = np.array(["red", "green", "blue"])[rng.integers(0, 3, 120)]
    X["y"] = np.where((X["p"] + X["q"] > 2) | (X["hue"] == "red"), "yes", "no")
    path = tmp_path / "table.csv"
    X.to_csv(path, index=False)
    return path


def test_explain_from_a_table_with_texts(run: Run, table: Path) -> None:
    ran = run(
        *("explain", table, "--target", "y", "--row", 3, "--model", "tree", "--no-isolate"),
        *("--kind", "expectation", "-k", 2, "--distribution", "factorised"),
    )
    assert ran.exit_code == 0, ran.output
    for told in (
        "expected ",
        "likelihood",
        "same class",
        "greatest within ",
        "checked    the value",
    ):
        assert told in ran.stdout


def test_make_solve_check_show_export(run: Run, table: Path) -> None:
    asked = (*MAKE, table, "--target", "y", "--row", 3, "--model", "tree", *MLSE)
    made = run(*asked, "-o", "inst.json")
    assert made.exit_code == 0, made.output
    assert "mlse, 1 tree, 4 attributes, factorised, k 2" in made.stdout
    values = set()
    for engine in ("search", "cpsat", "maxsat", "milp"):
        solved = run("solve", "inst.json", "-b", engine, "--no-isolate", "-o", "result.json")
        # Engines that count in floats cannot prove values of 40 bits.
        assert solved.exit_code in ((0, 3) if engine == "milp" else (0,)), solved.output
        values.add(json.loads(Path("result.json").read_text())["objective"])
        checked = run("check", "inst.json", "result.json")
        assert checked.exit_code == 0, checked.output
    assert len(values) == 1
    assert run("show", "inst.json").exit_code == 0
    exported = run("export", "inst.json", "--to", "opb", "-o", "inst.opb")
    assert exported.exit_code == 0, exported.output


def test_the_same_decision_in_the_shell(run: Run, table: Path) -> None:
    rows = (table, "--target", "y", "--row", 3, "--model", "boosting", "--prediction", "decision")
    ran = run("explain", *rows, "--kind", "expectation", "-k", 1, "--no-isolate")
    assert ran.exit_code == 0, ran.output
    assert "expected   same-decision probability" in ran.stdout
    assert run(*MAKE, *rows, "-k", 1, "-o", "inst.json").exit_code == 0
    assert json.loads(Path("inst.json").read_text())["parameters"]["prediction"] == "decision"


def test_a_conformant_distribution_needs_log_odds(run: Run, table: Path) -> None:
    rows = (table, "--target", "y", "--row", 3, "--model", "tree", "-k", 1)
    made = run(*MAKE, *rows, "--distribution", "conformant", "-o", "inst.json")
    assert made.exit_code == 2
    assert "such as logistic regression or naive Bayes" in made.output


def test_make_from_a_model_and_rows(run: Run, table: Path) -> None:
    from sklearn.tree import DecisionTreeClassifier

    data = pd.read_csv(table)
    X = data[["p", "q", "r"]]
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, data["y"])
    Path("model.json").write_text(json.dumps(read_model(tree).to_dict()))
    X.iloc[[3]].to_csv("row.csv", index=False)
    X.to_csv("rows.csv", index=False)
    of_file = (*MAKE, "rows.csv", "--model", "model.json", *MLSE, "-o", "i.json")
    made = run(*of_file, "--row", "row.csv")
    assert made.exit_code == 0, made.output
    assert json.loads(Path("i.json").read_text())["problem"] == "mlse"
    saved = json.loads(Path("i.json").read_text())
    assert saved.pop("name") == "rows-row"
    assert run(*of_file, "--row", "3").exit_code == 0
    again = json.loads(Path("i.json").read_text())
    assert (again.pop("name"), again) == ("rows-3", saved)
    lacking = run(*of_file)
    assert lacking.exit_code == 2
    assert "--row is missing: rows.csv has 120 rows" in lacking.output


def test_the_fewest_columns_by_rows_drawn(run: Run, table: Path) -> None:
    rows = (table, "--target", "y", "--row", 3, "--model", "tree")
    asked = ("--measure", "sampled-probability", "--samples", 200, "--least", 5)
    kind = ("--kind", "expectation", "--no-isolate", *asked)
    ran = run("explain", *rows, *kind, "--threshold", "0.9", "-o", "result.json")
    assert ran.exit_code == 0, ran.output
    for told in ("sampled probability at least 0.9, m 200", "minimum on these rows: no smaller"):
        assert told in ran.stdout
    # The question for one size is saved, for any engine.
    size = len(json.loads(Path("result.json").read_text())["explanation"]["features"])
    make = (*MAKE, *rows, "--threshold", "0.9", *asked)
    for k, status in ((size, "OPTIMAL"), (size - 1, "INFEASIBLE")):
        made = run(*make, "-k", k, "-o", "inst.json")
        assert made.exit_code == 0, made.output
        assert "max-coverage" in made.stdout
        for engine in ("search", "cpsat") if status == "OPTIMAL" else ("search",):
            solved = run("solve", "inst.json", "-b", engine, "--no-isolate", "--json")
            assert json.loads(solved.stdout)["status"] == status
    made = run(*MAKE, *rows, *asked, "-k", 1, "-o", "inst.json")
    assert made.exit_code == 0, made.output
    assert "max-precision" in made.stdout
    none = run(
        "explain", *rows, *kind, "--threshold", "1", "--forbidden", "p", "--forbidden", "hue"
    )
    assert none.exit_code == 0
    assert "the greatest share is" in none.stderr
    unreached = run("explain", *rows, *kind[:3], "--threshold", "2")
    assert "the greatest is 1" in unreached.stderr


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--kind", "expectation"), "--model tree, forest, boosting"),
        (("--kind", "expectation", "--n-bins", "4"), "--n-bins is for --kind rule"),
        (("--kind", "expectation", "--distribution", "product"), "unknown distribution 'product'"),
        (("--kind", "expectation", "--level", "conditions"), "--level is for --kind reason"),
        (("--threshold", "1"), "--threshold is for --kind expectation"),
        (("--samples", "9"), "--samples is for --kind expectation"),
        (("--kind", "expectation", "-k", "2", "--threshold", "1"), "give k, or a threshold"),
        (
            ("--kind", "expectation", "--least", "9"),
            "least is for the measure sampled",
        ),
        (("--kind", "expectation", "--measure", "median"), "unknown measure 'median'"),
    ],
)
def test_wrong_options_of_explain(
    run: Run, table: Path, options: tuple[str, ...], told: str
) -> None:
    ran = run("explain", table, "--target", "y", "--row", 3, *options)
    assert ran.exit_code == 2
    assert told in ran.output


def test_wrong_options_of_make(run: Run, table: Path) -> None:
    rows = (*MAKE, table, "--target", "y", "--row", 3, "--model", "tree")
    for options, told in (
        (("-k", 2, "--threshold", "1"), "give k, or a threshold"),
        (("--measure", "probability-bound"), "--measure probability-bound needs --threshold"),
        (("--samples", 9), "samples is for the measure sampled-probability"),
        (("--distribution", "product"), "unknown distribution"),
        (("--row", "row.csv"), "--row must be a number from 0 or a file"),
        (("--row", table), "--row: a model that is trained explains a row of the table"),
        (("--level", "conditions"), "No such option: --level"),
    ):
        ran = run(*rows, *options)
        assert (ran.exit_code, told in ran.output) == (2, True), ran.output
