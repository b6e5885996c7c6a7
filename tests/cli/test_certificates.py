"""cpx complexity and cpx make precise-certificate: certificates of a table in the shell."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.conftest import Run


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Write a table whose class is the conjunction of two of three bits, or the third."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.integers(0, 2, (60, 3)), columns=["a", "b", "c"])
    path = tmp_path / "t.csv"
    X.assign(y=np.where(X["a"] & X["b"] | X["c"], "in", "out")).to_csv(path, index=False)
    return path


def test_complexity(run: Run, table: Path) -> None:
    asked = ("complexity", table, "--target", "y", "--model", "tree", "--n-bins", 2)
    told = run(*asked, "--json")
    assert told.exit_code == 0, told.output
    data = json.loads(told.stdout)
    d = len(data["bits"])
    assert sum(data["sizes"]) == 2**d
    mean = Fraction(sum(k * n for k, n in enumerate(data["sizes"])), 2**d)
    assert Fraction(data["C"]) == mean
    low, high = data["GC"]
    assert low == high <= data["D"]
    lines = run(*asked, "--epsilon", "1/2").stdout.splitlines()
    assert [line.split("(")[0] for line in lines] == ["C", "D", "GC"]
    for options, message in (
        (("--epsilon", 2), "epsilon"),
        (("--model", "oak"), "unknown model 'oak'"),
        (("--time-limit", 0), "time"),
    ):
        wrong = run(*asked, *options)
        assert (wrong.exit_code, message in wrong.stderr) == (2, True), wrong.output


def test_precise_certificate(run: Run, table: Path) -> None:
    row = next(
        i for i, r in enumerate(pd.read_csv(table).itertuples()) if (r.a, r.b, r.c) == (1, 1, 0)
    )
    asked = ("make", "precise-certificate", table, "--target", "y", "--model", "tree")
    more = ("--row", row, "--n-bins", 2, "--whole-domain", "--epsilon", 0)
    made = run(*asked, *more, "--distribution", "uniform", "-o", "inst.json")
    assert made.exit_code == 0, made.output
    saved = json.loads(Path("inst.json").read_text())
    assert saved["context"]["domain"] == 2 ** len(saved["features"])
    solved = run("solve", "inst.json", "--no-isolate", "-o", "result.json")
    assert solved.exit_code == 0, solved.output
    assert "minimum: no certificate with an error of at most 0 % is smaller" in solved.stdout
    assert run("check", "inst.json", "result.json").exit_code == 0
    wide = run(*asked, *more, "--distribution", "perturbed")
    assert (wide.exit_code, "whole domain" in wide.stderr) == (2, True), wide.output
