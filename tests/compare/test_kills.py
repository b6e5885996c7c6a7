"""``kill -9`` of a worker, the runner, everything: after ``--resume`` nothing shows."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from pathlib import Path

import pytest

import cpx
from cpx import save
from cpx.compare import Comparison
from cpx.compare.records import heeds_seed

from .helpers import marked, tiny
from .hostile import install, uninstall

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="looks for processes in /proc"
)

BACKENDS = "hostile:slow,search,milp:cbc"


class Lab:
    """A folder of instances, and a command that compares engines on them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seeds = "0,1,2"
        self.backends = BACKENDS
        self.mark = f"CPX_TEST_MARK={uuid.uuid4()}"
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        for name in ("a", "b"):
            save(tiny(name), folder / f"{name}.json")
        self.environment = {
            **os.environ,
            "TMPDIR": str(self.temporary),
            "PYTHONPATH": os.pathsep.join([str(folder / "site"), *sys.path]),
            **dict([self.mark.split("=")]),
        }

    def start(self, output: str, *more: str) -> subprocess.Popen[bytes]:
        """Start the command in a session of its own."""
        command = [
            sys.executable, "-m", "cpx", "compare", "a.json", "b.json", "-b", self.backends,
            "--seeds", self.seeds, "-j", "2", "-t", "30", "-o", output, *more,
        ]  # fmt: skip
        return subprocess.Popen(
            command, cwd=self.folder, env=self.environment, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip

    def finish(self, output: str, *more: str) -> None:
        """Run the command to its end."""
        process = self.start(output, *more)
        _, told = process.communicate(timeout=600)
        assert process.returncode == 0, told.decode()

    def run_here(self, output: str) -> None:
        """Make the same runs without a command."""
        cpx.compare(
            [str(self.folder / f"{name}.json") for name in ("a", "b")], self.backends,
            seeds=map(int, self.seeds.split(",")), time_limit=30, output=self.folder / output,
        )  # fmt: skip

    def processes(self) -> list[int]:
        """Return all processes that the command has started, and itself."""
        return marked(self.mark)

    def left(self) -> list[Path]:
        """Return the temporary folders of the command."""
        return list(self.temporary.glob("cpx-*-*[!0]"))

    def table(self, output: str) -> list[tuple[object, ...]]:
        """Return what an undisturbed run always finds."""
        comparison = Comparison.load(self.folder / output)
        assert comparison.complete
        return [
            (run.key, run.result.status, run.result.objective, run.result.bound)
            for run in comparison.runs
        ]


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    install(tmp_path, monkeypatch)
    lab = Lab(tmp_path)
    yield lab
    uninstall()
    for pid in lab.processes():
        os.kill(pid, signal.SIGKILL)


def disturb(lab: Lab, rng: random.Random, output: str) -> str:
    """Start the command, kill a part of it at a random moment, and let it end."""
    resume = ("--resume",) if (lab.folder / output / "runs.jsonl").exists() else ()
    process = lab.start(output, *resume)
    what = rng.choice(["one", "one", "runner", "everything"])
    if what == "one":
        # Once there are workers, of which the first ones only start the others.
        time.sleep(rng.uniform(1.0, 3.0))
        victims = [pid for pid in lab.processes() if pid != process.pid]
        victims = [rng.choice(victims)] if victims else []
    else:
        time.sleep(rng.uniform(0.2, 4.0))
        victims = [process.pid] if what == "runner" else lab.processes()
    for pid in victims:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    process.communicate(timeout=600)
    return what


def check(lab: Lab, seed: int, kills: int) -> Counter[str]:
    lab.run_here("undisturbed")
    right = lab.table("undisturbed")
    seeds = len(lab.seeds.split(","))
    assert len(right) == 2 * sum(
        seeds if heeds_seed(engine, False) else 1 for engine in lab.backends.split(",")
    )
    rng, kinds = random.Random(seed), Counter()
    while sum(kinds.values()) < kills:
        output = f"runs{sum(kinds.values())}"
        for _ in range(rng.choice([1, 2])):
            kinds[disturb(lab, rng, output)] += 1
            deadline = time.monotonic() + 10
            while lab.processes() and time.monotonic() < deadline:
                time.sleep(0.05)
            assert lab.processes() == []
        lab.finish(output, "--resume")
        assert lab.table(output) == right
        lines = (lab.folder / output / "runs.jsonl").read_bytes()
        assert lines.endswith(b"\n")
        assert sorted(path.name for path in (lab.folder / output).iterdir()) == [
            "results.csv", "runs.jsonl",
        ]  # fmt: skip
    if lab.left():
        # Where nothing was left to run, nothing was started that sweeps.
        lab.finish("afterwards")
    assert lab.left() == []
    return kinds


def test_a_kill(lab: Lab) -> None:
    lab.seeds, lab.backends = "0", "hostile:slow,search"
    check(lab, seed=1, kills=1)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_hundred_kills(lab: Lab) -> None:
    kinds = check(lab, seed=2, kills=100)
    assert sum(kinds.values()) >= 100
    assert set(kinds) == {"one", "runner", "everything"}
