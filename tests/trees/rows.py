"""Rows on which a tree model is easily read wrong, and the comparison of answers."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets

import cpx
from cpx.trees import TreeModel

TABLES = ("iris", "wine", "breast_cancer", "digits")


def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return X, y


def with_missing(X: np.ndarray, share: float = 0.2, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.where(rng.random(X.shape) < share, np.nan, X)


def hard_rows(model: TreeModel, X: np.ndarray, n: int = 600, seed: int = 0) -> np.ndarray:
    """Return the rows of X, random ones, and rows whose values are at thresholds or next to them.

    Next to a threshold is one float32 and one float64 above and below: what is rounded to
    float32 before the test tells the latter two from the former.
    """
    rng = np.random.default_rng(seed)
    low, high = np.nanmin(X, axis=0) - 0.1, np.nanmax(X, axis=0) + 0.1
    random = rng.uniform(low, high, (n, X.shape[1]))
    near = np.nan_to_num(X)[rng.integers(len(X), size=2 * n)]
    for a in model.used:
        if not len(model.thresholds[a]):
            continue
        t = rng.choice(model.thresholds[a], len(near))
        single = t.astype(np.float32)
        choices = [
            t,
            np.nextafter(t, np.inf),
            np.nextafter(t, -np.inf),
            np.nextafter(single, np.float32(np.inf)).astype(float),
            np.nextafter(single, np.float32(-np.inf)).astype(float),
        ]
        at = np.choose(rng.integers(len(choices), size=len(near)), choices)
        near[:, a] = np.where(rng.random(len(near)) < 0.5, at, near[:, a])
    return np.concatenate([np.nan_to_num(X), random, near])


def same_answers(model: TreeModel, classifier: Any, rows: np.ndarray) -> None:
    """Check that both give each row the same class, and the saved model too."""
    ours, theirs = model.predict(rows), classifier.predict(rows)
    assert ours.tolist() == theirs.tolist()
    assert len(rows) > 1000
    if len(model.classes) > 1 and model.used:
        assert len(set(ours.tolist())) > 1


def skip_without(package: str) -> Any:
    return pytest.importorskip(package)


def held_on_grid(model: Any, explainer: cpx.Explainer, grid: pd.DataFrame, rows: Any) -> None:
    """Hold minimum reasons and changes of some rows against all rows of a grid.

    grid: Each row that there can be.
    """
    said = model.predict(grid)
    cells = np.column_stack([pd.factorize(grid[name], use_na_sentinel=True)[0] for name in grid])
    columns = range(grid.shape[1])
    for i in rows:
        row, same = grid.iloc[i], cells == cells[i]
        sets = (S for k in range(len(columns) + 1) for S in combinations(columns, k))
        fewest = next(S for S in sets if (said[same[:, [*S]].all(axis=1)] == said[i]).all())
        found, change = explainer.reason(row), explainer.contrast(row)
        assert found.minimum
        assert found.verified
        assert len(found.features) == len(fewest)
        away = min(int((~same[r]).sum()) for r in range(len(grid)) if said[r] != said[i])
        assert change.minimum
        assert len(change.features) == away
        changed = grid.iloc[[i]].assign(**change.values)
        assert model.predict(changed)[0] == change.rule.conclusion
