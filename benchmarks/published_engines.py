"""The other engines on the data sets of Koriche et al., Table 2: value and bound.

The tables are read from the directory that the environment variable CPX_DATA names, as in
``published``. ``CPX_ENGINES`` and ``CPX_ENGINES_CPU`` choose engines, and seconds of processor
time.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks.papers.datasets import DATASETS
from benchmarks.papers.koriche.protocol import Protocol, train
from benchmarks.papers.sources import Directory
from benchmarks.tables import show
from cpx import KMonomial, solve
from cpx.answers.result import Result
from cpx.options import SolveOptions
from cpx.solving.run import run

ENGINES = os.environ.get("CPX_ENGINES", "cpsat,maxsat:rc2,milp:highs").split(",")
SECONDS = float(os.environ.get("CPX_ENGINES_CPU", "60"))


def _within(problem: KMonomial, engine: str) -> tuple[Result, float]:
    """Solve with a limit of processor time, which a busy machine does not change."""
    started, cancel, done = time.process_time(), threading.Event(), threading.Event()

    def watch() -> None:
        while not done.wait(0.05):
            if time.process_time() - started > SECONDS:
                cancel.set()

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        result = run(problem, engine, SolveOptions(warm_start=False), cancel=cancel)
    finally:
        done.set()
        watcher.join()
    return result, time.process_time() - started


def main() -> None:
    """Print the table."""
    place = os.environ.get("CPX_DATA")
    if place is None:
        print("published_engines: skipped, CPX_DATA names no directory", file=sys.stderr)
        return
    threadpool_limits(1)
    source, rows = Directory(Path(place)), []
    for dataset in DATASETS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            box = train(source.load(dataset), Protocol())
        x, explainer = box.instance(0, 0)
        problem = KMonomial(explainer.samples(x, 1000), 5)
        best = solve(problem, "search", time_limit=SECONDS)
        row = [dataset.name, box.d, best.objective if best.proved else None]
        for engine in ENGINES:
            result, seconds = _within(problem, engine)
            row += [result.objective, result.bound, seconds]
        rows.append(row)
        print(f"{dataset.name}: done", file=sys.stderr)
    head = ["data set", "d", "optimum"]
    for engine in ENGINES:
        head += [f"{engine}: value", "bound", "CPU, s"]
    show(f"engines on the tables of the paper, {SECONDS:g} s of CPU, one thread", head, rows)


if __name__ == "__main__":
    main()
