from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from benchmarks.papers.grids import Grid, as_markdown, as_text
from benchmarks.papers.koriche.experiment import SAMPLE_COUNTS, SIZES, Experiment, plan
from benchmarks.papers.koriche.figures import draw
from benchmarks.papers.koriche.records import Record, Store, Task
from benchmarks.papers.koriche.summary import cell
from benchmarks.papers.koriche.tables import grids, notes, to_csv
from benchmarks.papers.sources import Directory


@pytest.fixture
def experiment(data: Path) -> Experiment:
    return plan(Directory(data), ["vote", "diabetes"], ["cop", "loss"], instances=2)


def add(store: Store, task: Task, agreeing: int | None, **values: object) -> None:
    drawn = None if agreeing is None else 100
    facts = {"status": "OPTIMAL", "seconds": 1.0, "d": 9, "accuracy": 0.5} | values
    store.add(Record(task.key, task.setting(), agreeing=agreeing, drawn=drawn, **facts))


@pytest.fixture
def store(experiment: Experiment, tmp_path: Path) -> Store:
    """Cop answers for vote, one of two for diabetes; the search for vote only, and once."""
    made = Store(tmp_path / "out")
    diabetes, vote = experiment.datasets
    cop, loss = experiment.methods
    add(made, experiment.task(vote, 0, cop), 90)
    add(made, experiment.task(vote, 1, cop), 70, status="FEASIBLE", gap=0.5, seconds=3.0)
    add(made, experiment.task(diabetes, 0, cop), 80)
    add(made, experiment.task(diabetes, 1, cop), None, status="UNKNOWN", seconds=60.0)
    add(made, experiment.task(vote, 0, loss), 95, features=[1, 2])
    add(made, experiment.task(vote, 1, loss), None, status="ERROR", message="lost")
    return made


def test_errors_times_and_proofs(experiment: Experiment, store: Store) -> None:
    errors, times, proofs = grids(experiment, store)
    assert errors.header == ("data set", "d", "accuracy", "Cop", "paper", "search loss")
    assert errors.rows == (
        ("diabetes", "9", "0.50", "0.20, 1 no rule", "0.08", "2 to do"),
        ("vote", "9", "0.50", "0.20 ±0.10", "0.07", "0.05, 1 FAILED"),
        # Diabetes is left out: the search has no answer there.
        ("mean of 1", "", "", "0.20", "0.07", "0.05"),
    )
    assert times.rows == (("diabetes", "30", "32", "-"), ("vote", "2.00", "60", "1.00"))
    assert proofs.rows == (
        ("diabetes", "50 %", "-"),
        ("vote", "50 %, gap 50 %", "100 %"),
    )


def test_notes_tell_failures(experiment: Experiment, store: Store) -> None:
    lines = notes(experiment, experiment.tasks(figures=False), store)
    assert lines[-1] == "FAILED: vote #1 search loss k = 5 m = 1000: lost"
    assert "2 instances each, k = 5, limit 60 s" in lines[0]
    assert lines[2] == "search loss: k-monomial by search, m = 1000."


@pytest.mark.parametrize(("m", "counts"), [(None, (1000, 10_000)), (300, (300, 300))])
def test_a_number_of_samples_is_that_of_all_methods(
    data: Path, tmp_path: Path, m: int | None, counts: tuple[int, int]
) -> None:
    asked = plan(Directory(data), ["vote"], ["loss", "precision"], instances=1, m=m)
    assert tuple(task.m for task in asked.table_tasks()) == counts
    told = notes(asked, [], Store(tmp_path / "out"))
    assert told[1].endswith(f"m = {counts[0]}.")
    assert told[2].endswith(f"m = {counts[1]}.")
    by_samples = {task.m for task in asked.figure_tasks() if task.k == 5}
    assert by_samples == {*SAMPLE_COUNTS, *counts}


def test_forms(experiment: Experiment, store: Store) -> None:
    tables = grids(experiment, store)
    assert "| vote | 9 | 0.50 | 0.20 ±0.10 | 0.07 | 0.05, 1 FAILED |" in as_markdown(tables, [])
    assert "0.20 ±0.10" in as_text(tables, ["a note"])
    rows = list(csv.DictReader(io.StringIO(to_csv(experiment.tasks(figures=False), store))))
    assert len(rows) == 6
    (fast,) = [row for row in rows if row["method"] == "loss" and row["status"] == "OPTIMAL"]
    assert (fast["dataset"], fast["error"], fast["size"]) == ("vote", "0.05", "2")


def test_bars_do_not_end_a_cell_of_markdown() -> None:
    text = as_markdown([Grid("sizes", ("name", "|S|=k"), (("a", "1"),))], [])
    assert text.splitlines()[2:4] == [r"| name | \|S\|=k |", "| --- | ---: |"]


def test_a_cell_of_nothing(experiment: Experiment, store: Store) -> None:
    (missing,) = [experiment.task(experiment.datasets[0], 0, experiment.methods[1])]
    found = cell([missing], store)
    assert (found.missing, found.error, found.deviation, found.proved) == (1, None, None, None)


def test_tasks_of_the_figures(experiment: Experiment) -> None:
    table, all_tasks = experiment.tasks(figures=False), experiment.tasks(figures=True)
    assert len(table) == 2 * 2 * 2
    # k = 5 with m = 1000 is in the table, and in both figures.
    points = len(SAMPLE_COUNTS) + len(SIZES) - 1
    assert len(all_tasks) == 2 * 2 * 2 * points
    assert len({task.key for task in all_tasks}) == len(all_tasks)


@pytest.mark.slow
def test_figures_are_the_same_files_again(experiment: Experiment, store: Store) -> None:
    pytest.importorskip("matplotlib")
    first = {path.name: path.read_bytes() for path in draw(experiment, store)}
    second = {path.name: path.read_bytes() for path in draw(experiment, store)}
    assert sorted(first) == [
        f"error-by-{name}.{form}" for name in ("samples", "size") for form in ("png", "svg")
    ]
    assert first == second
    assert b">diabetes<" in first["error-by-size.svg"]
