"""The exact search on the data sets of Koriche et al., Table 2: seconds, share proved.

The tables are read from the directory that the environment variable CPX_DATA names, in the form
that ``python -m benchmarks koriche --data`` takes.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
import warnings
from pathlib import Path
from typing import NamedTuple

from threadpoolctl import threadpool_limits

from benchmarks.papers.datasets import DATASETS, Dataset
from benchmarks.papers.koriche.protocol import Protocol, train
from benchmarks.papers.sources import Directory
from benchmarks.tables import show
from cpx import KMonomial, MaxPrecision, Samples, solve

INSTANCES = 5
LIMIT = 120.0
NOMAO = "nomao"


class Run(NamedTuple):
    """CPU seconds of a whole solve, and seconds of the search alone on its own clock."""

    whole: float
    search: float
    proved: bool


def _measure(problem) -> Run:
    """Solve a problem with the kernels loaded, by one thread."""
    start = time.process_time()
    result = solve(problem, "search", time_limit=LIMIT)
    whole = time.process_time() - start
    return Run(whole, result.times.compile + result.times.solve, result.proved)


def _rows(dataset: Dataset, source: Directory) -> dict[tuple, list[Run]]:
    """Return the runs on one data set by problem, k and m, and print its line."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        box = train(source.load(dataset), Protocol())
    found: dict[tuple, list[Run]] = {}
    for number in range(INSTANCES):
        x, explainer = box.instance(number, 0)
        few = explainer.samples(x, 1000)
        problems = {("loss", 5, 1000): KMonomial(few, 5)}
        if dataset.file != NOMAO:
            many = explainer.samples(x, 10_000)
            problems["loss", 7, 1000] = KMonomial(few, 7)
            problems["precision", 4, 10_000] = MaxPrecision(many, 4, min_coverage="1/25")
        for key, problem in problems.items():
            found.setdefault(key, []).append(_measure(problem))
    print(f"{dataset.name}: done", file=sys.stderr)
    return {("d", box.d): [], **found}


def main() -> None:
    """Print the tables."""
    place = os.environ.get("CPX_DATA")
    if place is None:
        print("published: skipped, CPX_DATA names no directory of tables", file=sys.stderr)
        return
    # Threads of NumPy that wait for work count as processor time of the search.
    threadpool_limits(1)
    _measure(KMonomial(Samples([[1, 0], [0, 1]], [1, 0]), 2))  # loads the kernels
    source, rows = Directory(Path(place)), []
    total: dict[tuple, list[Run]] = {}
    for dataset in sorted(DATASETS, key=lambda dataset: dataset.file == NOMAO):
        found = _rows(dataset, source)
        (_, d), *keys = found
        rows.append([dataset.name, d, *["-"] * 6])
        for key in keys:
            seconds = [run.whole for run in found[key]]
            at = 2 + 2 * keys.index(key)
            rows[-1][at : at + 2] = 1000 * statistics.median(seconds), 1000 * max(seconds)
            if dataset.file != NOMAO:
                total.setdefault(key, []).extend(found[key])
    head = ["data set", "d"]
    for kind, k, m in total:
        head += [f"{kind} k={k} m={m}: median ms", "worst ms"]
    show(f"search on the tables of the paper, {INSTANCES} instances each, CPU", head, rows)
    show(
        f"all of these but {NOMAO}",
        ["problem", "k", "m", "instances", "proved", "median, ms", "search alone, ms", "worst, s"],
        (
            [
                kind,
                k,
                m,
                len(runs),
                sum(run.proved for run in runs),
                1000 * statistics.median(run.whole for run in runs),
                1000 * statistics.median(run.search for run in runs),
                max(run.whole for run in runs),
            ]
            for (kind, k, m), runs in total.items()
        ),
    )


if __name__ == "__main__":
    main()
