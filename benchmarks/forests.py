"""The models and rows whose reasons are measured, of data that ships with scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

DATA = ("breast cancer", "digits, odd or even", "wine")


@dataclass(frozen=True)
class Table:
    """A data set in single precision, as scikit-learn's trees compare it."""

    X: NDArray[np.float64]
    y: NDArray[Any]
    names: list[str]

    def rows(self, count: int) -> NDArray[np.float64]:
        """Return rows evenly spread over the table, so of all classes."""
        return self.X[np.linspace(0, len(self.X) - 1, count).astype(int)]


@cache
def table(name: str) -> Table:
    """Read a data set."""
    from sklearn.datasets import load_breast_cancer, load_digits, load_wine

    load = {DATA[0]: load_breast_cancer, DATA[1]: load_digits, DATA[2]: load_wine}[name]
    X, y = load(return_X_y=True, as_frame=True)
    target = y % 2 if name == DATA[1] else y
    single = X.to_numpy().astype(np.float32).astype(np.float64)
    return Table(single, target.to_numpy(), [str(column) for column in X.columns])


def forest(name: str, trees: int, depth: int | None) -> Any:
    """Return a random forest of scikit-learn fitted to a whole data set."""
    from sklearn.ensemble import RandomForestClassifier

    data = table(name)
    return RandomForestClassifier(trees, max_depth=depth, random_state=0).fit(data.X, data.y)
