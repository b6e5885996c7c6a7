"""Lines of a child as it prints them, its end, and what it may print."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

import pytest

from cpx.processes.console import Console
from tests.processor_time import processor_seconds

pytestmark = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no terminal to print to")


def _console(code: str, folder: Path, **more: bool | int) -> Console:
    return Console([sys.executable, "-c", code], folder, **more)


def _first_line(console: Console) -> bytes:
    running = True
    while running:
        # What it printed just before its end is read after that.
        running = console.running()
        for line in console.lines():
            return line
    raise AssertionError(f"ended with {console.exit_status} without a line")


def test_lines_come_as_they_are_printed(tmp_path: Path) -> None:
    code = (
        "import os, time; print(os.isatty(1)); print('half', end='', flush=True); time.sleep(60)"
    )
    with _console(code, tmp_path) as console:
        # To a terminal the C library flushes each line.
        assert _first_line(console) == b"True"
        started = processor_seconds()
        # Half a line is none; nobody waits for the rest.
        assert list(console.lines()) == []
        assert console.exit_status is None
        assert console.running()
        assert processor_seconds() - started < 30
        process = console._child.process
    assert process.returncode == -9
    assert not os.path.exists(f"/proc/{process.pid}")


def test_what_others_decide_does_not_end_it(tmp_path: Path) -> None:
    code = "import signal as s; print(s.getsignal(s.SIGTERM) == s.SIG_IGN)"
    with _console(code, tmp_path) as console:
        assert _first_line(console) == b"True"


@pytest.mark.parametrize("why", ["none on the system", "no /dev/pts"])
def test_without_a_terminal_lines_come_from_a_file(
    why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise OSError(errno.ENODEV, why)

    monkeypatch.setattr(os, "openpty", refuse)
    if why == "none on the system":
        monkeypatch.delattr(os, "openpty")
    with _console("import os; print(os.isatty(1)); print(2)", tmp_path) as console:
        lines = []
        while console.running():
            lines += console.lines()
        lines += console.lines()
    assert lines == [b"False", b"2"]


def test_who_prints_too_much_is_killed(tmp_path: Path) -> None:
    code = "import time; print('x' * 100, flush=True); time.sleep(60)"
    for most, killed in ((50, True), (102, False)):
        with _console(code, tmp_path, most=most) as console:
            lines: list[bytes] = []
            while console.running() and not (lines or console.printed_too_much):
                lines += console.lines()
            assert console.printed_too_much is killed
            assert lines == [b"x" * 100] * (not killed)
            if killed:
                while console.running():
                    pass
                assert console.exit_status == -9


@pytest.mark.parametrize("alone", [True, False])
def test_an_interrupted_one_ends_as_by_ctrl_c(tmp_path: Path, alone: bool) -> None:
    code = "import os, time; print(os.getpgid(0) == os.getpid(), flush=True); time.sleep(60)"
    with _console(code, tmp_path, alone=alone) as console:
        assert _first_line(console) == str(alone).encode()
        console.interrupt()
        lines = []
        while console.running():
            lines += console.lines()
        lines += console.lines()
    assert lines[-1] == b"KeyboardInterrupt"
    assert console.exit_status == -2


def test_a_program_that_is_not_there_leaves_no_file_open(tmp_path: Path) -> None:
    def end_one() -> None:
        with Console([sys.executable, "-c", ""], tmp_path) as console:
            while console.running():
                pass
        assert console.exit_status == 0

    end_one()  # libffi 3.5 keeps its own file open once ctypes has called a function
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(OSError, match="nothing"):
        Console([str(tmp_path / "nothing")], tmp_path)
    assert len(os.listdir("/proc/self/fd")) == before
    end_one()
    assert len(os.listdir("/proc/self/fd")) == before
