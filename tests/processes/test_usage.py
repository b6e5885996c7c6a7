"""Processor time of children that run, and of those that have ended."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from cpx.processes.usage import children_seconds

WORK = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\ninput()"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc")
@pytest.mark.parametrize("nested", [False, True])
def test_a_program_counts_while_it_runs_and_once_when_it_has_ended(nested: bool) -> None:
    command = [sys.executable, "-c", WORK]
    if nested:
        command = [sys.executable, "-c", f"import subprocess; subprocess.run({command!r})"]
    before = children_seconds()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdout.readline()
        running = children_seconds() - before
        time.sleep(0)
        child.stdin.write(b"\n")
        child.stdin.close()
    ended = children_seconds() - before
    assert 0.25 < running <= ended + 0.02 < 3
