"""Sets of rules in the shell: made from a table, solved, checked, compared, shown."""

from __future__ import annotations

import json
import math
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.cli.conftest import Run

MAKE = ("make", "rule-set")
KIND = ("--target", "y", "--model", "tree", "--n-bins", 4, "-m", 200)


@pytest.fixture
def table(tmp_path: Path) -> str:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.integers(0, 20, 150), "tint": rng.choice(list("abc"), 150)})
    yes = (frame["size"] > 9) & (frame["tint"] == "a") | (frame["tint"] == "b")
    frame["y"] = np.where(yes, "yes", "no")
    frame.to_csv(tmp_path / "table.csv", index=False)
    return "table.csv"


def test_from_a_table_to_a_checked_answer(run: Run, table: str) -> None:
    made = run(*MAKE, table, *KIND, "-k", 2, "-o", "inst.json")
    assert made.exit_code == 0, made.output
    assert "class yes by tree: rule-set, 200 samples" in made.stdout
    for engine in ("search", "cpsat"):
        solved = run("solve", "inst.json", "-b", engine, "-o", "result.json")
        assert solved.exit_code == 0, solved.output
        lines = solved.stdout.splitlines()
        assert lines[0].endswith("=> yes")
        assert "tint = b" in lines[0]
        assert any(line.startswith("coverage  precision") for line in lines)
        checked = run("check", "inst.json", "result.json")
        assert checked.stdout.startswith("OK OPTIMAL"), checked.output
    data: dict[str, Any] = json.loads(Path("result.json").read_text())
    data["explanation"]["rule"]["figures"][0][1] += 1
    Path("result.json").write_text(json.dumps(data))
    checked = run("check", "inst.json", "result.json")
    assert checked.exit_code == 1
    assert "figures of rule" in checked.stdout


def test_compare_and_show(run: Run, table: str) -> None:
    run(*MAKE, table, *KIND, "-k", 1, "--max-rules", 2, "-o", "inst.json")
    compared = run("compare", "inst.json", "-b", "search,local-search", "--time-limit", 20)
    assert compared.exit_code in (0, 3), compared.output
    assert "at most 2 rules" in compared.stdout
    shown = run("show", "inst.json", "--encoding", "channelling")
    assert "Candidates r: literals" in shown.stdout
    for form in ("cpmpy", "wcnf", "lp", "cp-sat"):
        assert run("show", "inst.json", "--as", form).exit_code == 0


def test_candidates_of_a_file(run: Run, table: str) -> None:
    Path("rules.txt").write_text("tint = b\ntint != b and tint = a\ntint = c\n")
    made = run(*MAKE, table, *KIND, "--candidates", "rules.txt", "--forbidden", "tint = c")
    assert made.exit_code == 0, made.output
    parameters = json.loads(made.stdout)["parameters"]
    assert len(parameters["rules"]) == 3
    assert parameters["forbidden"] == [2]


def test_a_candidate_that_is_not_there_has_its_nearest(run: Run, table: str) -> None:
    literals = ("tint = a", "tint != a", "tint = b", "tint != b", "tint = c", "tint != c")
    rules = [*literals, *(f"{one} and {two}" for one in literals for two in literals if one < two)]
    Path("rules.txt").write_text("\n".join([*rules, "size > 14.5"]))
    for option, wanted in (("--required", "size > 15.5"), ("--forbidden", "size >14.5")):
        made = run(*MAKE, table, *KIND, "--candidates", "rules.txt", option, wanted)
        assert made.exit_code == 2
        told = f"{option}: '{wanted}' is none of the 22 candidates (did you mean 'size > 14.5'?)"
        assert told in " ".join(made.output.split())


@pytest.mark.parametrize("origin", ["anchors", "association"])
def test_candidates_that_are_mined(run: Run, table: str, origin: str) -> None:
    made = run(*MAKE, table, *KIND, "--candidates", origin, "-k", 2)
    if origin == "association" and find_spec("mlxtend") is None:
        assert made.exit_code == 2
        assert "pip install mlxtend" in made.output
        return
    assert made.exit_code == 0, made.output
    instance = json.loads(made.stdout)
    place = instance["features"].index("tint = b")
    assert [place] in instance["parameters"]["rules"]
    assert all(len(rule) <= 2 for rule in instance["parameters"]["rules"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--label", "maybe"), "unknown class 'maybe'"),
        (("--penalty", "-1"), "penalty must be"),
        (("--candidates", "wood"), "unknown candidates"),
        (("--distribution", "uniform"), "distribution of a rule set"),
        (("--loss", "square"), "loss must be one of zero-one, hamming"),
        (("--objective", "loss"), "No such option: --objective"),
        (("--max-rules", "-1"), "max_rules must not be negative"),
        (("--required", "tint = z"), "--required: 'tint = z' is none of the"),
        (("--forbidden", "9999"), "forbidden has the rule 9999, indices go from 0 to"),
        (("-k", "0"), "k must be an integer of at least 1"),
    ],
)
def test_wrong_input_is_named(
    run: Run, table: str, options: tuple[str, ...], message: str
) -> None:
    made = run(*MAKE, table, *KIND, *options)
    assert made.exit_code == 2
    assert message in made.output


LEARNED = (*KIND, "--candidates", "all")


def test_learned_rules(run: Run, table: str) -> None:
    made = run(*MAKE, table, *LEARNED, "-k", 2, "--penalty", "0.02", "-o", "inst.json")
    assert made.exit_code == 0, made.output
    assert "rule-set-learning, 200 samples, rules of at most 2 of 12 literals" in made.stdout
    solved = run("solve", "inst.json", "-b", "column-generation", "-o", "result.json")
    assert solved.exit_code == 0, solved.output
    assert "tint = b" in solved.stdout.splitlines()[0]
    checked = run("check", "inst.json", "result.json")
    assert checked.stdout.startswith("OK OPTIMAL"), checked.output
    compared = run("compare", "inst.json", "-b", "column-generation,search", "--time-limit", 60)
    assert compared.exit_code == 0, compared.output
    shown = run("show", "inst.json")
    assert "79 conjunctions of at most 2 literals" in shown.stdout


def test_too_many_rules_to_show(run: Run, table: str) -> None:
    made = run(
        *MAKE, table, *LEARNED, "--n-bins", 12, "-k", 5, "--loss", "hamming", "-o", "inst.json"
    )
    assert "Hamming loss" in made.stdout
    shown = run("show", "inst.json")
    assert shown.exit_code == 0, shown.output
    inst = json.loads(Path("inst.json").read_text())
    d = len(inst["features"])
    rules = sum(math.comb(d, size) for size in range(6))
    told = " ".join(shown.stdout.split())
    for part in (
        "rule-set-learning 'table-rules'",
        f"samples m = {len(inst['samples'])}, weight 200",
        f"literals d = {d}",
        f"rules {rules} conjunctions of at most 5 literals",
        "Hamming loss(S) + 2 |S|: penalty 1/100 of 200",
        f"{d - 1} {inst['features'][-1]}",
        "It would be that of the encoding signature.",
        f"Not shown: a statement has a variable for each rule, at most 4000; here are {rules}",
    ):
        assert part in told
    for command in (
        ("show", "inst.json", "--encoding", "signature"),
        ("show", "inst.json", "--as", "lp"),
        ("export", "inst.json", "--to", "lp", "-o", "inst.lp"),
        ("solve", "inst.json", "-b", "cpsat"),
    ):
        refused = run(*command)
        assert refused.exit_code == 2
        assert "ask the engine column-generation" in " ".join(refused.output.split())
    # Without a name an engine is asked that can.
    assert "engine     column-generation" in run("solve", "inst.json", "-t", "20").stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--max-rules", "3"), "--max-rules is not for --candidates all"),
        (("--required", "0"), "--required is not for --candidates all"),
        (("--loss", "square"), "loss must be one of zero-one, hamming"),
        (("--penalty", "nan"), "penalty must be"),
        (("-k", "0"), "k must be an integer of at least 1"),
    ],
)
def test_wrong_input_of_learning(
    run: Run, table: str, options: tuple[str, ...], message: str
) -> None:
    made = run(*MAKE, table, *LEARNED, *options)
    assert made.exit_code == 2
    assert message in made.output
