"""Many rows in the shell: a page, a table, and what is wrong said before anything runs."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import joblib
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cpx

from .conftest import Run


def test_a_page_and_a_table_of_many_rows(run: Run, table: Path) -> None:
    asked = ("explain", table, "--target", "y", "--model", "tree", "-k", 2, "--rows", "1:9")
    done = run(*asked, "-o", "page.html")
    assert done.exit_code == 0, done.output
    assert "rows 1:9, rules by tree" in done.stdout.splitlines()[0]
    assert "rules of precision" in done.stdout or "rule of precision" in done.stdout
    page = Path("page.html").read_text(encoding="utf-8")
    assert page.count('class="open" data-row=') == 8
    assert run(*asked, "-o", "rows.csv").exit_code == 0
    frame = pd.read_csv("rows.csv", index_col="row", keep_default_na=False)
    assert list(frame.index) == list(range(1, 9))
    whole = pd.read_csv(table)
    explainer = cpx.Explainer.train("tree", whole.drop(columns="y"), whole["y"])
    alone = [explainer.rule(place, k=2) for place in frame.index]
    assert list(frame["explanation"]) == [" and ".join(one.rule.words) for one in alone]
    assert list(frame["class"]) == [one.rule.conclusion for one in alone]
    assert (frame["probability"].astype(float) > 0.5).all()


@pytest.mark.parametrize("kind", ["reason", "contrast", "expectation"])
def test_all_kinds_have_a_page(run: Run, table: Path, kind: str) -> None:
    pd.read_csv(table).drop(columns="colour").to_csv(table, index=False)
    done = run(
        "explain", table, "--target", "y", "--model", "tree", "--kind", kind, "--rows", ":4",
        "-o", "page.html",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert Path("page.html").read_text(encoding="utf-8").count('class="open" data-row=') == 4


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "one of --row and --rows is needed"),
        (("--row", 1, "--rows", "0:2"), "--row and --rows is needed, not both"),
        (("--row", 1, "--jobs", 2), "--jobs is for --rows"),
        (("--rows", "3"), "--rows must be A:B, such as 0:100, got '3'"),
        (("--rows", "3:3"), "--rows 3:3 are no rows"),
        (("--rows", "0:9999"), "rows 0:9999 are not there"),
        (("--rows", "0:2", "-o", "page.pdf"), "-o must end with .html or .csv"),
        (("--rows", "0:2", "--json"), "--json is for one row"),
        (("--rows", "0:2", "--proofs"), "--proofs is for a page of many rows"),
        (("--row", "1", "--proofs", "-o", "a.html"), "--proofs is for a page of many rows"),
    ],
)
def test_what_is_wrong_is_said(
    run: Run, table: Path, options: tuple[object, ...], told: str
) -> None:
    done = run("explain", table, "--target", "y", "--model", "tree", *options)
    assert done.exit_code == 2
    assert told in " ".join(done.output.replace("│", " ").split())


@pytest.mark.parametrize(("kind", "links"), [("reason", 3), ("rule", 3), ("expectation", 3)])
def test_a_page_links_proofs_that_hold(run: Run, table: Path, kind: str, links: int) -> None:
    """The command that the page shows for a row confirms its answer and the proof."""
    pd.read_csv(table).drop(columns="colour").to_csv(table, index=False)
    asked = ("explain", table, "--target", "y", "--model", "tree", "--kind", kind)
    done = run(*asked, "--rows", "2:4", "-o", "page.html", "--proofs")
    assert done.exit_code == 0, done.output
    assert "2 problems and results, 2 proofs" in done.stderr
    page = Path("page.html").read_text(encoding="utf-8")
    rows = json.loads(re.search(r'type="application/json"[^>]*>(.*?)</script>', page, re.S)[1])
    for row in rows["rows"]:
        assert [Path(path).is_file() for _, path in row["files"]] == [True] * links
        (command,) = [text for name, text in row["facts"] if name == "check it by"]
        checked = run(*shlex.split(command)[1:])
        assert checked.exit_code == 0, checked.output
        assert "OK proof: it proves what is claimed" in checked.stdout
    other = [path for _, path in rows["rows"][1]["files"]]
    mixed = run("check", rows["rows"][0]["files"][0][1], other[1], "--proof", other[2])
    assert mixed.exit_code != 0 or rows["rows"][0]["text"] == rows["rows"][1]["text"]


def test_a_classifier_of_a_file_that_is_no_tree_model(run: Run, table: Path) -> None:
    """Its contrasts are searched for on rows, and said to be so; its reasons are refused."""
    frame = pd.read_csv(table).drop(columns="colour")
    frame.to_csv(table, index=False)
    X, y = frame.drop(columns="y"), frame["y"]
    model = make_pipeline(StandardScaler(), KNeighborsClassifier()).fit(X, y)
    joblib.dump(model, "black.joblib")
    asked = ("explain", table, "--target", "y", "--model", "black.joblib", "--row", "3")
    done = run(*asked, "--kind", "contrast", "--trust", "-o", "found.json")
    assert done.exit_code == 3, done.output
    assert "found by a search on rows" in done.stdout
    assert "not read as trees, asked by predict alone" in done.stderr
    values = json.loads(Path("found.json").read_text())["explanation"]["values"]
    assert model.predict(X.iloc[[3]].assign(**values))[0] != model.predict(X.iloc[[3]])[0]
    assert run(*asked, "--kind", "rule", "--trust", "-k", 2).exit_code == 0
    for more in ((), ("--trust", "--rounds", "3")):
        assert run(*asked, "--kind", "contrast", *more).exit_code == 2
    refused = run(*asked, "--kind", "reason", "--trust")
    assert refused.exit_code == 2
    assert "black.joblib: " in refused.stderr


def test_a_row_that_the_model_cannot_take_holds_up_no_other_one(run: Run, table: Path) -> None:
    frame = pd.read_csv(table).drop(columns="colour")
    X, y = frame.drop(columns="y"), frame["y"]
    joblib.dump(GradientBoostingClassifier(n_estimators=3, random_state=0).fit(X, y), "gb.joblib")
    frame.loc[1, X.columns[0]] = None
    frame.to_csv(table, index=False)
    asked = ("explain", table, "--target", "y", "--model", "gb.joblib", "--trust", "--rows", ":3")
    done = run(*asked, "--kind", "reason", "-o", "rows.csv")
    assert done.exit_code == 3, done.output
    why = pd.read_csv("rows.csv", keep_default_na=False)["why"].tolist()
    assert (why[0], why[2]) == ("", "")
    assert "is missing, and the model has no branch for that" in why[1]
