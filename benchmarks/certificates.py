"""Certificates of perceptrons: found on a path of k features, of 3 k, and by exact search.

The perceptrons are those of the protocol of Koriche et al., uniform bits. CPX_DATA is a folder
with their tables and ``index.json``; CPX_CERTIFICATES names some of them, with commas.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.choice import chosen
from benchmarks.papers.datasets import choose
from benchmarks.papers.koriche.protocol import Protocol, train
from benchmarks.papers.sources import Directory
from benchmarks.tables import show
from cpx import solve

NAMES = (
    *("vote", "diabetes", "heart disease", "credit approval", "australian"),
    *("hepatitis", "lymph", "compas", "mushroom", "iris", "tae", "veteran"),
)
K, PRECISION, ROWS = 5, 0.95, 2
FRESH = 20_000
ENGINES = {"path of k": "certificates{depth=5}", "path of 3 k": "certificates", "search": "search"}


def lines(names: list[str]) -> Iterator[list[object]]:
    """Yield a line for each row: the size and precision of what each engine finds."""
    for dataset in choose(names):
        box = train(Directory(Path(os.environ["CPX_DATA"])).load(dataset), Protocol())
        for number in range(ROWS):
            x, explainer = box.instance(number, 0)
            problem = explainer.problem(x, K, objective="precision", m=10_000, min_coverage=0.004)
            line: list[object] = [dataset.name, number, box.d]
            for engine in ENGINES.values():
                start = time.process_time()
                found = solve(problem, engine, time_limit=60).explanation
                spent = time.process_time() - start
                if found is None:
                    line += [None, None, spent]
                    continue
                oracle = problem.oracle
                assert oracle is not None
                rows, _ = oracle.draw(FRESH, found.features, np.random.default_rng(1))
                line += [len(found.features), f"{oracle.same(rows).mean():.3f}", spent]
            yield line


def main() -> None:
    """Print a line per row."""
    if "CPX_DATA" not in os.environ:
        print("certificates: skipped, CPX_DATA names no folder")
        return
    head = ["table", "row", "features"]
    for name in ENGINES:
        head += [name, "precision", "CPU s"]
    show(
        f"Certificates of at most {K} features and precision {PRECISION}",
        head,
        lines(chosen("CPX_CERTIFICATES", NAMES)),
    )


if __name__ == "__main__":
    main()
