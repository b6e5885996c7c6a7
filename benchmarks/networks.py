"""Reasons and contrasts of small ReLU networks: how often they are proved, how fast, how large."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator

from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cpx
from benchmarks.tables import show

ROWS, LIMIT = 4, 10.0

TABLES = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer}
HIDDEN = ((10,), (30,), (10, 10))


HEAD = ("table", "neurons", "proved", "at least", "size", "checked", "seconds")


def main() -> None:
    """Print a table of reasons, and one of contrasts."""
    for kind in ("reason", "contrast"):
        title = f"{kind}s: {ROWS} rows each, {LIMIT:g} s a row"
        show(title, HEAD, _lines(kind))


def _lines(kind: str) -> Iterator[tuple[object, ...]]:
    """Yield a line for each table and network: means, and how many were proved and checked."""
    for name, load in TABLES.items():
        X, y = load(return_X_y=True, as_frame=True)
        for hidden in HIDDEN:
            network = MLPClassifier(hidden, random_state=0, max_iter=1000)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = make_pipeline(StandardScaler(), network).fit(X, y)
            ex, start = cpx.Explainer(model, X), time.process_time()
            places = range(0, len(X), len(X) // ROWS)[:ROWS]
            found = [ex.solve(place, kind=kind, time_limit=LIMIT) for place in places]
            seconds = (time.process_time() - start) / ROWS
            yield (
                f"{name}, {X.shape[1]} columns",
                "-".join(map(str, hidden)),
                sum(r.proved for r in found),
                sum(float(r.bound or 0) for r in found) / ROWS,
                sum(float(r.objective or 0) for r in found) / ROWS,
                sum(r.verified for r in found),
                f"{seconds:.2f}",
            )


if __name__ == "__main__":
    main()
