"""Samples that no engine sees: saved, measured on, checked and shown; they decide nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

import cpx
from cpx import KMonomial, MaxPrecision, Samples, check, compare, solve
from cpx.cli.app import app
from cpx.compare import Comparison
from cpx.compare.report import as_html
from cpx.compare.report_tables import as_csv, grids
from cpx.errors import InvalidInstance, InvalidOption
from cpx.modelling.instances import dumps, fingerprint, loads, save, schema
from cpx.models.monomial.explainers.rule import RuleExplainer


def _samples(seed: int, m: int = 60) -> Samples:
    rng = np.random.default_rng(seed)
    agreement = rng.random((m, 6)) < 0.6
    same = agreement[:, 2] ^ (rng.random(m) < 0.2)
    return Samples(agreement, same, rng.integers(1, 4, m))


PROBLEM = KMonomial(_samples(0), 2, unseen=_samples(1, 40), name="aside")


def _by_hand(problem, features) -> tuple[int, int, int]:
    agreeing = covered = total = 0
    for row, same, weight in zip(
        problem.unseen.agreement, problem.unseen.same, problem.unseen.weights, strict=True
    ):
        total += int(weight)
        if all(row[j] for j in features):
            covered += int(weight)
            agreeing += int(weight) * bool(same)
    return agreeing, covered, total


@pytest.mark.parametrize("isolate", [False, True])
@pytest.mark.parametrize("kind", [KMonomial, MaxPrecision])
def test_an_answer_is_measured_on_them(kind, isolate) -> None:
    problem = kind(PROBLEM.samples, 2, unseen=PROBLEM.unseen)
    result = solve(problem, "search", isolate=isolate)
    found = result.explanation.unseen
    counts = (found.agreeing, found.covered, found.total)
    assert counts == _by_hand(problem, result.explanation.features)
    assert found.precision.exact == Fraction(found.agreeing, found.covered)
    assert f"on {found.total} unseen samples" in str(result)
    assert result.verified
    again = cpx.Result.from_dict(json.loads(json.dumps(result.to_dict())))
    assert again.explanation.unseen == found


def test_they_decide_nothing() -> None:
    without = replace(PROBLEM, unseen=None)
    assert fingerprint(PROBLEM) == fingerprint(without)
    one, other = (solve(p, "search") for p in (PROBLEM, without))
    assert one.explanation.features == other.explanation.features
    assert one.objective == other.objective
    assert other.explanation.unseen is None
    assert "unseen" not in other.to_dict()["explanation"]


def test_a_file_keeps_them() -> None:
    again = loads(dumps(PROBLEM))
    assert again.unseen == PROBLEM.unseen
    assert dumps(again) == dumps(PROBLEM)
    assert '"unseen"' not in dumps(replace(PROBLEM, unseen=None))
    known = [s for s in schema()["oneOf"] if "k-monomial" in s["properties"]["problem"]["enum"]]
    assert known[0]["properties"]["unseen"]["required"] == ["samples", "labels"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"samples": ["10"], "labels": "1"}, "unseen has 2 features, samples has 6"),
        ({"samples": ["101010"]}, "'labels' of unseen is missing"),
        ({"samples": ["101010"], "labels": "11"}, "2 entries for 1 samples"),
        ({"samples": ["101010"], "labels": "1", "features": []}, "unknown key 'features'"),
        ([1], "unseen must be an object"),
    ],
)
def test_wrong_ones_are_refused(change, told) -> None:
    data = json.loads(dumps(PROBLEM))
    data["unseen"] = change
    with pytest.raises(InvalidInstance, match=told):
        loads(json.dumps(data))


def test_the_checker_counts_anew() -> None:
    result = solve(PROBLEM, "search").to_dict()
    instance = PROBLEM.to_dict()
    assert check.violations(instance, result) == []
    for key in ("agreeing", "covered", "total"):
        wrong = json.loads(json.dumps(result))
        wrong["explanation"]["unseen"][key] += -1 if key == "agreeing" else 1
        assert any("unseen" in told for told in check.violations(instance, wrong))
    del instance["unseen"]
    assert any("unseen" in told for told in check.violations(instance, result))
    wrong["explanation"]["unseen"] = {"agreeing": 3, "covered": 2, "total": 9}
    assert any("unseen" in told for told in check.violations(PROBLEM.to_dict(), wrong))


def test_comparisons_show_them(tmp_path) -> None:
    problems = [PROBLEM, KMonomial(_samples(3), 2, name="without")]
    found = compare(problems, ["search", "beam"])
    frame = found.to_frame().set_index(["instance", "backend"])
    unseen = solve(PROBLEM, "search").explanation.unseen
    row = frame.loc["aside", "search"]
    assert row.precision_unseen == pytest.approx(float(unseen.precision))
    assert row.coverage_unseen == pytest.approx(float(unseen.coverage))
    assert frame.loc["without"].precision_unseen.isna().all()
    found.save(tmp_path)
    read = pd.read_csv(next(tmp_path.glob("*.csv"))).set_index(["instance", "backend"])
    assert read.loc["aside", "search"].coverage_unseen == pytest.approx(row.coverage_unseen)
    assert Comparison.load(tmp_path).to_frame().equals(found.to_frame())
    assert "the best rule has precision" in str(found)
    assert "on unseen ones" in str(found)


def test_reports_show_them() -> None:
    found = compare([PROBLEM], ["search"])
    shares = solve(PROBLEM, "search").explanation.unseen
    table = as_csv(grids(found.cases(), found.scores())["explanations"])
    assert "precision, unseen" in table
    assert f"{float(shares.precision)}" in table
    page = as_html(found)
    assert page.count("precision, unseen") > 1
    assert "unseen: on samples no engine saw" in page


def test_an_explainer_draws_them_apart() -> None:
    X = pd.DataFrame(np.random.default_rng(0).random((300, 4)), columns=list("abcd"))
    y = (X.a + X.b > 1).astype(int)
    explainer = RuleExplainer(
        DecisionTreeClassifier(random_state=0).fit(X, y), X, distribution="product"
    )
    problem = explainer.problem(X.iloc[0], 2, m=400, unseen=300)
    assert problem.unseen.total == 300
    assert problem.samples == explainer.problem(X.iloc[0], 2, m=400).samples
    seen = {row.tobytes() for row in problem.samples.agreement}
    rows = [row.tobytes() for row in problem.unseen.agreement]
    assert rows != [row.tobytes() for row in problem.samples.agreement][: len(rows)]
    assert seen & set(rows)
    rows_at_hand = RuleExplainer(explainer.classifier, X)
    with pytest.raises(InvalidOption, match="all rows of the distribution"):
        rows_at_hand.problem(X.iloc[0], 2, unseen=10)


def test_make_keeps_them(tmp_path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.random(80), "b": rng.integers(0, 3, 80)})
    table["y"] = (table.a > 0.5).astype(int)
    table.to_csv(tmp_path / "t.csv", index=False)
    where = [str(tmp_path / "t.csv"), "--target", "y", "--row", "3", "--model", "tree"]
    out = tmp_path / "i.json"
    told = CliRunner().invoke(
        app, ["make", "rule", *where, "-k", "2", "-m", "100", "--unseen", "50", "-o", str(out)]
    )
    assert told.exit_code == 0, told.output
    assert cpx.load(out).unseen.total == 50
    told = CliRunner().invoke(app, ["solve", str(out), "--backend", "search"])
    assert "on 50 unseen samples" in told.output
    refused = ["rule-set", *where[:3], "--label", "1", "--unseen", "5"]
    assert CliRunner().invoke(app, ["make", *refused]).exit_code == 2
    save(PROBLEM, tmp_path / "again.json.gz")
    assert cpx.load(tmp_path / "again.json.gz").unseen == PROBLEM.unseen
