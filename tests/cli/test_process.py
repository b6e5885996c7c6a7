"""What only a real process shows: pipes, signals, the entry point."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.terminal import start

CPX = [sys.executable, "-m", "cpx.cli"]


def test_a_pipe_has_no_progress_bar_and_one_json_object(inst: Path) -> None:
    done = subprocess.run(
        [*CPX, "solve", str(inst), "--json"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "FORCE_COLOR": "1"},
    )
    assert json.loads(done.stdout)["status"] == "OPTIMAL"
    assert done.stderr == ""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("isolate", ["--isolate", "--no-isolate"])
def test_ctrl_c_prints_the_incumbent(hard: Path, isolate: str) -> None:
    process = start(
        [*CPX, "solve", str(hard), "--time-limit", "100", "--json", isolate, "--hint", "0"],
        stderr=subprocess.PIPE,
    )
    # Long enough for the engine to load and to find something on a slow machine.
    time.sleep(8)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 3, err
    result = json.loads(out)
    assert (result["status"], result["termination"]) == ("FEASIBLE", "INTERRUPTED")
    assert result["explanation"]["rule"]["literals"]
    assert result["verified"] is True


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_in_a_comparison_keeps_the_finished_runs(
    inst: Path, hard: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "results"
    process = start(
        [*CPX, "compare", str(inst), str(hard), "-b", "cpsat", "-t", "100", "-o", str(folder)],
        stderr=subprocess.PIPE,
    )
    while process.poll() is None and not (folder / "results.csv").exists():
        time.sleep(0.1)
    time.sleep(3)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 3, err
    assert "interrupted: not all runs were made" in out
    saved = json.loads((folder / "results.json").read_text())
    assert saved["complete"] is False
    assert saved["runs"][0]["result"]["status"] == "OPTIMAL"


def test_a_closed_pipe_is_quiet(hard: Path) -> None:
    done = subprocess.run(
        f"{' '.join(CPX)} show {hard} --as wcnf --full | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""
