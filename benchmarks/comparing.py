"""Comparisons of many runs: what a run costs besides the solve, and stores of many runs.

``CPX_RUNS`` is how many short runs are made, ``CPX_STORED`` how many a store has that is opened.
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
            "of it outside the worker", "of it the runner's", "runner MB after a tenth",
            "runner MB at the end"]  # fmt: skip
    rows = [_many(engine, problem(400, 30), runs // 100) for engine in ENGINES]
    show("Runs of a monomial of 400 x 30", head, rows)
    show("Short runs", head, [_many("search", problem(60, 12), runs)])
    head = ["runs", "MB", "append, s of 1000", "last, s of 1000", "open, s", "open, CPU s",
            "MB in memory", "CSV, s", "frame, s"]  # fmt: skip
    stored = int(os.environ.get("CPX_STORED", STORED))
    show("Stored runs", head, [_stored(n) for n in (stored // 10, stored)])


def problem(m: int, d: int) -> cpx.KMonomial:
    """Return a rule to be found in little time."""
    rng = np.random.default_rng(0)
    agreement = rng.random((m, d)) < 0.7
    same = agreement[:, 0] & agreement[:, 1] ^ (rng.random(m) < 0.05)
    return cpx.KMonomial(cpx.Samples(agreement, same), k=3, name="short")


def _many(engine: str, asked: cpx.KMonomial, runs: int, jobs: int = 2) -> list[object]:
    solves, inside, memory = [0.0], [0.0], []

    def hear(run: Run, _: Comparison) -> None:
        solves[0] += run.result.times.total
        inside[0] += run.result.times.cpu
        memory.append(_resident())

    shutdown()
    with tempfile.TemporaryDirectory() as folder:
        cpx.compare([asked], engine, output=Path(folder, "warm"))
        before, start = os.times(), time.perf_counter()
        cpx.compare(
            [asked], engine, seeds=range(runs), jobs=jobs, output=Path(folder, "runs"),
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
        engine, runs, jobs, seconds, share, seconds / share, (own + children) / runs,
        (own + children - inside[0]) / runs, own / runs,
        memory[len(memory) // 10], memory[-1],
    ]  # fmt: skip


def _stored(runs: int) -> list[object]:
    made = cpx.compare([problem(400, 30)], ENGINES, time_limit=20).runs
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
        before, start, processor = _resident(), time.perf_counter(), time.process_time()
        found = Comparison.load(folder)
        opened, grown = time.perf_counter() - start, _resident() - before
        processor = time.process_time() - processor
        start = time.perf_counter()
        found.to_csv()
        csv = time.perf_counter() - start
        start = time.perf_counter()
        assert len(found.to_frame()) == runs
        frame = time.perf_counter() - start
    return [runs, size, sum(seconds[:1000]), sum(seconds[-1000:]), opened, processor, grown,
            csv, frame]  # fmt: skip


def _resident() -> float:
    """Return the megabytes of memory that this process has now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main()
