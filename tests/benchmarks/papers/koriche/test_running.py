from __future__ import annotations

import os
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.papers.koriche.experiment import Experiment, plan
from benchmarks.papers.koriche.methods import Method
from benchmarks.papers.koriche.protocol import train
from benchmarks.papers.koriche.records import Record, Store, Task
from benchmarks.papers.koriche.running import reproduce
from benchmarks.papers.sources import Directory
from cpx.errors import DataError, EngineError
from cpx.processes.calls import Cancelled, call


def small(data: Path, *methods: str, **options: Any) -> Experiment:
    return plan(Directory(data), ["vote"], methods, instances=2, k=2, m=200, **options)


@pytest.mark.slow
def test_records_are_what_the_problem_and_fresh_samples_say(data: Path, tmp_path: Path) -> None:
    experiment = small(data, "loss", "precision")
    store = Store(tmp_path / "out")
    tasks = experiment.tasks(figures=False)
    assert reproduce(Directory(data), tasks, store)
    box = train(Directory(data).load(experiment.datasets[0]), experiment.protocol)
    for task in tasks:
        record = store.get(task)
        assert record is not None
        assert (record.status, record.message) == ("OPTIMAL", "")
        x, explainer = box.instance(task.instance, 0)
        objective = "loss" if task.method.name == "loss" else "precision"
        problem = explainer.problem(x, 2, m=task.m, objective=objective)
        found = problem.explanation(record.features or ())
        assert record.precision == str(problem.evaluate(found).precision.exact)
        fresh = explainer.measure(found, x, 1000).fresh
        assert fresh is not None
        assert record.error == 1 - fresh.value
        assert (record.d, record.accuracy) == (box.d, box.accuracy)


@pytest.mark.slow  # the command, which makes and resumes a table, is tested always
def test_what_is_there_is_not_made_again(data: Path, tmp_path: Path) -> None:
    tasks = small(data, "loss").tasks(figures=False)
    made: list[str] = []
    for _ in range(2):
        store = Store(tmp_path / "out")
        reproduce(Directory(data), tasks, store, on_record=lambda task, _: made.append(task.key))
    assert sorted(made) == sorted(task.key for task in tasks)


@pytest.mark.usefixtures("_trained_here")
def test_a_method_that_asks_the_classifier_runs_in_a_process(data: Path, tmp_path: Path) -> None:
    experiment = small(data, "loss")
    asking = Method("asks", "Asks", "certificates", "certificates", samples=False)
    task = replace(experiment.tasks(figures=False)[0], method=asking)
    store = Store(tmp_path / "out")
    assert reproduce(Directory(data), [task], store)
    record = store.get(task)
    assert record is not None
    # No certificate is an answer, too; a failure to ask is not.
    assert (record.message, record.status in ("FEASIBLE", "UNKNOWN")) == ("", True)


@pytest.mark.usefixtures("_trained_here")
def test_a_failure_is_kept_and_tried_again(data: Path, tmp_path: Path) -> None:
    experiment = small(data, "loss")
    good, other = experiment.tasks(figures=False)
    bad = replace(other, method=replace(other.method, parameters={"nonsense": 1}))
    store = Store(tmp_path / "out")
    assert reproduce(Directory(data), [bad, good], store)
    record = store.get(bad)
    assert record is not None
    assert record.failed
    assert "nonsense" in record.message
    assert store.finished(good)
    assert not store.finished(bad)


def test_a_table_that_is_missing_stops_all_before_it_starts(data: Path, tmp_path: Path) -> None:
    tasks = small(data, "loss").tasks(figures=False)

    class Gone(Directory):
        def fetch(self, dataset: Any) -> None:
            raise DataError("gone")

    store = Store(tmp_path / "out")
    with pytest.raises(DataError, match="gone"):
        reproduce(Gone(data), tasks, store)
    assert not store.records


@pytest.mark.usefixtures("_trained_here")
def test_ctrl_c_keeps_what_had_ended(data: Path, tmp_path: Path) -> None:
    def interrupt(task: Task, record: Record) -> None:
        raise KeyboardInterrupt

    store = Store(tmp_path / "out")
    tasks = small(data, "loss", "exact", "precision").tasks(figures=False)
    assert not reproduce(Directory(data), tasks, store, on_record=interrupt)
    # One more may have ended by then.
    assert 1 <= len(store.records) < len(tasks)
    assert {record.termination for record in store.records.values()} == {"COMPLETED"}


def fail(text: str) -> None:
    raise DataError(text)


def leave(status: int) -> None:
    os._exit(status)


def test_calls_in_a_process() -> None:
    never = threading.Event()
    assert call(divmod, 7, 2, cancel=never) == (3, 1)
    with pytest.raises(DataError, match="wrong"):
        call(fail, "wrong", cancel=never)
    with pytest.raises(EngineError, match="leave ended with status 3"):
        call(leave, 3, cancel=never)
    stopped = threading.Event()
    stopped.set()
    with pytest.raises(Cancelled):
        call(time.sleep, 60, cancel=stopped)
