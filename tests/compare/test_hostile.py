"""What engines can do to a comparison: each gets its own status, and the rest goes on."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import cpx
from cpx.answers.result import Status, Termination
from cpx.compare import Comparison, store
from cpx.errors import OutputError
from cpx.modelling.instances import load
from tests.processor_time import processor_seconds

from .helpers import tiny
from .hostile import install, uninstall


@pytest.fixture
def _hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    install(tmp_path, monkeypatch)
    yield
    uninstall()


@pytest.mark.usefixtures("_hostile")
def test_each_has_its_own_status_and_the_rest_goes_on(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    began = processor_seconds()
    comparison = cpx.compare(
        [tiny()], "hostile:*,search", time_limit=10, memory=2**30, output=tmp_path / "runs"
    )
    assert processor_seconds() - began < 60
    assert "assertion failed" not in capfd.readouterr().err
    runs = {run.engine.removeprefix("hostile:"): run for run in comparison.runs}
    error, feasible = Status.ERROR, Status.FEASIBLE
    told = {
        name: (run.result.status, run.result.termination, run.result.error)
        for name, run in runs.items()
    }
    crashed, wrong = Termination.SOLVER_ERROR, Termination.COMPLETED
    assert told["quick"] == (feasible, wrong, "")
    assert told["prints"] == (feasible, wrong, "")
    assert told["hangs"] == (feasible, Termination.TIME_LIMIT, "")
    assert told["bomb"] == (feasible, Termination.MEMORY_LIMIT, "")
    assert told["aborts"] == (
        error, crashed, "the worker was ended by SIGABRT: assertion failed: x > 0",
    )  # fmt: skip
    assert told["segfaults"] == (error, crashed, "the worker was ended by SIGSEGV")
    assert told["exits"] == (error, crashed, "the worker ended with status 3")
    assert told["raises"] == (error, crashed, "RuntimeError: the engine is out of order")
    assert told["wrong-value"] == (
        error, wrong, "the engine claims the value -1, the data give 2",
    )  # fmt: skip
    assert told["wrong-bound"][0] == error
    assert "bound" in told["wrong-bound"][2]
    assert told["infeasible"] == (
        error, wrong, "the engine claims infeasibility, but a solution is known",
    )  # fmt: skip
    assert runs["search"].result.status is Status.OPTIMAL
    # The incumbent of a run that was ended is kept, and so is what it has used.
    assert runs["hangs"].result.objective == 2
    assert runs["bomb"].result.memory > 5e8
    assert runs["hangs"].result.times.cpu > 0
    liars = {"wrong-value", "wrong-bound", "infeasible"}
    assert {name for name, run in runs.items() if run.result.refuted} == liars
    assert len(comparison.contradictions["tiny"]) == 3
    assert comparison.best("tiny").objective == 1
    text = str(comparison)
    assert "error: hostile:raises: RuntimeError: the engine is out of order" in text
    for name in liars:
        line = next(line for line in text.splitlines() if line.startswith(f"hostile:{name} "))
        assert "WRONG" in line
    # The instance is kept for whoever looks into it.
    (saved,) = (tmp_path / "runs" / "disagreements").iterdir()
    assert load(saved).to_dict() == tiny().to_dict()


@pytest.mark.usefixtures("_hostile")
def test_logs_have_what_engines_print(tmp_path: Path) -> None:
    cpx.compare(
        [tiny("a/b")], "hostile:prints,cpsat,milp,milp:cbc,maxsat", time_limit=20,
        logs=tmp_path / "logs",
    )  # fmt: skip
    logs = {path.name: path.read_bytes() for path in (tmp_path / "logs").iterdir()}
    assert sorted(logs) == [
        "00000 a-b hostile-prints seed 0.log",
        "00001 a-b cpsat seed 0.log",
        "00002 a-b milp-highs seed 0.log",
        "00003 a-b milp-cbc seed 0.log",
        "00004 a-b maxsat-rc2 seed 0.log",
    ]
    prints, cpsat, highs, cbc, _ = (logs[name] for name in sorted(logs))
    assert bytes(range(256)) in prints
    assert b"CpSolverResponse" in cpsat
    assert b"HiGHS" in highs
    assert b"CBC" in cbc


@pytest.mark.usefixtures("_hostile")
@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the system pins nothing")
def test_runs_at_a_time_have_cores_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Claims of other tests that run now are not in the way.
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    found = cpx.compare([tiny()], "hostile:tells", seeds=range(3), logs=tmp_path / "logs")
    for run, log in zip(found.runs, sorted((tmp_path / "logs").iterdir()), strict=True):
        assert log.read_text() == f"cores {run.machine['pinned']}\n"
        assert len(run.machine["pinned"]) == 1
    # With more at a time than there are cores, the system shares them out.
    many = len(os.sched_getaffinity(0)) + 1
    found = cpx.compare([tiny()], "hostile:tells", seeds=range(many), jobs=many)
    assert all("pinned" in run.machine for run in found.runs)
    assert {run.machine["pinned"] for run in found.runs} == {None}


def test_a_full_disk_loses_nothing_that_can_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = os.write, []

    def full(file: int, data: Any) -> int:
        if bytes(data[:7]) == b'{"run":':
            calls.append(len(data))
            if len(calls) in (2, 3):
                real(file, data[:50])
                raise OSError(errno.ENOSPC, "No space left on device")
        return real(file, data)

    monkeypatch.setattr(store.os, "write", full)
    with pytest.warns(RuntimeWarning, match="No space left"):
        comparison = cpx.compare([tiny()], "cpsat", seeds=range(4), output=tmp_path / "runs")
    assert comparison.unsaved == ""
    assert [run.seed for run in comparison.runs] == [0, 1, 2, 3]
    assert Comparison.load(tmp_path / "runs") == comparison


def test_a_disk_that_stays_full_is_told_with_what_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write

    def full(file: int, data: Any) -> int:
        if b'"seed":2' in bytes(data):
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(file, data)

    monkeypatch.setattr(store.os, "write", full)
    with pytest.warns(RuntimeWarning, match="No space left"):
        comparison = cpx.compare([tiny()], "cpsat", seeds=range(4), output=tmp_path / "runs")
    assert "No space left" in comparison.unsaved
    assert sorted(run.seed for run in comparison.runs) == [0, 1, 2, 3]
    kept = Comparison.load(tmp_path / "runs")
    assert [run.seed for run in kept.runs] == [0, 1]
    assert not kept.complete


@pytest.mark.skipif(os.name == "nt", reason="no permissions to take away")
def test_a_folder_that_cannot_be_written_is_found_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ran: list[object] = []
    with pytest.raises(OutputError, match="file"):
        cpx.compare(
            [tiny()], "search", output=tmp_path / "file" / "runs",
            on_result=lambda run, _: ran.append(run),
        )  # fmt: skip
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    if os.getuid() != 0:
        with pytest.raises(OutputError, match="not writable"):
            cpx.compare([tiny()], "search", output=closed)
    assert ran == []


@pytest.mark.skipif(os.name == "nt", reason="files in use cannot be removed")
def test_a_folder_that_is_removed_is_told_with_what_was_made(tmp_path: Path) -> None:
    import shutil

    def remove(run: Any, _: Comparison) -> None:
        if run.seed == 1:
            shutil.rmtree(tmp_path / "runs")

    with pytest.warns(RuntimeWarning, match="was removed"):
        comparison = cpx.compare(
            [tiny()], "cpsat", seeds=range(4), output=tmp_path / "runs", on_result=remove
        )
    assert sorted(run.seed for run in comparison.runs) == [0, 1, 2, 3]
    assert comparison.unsaved
    assert not (tmp_path / "runs").exists()
