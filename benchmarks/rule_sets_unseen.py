"""Rule sets on rows that they were not learned from, compared with a tree and with BRCG.

Five stratified folds of each table; the class is the more frequent one of two, or the most
frequent one of more against the others. CPX_DATA is a folder of ``*.csv.gz`` whose last column is
``target``; CPX_UNSEEN names some of the tables, with commas. CPX_UNSEEN_DIVISIONS says how often
the rows are divided into five folds, once if it does not. CPX_AIX360 names a Python that has
AIX360 (``pip install 'aix360[rbm]' ecos``); without it there is no BRCG.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.choice import chosen
from benchmarks.tables import show
from cpx import RuleSetClassifier
from cpx.data import read_table

TUNED = (
    *("australian", "breast_cancer", "credit_approval", "diabetes", "heart_cleveland"),
    *("heart_statlog", "hepatitis", "monks2", "tae", "tic_tac_toe", "veteran", "vote"),
)
"""Tables on which it was tried how to choose the price."""

HELD_BACK = (
    *("aids", "baseball", "cardiotocography_nsp", "compas", "dermatology", "iris", "lymph"),
    *("monks1", "monks3", "postoperative", "primary_tumor", "stock"),
)
"""Tables that were looked at once it was decided."""

FOLDS = 5
DIVISIONS = int(os.environ.get("CPX_UNSEEN_DIVISIONS", "1"))
LIMIT = float(os.environ.get("CPX_UNSEEN_LIMIT", "10"))

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]


def load(name: str) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """Return the columns of a table, and which rows are of the class."""
    if name == "breast_cancer":
        from sklearn.datasets import load_breast_cancer

        X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        return X, np.asarray(y, dtype=np.int64)
    X, target = read_table(Path(os.environ["CPX_DATA"]) / f"{name}.csv.gz", "target")
    labels = target.astype(str)
    counts = labels.value_counts()
    of_class = max(counts.index) if len(counts) == 2 else counts.index[0]
    return X, (labels == of_class).to_numpy().astype(np.int64)


def folds(X: pd.DataFrame, y: NDArray[np.int64]) -> list[Fold]:
    """Return the rows to learn from and those held out, five times for each division."""
    from sklearn.model_selection import StratifiedKFold

    found: list[Fold] = []
    for seed in range(DIVISIONS):
        found += StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y)
    return found


def rules(X: pd.DataFrame, y: NDArray[np.int64], penalty: object) -> NDArray[np.float64]:
    """Return accuracy, number of rules and conditions, and processor seconds of each fit."""
    found = []
    for seen, out in folds(X, y):
        start = time.process_time()
        model = RuleSetClassifier(penalty=penalty, time_limit=LIMIT, max_categories=200)
        model.fit(X.iloc[seen], y[seen])
        spent = time.process_time() - start
        conditions = sum(map(len, model.rules_))
        found.append((model.score(X.iloc[out], y[out]), len(model.rules_), conditions, spent))
    return np.array(found)


def tree(X: pd.DataFrame, y: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the accuracies of scikit-learn's tree of at most eight leaves."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    table, scores = plain(X), []
    for seen, out in folds(X, y):
        model = make_pipeline(
            make_column_transformer(
                (SimpleImputer(), make_column_selector(dtype_include="number")),
                (
                    OneHotEncoder(handle_unknown="ignore"),
                    make_column_selector(dtype_exclude="number"),
                ),
            ),
            DecisionTreeClassifier(max_leaf_nodes=8, random_state=0),
        ).fit(table.iloc[seen], y[seen])
        scores.append(model.score(table.iloc[out], y[out]))
    return np.array(scores)


def plain(X: pd.DataFrame) -> pd.DataFrame:
    """Return the table with text for all that is no number, "?" where it is missing."""
    table = X.copy()
    for name in categorical(X):
        table[name] = X[name].astype(object).where(X[name].notna(), "?").astype(str)
    return table


def categorical(X: pd.DataFrame) -> list[str]:
    """Return the names of the columns that are not numbers."""
    return [name for name in X.columns if not pd.api.types.is_numeric_dtype(X[name])]


def brcg(X: pd.DataFrame, y: NDArray[np.int64]) -> tuple[float | None, float | None]:
    """Return accuracy and number of rules of BRCG."""
    python = os.environ.get("CPX_AIX360")
    if python is None:
        return None, None
    texts, table = categorical(X), plain(X)
    asked: dict[str, Any] = {
        "columns": {
            str(name): (table[name] if name in texts else table[name].astype(float)).tolist()
            for name in X.columns
        },
        "categorical": list(map(str, texts)),
        "same": y.tolist(),
        "folds": [out.tolist() for _, out in folds(X, y)],
    }
    driver = Path(__file__).parent / "peers" / "brcg_folds.py"
    with tempfile.TemporaryDirectory() as folder:
        question, answer = Path(folder) / "question.json", Path(folder) / "answer.json"
        question.write_text(json.dumps(asked))
        subprocess.run([python, str(driver), str(question), str(answer)], check=True)
        accuracy, number = np.mean(json.loads(answer.read_text()), axis=0)
    return float(accuracy), float(number)


def lines(names: tuple[str, ...]) -> Iterator[list[object]]:
    """Yield a line for each table."""
    for name in names:
        X, y = load(name)
        each = rules(X, y, "auto")
        ours, before = each.mean(axis=0), rules(X, y, 0.01).mean(axis=0)
        leaves = tree(X, y)
        ahead = each[:, 0] - leaves
        error = ahead.std(ddof=1) / len(ahead) ** 0.5
        theirs, number = brcg(X, y)
        yield [
            *(name, len(y), f"{ours[0]:.3f}", f"{ours[1]:.1f}", f"{ours[2]:.1f}"),
            *(f"{before[0]:.3f}", f"{before[1]:.1f}", f"{before[2]:.1f}"),
            *(f"{leaves.mean():.3f}", f"{ahead.mean():+.3f} +- {error:.3f}"),
            None if theirs is None else f"{theirs:.3f}",
            None if number is None else f"{number:.1f}",
            f"{ours[3]:.1f}",
            f"{before[3]:.1f}",
        ]


def main() -> None:
    """Print a line for each table, those that were tried first."""
    tables = dict.fromkeys((*TUNED, *HELD_BACK))
    names = tuple(chosen("CPX_UNSEEN", tables))
    if "CPX_DATA" not in os.environ:
        names = tuple(name for name in names if name == "breast_cancer")
        print("rule_sets_unseen: all tables but one are left out, CPX_DATA names no folder")
    show(
        f"Accuracy on rows not seen, means of {DIVISIONS * FOLDS} folds",
        [
            *("table", "rows", "chosen", "rules", "conditions"),
            *(
                "penalty 0.01",
                "rules",
                "conditions",
                "tree",
                "more than it",
                "BRCG",
                "rules",
                "seconds",
                "of 0.01",
            ),
        ],
        lines(names),
    )


if __name__ == "__main__":
    main()
