"""Changes to another class by cpx and by DiCE: columns, validity, seconds.

DiCE is asked if CPX_DICE names a Python that has it (``pip install dice-ml``, with the version of
scikit-learn that is here); its methods random, genetic and kdtree.
"""

from __future__ import annotations

import base64
import json
import os
import pickle
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sklearn
from sklearn import datasets
from sklearn.ensemble import RandomForestClassifier

import cpx
from benchmarks.tables import show

DRIVER = Path(__file__).with_name("dice_driver.py")
ROWS = int(os.environ.get("CPX_DICE_ROWS", "20"))
LIMIT = 10.0
METHODS = ("random", "genetic", "kdtree")
HEAD = [
    *("table", "columns", "classes", "method", "rows", "answers", "mean columns", "valid, %"),
    *("never more columns, %", "median CPU s", "worst CPU s", "proved, %"),
]


def tables() -> Iterator[tuple[str, pd.DataFrame, Any]]:
    """Yield five tables that scikit-learn has, with classes 0, 1, ..."""
    for name in ("iris", "wine", "breast_cancer"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True, as_frame=True)
        yield name, X, y.to_numpy()
    X, y = datasets.load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    yield "diabetes, above 140", X, (y > 140).astype(int).to_numpy()
    X, y = datasets.load_digits(return_X_y=True, as_frame=True)
    some = y.isin([3, 5])
    yield "digits, 3 and 5", X[some].reset_index(drop=True), (y[some] == 5).astype(int).to_numpy()


def dice(
    forest: Any, X: pd.DataFrame, y: Any, rows: pd.DataFrame, targets: list[int]
) -> dict[str, Any]:
    """Return what each method of DiCE answers; nothing where it is not there."""
    python = os.environ.get("CPX_DICE")
    if python is None:
        return {}
    asked = {
        "model": base64.b64encode(pickle.dumps(forest)).decode(),
        "table": X.to_numpy().tolist(),
        "names": [str(name) for name in X.columns],
        "labels": np.asarray(y).tolist(),
        "rows": rows.to_numpy().tolist(),
        "targets": targets,
        "methods": METHODS,
    }
    with tempfile.TemporaryDirectory() as folder:
        question, answer = Path(folder, "asked.json"), Path(folder, "told.json")
        question.write_text(json.dumps(asked))
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        subprocess.run(
            [python, str(DRIVER), str(question), str(answer)],
            cwd=folder,
            env=environment,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        told = json.loads(answer.read_text())
    if told["versions"]["scikit-learn"] != sklearn.__version__:
        raise RuntimeError(
            f"CPX_DICE has scikit-learn {told['versions']['scikit-learn']}, this Python "
            f"{sklearn.__version__}"
        )
    found: dict[str, Any] = told["answers"]
    return found


def _lines() -> Iterator[list[Any]]:
    for name, X, y in tables():
        X.columns = [str(column) for column in X.columns]
        forest = RandomForestClassifier(25, max_depth=8, random_state=0).fit(X, y)
        rows = X.iloc[np.linspace(0, len(X) - 1, ROWS).astype(int)].reset_index(drop=True)
        # The class that is next likely, the same for all.
        order = np.argsort(-forest.predict_proba(rows), axis=1)
        targets = forest.classes_[order[:, 1]].tolist()
        explainer = cpx.Explainer(forest, X)
        explainer.of("contrast")
        ours, proved = [], 0
        for i, target in enumerate(targets):
            started = time.process_time()
            found = explainer.contrast(rows.iloc[[i]], target=target, time_limit=LIMIT)
            spent = time.process_time() - started
            values = {} if found.why else found.values
            row = None if found.why else rows.iloc[[i]].assign(**values).iloc[0].tolist()
            proved += bool(found.result and found.result.proved)
            ours.append([row, spent])
        head = [name, X.shape[1], len(forest.classes_)]
        least = [_changed(rows, i, row) for i, (row, _) in enumerate(ours)]
        yield [*head, "cpx", *_measured(forest, rows, targets, ours, least), 100 * proved / ROWS]
        for method, told in dice(forest, X, y, rows, targets).items():
            measured = _measured(forest, rows, targets, told["rows"], least)
            yield [*head, f"DiCE {method}", *measured, ""]


def _changed(rows: pd.DataFrame, i: int, row: list[float] | None) -> int | None:
    return None if row is None else int((rows.iloc[i].to_numpy() != np.array(row)).sum())


def _measured(
    forest: Any,
    rows: pd.DataFrame,
    targets: list[int],
    answers: list[Any],
    least: list[int | None],
) -> list[Any]:
    """Return the figures of a line: cpx never has more columns than a valid answer."""
    sizes, valid, beside = [], 0, []
    for i, ((row, _), target) in enumerate(zip(answers, targets)):
        if row is None:
            continue
        size = _changed(rows, i, row)
        given = forest.predict(pd.DataFrame([row], columns=rows.columns))[0]
        valid += given == target
        sizes.append(size)
        if given == target and least[i] is not None:
            beside.append(least[i] <= size)
    times = [seconds for _, seconds in answers]
    return [
        len(answers),
        len(sizes),
        statistics.mean(sizes) if sizes else "",
        100 * valid / len(sizes) if sizes else "",
        100 * statistics.mean(beside) if beside else "",
        statistics.median(times),
        max(times),
    ]


def main() -> None:
    """Print one line per table and method, as soon as it is known."""
    if "CPX_DICE" not in os.environ:
        print("contrasts: CPX_DICE names no Python that has DiCE", file=sys.stderr)
    show(
        f"changes to the next likely class, forests of 25 trees, limit {LIMIT:g} s", HEAD, _lines()
    )


if __name__ == "__main__":
    main()
