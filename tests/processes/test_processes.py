"""Child processes: messages, the import path, limits at every size."""

from __future__ import annotations

import os
import pickle
import resource
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from cpx import KMonomial, Samples
from cpx.answers.result import Status
from cpx.errors import EngineError, InvalidOption
from cpx.options import SolveOptions
from cpx.processes import calls
from cpx.processes.calls import Overdue, call
from cpx.processes.children import python_environment
from cpx.processes.messages import Inbox, Outbox, pack, unpack
from cpx.solving.isolate import run_isolated
from cpx.solving.servers import shutdown
from tests.processes.test_children import gone
from tests.processor_time import processor_seconds


def test_messages_come_out_as_they_went_in() -> None:
    sent = {"rows": np.arange(12).reshape(3, 4), "bits": np.ones((5, 3), dtype=bool), "n": 1}
    # The table of sizes ends before, at and behind a multiple of what arrays begin at.
    many = [[np.arange(n) for n in range(most)] for most in range(16)]
    for message in (sent, None, [], np.zeros((0, 4)), np.asfortranarray(sent["rows"]), *many):
        out, into = os.pipe()
        Outbox(into).send(message)
        Outbox(into).send("next")
        os.close(into)
        found, after = map(unpack, Inbox(out).frames())
        os.close(out)
        np.testing.assert_equal(found, message)
        assert after == "next"
        if isinstance(found, np.ndarray):
            assert not found.flags.writeable
            assert found.flags.aligned


def test_a_message_that_is_cut_short_is_dropped() -> None:
    whole = b"".join(pack({"a": np.arange(3)}))
    for cut in (1, 9, len(whole) - 1):
        out, into = os.pipe()
        os.write(into, whole + whole[:cut])
        os.close(into)
        inbox = Inbox(out)
        frames, more = inbox.arrived()
        assert (frames, more, inbox.arrived()) == ([whole], True, ([], False))
        os.close(out)
        out, into = os.pipe()
        os.write(into, whole + whole[:cut])
        os.close(into)
        assert len(list(Inbox(out).frames())) == 1
        os.close(out)


def test_a_message_is_there_once_its_last_byte_is() -> None:
    whole = b"".join(pack({"a": np.arange(3)}))
    out, into = os.pipe()
    inbox = Inbox(out)
    os.write(into, whole[:-1])
    assert inbox.arrived() == ([], True)
    os.write(into, whole[-1:])
    assert inbox.arrived() == ([whole], True)
    os.close(into)
    os.close(out)


def test_messages_take_the_shortcut_up_to_the_first_that_is_large() -> None:
    long_way, shortcut = os.pipe(), os.pipe()
    outbox = Outbox(long_way[1], shortcut[1])
    for message in (1, "x" * 3900, "x" * 5000, 2):
        outbox.send(message)
    os.close(long_way[1])
    os.close(shortcut[1])
    assert [*map(unpack, Inbox(shortcut[0]).frames())] == [1, "x" * 3900]
    assert [*map(unpack, Inbox(long_way[0]).frames())] == ["x" * 5000, 2]
    os.close(long_way[0])
    os.close(shortcut[0])


@pytest.mark.skipif(os.name == "nt", reason="sockets are no files there")
def test_a_sender_that_is_cut_off_is_one_that_has_ended() -> None:
    here, there = socket.socketpair()
    here.send(b"what it never reads")
    there.send(bytes(7))  # of the eight that a length has
    there.close()
    assert list(Inbox(here.fileno()).frames()) == []
    here.close()


def test_calls_tell_what_became_of_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert call(divmod, 7, 2) == (3, 1)
    with pytest.raises(ValueError, match="invalid literal"):
        call(int, "four")
    started = processor_seconds()
    with pytest.raises(Overdue):
        call(time.sleep, 60, seconds=0.5)
    assert processor_seconds() - started < 30
    assert call(divmod, 7, 2, seconds=60) == (3, 1)
    with pytest.raises((AttributeError, pickle.PicklingError)):
        call(id, lambda: 0)  # which cannot be sent
    # Ctrl-C is for the process that asked.
    assert call(signal.getsignal, signal.SIGINT) == signal.SIG_IGN
    with pytest.raises(EngineError, match="ended with status -6 last words"):
        call(_crash, quiet=True)
    assert list(tmp_path.iterdir()) == []


def _crash() -> None:
    os.write(2, b"last words\n")
    os.abort()


@pytest.mark.skipif(not os.path.exists("/proc"), reason="no list of processes")
def test_a_call_ends_with_the_process_that_asked(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    asked = f"import pathlib, time; pathlib.Path({str(begun)!r}).touch(); time.sleep(60)"
    code = (
        "import threading, time\nfrom cpx.processes import calls, children\n"
        f"threading.Thread(target=calls.call, args=(exec, {asked!r}), daemon=True).start()\n"
        "while not children._running:\n    time.sleep(0.01)\n"
        "(child,) = children._running\nprint(child.process.pid, flush=True)\ntime.sleep(60)\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment
    ) as asking:
        assert asking.stdout is not None
        pid = int(asking.stdout.readline())
        while not begun.exists():
            time.sleep(0.02)
        assert list(tmp_path.glob("cpx-call-*"))
        asking.kill()
    assert gone(pid)
    assert not list(tmp_path.glob("cpx-call-*"))


def test_what_a_call_leaves_is_removed_at_its_early_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cpx-own").mkdir()
    monkeypatch.setenv("CPX_FOLDER", str(tmp_path / "cpx-own"))
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    calls._end_after(iter(()))
    assert ended == [1]
    assert list(tmp_path.iterdir()) == []


def test_what_a_call_prints_is_no_part_of_its_answer(capfd: pytest.CaptureFixture[str]) -> None:
    assert call(_loud) == 5
    told = capfd.readouterr()
    assert (told.out, told.err) == ("", "printed\n")


def _loud() -> int:
    os.write(1, b"printed\n")
    return 5


SHADOWED = ("select", "random", "numpy", "json", "struct", "pickle", "ortools", "pulp")


@pytest.fixture
def shadowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current directory of files with the names of modules, which tell when they are run."""
    for name in SHADOWED:
        (tmp_path / f"{name}.py").write_text(f"open('{name}.ran', 'w')\nraise SystemExit(99)\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_no_process_of_ours_runs_files_beside_an_instance(shadowed: Path) -> None:
    from benchmarks.peers.interpreter import ask
    from cpx import save
    from cpx.cli.engines import _probe

    problem = KMonomial(Samples([[1, 1], [1, 0], [0, 1]], [1, 1, 0]), k=1)
    save(problem, "inst.json")
    # As ``python -m cpx.cli``, which finds the directory on its path, and in its workers.
    for words in (("solve", "-b", "milp:cbc"), ("compare", "-b", "search")):
        done = subprocess.run(
            [sys.executable, "-m", "cpx.cli", words[0], "inst.json", *words[1:]],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert _probe(["search"])["error"] == ""
    with pytest.raises((EngineError, ImportError)):
        # No such method: the driver starts, reads and answers.
        ask("brcg", np.eye(2, dtype=bool), np.array([True, False]), {}, sys.executable)
    assert list(shadowed.glob("*.ran")) == []


def test_workers_find_the_modules_that_this_process_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
        (folder / f"cpx_test_{folder.name}.py").write_text("from math import gcd as answer\n")
    monkeypatch.chdir(here)
    monkeypatch.setattr(sys, "path", ["", str(here), str(there), *sys.path])
    monkeypatch.setenv("PYTHONPATH", "")
    assert call(_imported, "cpx_test_there") is True
    assert call(_imported, "cpx_test_here") is False
    # Where the user asked for the directory, it comes after everything else.
    monkeypatch.setenv("PYTHONPATH", str(here))
    assert python_environment()["PYTHONPATH"].split(os.pathsep)[-1] == str(here)
    assert call(_imported, "cpx_test_here") is True


def _imported(name: str) -> bool:
    from importlib.util import find_spec

    return find_spec(name) is not None


class Local(KMonomial):
    """A problem that can be sent only as what it is."""


def test_a_problem_that_no_worker_can_read_is_refused() -> None:
    samples = Samples([[1, 1], [1, 0], [0, 1]], [1, 1, 0])
    assert run_isolated(Local(samples, k=1), "search", SolveOptions()).objective == 0

    class Hidden(KMonomial):
        pass

    with pytest.raises(InvalidOption, match="Hidden cannot be handed to a worker process"):
        run_isolated(Hidden(samples, k=1), "search", SolveOptions())


@pytest.mark.slow
def test_large_instances_are_read_in_linear_time() -> None:
    rng = np.random.default_rng(0)
    rows = rng.random((100_000, 200)) < 0.7  # 20 MB
    problem = KMonomial(Samples(rows, rows[:, :2].all(axis=1)), k=2)
    shutdown()  # the time of other tests' workers is counted when they end
    run_isolated(_small(), "search", SolveOptions())
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = run_isolated(problem, "search", SolveOptions(time_limit=20))
    shutdown()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (result.status, result.objective) == (Status.OPTIMAL, 0)
    # Loading the engine included. Looking for the ends of lines took five.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 4
    assert result.memory is not None
    assert result.memory < 450e6


def _small() -> KMonomial:
    return KMonomial(Samples([[1, 1], [1, 0], [0, 1]], [1, 1, 0]), k=1)
