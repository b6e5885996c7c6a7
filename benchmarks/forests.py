"""Tree models and rows for the benchmarks of reasons, from data that ships with scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

DATA = ("breast cancer", "digits, odd or even", "wine", "digits")


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

    loads = (load_breast_cancer, load_digits, load_wine, load_digits)
    load = dict(zip(DATA, loads))[name]
    X, y = load(return_X_y=True, as_frame=True)
    target = y % 2 if name == DATA[1] else y
    single = X.to_numpy().astype(np.float32).astype(np.float64)
    return Table(single, target.to_numpy(), [str(column) for column in X.columns])


@cache
def generated(rows: int, columns: int, classes: int) -> Table:
    """Draw a table: half of the columns tell, the others are noise."""
    from sklearn.datasets import make_classification

    X, y = make_classification(
        rows, columns, n_informative=columns // 2, n_classes=classes, random_state=0
    )
    single = X.astype(np.float32).astype(np.float64)
    return Table(single, y, [f"x{i}" for i in range(columns)])


def forest(name: str, trees: int, depth: int | None) -> Any:
    """Return a random forest of scikit-learn fitted to a whole data set."""
    from sklearn.ensemble import RandomForestClassifier

    data = table(name)
    return RandomForestClassifier(trees, max_depth=depth, random_state=0).fit(data.X, data.y)
