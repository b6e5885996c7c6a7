from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.papers.datasets import choose
from benchmarks.papers.koriche.methods import METHODS
from benchmarks.papers.koriche.protocol import Protocol
from benchmarks.papers.koriche.records import Record, Store, Task
from cpx.errors import InvalidInstance

VOTE, DIABETES = reversed(choose(["vote", "diabetes"]))
TASK = Task(VOTE, "sha256:0", 0, METHODS["loss"], 5, 1000, Protocol())


def record(task: Task = TASK, **values: object) -> Record:
    return Record(task.key, task.setting(), **({"status": "OPTIMAL"} | values))


@pytest.mark.parametrize(
    "change",
    [
        {"dataset": DIABETES},
        {"data": "sha256:1"},
        {"instance": 1},
        {"method": METHODS["exact"]},
        {"k": 4},
        {"m": 999},
        {"protocol": Protocol(seed=1)},
        {"protocol": Protocol(time_limit=None)},
        {"protocol": Protocol(fresh=10)},
    ],
)
def test_another_setting_is_another_key(change: dict[str, object]) -> None:
    assert replace(TASK, **change).key != TASK.key
    assert replace(TASK).key == TASK.key


def test_an_integer_limit_is_the_same_limit() -> None:
    assert replace(TASK, protocol=Protocol(time_limit=60)).key == TASK.key


def test_the_last_line_of_a_key_counts(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.add(record(status="ERROR", message="no luck"))
    assert not store.finished(TASK)
    store.add(record(agreeing=75, drawn=100, features=[1, 2]))
    again = Store(tmp_path)
    assert again.finished(TASK)
    assert again.get(TASK) == store.get(TASK)
    assert again.records[TASK.key].error == 0.25


def test_a_line_that_was_cut_short_is_dropped(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.add(record())
    whole = store.path.read_bytes()
    store.path.write_bytes(whole + whole[:40])
    again = Store(tmp_path)
    assert list(again.records) == [TASK.key]
    other = replace(TASK, instance=1)
    again.add(record(other))
    assert list(Store(tmp_path).records) == [TASK.key, other.key]


def test_a_line_of_something_else_is_named(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.add(record())
    with store.path.open("a") as stream:
        stream.write('{"nothing": 1}\n')
    with pytest.raises(InvalidInstance, match=r"runs\.jsonl, line 2"):
        Store(tmp_path)
