"""Standard output and error that are closed or full: one line says so, and nothing is lost."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cpx.cli.streams import Stream
from cpx.errors import OutputError
from tests.cli.conftest import Run

COMMAND = f"{sys.executable} -m cpx.cli solve {{}} -b search --no-isolate"
FULL = Path("/dev/full")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")


def _shell(line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(line, shell=True, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("output", "reason"), [(">&-", "Bad file descriptor"), (f"> {FULL}", "No space left")]
)
def test_the_answer_goes_to_standard_error(inst: Path, output: str, reason: str) -> None:
    if str(FULL) in output and not FULL.exists():
        pytest.skip("no device that is full")
    done = _shell(f"{COMMAND.format(inst)} {output}")
    assert done.returncode == 1
    *answer, last = done.stderr.splitlines()
    assert answer[0] == "a => yes"
    assert last.startswith(f"cpx: error: cannot write standard output ({reason}")
    assert "Traceback" not in done.stderr


def test_closed_standard_error_changes_nothing(inst: Path) -> None:
    done = _shell(f"{COMMAND.format(inst)} 2>&- <&-")
    assert done.returncode == 0
    assert done.stdout.startswith("a => yes")


def _full(tmp_path: Path) -> io.TextIOWrapper:
    if not FULL.exists():
        pytest.skip("no device that is full")
    return FULL.open("w")


def test_all_of_the_answer_goes_elsewhere(tmp_path: Path) -> None:
    kept = io.StringIO()
    with _full(tmp_path) as full:
        stream = Stream(full, Stream(kept, None))
        stream.write("one\n")
        stream.write("two\n")
        stream.flush()
    assert kept.getvalue() == "one\ntwo\n"
    assert stream.lost == os.strerror(28)


def test_remarks_that_nobody_can_read_are_dropped(tmp_path: Path) -> None:
    with _full(tmp_path) as full:
        stream = Stream(full, None)
        stream.write("a remark\n")
        stream.flush()
    assert stream.lost == os.strerror(28)


def _no_space(*_: Any) -> None:
    raise OutputError("cannot write it: No space left on device")


def test_a_full_disk_keeps_the_table(
    run: Run, inst: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cpx.compare.comparison.write_atomic", _no_space)
    done = run("compare", inst, "-b", "cpsat", "--seeds", "0,1", "-o", tmp_path / "results")
    assert done.exit_code == 2
    assert done.stdout.count("\ncpsat ") == 2
    assert done.stderr.endswith("cpx: error: cannot write it: No space left on device\n")


def test_a_full_disk_keeps_the_answer(
    run: Run, inst: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cpx.support.files.write_atomic", _no_space)
    done = run("solve", inst, "-b", "search", "--no-isolate", "-o", tmp_path / "result.json")
    assert done.exit_code == 2
    assert done.stdout.startswith("a => yes")
    assert done.stderr == "cpx: error: cannot write it: No space left on device\n"
