"""Reasons over free conditions and over the ends of intervals, by cpx and by PyXAI, on 25 trees.

PyXAI is asked if CPX_PYXAI names a Python that has it. CPX_DATA names the directory of tables in
which diabetes.csv.gz lies; without it the tables that ship with scikit-learn are asked about.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.forests import DATA, Table, table
from benchmarks.judging import share
from benchmarks.peers import pyxai as pyxai_peer
from benchmarks.peers.sufficient_reasons import deleted
from benchmarks.tables import show
from cpx import SufficientReason
from cpx.models.sufficient_reason.features import Level
from cpx.models.sufficient_reason.methods.minimum import minimum_of_oracle
from cpx.models.sufficient_reason.methods.orders import few_by_statement
from cpx.trees import TreeModel, read_sklearn

ROWS = int(os.environ.get("CPX_PEERS_ROWS", "20"))
LIMIT = float(os.environ.get("CPX_PEERS_LIMIT", "5"))
TREES = 25
HEAD = ["method", "answers", "mean size", "mean bound", "columns", "valid, %",
        "median CPU s", "first row", "worst other"]  # fmt: skip

Found = tuple[tuple[int, ...], int | None]


def _least(problem: SufficientReason) -> Found:
    """Search for a minimum reason, without check."""
    few = few_by_statement(problem.form(), 0, lambda: False)
    oracle, end = problem.row_oracle(new=True), time.process_time() + LIMIT
    oracle.stop = lambda: time.process_time() > end
    found = minimum_of_oracle(oracle, start=few)
    assert found.attributes is not None
    return found.attributes, found.lower


def _majoritary(problem: SufficientReason) -> Found:
    """Delete in 20 orders by majorities of trees, as the engine ``best-of-orders`` does."""
    few = few_by_statement(problem.form(), 0, lambda: False, 20)
    assert few is not None
    return tuple(few), None


OURS: list[tuple[str, Level, Callable[[SufficientReason], Found]]] = [
    ("cpx best-of-orders:20, majoritary, free", "conditions", _majoritary),
    ("cpx deletion, free", "conditions", lambda problem: (deleted(problem), None)),
    ("cpx deletion, intervals", "intervals", lambda problem: (deleted(problem), None)),
    ("cpx hitting-sets, intervals", "intervals", _least),
]
GREEDY = {"n_iterations": 50, "seed": 1}
THEIRS = {
    "majoritary_reason": "PyXAI, majoritary, free",
    "majoritary_reason, theory": "PyXAI, majoritary, theory",
    "sufficient_reason": "PyXAI, free",
    "sufficient_reason, theory": "PyXAI, theory",
}


def _tables() -> dict[str, Table]:
    import pandas as pd

    found = {}
    if place := os.environ.get("CPX_DATA"):
        frame = pd.read_csv(Path(place) / "diabetes.csv.gz")
        X = frame.iloc[:, :-1].to_numpy().astype(np.float32).astype(np.float64)
        found["diabetes"] = Table(X, pd.factorize(frame.iloc[:, -1])[0], [*frame.columns[:-1]])
    return {**found, **{name: table(name) for name in (DATA[2], DATA[0], DATA[1])}}


def _line(method: str, rows: list[tuple[int, int | None, int, bool, float]]) -> list:
    sizes, bounds, columns, fine, cpu = zip(*rows, strict=True)
    proved = [float(b) for b in bounds if b is not None]
    return [
        method,
        len(rows),
        statistics.mean(sizes),
        statistics.mean(proved) if proved else None,
        statistics.mean(columns),
        share([*fine]),
        statistics.median(cpu),
        cpu[0],
        max(cpu[1:], default=cpu[0]),
    ]


def _ours(model: TreeModel, rows: np.ndarray) -> dict[str, list[Any]]:
    out: dict[str, list[Any]] = {}
    for method, level, ask in OURS:
        for x in rows:
            problem = SufficientReason(model, x, level, "sufficient")
            started = time.process_time()
            S, bound = ask(problem)
            spent = time.process_time() - started
            columns, fine = len(problem.features.columns(S)), problem.enough(S)
            out.setdefault(method, []).append((len(S), bound, columns, fine, spent))
    return out


def _theirs(fitted: Any, model: TreeModel, data: Table, rows: np.ndarray) -> dict[str, list[Any]]:
    if pyxai_peer.interpreter() is None:
        return {}
    calls = [
        pyxai_peer.Call(method, theory, options, len(rows))
        for method, options in (
            ("majoritary_reason", GREEDY),
            ("sufficient_reason", {"time_limit": LIMIT}),
        )
        for theory in (False, True)
    ]
    out: dict[str, list[Any]] = {}
    for one in pyxai_peer.ask(fitted, rows, data.names, calls, 2 * LIMIT)["found"]:
        reason, x = one["reason"], rows[one["row"]]
        if one["name"].endswith("theory"):
            size = len({(a, above) for a, _, above in reason})
            problem, S = (
                SufficientReason(pyxai_peer.within(model, reason), x, definition="sufficient"),
                (),
            )
        else:
            problem = SufficientReason(model, x, "conditions", "sufficient")
            size = len(S := pyxai_peer.as_conditions(model, reason))  # type: ignore[assignment]
        columns = len(pyxai_peer.as_columns(reason))
        line = (size, None, columns, problem.enough(S), one["cpu"])
        out.setdefault(THEIRS[one["name"]], []).append(line)
    return out


def main() -> None:
    """Print the table."""
    from sklearn.ensemble import RandomForestClassifier

    for name, data in _tables().items():
        fitted = RandomForestClassifier(TREES, random_state=0).fit(data.X, data.y)
        model, rows = read_sklearn(fitted, rule="vote", attributes=data.names), data.rows(ROWS)
        answers = _theirs(fitted, model, data, rows) | _ours(model, rows)
        lines = [_line(method, found) for method, found in answers.items()]
        said = f"{TREES} trees of any depth, {ROWS} rows, limit {LIMIT:g} CPU s"
        show(f"{name}, {said}", HEAD, lines)


if __name__ == "__main__":
    main()
