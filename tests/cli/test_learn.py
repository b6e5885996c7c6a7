"""``cpx learn``: rules from a table in the shell."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.conftest import Run


@pytest.fixture
def table(tmp_path: Path) -> str:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.integers(0, 20, 120), "tint": rng.choice(list("abc"), 120)})
    yes = ((frame["size"] > 9) & (frame["tint"] == "a")) | (frame["tint"] == "b")
    frame["y"] = np.where(yes, "yes", "no")
    frame["three"] = np.where(yes, "good", np.where(frame["size"] > 9, "fair", "poor"))
    frame.to_csv(tmp_path / "table.csv", index=False)
    return "table.csv"


def test_rules_figures_and_proof(run: Run, table: str) -> None:
    words = ("--penalty", "1/120", "--n-bins", 20, "-k", 2, "--time-limit", "none")
    done = run("learn", table, "--target", "y", *words)
    assert done.exit_code == 0, done.output
    # "three" gives it away.
    assert done.stdout.splitlines()[:2] == [
        "1 rule for the class yes, otherwise no",
        "errors     0 of 120, 1 rule at 1: 1 in all, no bound",
    ]
    assert "Hamming    1, at least 1 for every set" in done.stdout
    assert done.stdout.splitlines()[-1].endswith("three = good")


def test_json_file_and_fresh_rows(run: Run, table: str) -> None:
    args = ("learn", table, "--target", "three", "--label", "good", "--test", 0.25)
    done = run(*args, "-k", 2, "-o", "rules.json")
    assert done.exit_code == 0, done.output
    assert "otherwise not good" in done.stdout
    assert "fresh      accuracy 1.000 on 30 rows" in done.stdout
    told = json.loads(Path("rules.json").read_text())
    assert told["conditions"] == [["y = yes"]]
    assert told["otherwise"] == "not good"
    assert told["report"]["errors"] == 0
    # The usual price, as all of them give this rule.
    assert (told["penalty"], told["k"], told["self_confidence"]) == ("1/50", 2, True)
    report = told["report"]
    assert report["counted"] == [0, 90]
    assert Fraction(report["price"]) == Fraction(report["total"], 50)
    assert (told["fresh"]["rows"], told["fresh"]["rules"]["total"]) == (30, 30)
    again = run(*args, "-k", 2, "--json")
    assert json.loads(again.stdout) == told


def test_the_problem_is_saved_and_the_rules_are_its_answer(run: Run, table: str) -> None:
    words = ("--target", "three", "--label", "good", "--penalty", "1/40", "--n-bins", 4, "-k", 2)
    written = ("--instance", "inst.json.gz", "--result", "result.json")
    done = run("learn", table, *words, "--test", 0.25, *written)
    assert done.exit_code == 0, done.output
    assert "wrote inst.json.gz: rule-set-learning, 90 samples, rules of at most 2" in done.stderr
    checked = run("check", "inst.json.gz", "result.json")
    assert checked.exit_code == 0, checked.output
    # No error, one rule at 9/4 rows, in quarters of a row.
    first, second = checked.stdout.splitlines()
    assert first == "OK FEASIBLE, value 9, no bound: the data confirm it"
    assert second.startswith("taken on trust: termination, ")
    solved = run("solve", "inst.json.gz", "-b", "column-generation", "--hint", "result.json")
    assert solved.exit_code == 0, solved.output
    assert "value      9, bound 9" in solved.stdout
    assert "=> good" in solved.stdout
    told = json.loads(Path("result.json").read_text())
    told["objective"] = 8
    Path("result.json").write_text(json.dumps(told))
    assert run("check", "inst.json.gz", "result.json").exit_code == 1


def test_surrogate(run: Run, table: str) -> None:
    args = ("--model", "tree", "--queries", 5, "-k", 2)
    done = run("learn", table, "--target", "y", *args)
    # The active loop proves nothing.
    assert done.exit_code == 3, done.output
    assert "queries, no bound" in done.stdout
    done = run("learn", table, "--target", "y", *args, "--loop", "exact")
    assert done.exit_code == 0, done.output
    assert "for every set of the last candidates" in done.stdout


def test_plot_in_words(run: Run, table: str) -> None:
    pytest.importorskip("matplotlib")
    Path("words.toml").write_text('three = "how good"')
    words = ("--words", "words.toml", "--plot", "rules.svg")
    done = run("learn", table, "--target", "y", "-k", 1, *words)
    assert done.exit_code == 0, done.output
    assert "how good = good" in done.stdout
    assert "wrote rules.svg" in done.stderr
    assert Path("rules.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--target", "z"), "target column 'z' is not there"),
        (("--target", "three"), "--label is missing: the target 'three' has 3 classes"),
        (("--target", "y", "--label", "maybe"), "unknown class 'maybe'"),
        (("--target", "y", "-k", 0), "k must be an integer of at least 1, got 0"),
        (("--target", "y", "--penalty", "nan"), "penalty"),
        (("--target", "y", "--penalty", "-0.1"), "penalty"),
        (("--target", "y", "--test", 1), "test must be a number between 0 and 1"),
        (("--target", "y", "--test", 0.001), "rows cannot be kept aside"),
        (("--target", "y", "--model", "oak"), "unknown model 'oak'"),
        (
            ("--target", "y", "--model", "tree", "--loop", "for"),
            "loop must be one of active",
        ),
        (("--target", "y", "--model", "tree", "--loop", "active{beat=1}"), "did you mean 'beta'"),
        (("--target", "y", "--model", "tree", "--loop", "active{seed=1}"), "seed has an argument"),
        (("--target", "y", "--model", "tree", "--loop", "active{beta=-1}"), "beta"),
        (("--target", "y", "--model", "tree", "--queries", -1), "max_queries"),
        (("--target", "y", "--queries", 5), "--queries is for --model"),
        (("--target", "y", "--plot", "rules.txt"), "plot must be a file"),
        (("--target", "y", "-o", "nowhere/rules.json"), "does not exist"),
        (("--target", "y", "--instance", "nowhere/inst.json"), "does not exist"),
        (("--target", "y", "--result", "table.csv"), "it is the input"),
        (("--target", "y", "-o", "a.json", "--result", "a.json"), "a.json is given for two"),
        (
            ("--target", "y", "--model", "tree", "--result", "a.json"),
            "--result is not for --model",
        ),
    ],
)
def test_wrong_options(run: Run, table: str, words: tuple[object, ...], message: str) -> None:
    done = run("learn", table, *words)
    assert done.exit_code == 2, done.output
    assert message in done.stderr


def test_one_class(run: Run, tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("a,y\n1,yes\n2,yes\n")
    for more in ((), ("--model", "tree")):
        done = run("learn", "one.csv", "--target", "y", *more)
        assert done.exit_code == 2
        assert "one class only, 'yes'" in done.stderr
