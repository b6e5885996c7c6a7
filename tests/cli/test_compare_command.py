from __future__ import annotations

import csv
from pathlib import Path

import pytest

from cpx import RuleSetSelection, load, save
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
    Path("results/runs.jsonl").write_text("{}\n")
    done = run("compare", inst, "-b", "cpsat", "-o", "results", "--resume")
    assert done.exit_code == 2
    assert "results/runs.jsonl" in done.stderr


def test_one_file_names_the_design_and_options_take_precedence(run: Run, inst: Path) -> None:
    Path("design.toml").write_text(
        "instances = ['inst.json']\nengines = ['search', 'cpsat']\nencodings = ['clausal']\n"
    )
    done = run("compare", "design.toml", "-t", "20,30", "-o", "results")
    assert done.exit_code == 0, done.output
    configurations = [r.configuration for r in Comparison.load("results").runs]
    assert configurations == ["search", "search", "cpsat clausal", "cpsat clausal"]
    done = run("compare", "design.toml", "-b", "search")
    assert "[1/1]" in done.stderr
    done = run("compare", "design.toml", inst)
    assert done.exit_code == 2
    assert "give it alone" in done.stderr


def test_shards_are_merged(run: Run, inst: Path) -> None:
    asked = ("compare", inst, "-b", "cpsat,cpsat{cut_level=0}", "--seeds", "0,1")
    for i in (1, 2):
        assert run(*asked, "--shard", f"{i}/2", "-o", f"part{i}").exit_code == 0
    done = run("compare", "--merge", "part1", "part2", "-o", "all")
    assert done.exit_code == 0, done.output
    merged = Comparison.load("all")
    assert [(r.configuration, r.seed) for r in merged.runs] == [
        ("cpsat", 0), ("cpsat", 1), ("cpsat{cut_level=0}", 0), ("cpsat{cut_level=0}", 1),
    ]  # fmt: skip
    assert run("compare", "--merge", "part1", "-o", "some").exit_code == 3
    assert run("compare", "--merge", "part1").exit_code == 2
    assert run("compare", "--merge", "nothing", "-o", "none").exit_code == 2


def test_what_cannot_be_done_is_told(run: Run, inst: Path) -> None:
    done = run("compare", inst, "-b", "search,hitting-sets")
    assert done.exit_code == 0, done.output
    assert "skipped: hitting-sets on tiny: backend 'hitting-sets' cannot solve" in done.stderr


def test_a_reason_is_told_once_and_runs_by_their_limits(run: Run, inst: Path) -> None:
    sets = RuleSetSelection(load(inst).samples, [(0,), (0, 1)], penalty="1/8", name="sets")
    save(sets, "sets.json")
    asked = ("-b", "cpsat,maxsat", "--encoding", "clausal,signature", "-t", "20,30")
    done = run("compare", inst, "sets.json", *asked)
    assert done.exit_code == 0, done.output
    told = [line for line in done.stderr.splitlines() if "skipped" in line]
    assert [line.partition("; known")[0] for line in told] == [
        "cpx: skipped: cpsat signature and 1 more on tiny: "
        "unknown encoding of k-monomial 'signature'",
        "cpx: skipped: cpsat clausal and 1 more on sets: unknown encoding of rule-set 'clausal'",
    ]
    for limit in (20, 30):
        assert f"cpsat clausal seed 0 limit {limit} s: OPTIMAL" in done.stderr


def test_engine_options_logs_and_wrong_names(run: Run, inst: Path) -> None:
    done = run("compare", inst, "-b", "cpsat{cut_level=0}", "--logs", "logs", "--no-warm-start")
    assert done.exit_code == 0, done.output
    (log,) = Path("logs").iterdir()
    assert "CP-SAT solver" in log.read_text()
    done = run("compare", inst, "-b", "cpsat{cutlevel=0}", "-o", "results")
    assert done.exit_code == 2
    assert "did you mean 'cut_level'" in done.stderr
    assert not Path("results").exists()
    done = run("solve", inst, "-b", "cpsat{cut_level=0}")
    assert done.exit_code == 0, done.output


def test_a_full_disk_is_told_after_the_table(
    run: Run, inst: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno
    import os
    from typing import Any

    from cpx.compare import store

    real = os.write

    def full(file: int, data: Any) -> int:
        if b'{"run":' in bytes(data):
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(file, data)

    monkeypatch.setattr(store.os, "write", full)
    with pytest.warns(RuntimeWarning, match="No space left"):
        done = run("compare", inst, "-b", "search", "-o", "results")
    assert done.exit_code == 2
    assert "search" in done.stdout
    assert "No space left on device" in done.stderr


def test_a_directory_stands_for_its_instances(run: Run, inst: Path, tmp_path: Path) -> None:
    folder = tmp_path / "instances"
    folder.mkdir()
    assert "has no instances" in run("compare", folder, "-b", "search").stderr
    for name in ("b.json", "a.json"):
        (folder / name).write_bytes(inst.read_bytes())
    done = run("compare", folder, "-b", "search")
    assert done.exit_code == 0, done.output
    assert "/a.json" in done.stderr.splitlines()[0]
    assert "/b.json" in done.stderr.splitlines()[1]
