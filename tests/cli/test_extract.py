"""cpx extract: the rules of a kernel machine in one command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

from cpx.models.kernel_rule.boolean_kernels import extract_rules
from tests.cli.conftest import Run


def test_extract(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"size": rng.integers(0, 6, 40), "tint": rng.choice(list("rgb"), 40)})
    inside = ((X["size"] > 3) & (X["tint"] != "g")) ^ (rng.random(40) < 0.25)
    y = np.where(inside, "in", "out")
    X.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    table = tmp_path / "t.csv"
    asked = ("extract", table, "--target", "y", "-n", 2, "--max-clauses", 1, "--label", "in")
    told = run(*asked, "--json")
    assert told.exit_code == 0, told.output
    data = json.loads(told.stdout)
    own = extract_rules(X, y, n_rules=2, max_clauses=1, positive="in")
    named = [[own.features[j] for j in rule.found.rule[0]] for rule in own.rules]
    assert [(rule["class"], rule["clauses"]) for rule in data["rules"]] == [
        (rule.label, [words]) for rule, words in zip(own.rules, named, strict=True)
    ]
    assert data["figures"]["rows"]["fidelity"] == own.fidelity(X)
    held = run(*asked, "--test", 0.25)
    assert held.stdout.splitlines()[-1].startswith("fresh  fidelity ")
    wrong = run(*asked, "--cost", -1)
    assert (wrong.exit_code, "cost" in wrong.stderr) == (2, True)
