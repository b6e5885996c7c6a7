"""Sufficient reasons in the shell: made from a model and a row, solved, checked, compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import joblib
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

import cpx
from cpx.errors import InvalidOption
from cpx.trees import read_model
from tests.cli.conftest import Run


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
    made = run("make", "reason", "row.csv", "--model", model, "-o", "inst.json")
    assert made.exit_code == 0, made.output
    assert "wrote inst.json: class 1: sufficient-reason, sufficient, 1 tree, 4" in made.stdout
    for engine in ("cpsat", "maxsat", "milp"):
        solved = run("solve", "inst.json", "-b", engine, "-o", "result.json")
        assert solved.exit_code == 0, solved.output
        first, *rest = solved.stdout.splitlines()
        assert first == "petal length (cm) <= 4.95 and 0.8 < petal width (cm) <= 1.75 => class 1"
        assert any(line.startswith("guarantee") and "whatever" in line for line in rest)
        assert not any(line.startswith(("precision", "coverage")) for line in rest)
        checked = run("check", "inst.json", "result.json")
        assert checked.exit_code == 0, checked.output
        assert checked.stdout.startswith("OK OPTIMAL, value 2")


def test_a_wrong_result_is_found(run: Run, model: Path) -> None:
    run("make", "reason", "row.csv", "--model", model, "-o", "inst.json")
    run("solve", "inst.json", "-b", "cpsat", "-o", "result.json")
    data: dict[str, Any] = json.loads(Path("result.json").read_text())
    literals = [[0, "sepal length (cm) <= 5"], [3, "petal width (cm) <= 2"]]
    data["explanation"]["rule"]["literals"] = literals
    data["explanation"]["features"] = [0, 3]
    Path("wrong.json").write_text(json.dumps(data))
    checked = run("check", "inst.json", "wrong.json")
    assert checked.exit_code == 1
    assert "FAILED sufficiency: the features are not enough" in checked.stdout


def test_names_levels_and_definitions(run: Run, model: Path) -> None:
    asked = (
        "--forbidden",
        "petal length (cm)",
        "--required",
        "0",
        "--definition",
        "tree-specific",
    )
    run("make", "reason", "row.csv", "--model", model, *asked, "-o", "a.json")
    parameters = json.loads(Path("a.json").read_text())["parameters"]
    assert parameters["definition"] == "tree-specific"
    assert (parameters["required"], parameters["forbidden"]) == ([0], [2])
    conditions = run("make", "reason", "row.csv", "--model", model, "--level", "conditions")
    assert json.loads(conditions.stdout)["parameters"]["level"] == "conditions"


def test_a_pickle_needs_trust(run: Run, model: Path) -> None:
    refused = run("make", "reason", "row.csv", "--model", "tree.joblib", "-o", "a.json")
    assert refused.exit_code == 2
    assert "can run any code" in refused.stderr
    assert (
        run(
            "make", "reason", "row.csv", "--model", "tree.joblib", "--trust", "-o", "a.json"
        ).exit_code
        == 0
    )
    assert run("make", "reason", "row.csv", "--model", model, "-o", "b.json").exit_code == 0
    a, b = (json.loads(Path(name).read_text()) for name in ("a.json", "b.json"))
    assert a["model"]["trees"] == b["model"]["trees"]


def test_a_rule_of_a_model_file_shows_the_probability_that_a_reason_shows(
    run: Run, model: Path, tmp_path: Path
) -> None:
    load_iris(as_frame=True).data.to_csv(tmp_path / "table.csv", index=False)
    for kind in ("rule", "reason"):
        done = run("explain", "table.csv", "--row", 60, "--model", model, "--kind", kind)
        assert done.exit_code == 0, done.output
        assert "predicted probability of the class 0.98\n" in done.stdout, kind


def test_show_and_compare(run: Run, model: Path) -> None:
    run("make", "reason", "row.csv", "--model", model, "-o", "inst.json")
    shown = run("show", "inst.json")
    assert "definition   sufficient" in shown.stdout
    assert "petal width (cm)" in shown.stdout
    for form in ("cpmpy", "wcnf", "lp"):
        assert run("show", "inst.json", "--as", form).exit_code == 0
    compared = run("compare", "inst.json", "--backends", "cpsat,milp", "-t", "20")
    assert compared.exit_code == 0, compared.output
    assert "sufficient-reason, sufficient, 1 tree, 4 attributes" in compared.stdout
    skipped = run("compare", "inst.json", "--backends", "cpsat,search")
    assert skipped.exit_code == 0
    told = "'search' cannot solve problems of kind 'sufficient-reason'"
    assert "skipped: search on " in skipped.stderr
    assert told in skipped.stderr
    refused = run("compare", "inst.json", "--backends", "search")
    assert refused.exit_code == 2
    assert told in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("two.csv", "--model", "tree.json"), "--row is missing: two.csv has 2 rows"),
        (("row.csv", "--model", "tree.jsn"), "unknown tree model, nor a file 'tree.jsn'"),
        (("row.csv", "--model", "tree.json", "-m", "10"), "No such option: -m"),
        (("row.csv", "--model", "tree.json", "--target", "y"), "target column 'y' is not there"),
        (("row.csv", "--row", "0"), "--target is missing"),
        (("row.csv", "--target", "petal width (cm)"), "a single class"),
        (("row.csv", "--model", "tree.json", "--row", "1"), "the table has rows 0 to 0"),
        (("row.csv", "--model", "tree.json", "--row", "no.csv"), "--row must be a number from 0"),
        (("no.csv", "--model", "tree.json"), "no.csv: there is no such file"),
        (("less.csv", "--model", "tree.json"), "x lacks 'sepal width (cm)'"),
        (("words.csv", "--model", "tree.json"), "x lacks"),
        (("row.csv", "--model", "tree.json", "--forbidden", "age"), "'age' names no attribute"),
        (("row.csv", "--model", "tree.json", "--level", "cells"), "unknown level 'cells'"),
        (("row.csv", "--model", "row.csv"), "row.csv"),
    ],
)
def test_wrong_use(run: Run, model: Path, arguments: tuple[str, ...], message: str) -> None:
    Path("two.csv").write_text("a\n1\n2\n")
    Path("less.csv").write_text("sepal length (cm)\n1\n")
    Path("words.csv").write_text("a,b\n1,red\n")
    result = run("make", "reason", *arguments, "-o", "inst.json")
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert not Path("inst.json").exists()


# ------------------------------------------------------- cpx explain --kind reason


def _explain(table: Path, *more: object) -> tuple[object, ...]:
    return ("explain", table, "--target", "y", "--row", 0, "--kind", "reason", *more)


@pytest.fixture
def numbers(table: Path) -> Path:
    """The table of numbers alone, with a value missing in another row."""
    lines = [line.split(",") for line in table.read_text().splitlines()]
    lines[5][1] = ""
    table.write_text("\n".join(",".join([*line[:2], line[3]]) for line in lines) + "\n")
    return table


def test_what_forces_the_class_of_a_row(run: Run, numbers: Path) -> None:
    done = run(*_explain(numbers, "--model", "tree", "--no-isolate", "-o", "result.json"))
    assert done.exit_code == 0, done.output
    first, _, rule, *rest = done.stdout.splitlines()
    assert first.endswith("by tree: sufficient-reason, sufficient, 1 tree, 2 attributes")
    assert "=>" in rule
    assert any(line.startswith("guarantee") and " force" in line for line in rest)
    assert any(line.startswith("engine     cpsat") for line in rest)
    assert json.loads(Path("result.json").read_text())["status"] == "OPTIMAL"


def test_a_forest_is_asked_in_the_full_sense(run: Run, numbers: Path) -> None:
    done = run(*_explain(numbers, "--model", "forest", "--no-isolate", "-t", 20, "--json"))
    assert json.loads(done.stdout)["backend"] == "hitting-sets"
    deleted = run(*_explain(numbers, "--model", "forest", "-b", "deletion", "--no-isolate"))
    assert deleted.exit_code == 3, deleted.output
    assert "without a bound" in deleted.stdout


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            (),
            "--model tree, forest, boosting or a file, got 'mlp'",
        ),
        (("--model", "tree", "-k", 3), "-k is for --kind rule"),
        (("--model", "tree", "--n-bins", 5), "--n-bins is for --kind rule"),
        (("--model", "tree", "--objective", "loss"), "--objective is for --kind rule"),
        (
            ("--model", "tree", "--level", "rows"),
            "unknown level 'rows'; known: attributes",
        ),
        (("--model", "tree", "--forbidden", "z"), "forbidden: 'z' names no attribute"),
        (("--model", "tree", "-b", "search"), "'search' cannot solve problems of kind"),
        (("--model", "forest", "-b", "cpsat"), "stated for one tree, this model has 100"),
    ],
)
def test_what_is_for_the_other_kind(
    run: Run, numbers: Path, more: tuple[object, ...], message: str
) -> None:
    done = run(*_explain(numbers, *more))
    assert done.exit_code == 2
    assert message in done.stderr


def test_columns_of_texts_are_explained_in_their_words(run: Run, table: Path) -> None:
    asked = ("explain", table, "--target", "y", "--row", 0, "--model", "tree")
    for kind in ("reason", "contrast", "expectation"):
        done = run(*asked, "--kind", kind)
        assert done.exit_code == 0
        assert "colour_" not in done.output
    done = run(*_explain(table, "--model", "tree", "--required", "colour"))
    assert "colour = " in done.output or "colour is one of" in done.output


def test_other_kinds_are_named(run: Run, table: Path) -> None:
    other = run("explain", table, "--target", "y", "--row", 0, "--kind", "sufficient")
    assert (
        "unknown kind 'sufficient' (here 'reason'); known: all, contrast, expectation, "
        "reason, rule" in other.stderr
    )
    level = run("explain", table, "--target", "y", "--row", 0, "--level", "conditions")
    assert "--level is for --kind reason" in level.stderr


# ----------------------------------------------------------------- files and rows

GOOD = "sepal length (cm),sepal width (cm),petal length (cm),petal width (cm)\n5,3,4.2,1.3\n"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (GOOD.replace(",petal width (cm)", "").replace(",1.3", ""), "x lacks 'petal width"),
        (GOOD.replace("\n", ",z\n", 1).replace("1.3", "1.3,7"), "x has 'z', no columns"),
        (GOOD.replace("1.3", "wide"), "'petal width (cm)' must be a finite number"),
        (GOOD + "5,3,4.2,1.3\n", "--row is missing: wrong.csv has 2 rows"),
        ("", "the file is empty"),
    ],
)
def test_wrong_rows_of_files(run: Run, model: Path, row: str, message: str) -> None:
    Path("wrong.csv").write_text(row)
    done = run("make", "reason", "wrong.csv", "--model", model)
    assert done.exit_code == 2
    assert message in done.stderr


def test_a_value_that_is_missing_in_the_file(run: Run, model: Path) -> None:
    Path("gap.csv").write_text(GOOD.replace("1.3", ""))
    done = run("make", "reason", "gap.csv", "--model", model, "-o", "inst.json")
    assert done.exit_code == 0, done.output
    assert "other rows may lack it too: petal width (cm)" in done.stderr
    assert run("solve", "inst.json", "-b", "cpsat", "--no-isolate").exit_code == 0


def _write(kind: str) -> Path:
    """Write a file that is no good model of two columns, and return its path."""
    X, y = [[0.0, 1.0], [1.0, 0.0]], [0, 1]
    path = Path(f"model.{kind.partition(' ')[0]}")
    if kind.startswith("joblib"):
        joblib.dump(DecisionTreeClassifier(), path)
    elif kind == "skops untrained":
        pytest.importorskip("skops.io").dump(DecisionTreeClassifier(), path)
    elif kind == "skops tree":
        pytest.importorskip("skops.io").dump(DecisionTreeClassifier().fit(X, y), path)
    elif kind == "json objective":
        xgboost = pytest.importorskip("xgboost")
        made = xgboost.XGBRegressor(n_estimators=1, objective="count:poisson").fit(X, y)
        made.save_model(path)
    elif kind == "txt objective":
        lightgbm = pytest.importorskip("lightgbm")
        made = lightgbm.LGBMRegressor(n_estimators=1, min_child_samples=1, verbose=-1).fit(X, y)
        made.booster_.save_model(path)
    else:
        path.write_text({"json empty": "", "txt words": "no model"}[kind])
    return path


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("joblib untrained", "say trusted=True, or save the model with skops instead; on the"),
        ("joblib trusted", "model.joblib: the DecisionTreeClassifier is not fitted"),
        ("skops untrained", "model.skops: the DecisionTreeClassifier is not fitted"),
        ("skops tree", "types that are not trusted: sklearn.tree._tree.Tree"),
        ("json objective", "the objective 'count:poisson' is not supported"),
        ("txt objective", "the objective regression predicts numbers"),
        ("json empty", "model.json: not recognised as a tree model"),
        ("txt words", "model.txt: not recognised as a tree model"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_files_that_are_no_models(run: Run, model: Path, kind: str, message: str) -> None:
    trust = ("--trust",) if kind == "joblib trusted" else ()
    done = run("make", "reason", "row.csv", "--model", _write(kind), *trust)
    assert done.exit_code == 2
    assert message in done.stderr


def test_comparing_all_engines_leaves_out_those_that_do_not_take_it(run: Run, model: Path) -> None:
    for definition in ("sufficient", "tree-specific"):
        made = run(
            "make",
            "reason",
            "row.csv",
            "--model",
            model,
            "--definition",
            definition,
            "-o",
            "inst.json",
        )
        assert made.exit_code == 0, made.output
        data = json.loads(Path("inst.json").read_text())
        data["model"]["trees"] *= 2
        Path("two.json").write_text(json.dumps(data))
        done = run("compare", "two.json", "--time-limit", 20)
        assert done.exit_code == 0, done.output
        assert ("hitting-sets" in done.stdout) == (definition == "sufficient")
        assert ("cpsat" in done.stdout) == (definition == "tree-specific")


def test_options_of_readers(run: Run, model: Path) -> None:
    """What an error asks for is an option: rounds of early stopping, classes of a dump."""
    xgboost = pytest.importorskip("xgboost")
    X, y = load_iris(return_X_y=True, as_frame=True)
    fitted = xgboost.XGBClassifier(
        n_estimators=60, learning_rate=0.9, early_stopping_rounds=3, n_jobs=1
    )
    fitted.fit(X[::2], y[::2], eval_set=[(X[1::2], y[1::2])], verbose=False)
    fitted.save_model("stopped.json")
    fitted.get_booster().dump_model("dump.txt")
    row, file = (
        X.iloc[60],
        ("make", "reason", "row.csv", "--model", "stopped.json", "-o", "inst.json"),
    )

    done = run(*file)
    assert done.exit_code == 2
    assert "as Booster does; on the command line that is --rounds" in done.stderr
    best = fitted.best_iteration + 1
    for given in ("best", "all", str(best)):
        done = run(*file, "--rounds", given, "--classes", "setosa,versicolor,virginica")
        assert done.exit_code == 0, done.output
        assert "not held against predict: the trees (xgboost file)" in done.stderr
        assert "class versicolor" in done.stdout
        made = json.loads(Path("inst.json").read_text())
        trees = made["model"]["trees"]
        assert len(trees) == 3 * (
            fitted.get_booster().num_boosted_rounds() if given == "all" else best
        )
    expected = ("make", "expectation", "row.csv", "--model", "stopped.json", "-k", 1)
    done = run(*expected, "--rounds", "best", "-o", "out.json")
    assert done.exit_code == 0, done.output
    assert "class 1: mlse, 18 trees" in done.stdout

    dump = ("make", "reason", "row.csv", "--model", "dump.txt", "-o", "inst.json")
    assert "give classes; on the command line that is --classes" in run(*dump).stderr
    assert run(*dump, "--classes", "3").exit_code == 0  # the columns are those of the table
    named = (*dump, "--classes", "3", "--columns", ",".join(X.columns))
    done = run(*named)
    assert done.exit_code == 0, done.output
    assert "(xgboost dump, with scores that start from 0)" in done.stderr
    assert "--base must be numbers" in run(*named, "--base", "much").stderr
    assert run(*named, "--base", "0.5,0.5,0.5").exit_code == 0
    assert json.loads(Path("inst.json").read_text())["model"]["base"] == ["0x1p-1"] * 3
    trained = run("make", "reason", "row.csv", "--target", "y", "--rounds", "best")
    assert "--rounds is for the file of a model, not for forest" in trained.stderr

    with pytest.raises(InvalidOption, match="say rounds='best'"):
        cpx.explain("stopped.json", None, row, kind="reason")
    found = cpx.explain("stopped.json", None, row, kind="reason", rounds="best")
    assert str(found) == str(cpx.explain(fitted, None, row, kind="reason"))
    with pytest.raises(InvalidOption, match="rounds is no option of read_sklearn"):
        cpx.explain(DecisionTreeClassifier().fit(X, y), None, row, kind="reason", rounds=2)


def test_options_of_readers_for_expectations(tmp_path: Path) -> None:
    xgboost = pytest.importorskip("xgboost")
    X, y = load_iris(return_X_y=True, as_frame=True)
    fitted = xgboost.XGBClassifier(n_estimators=6, n_jobs=1).fit(X, y == 1)
    file = tmp_path / "six.json"
    fitted.save_model(file)
    found = [
        cpx.explain(model, X, X.iloc[60], kind="expectation", k=1, rounds=2, classes=["no", "yes"])
        for model in (fitted, file)
    ]
    assert str(found[0]) == str(found[1])
    assert str(found[0]).endswith("=> yes")
    assert any("checked: XGBClassifier.predict agrees" in note for note in found[0].notes)
    assert any("not held against predict: the trees (xgboost file)" in n for n in found[1].notes)


def test_explain_of_a_file_and_contrasts(run: Run, numbers: Path) -> None:
    table = pd.read_csv(numbers)
    X, y = table.drop(columns="y"), table["y"]
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    Path("tree.json").write_text(json.dumps(read_model(tree).to_dict()))
    explainer = cpx.Explainer(tree, X)
    of_file = ("explain", numbers, "--target", "y", "--model", "tree.json", "--row", 3)
    for kind, asked in (
        ("rule", ("-k", 2)),
        ("reason", ()),
        ("contrast", ("--frozen", X.columns[-1])),
        ("expectation", ("-k", 1, "--distribution", "factorised")),
    ):
        done = run(*of_file, "--kind", kind, *asked, "--no-isolate", "--json")
        assert done.exit_code == 0, done.stderr
        found = json.loads(done.stdout)["explanation"]
        own = {"k": int(asked[1])} if "-k" in asked else {}
        if kind == "contrast":
            own = {"frozen": X.columns[-1]}
        if kind == "expectation":
            explainer = cpx.Explainer(tree, X, distribution="factorised")
        assert found["text"] == explainer.explain(3, kind=kind, **own).rule.text
        assert "by tree.json" in run(*of_file, "--kind", kind, *asked, "--no-isolate").stdout
    missing = run("explain", numbers, "--row", 3)
    assert "--target is missing: --model mlp is trained on it" in missing.stderr
    nowhere = run("explain", numbers, "--target", "y", "--row", 3, "--model", "no.json")
    assert "unknown model 'no.json'" in nowhere.stderr
    trusting = run("explain", numbers, "--target", "y", "--row", 3, "--trust")
    assert "--trust is for the model of a file" in trusting.stderr
