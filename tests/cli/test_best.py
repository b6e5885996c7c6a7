from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Run


def test_lists_rules_with_their_figures(run: Run, inst: Path) -> None:
    done = run("best", inst, "-n", 3)
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        "    value  precision  coverage  rule",
        "1.      1      0.667     0.750  a => yes",
        "2.      2      0.500     1.000  (always) => yes",
        "3.      3      0.333     0.750  b => yes",
        "proved     no rule is missing before the last of these, others are as good as the last",
        "checked    yes, every rule was recomputed from the data",
    ]


def test_optimal_only_and_json(run: Run, inst: Path) -> None:
    done = run("best", inst, "--optimal", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert [(rule["text"], rule["objective"]) for rule in told["rules"]] == [("a => yes", 1)]
    assert (told["complete"], told["more"], told["best"]["status"]) == (True, False, "OPTIMAL")


@pytest.mark.parametrize("words", [["-n", "0"], ["-n", "x"], ["--time-limit", "0"]])
def test_wrong_options(run: Run, inst: Path, words: list[str]) -> None:
    assert run("best", inst, *words).exit_code == 2
