"""Learned rule sets compared with BRCG (AIX360): the same literals, price and loss.

Both ask for the least Hamming loss plus a price per rule. The environment variable CPX_AIX360
names a Python that has AIX360 (``pip install 'aix360[rbm]' ecos``); CPX_DATA is a folder with
``compas.csv.gz``, ``credit_approval.csv.gz`` and ``adult.csv.gz``, the last column ``target``.
CPX_LEARNERS names some of the tables, with commas.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.choice import chosen
from benchmarks.peers.rule_learners import brcg_rules
from benchmarks.tables import show
from cpx import Samples, learn_rules
from cpx.data import read_table
from cpx.models.kernel_rule.boolean_kernels import tic_tac_toe
from cpx.models.rule_set.methods.candidates import Literals
from cpx.models.rule_set.methods.rule_learners import FoundRules

K = int(os.environ.get("CPX_LEARNERS_K", "4"))
PENALTY = os.environ.get("CPX_LEARNERS_PENALTY", "0.01")
LIMIT = float(os.environ.get("CPX_LEARNERS_LIMIT", "10"))
BRCG_LIMIT = float(os.environ.get("CPX_LEARNERS_BRCG_LIMIT", "100"))
LONGER = {"adult": 6}  # times the limit, of both
BINS = 5

Task = tuple[Literals, NDArray[np.bool_]]


def breast_cancer() -> Task:
    """Return the table of scikit-learn; the class is malignant."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return Literals.of_table(X, n_bins=BINS), np.asarray(y) == 0


def game() -> Task:
    """Return the final boards of tic-tac-toe; the class is that x wins."""
    boards = tic_tac_toe()
    names = [text for f in boards.features for text in (f, f.replace(" = ", " != "))]
    return Literals(boards.X.astype(bool), tuple(names)), boards.y > 0


def table(name: str, label: str) -> Callable[[], Task]:
    """Return what reads a table of the folder."""

    def read() -> Task:
        X, y = read_table(Path(os.environ["CPX_DATA"]) / f"{name}.csv.gz", "target")
        return Literals.of_table(X, n_bins=BINS, max_categories=50), np.asarray(
            y.astype(str)
        ) == label

    return read


TASKS: dict[str, Callable[[], Task]] = {
    "breast cancer": breast_cancer,
    "tic-tac-toe": game,
    "compas": table("compas", "1"),
    "credit_approval": table("credit_approval", "+"),
    "adult": table("adult", ">50K"),
}


def compared(name: str) -> list[list[object]]:
    """Return a line for BRCG and one for ours."""
    literals, same = TASKS[name]()
    times = LONGER.get(name, 1)
    size = [name, len(same), len(literals.names)]
    theirs = brcg_rules(literals, same, k=K, penalty=PENALTY, time_limit=times * BRCG_LIMIT)
    samples = Samples(literals.matrix, same, features=literals.names)
    start = time.process_time()
    ours = learn_rules(samples, K, PENALTY, time_limit=times * LIMIT)
    spent = time.process_time() - start
    for method, rules, value in (
        ("zero-one", ours.rules, ours.objective),
        ("hamming", ours.hamming_rules, ours.hamming),
    ):
        again = FoundRules.of("cpx", literals, same, rules, PENALTY)
        measured = again.objective if method == "zero-one" else again.hamming
        assert measured == value, (method, measured, value)
    found = *map(digits, (theirs.objective, theirs.hamming)), None, theirs.seconds
    values = *map(digits, (ours.objective, ours.hamming, ours.hamming_bound)), spent
    return [
        [*size, "BRCG", len(theirs.rules), *found],
        [*size, "cpx", len(ours.rules), *values],
    ]


def digits(value: Fraction) -> str:
    """Return a value with its hundredths, which a price has."""
    return f"{float(value):.2f}"


def main() -> None:
    """Print two lines per table."""
    names = chosen("CPX_LEARNERS", TASKS)
    if "CPX_AIX360" not in os.environ:
        print("rule_learners: skipped, CPX_AIX360 names no interpreter with AIX360")
        return
    if "CPX_DATA" not in os.environ:
        names = [name for name in names if name in ("breast cancer", "tic-tac-toe")]
        print("rule_learners: three tables are left out, CPX_DATA names no folder")
    # Kernels are compiled and loaded before anything is timed.
    literals, same = game()
    learn_rules(Samples(literals.matrix, same), 2, PENALTY, time_limit=60)
    show(
        f"Learners of rules, at most {K} literals each, a rule costs {PENALTY} of the samples",
        [
            *("table", "samples", "literals", "method"),
            *("rules", "objective", "Hamming", "its bound", "CPU s"),
        ],
        (line for name in names for line in compared(name)),
    )


if __name__ == "__main__":
    main()
