from __future__ import annotations

import csv
from pathlib import Path

import pytest

from cpx.compare import Comparison

from .conftest import Run


def test_compare_prints_a_table_and_writes_files(run: Run, inst: Path) -> None:
    done = run(
        "compare", inst, "-b", "cpsat,milp:highs", "--encoding", "clausal,reified",
        "--seeds", "0,1", "-t", 30, "-o", "results",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "virtual best" in done.stdout
    assert "k-monomial, 4 samples, 3 features, k = 1" in done.stdout
    rows = list(csv.DictReader(Path("results/results.csv").read_text().splitlines()))
    assert len(rows) == 8
    assert {row["objective"] for row in rows} == {"1"}
    assert {row["backend"] for row in rows} == {"cpsat", "milp"}
    assert all(row["verified"] == "True" and float(row["seconds"]) >= 0 for row in rows)
    saved = Comparison.load("results")
    assert saved.complete
    assert len(saved.runs) == 8
    assert "[8/8]" in done.stderr


def test_results_are_not_overwritten_but_resumed(run: Run, inst: Path) -> None:
    assert run("compare", inst, "-b", "cpsat", "-t", 30, "-o", "results").exit_code == 0
    before = Path("results/runs.jsonl").read_bytes()
    done = run("compare", inst, "-b", "cpsat", "-t", 30, "-o", "results")
    assert done.exit_code == 2
    assert "results has results already" in done.stderr
    assert Path("results/runs.jsonl").read_bytes() == before
    done = run("compare", inst, "-b", "cpsat,milp", "-t", 30, "-o", "results", "--resume")
    assert done.exit_code == 0, done.output
    assert done.stderr.count("OPTIMAL") == 1  # only milp ran
    assert Path("results/runs.jsonl").read_bytes().startswith(before)
    assert [run.engine for run in Comparison.load("results").runs] == ["cpsat", "milp:highs"]


@pytest.mark.parametrize(
    ("args", "names"),
    [
        (("-b", "cpsta"), ["cpsta", "'cpsat'"]),
        (("-b", "milp:gurobi"), ["milp", "gurobi"]),
        (("-b", ""), ["backends"]),
        (("--encoding", "clausla"), ["clausla", "'clausal'"]),
        (("-t", "0"), ["time_limit"]),
        (("-t", "nan"), ["time_limit"]),
        (("--jobs", "0"), ["jobs"]),
        (("--seeds", "0,x"), ["seeds", "'x'"]),
        (("--seeds", ""), ["seeds"]),
        (("--memory", "-1"), ["memory"]),
        (("--threads", "0"), ["threads"]),
    ],
)
def test_bad_options_are_found_before_the_directory_is_made(
    run: Run, inst: Path, args: tuple[str, ...], names: list[str]
) -> None:
    done = run("compare", inst, *args, "-o", "results")
    assert done.exit_code == 2, done.output
    assert all(name in done.stderr for name in names)
    assert not Path("results").exists()


def test_a_directory_that_cannot_be_made(run: Run, inst: Path) -> None:
    Path("file").write_text("")
    done = run("compare", inst, "-b", "cpsat", "-o", "file/results")
    assert done.exit_code == 2
    assert "file/results" in done.stderr


def test_the_same_file_twice_is_refused(run: Run, inst: Path) -> None:
    done = run("compare", inst, inst, "-b", "cpsat")
    assert done.exit_code == 2
    assert "given twice" in done.stderr


def test_a_damaged_results_file_is_named(run: Run, inst: Path) -> None:
    Path("results").mkdir()
    Path("results/results.json").write_text("{}")
    done = run("compare", inst, "-b", "cpsat", "-o", "results", "--resume")
    assert done.exit_code == 2
    assert "results/results.json" in done.stderr
