"""The other engines on the data sets of Koriche et al., Table 2: value and bound.

The tables are read from the directory that the environment variable CPX_DATA names, as in
``published``. ``CPX_ENGINES`` and ``CPX_ENGINES_CPU`` choose engines, and seconds of processor
time. With ``CPX_ENGINES_STORE``, the name of a file, finished runs are kept there as JSON lines,
and a second start runs what is missing.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks.papers.datasets import DATASETS, Dataset
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
        result = run(problem, engine, SolveOptions(), cancel=cancel)
    finally:
        done.set()
        watcher.join()
    return result, time.process_time() - started


def _row(dataset: Dataset, source: Directory) -> dict[str, Any]:
    """Solve one table with all engines."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        box = train(source.load(dataset), Protocol())
    x, explainer = box.instance(0, 0)
    problem = KMonomial(explainer.samples(x, 1000), 5)
    best = solve(problem, "search", time_limit=SECONDS)
    row: dict[str, Any] = {
        "data set": dataset.name,
        "d": box.d,
        "optimum": best.objective if best.proved else None,
    }
    for engine in ENGINES:
        result, seconds = _within(problem, engine)
        own = {"value": result.objective, "bound": result.bound, "CPU, s": seconds}
        row |= {f"{engine}: {what}": figure for what, figure in own.items()}
    return row


def main() -> None:
    """Print the table."""
    place = os.environ.get("CPX_DATA")
    if place is None:
        print("published_engines: skipped, CPX_DATA names no directory", file=sys.stderr)
        return
    threadpool_limits(1)
    store = os.environ.get("CPX_ENGINES_STORE")
    rows: dict[str, dict[str, Any]] = {}
    if store is not None and Path(store).exists():
        kept = [json.loads(line) for line in Path(store).read_text("utf-8").splitlines()]
        rows = {row["data set"]: row for row in kept}
    for dataset in DATASETS:
        if dataset.name in rows:
            continue
        rows[dataset.name] = row = _row(dataset, Directory(Path(place)))
        if store is not None:
            with open(store, "a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
        print(f"{dataset.name}: done", file=sys.stderr)
    head = list(rows[DATASETS[0].name])
    title = f"engines on the tables of the paper, {SECONDS:g} s of CPU, one thread"
    show(title, head, [list(rows[dataset.name].values()) for dataset in DATASETS])


if __name__ == "__main__":
    main()
