from __future__ import annotations

import json
from pathlib import Path

import pytest

from cpx.instances import load

from .conftest import Run


def test_explain_prints_a_rule_with_its_interval(run: Run, table: Path) -> None:
    done = run(
        "explain", table, "--target", "y", "--row", 0, "-k", 2, "-m", 200, "--model", "tree",
        "--no-isolate", "-o", "result.json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "95% interval, 1000 fresh samples" in done.stdout
    assert "table.csv row 0, class" in done.stdout.splitlines()[0]
    fresh = json.loads(Path("result.json").read_text())["explanation"]["fresh"]
    assert fresh["drawn"] == 1000


def test_explain_json_is_one_object(run: Run, table: Path) -> None:
    done = run(
        "explain", table, "--target", "y", "--row", 1, "--model", "tree", "-m", 100, "-k", 1,
        "--fresh", 50, "--no-isolate", "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["explanation"]["fresh"]["drawn"] == 50


@pytest.mark.parametrize("distribution", ["uniform", "product", "empirical", "perturbed"])
def test_make_saves_the_statement_of_the_question(
    run: Run, table: Path, distribution: str
) -> None:
    done = run(
        "make", table, "--target", "y", "--row", 3, "-k", 2, "-m", 100, "--model", "logistic",
        "--distribution", distribution, "--bins", 2, "-o", "made.json.gz",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("wrote made.json.gz: class ")
    problem = load("made.json.gz")
    assert problem.name == "table-3-k2"
    assert (problem.k, problem.samples.total, problem.kind) == (2, 100, "k-monomial")
    assert problem.samples.context["distribution"]["name"] == distribution


def test_make_without_output_prints_the_instance(run: Run, table: Path) -> None:
    done = run(
        "make", table, "--target", "y", "--row", 3, "-m", 50, "-k", 1, "--model", "tree",
        "--problem", "negative-only",
    )  # fmt: skip
    assert json.loads(done.stdout)["problem"] == "negative-only"


def test_make_is_reproducible(run: Run, table: Path) -> None:
    for name in ("a.json", "b.json"):
        args = ("--target", "y", "--row", 3, "-k", 1, "-m", 60, "--model", "mlp", "--seed", 7)
        assert run("make", table, *args, "-o", name).exit_code == 0
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes()


def test_demo_explains_a_real_prediction(run: Run) -> None:
    done = run("demo", "--backends", "cpsat,maxsat", "--time-limit", 30)
    assert done.exit_code == 0, done.output
    assert "says that tumour 19 is benign" in done.stdout
    assert "worst radius <= 16.8 and worst concave points <= 0.1423 => benign" in done.stdout
    assert "95% interval, 1000 fresh samples" in done.stdout
    assert "loss 53 of 1000 is optimal" in done.stdout
    assert "virtual best" in done.stdout
