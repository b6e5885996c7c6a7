"""Comparisons of many runs: what a run costs besides the solve, and stores of many runs.

``CPX_RUNS`` is how many short runs are made, ``CPX_STORED`` how many a store has that is opened.
The solve is a monomial of 400 x 30, a few hundredths of a second for each engine.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import numpy as np

import cpx
from benchmarks.tables import show
from cpx.compare import Comparison, Run, store
from cpx.solving.servers import shutdown

RUNS, STORED = 10_000, 100_000
ENGINES = ("search", "cpsat", "maxsat:rc2", "milp:highs")


def main() -> None:
    """Print the tables."""
    runs = int(os.environ.get("CPX_RUNS", RUNS))
    head = ["engine", "runs", "jobs", "s", "s, solves by jobs", "ratio", "CPU s of a run",
            "of it the runner's", "runner MB, first tenth", "runner MB, all"]  # fmt: skip
    rows = [_many("cpsat", runs // 10, jobs) for jobs in (1, 2)]
    rows += [_many(engine, runs // 10, 2) for engine in ENGINES if engine != "cpsat"]
    show("Short runs", head, [*rows, _many("search", runs, 2)])
    head = ["runs", "MB", "append, s of 1000", "last, s of 1000", "open, s", "MB in memory",
            "CSV, s", "frame, s"]  # fmt: skip
    stored = int(os.environ.get("CPX_STORED", STORED))
    show("Stored runs", head, [_stored(n) for n in (stored // 10, stored)])


def problem() -> cpx.KMonomial:
    """Return a rule to be found in little time."""
    rng = np.random.default_rng(0)
    agreement = rng.random((400, 30)) < 0.7
    same = agreement[:, 0] & agreement[:, 1] ^ (rng.random(400) < 0.05)
    return cpx.KMonomial(cpx.Samples(agreement, same), k=3, name="short")


def _many(engine: str, runs: int, jobs: int) -> list[object]:
    solves, memory = [0.0], []

    def hear(run: Run, _: Comparison) -> None:
        solves[0] += run.result.times.total
        memory.append(_resident())

    shutdown()
    with tempfile.TemporaryDirectory() as folder:
        cpx.compare([problem()], engine, output=Path(folder, "warm"))
        before, start = os.times(), time.perf_counter()
        cpx.compare(
            [problem()], engine, seeds=range(runs), jobs=jobs, output=Path(folder, "runs"),
            on_result=hear,
        )  # fmt: skip
        seconds = time.perf_counter() - start
        shutdown()
        after = os.times()
    own = after.user + after.system - before.user - before.system
    children = after.children_user + after.children_system
    children -= before.children_user + before.children_system
    share = solves[0] / jobs
    return [
        engine, runs, jobs, seconds, share, seconds / share, (own + children) / runs, own / runs,
        memory[len(memory) // 10], memory[-1],
    ]  # fmt: skip


def _stored(runs: int) -> list[object]:
    made = cpx.compare([problem()], ENGINES, time_limit=20).runs
    data = [run.to_dict() for run in made]
    with tempfile.TemporaryDirectory() as folder:
        writer = store.Writer(folder, {"plan": "p"})
        seconds = []
        for i in range(runs):
            one = data[i % len(data)]
            one["instance"] = f"instance {i // len(data)}"
            run = Run.from_dict(one)
            start = time.perf_counter()
            writer.add(run, i)
            seconds.append(time.perf_counter() - start)
        writer.close()
        size = os.path.getsize(Path(folder, store.NAME)) / 1e6
        before, start = _resident(), time.perf_counter()
        found = Comparison.load(folder)
        opened, grown = time.perf_counter() - start, _resident() - before
        start = time.perf_counter()
        found.to_csv()
        csv = time.perf_counter() - start
        start = time.perf_counter()
        assert len(found.to_frame()) == runs
        frame = time.perf_counter() - start
    return [runs, size, sum(seconds[:1000]), sum(seconds[-1000:]), opened, grown, csv, frame]


def _resident() -> float:
    """Return the megabytes of memory that this process has now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main()
