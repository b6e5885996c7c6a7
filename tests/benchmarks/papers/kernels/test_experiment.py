"""The table of Polato and Aiolli: a small part of it, and what its columns say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from benchmarks.papers.commands import app
from benchmarks.papers.kernels.experiment import PUBLISHED, choose, make, tasks
from benchmarks.papers.kernels.records import Protocol, Run, Task
from benchmarks.papers.kernels.tables import grids, notes
from benchmarks.papers.store import Store, line_of
from cpx.answers.result import Termination
from cpx.errors import InvalidInstance, InvalidOption, UnknownName
from cpx.models.kernel_rule.boolean_kernels import dataset, extraction
from cpx.models.kernel_rule.boolean_kernels.datasets import DATASETS
from cpx.models.kernel_rule.boolean_kernels.extraction import extract
from cpx.models.kernel_rule.methods.genetic import Genetic


def test_every_data_set_has_its_published_figures() -> None:
    assert tuple(PUBLISHED) == DATASETS
    assert choose() == DATASETS


@pytest.mark.slow
def test_every_known_rule_is_found_or_one_of_equal_weight() -> None:
    for task in tasks(DATASETS, Protocol(runs=1, genetic=False)):
        run = make(task)
        assert run.exact.proved, task
        assert run.exact.weight == run.known, task
        assert run.exact.share == run.exact.bound == run.known_share == 1
        assert run.svm_train == 1
        if task.name in ("monks-1", "tic-tac-toe"):
            assert run.exact.rule == dataset(task.name).rule
            assert run.exact.test == 1


def test_rules_of_noisy_labels_are_proved() -> None:
    run = make(Task("monks-1", 0, Protocol(runs=1, noise=0.05, time_limit=None, genetic=False)))
    assert run.exact.bound is not None
    assert run.exact.proved
    # The optimum of an integer program for the same problem, by HiGHS.
    assert run.exact.share == pytest.approx(0.7315047, abs=1e-6)
    assert run.known_share < run.exact.share <= run.exact.bound < run.exact.share + 1e-5
    (header, row) = (grids([run], noisy=True)[1].header, grids([run], noisy=True)[1].rows[0])
    assert dict(zip(header, row, strict=True))["proved"] == "1 of 1"


def test_the_command_prints_both_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Genetic, "generations", 30)
    arguments = ["kernels", "--datasets", "monks-1", "--runs", "1", "-o"]
    done = CliRunner().invoke(app, [*arguments, str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "| monks-1 | 1 of 1 | 1 of 1 | 1 of 1 |" in (tmp_path / "table.md").read_text()
    assert "Polato, Aiolli" in done.output


def test_the_genetic_algorithm_has_generations_and_no_time_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Genetic, "generations", 3)
    asked = {}

    def noting(machine: Any, *, backend: str, time_limit: float | None, seed: int) -> Any:
        asked[backend] = time_limit
        return extract(machine, backend=backend, time_limit=time_limit, seed=seed)

    monkeypatch.setattr(extraction, "extract", noting)
    run = make(Task("tic-tac-toe", 0, Protocol(runs=1, time_limit=7, operators="shrink+half")))
    assert asked == {"search": 7, "genetic:shrink+half": None}
    assert run.genetic is not None
    assert run.genetic.generations == 3
    # The rule of three generations is not that of the exact search, and has a table of its own.
    tables = grids([run], noisy=False)
    assert [grid.title.rpartition(": ")[2] for grid in tables[::2]] == [
        "the machine, and the rule of the exact search",
        "the rule of the genetic algorithm",
    ]
    ((name, train, paper, test, *_),) = tables[2].rows
    assert (name, train, paper) == ("tic-tac-toe", f"{100 * run.genetic.train:.2f}", "100.00")
    assert test == f"{100 * run.genetic.test:.2f}" != tables[0].rows[0][7]
    told = notes(run.task.protocol)[-1]
    assert "3 generations at most, operators shrink+half;" in told


def test_runs_are_kept_and_not_made_again(tmp_path: Path) -> None:
    def invoke(*more: str) -> str:
        arguments = ["kernels", "--datasets", "monks-1", "-o", str(tmp_path)]
        done = CliRunner().invoke(app, [*arguments, "--no-genetic", *more])
        assert done.exit_code == (3 if "--show" in more else 0), done.output
        return done.output

    assert "1 runs, 0 made before, 1 to do" in invoke("--runs", "1")
    first = (tmp_path / "runs.jsonl").read_bytes()
    assert "2 runs, 1 made before, 1 to do" in invoke("--runs", "2")
    both = (tmp_path / "runs.jsonl").read_bytes()
    assert both.startswith(first)
    assert both.count(b"\n") == 2
    assert "2 runs, 2 made before, 0 to do" in invoke("--runs", "2")
    assert "2 of 2" in invoke("--runs", "3", "--show")
    assert (tmp_path / "runs.jsonl").read_bytes() == both
    again = Store(tmp_path, Run.from_line)
    assert [line_of(run) for run in again.records.values()] == both.splitlines(keepends=True)


@pytest.mark.parametrize(
    "change",
    [
        {"name": "monks-3"},
        {"number": 1},
        {"protocol": Protocol(noise=0.05)},
        {"protocol": Protocol(time_limit=None)},
        {"protocol": Protocol(genetic=False)},
        {"protocol": Protocol(seed=1)},
        {"protocol": Protocol(operators="shrink")},
    ],
)
def test_another_setting_is_another_task(change: dict[str, Any]) -> None:
    task = Task("monks-1", 0, Protocol())
    assert replace(task, **change).key != task.key
    assert replace(task, protocol=Protocol(runs=9, time_limit=10)).key == task.key


def test_a_line_of_something_else_is_named(tmp_path: Path) -> None:
    (tmp_path / "runs.jsonl").write_text('{"task": {"name": "monks-1"}}\n')
    with pytest.raises(InvalidInstance, match=r"runs\.jsonl, line 1: cannot be read"):
        Store(tmp_path, Run.from_line)


def test_ctrl_c_ends_the_experiment_and_keeps_what_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def interrupted(*args: Any, **options: Any) -> Any:
        found = extract(*args, **options)
        assert found is not None
        calls.append(found)
        if len(calls) < 2:
            return found
        result = replace(found.result, termination=Termination.INTERRUPTED)
        return replace(found, result=result)

    monkeypatch.setattr(extraction, "extract", interrupted)
    arguments = ["kernels", "--datasets", "monks-1,monks-3", "--runs", "1"]
    done = CliRunner().invoke(app, [*arguments, "--no-genetic", "-o", str(tmp_path)])
    assert done.exit_code == 3, done.output
    assert len(calls) == 2
    assert "interrupted" in done.output
    assert "monks-1" in done.output
    assert "monks-3 " not in done.output


def test_wrong_options_are_refused() -> None:
    with pytest.raises(UnknownName, match="did you mean 'monks-1'"):
        choose(["monks1"])
    with pytest.raises(InvalidOption, match="datasets must name"):
        choose([])
    with pytest.raises(InvalidOption, match="noise must be a share"):
        Protocol(noise=0.5)
    with pytest.raises(InvalidOption, match="runs must be"):
        Protocol(runs=0)
    with pytest.raises(UnknownName, match="did you mean 'half'"):
        Protocol(operators="shrink+halff")
