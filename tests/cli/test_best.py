from __future__ import annotations

import json
from pathlib import Path

import pytest

from cpx import KernelRule, Samples
from cpx.modelling import instances
from cpx.models import RuleSetLearning
from cpx.models.expected_prediction.cases import random_expectation

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


@pytest.mark.parametrize("backend", ["search", "cpsat"])
def test_lists_answers_of_other_kinds(run: Run, tmp_path: Path, backend: str) -> None:
    rows = [[1, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]]
    samples = Samples([[1, 1], [1, 0], [0, 1]], [1, 0, 0], features=("a", "b"))
    wanted = {
        KernelRule(rows, [3, 2, -4, -1], 2, 2): (
            "    value  rule",
            "1.      5  (x0 and x1) or x2 => positive",
        ),
        RuleSetLearning(samples, 2, "1/4"): (
            "    value  precision  coverage  rule",
            "1.      3      1.000     0.333  a and b => the class",
        ),
        random_expectation(31): (
            "    attributes  expected  likelihood  rule",
            "1.           3    1.3186    3.56e-05  a0 <= 1 and a1 > 3 and a2 > 2 => c0",
        ),
    }
    for problem, lines in wanted.items():
        instances.save(problem, tmp_path / "inst.json")
        done = run("best", tmp_path / "inst.json", "-n", 2, "--backend", backend)
        assert done.exit_code == 0, done.output
        assert tuple(done.stdout.splitlines()[:2]) == lines
