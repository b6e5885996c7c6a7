"""Minimum sufficient reasons of the published boosted trees: sizes, bounds, seconds.

The models and the logs of the published explainer are read from the directory that the
environment variable CPX_BOOSTED names: ``NAME.model.txt.gz``, a text dump with 50 trees per score,
and ``NAME.log.gz``, with the explained rows (i:), sizes (s:) and seconds (t:). Sizes in the logs
are of subset-minimal reasons.
"""

from __future__ import annotations

import gzip
import os
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.tables import show
from cpx.models.sufficient_reason.methods import SufficiencyOracle
from cpx.models.sufficient_reason.methods.minimum import minimum_of_oracle
from cpx.trees import TreeModel, read_xgboost_dump

INSTANCES = int(os.environ.get("CPX_BOOSTED_INSTANCES", "50"))
LIMIT = float(os.environ.get("CPX_BOOSTED_LIMIT", "30"))
TREES_PER_SCORE = 50


def _read(folder: Path, name: str) -> tuple[TreeModel, np.ndarray, list[int], list[float]]:
    lines = gzip.decompress((folder / f"{name}.log.gz").read_bytes()).decode().splitlines()

    def fields(key: str) -> list[str]:
        return [line[2:].strip() for line in lines if line.startswith(key)]

    rows = np.array([row.split(",") for row in fields("i:")], dtype=float)
    path = folder / f"{name}.model.txt.gz"
    scores = gzip.decompress(path.read_bytes()).count(b"booster[") // TREES_PER_SCORE
    model = read_xgboost_dump(path, classes=max(scores, 2), attributes=rows.shape[1])
    return model, rows, [int(s) for s in fields("s:")], [float(t) for t in fields("t:")]


def _invalid(model: TreeModel, row: np.ndarray, reason: tuple[int, ...], size: int) -> bool:
    """Test a reason on random rows with values at the thresholds and beyond all of them."""
    rng = np.random.default_rng(0)
    rows = np.column_stack(
        [rng.choice(np.concatenate([t, [row[a], 1e30, -1e30]]), 200)
         for a, t in enumerate(model.thresholds)]
    )  # fmt: skip
    rows[:, list(reason)] = row[list(reason)]
    same = model.predict_index(rows) == model.predict_index(row)
    return len(reason) != size or not bool(same.all())


def _lines(folder: Path) -> Iterator[list[object]]:
    """Yield the line of one model after the other."""
    for path in sorted(folder.glob("*.model.txt.gz")):
        name = path.name.removesuffix(".model.txt.gz")
        model, X, sizes, seconds = _read(folder, name)
        for x in X[:INSTANCES]:  # loads the kernels, and prepares each class
            SufficiencyOracle(model, model.cells(x)).counterexample([])
        found = [
            minimum_of_oracle(SufficiencyOracle.of_row(model, x), time_limit=LIMIT)
            for x in X[:INSTANCES]
        ]
        times = [answer.seconds for answer in found]
        yield [
            name,
            len(model.classes),
            len(found),
            round(statistics.mean(answer.upper for answer in found), 3),
            round(statistics.mean(answer.lower for answer in found), 3),
            round(statistics.mean(sizes[: len(found)]), 3),
            sum(answer.upper < size for answer, size in zip(found, sizes)),
            100.0 * statistics.mean(answer.proved for answer in found),
            1000 * statistics.mean(times),
            1000 * max(times),
            1000 * statistics.mean(seconds[: len(found)]),
            sum(
                _invalid(model, x, answer.attributes, answer.upper) for x, answer in zip(X, found)
            ),
        ]


def main() -> None:
    """Print one line per model, as soon as it is known."""
    place = os.environ.get("CPX_BOOSTED")
    if place is None:
        print("boosted: skipped, CPX_BOOSTED names no directory of models", file=sys.stderr)
        return
    show(
        f"minimum reasons of the published boosted trees, limit {LIMIT:g} s",
        ["model", "classes", "rows", "mean size", "mean bound", "in the log", "smaller",
         "proved, %", "mean ms", "worst ms", "log's mean ms", "invalid"],
        _lines(Path(place)),
    )  # fmt: skip


if __name__ == "__main__":
    main()
