"""Minimum reasons of boosted trees on wide numeric tables: seconds of processor, share proved.

Models of 50 trees of depth 3 or 4, by XGBoost, LightGBM and scikit-learn, over 57 to 60 columns.
Two tables are drawn; the others are read from the directory that CPX_TABLES names, ``NAME.csv.gz``
with the class in the column ``target``: numeric columns only, at most 3000 rows, and where there
are too few columns, differences of two standardised ones. CPX_BOOSTED_SEEDS names the seeds of
tables, columns and models, with commas; CPX_BOOSTED_ROWS the rows for each model and
CPX_BOOSTED_LIMIT the seconds of processor for each row. CPX_BOOSTED_BEFORE=1 measures hitting
sets alone, too.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.tables import show
from cpx.models.sufficient_reason.methods import SufficiencyOracle
from cpx.models.sufficient_reason.methods import minimum as minimum_module
from cpx.models.sufficient_reason.methods.minimum import minimum_of_oracle
from cpx.trees import TreeModel, read_model

SEEDS = [int(seed) for seed in os.environ.get("CPX_BOOSTED_SEEDS", "0").split(",")]
ROWS = int(os.environ.get("CPX_BOOSTED_ROWS", "5"))
LIMIT = float(os.environ.get("CPX_BOOSTED_LIMIT", "10"))
BEFORE = os.environ.get("CPX_BOOSTED_BEFORE") == "1"

DRAWN = {"drawn, 208 x 60": (208, 60, 20, 20, 0.05), "drawn, 4601 x 57": (4601, 57, 30, 10, 0.03)}
READ = ("nomao", "digits_3v5", "higgs_sample", "cardiotocography_nsp")
MODELS = (("XGBoost", 3), ("XGBoost", 4), ("LightGBM", 4), ("scikit-learn", 3))
_TREES, _MOST, _COLUMNS = 50, 3000, 58

Table = tuple[NDArray[np.float64], NDArray[Any]]


def _drawn(name: str, seed: int) -> Table:
    from sklearn.datasets import make_classification

    rows, columns, telling, repeated, wrong = DRAWN[name]
    X, y = make_classification(
        rows, columns, n_informative=telling, n_redundant=repeated, flip_y=wrong,
        random_state=seed,
    )  # fmt: skip
    # The larger one is zero in half of its cells, as counts of words are.
    return (np.maximum(X, 0) if rows > 1000 else X), y


def _read(path: Path, seed: int) -> Table:
    import pandas as pd

    rng, frame = np.random.default_rng(seed), pd.read_csv(path)
    y = frame.pop("target").to_numpy()
    X = frame.select_dtypes("number").to_numpy(dtype=float)
    rows = rng.permutation(len(X))[:_MOST]
    X, y = X[rows], y[rows]
    X = X[:, X.std(axis=0) > 0]
    X = X[:, rng.permutation(X.shape[1])[: _COLUMNS + 2]]
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    while X.shape[1] < _COLUMNS:
        one, other = rng.choice(standard.shape[1], 2, replace=False)
        X = np.column_stack([X, standard[:, one] - standard[:, other]])
    return X, np.unique(y, return_inverse=True)[1]


def _fitted(library: str, depth: int, X: NDArray[np.float64], y: NDArray[Any], seed: int) -> Any:
    common: dict[str, Any] = {"n_estimators": _TREES, "max_depth": depth, "random_state": seed}
    if library == "XGBoost":
        from xgboost import XGBClassifier

        return XGBClassifier(n_jobs=1, **common).fit(X, y)
    if library == "LightGBM":
        from lightgbm import LGBMClassifier

        return LGBMClassifier(num_leaves=2**depth, verbose=-1, n_jobs=1, **common).fit(X, y)
    from sklearn.ensemble import GradientBoostingClassifier

    return GradientBoostingClassifier(learning_rate=0.3, **common).fit(X, y)


def _solved(model: TreeModel, x: NDArray[np.float64], calls: int) -> tuple[float, Any]:
    """Explain a row, with so many questions before branch and cut; stop by processor time."""
    oracle, start = SufficiencyOracle(model, model.cells(x)), time.process_time()
    oracle.stop = lambda: time.process_time() - start > LIMIT
    usual, minimum_module._CALLS = minimum_module._CALLS, calls
    try:
        found = minimum_of_oracle(oracle)
    finally:
        minimum_module._CALLS = usual
    return time.process_time() - start, found


def _figures(model: TreeModel, X: NDArray[np.float64], calls: int) -> list[object]:
    runs = [_solved(model, x, calls) for x in X]
    times = [seconds for seconds, _ in runs]
    found = [answer for _, answer in runs]
    return [
        statistics.mean(answer.upper for answer in found),
        sum(answer.proved for answer in found),
        statistics.mean(times),
        max(times),
    ]


def _lines(tables: dict[str, Path | None]) -> Iterator[list[object]]:
    for name, path in tables.items():
        for library, depth in MODELS:
            rows, now, before = 0, [], []
            for seed in SEEDS:
                X, y = _drawn(name, seed) if path is None else _read(path, seed)
                X = X.astype(np.float32).astype(np.float64)
                model = read_model(_fitted(library, depth, X, y, seed))
                asked = X[np.random.default_rng(seed).permutation(len(X))[:ROWS]]
                for x in asked:  # loads the kernels, and prepares each class
                    SufficiencyOracle(model, model.cells(x)).counterexample([])
                rows += len(asked)
                now.append(_figures(model, asked, minimum_module._CALLS))
                if BEFORE:
                    before.append(_figures(model, asked, 10**9))
            yield [name, f"{library}, depth {depth}", rows, *_joined(now), *_joined(before)[1:]]


def _joined(figures: list[list[Any]]) -> list[object]:
    """Join the figures of seeds: mean size, proved, mean and worst seconds."""
    if not figures:
        return [None] * 4
    sizes, proved, means, worst = zip(*figures, strict=True)
    return [statistics.mean(sizes), sum(proved), statistics.mean(means), max(worst)]


def main() -> None:
    """Print one line per table and library, as soon as it is known."""
    tables: dict[str, Path | None] = dict.fromkeys(DRAWN)
    folder = os.environ.get("CPX_TABLES")
    if folder is None:
        print("boosted_tables: CPX_TABLES names no directory: drawn tables only", file=sys.stderr)
    else:
        tables |= {name: Path(folder) / f"{name}.csv.gz" for name in READ}
    show(
        f"minimum reasons of {_TREES} boosted trees, seeds {SEEDS}, limit {LIMIT:g} CPU s",
        ["table", "model", "rows", "mean size", "proved", "mean CPU s", "worst CPU s",
         "hitting sets alone: proved", "mean CPU s", "worst CPU s"],
        _lines(tables),
    )  # fmt: skip


if __name__ == "__main__":
    main()
