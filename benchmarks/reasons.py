"""Minimum sufficient reasons by definition, engine and encoding: seconds, share proved, gaps.

CPX_REASONS names the tables to be printed, of trees, majoritary, full, specific and large, with
commas between; all if it is not set. CPX_REASONS_ROWS and CPX_REASONS_LIMIT are the rows per
model and the CPU seconds per solve.
"""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from benchmarks.choice import chosen
from benchmarks.forests import DATA, forest, generated, table
from benchmarks.judging import share
from benchmarks.measuring import Timed, in_own_process, solve_by_cpu
from benchmarks.tables import show
from cpx import Result, SufficientReason, solve
from cpx.trees import TreeModel, read_sklearn

ROWS = int(os.environ.get("CPX_REASONS_ROWS", "20"))
LIMIT = float(os.environ.get("CPX_REASONS_LIMIT", "8"))
BAR = 0.010
REPEATS = 7
ENGINES = ("cpsat", "maxsat", "milp:highs")
SIZES = (25, 50, 100)


def _runs(
    model: TreeModel, rows: np.ndarray, engine: str, encoding: str | None = None, **stated: Any
) -> list[Timed]:
    """Solve for each row."""
    return [
        solve_by_cpu(SufficientReason(model, x, **stated), engine, LIMIT, encoding) for x in rows
    ]


def _size(runs: Iterable[Result]) -> float | None:
    found = [float(r.objective) for r in runs if r.objective is not None]
    return statistics.mean(found) if found else None


def _gap(runs: Iterable[Result]) -> float | None:
    gaps = [100 * r.gap for r in runs if r.gap is not None]
    return statistics.mean(gaps) if gaps else None


def _fastest(model: TreeModel, x: np.ndarray, engine: str) -> Result:
    """Solve in this process, the engine loaded, and keep the run with the least time."""
    runs = [solve(SufficientReason(model, x), engine, time_limit=LIMIT)]
    while len(runs) < REPEATS and runs[0].times.solve < LIMIT / 40:
        runs.append(solve(SufficientReason(model, x), engine, time_limit=LIMIT))
    return min(runs, key=lambda run: run.times.solve)


def _cpu(runs: Iterable[Result]) -> list[float]:
    return [r.times.cpu for r in runs]


def trees() -> None:
    """Print the times of single trees on the engines' own clocks."""
    from sklearn.tree import DecisionTreeClassifier

    tables = {
        "breast cancer": table(DATA[0]),
        "digits": table(DATA[3]),
        "generated": generated(20_000, 54, 7),
    }
    lines = []
    for name, data in tables.items():
        fitted = DecisionTreeClassifier(random_state=0).fit(data.X, data.y)
        model = read_sklearn(fitted)
        for engine in (*ENGINES, "milp:cbc", "hitting-sets"):
            solve(SufficientReason(model, data.X[0]), engine, time_limit=LIMIT)  # loads it
            runs = [_fastest(model, x, engine) for x in data.rows(ROWS)]
            own = [r.times.solve for r in runs]
            lines.append(
                [
                    name,
                    fitted.get_n_leaves(),
                    engine,
                    _size(runs),
                    share([r.proved for r in runs]),
                    1000 * statistics.median(r.times.state + r.times.compile for r in runs),
                    1000 * statistics.median(own),
                    1000 * max(own),
                    share([seconds < BAR for seconds in own]),
                    # CBC works in a process of its own.
                    None if engine == "milp:cbc" else 1000 * statistics.median(_cpu(runs)),
                ]
            )
            print(f"{name}, {engine}: done", file=sys.stderr)
    show(
        f"single trees, {ROWS} rows, in this process, least milliseconds of {REPEATS} runs",
        ["data", "leaves", "engine", "mean size", "proved, %", "stating and compiling, median ms",
         "solving, median ms", "worst ms", "under 10 ms, %",
         "all of it, median CPU ms"],
        lines,
    )  # fmt: skip


_LIMITED_HEAD = ["answers", "mean size", "proved, %", "mean gap, %", "median CPU s",
                 "worst CPU s"]  # fmt: skip


def _limited(runs: list[Timed]) -> list[Any]:
    results = [run.result for run in runs]
    return [
        sum(r.objective is not None for r in results),
        _size(results),
        share([r.proved for r in results]),
        _gap(results),
        statistics.median(run.cpu for run in runs),
        max(run.cpu for run in runs),
    ]


def majoritary() -> None:
    """Print majoritary reasons of forests by engine and encoding."""
    rows = table(DATA[0]).rows(ROWS)
    for count in SIZES:
        model, lines = read_sklearn(forest(DATA[0], count, 6), rule="vote"), []
        for engine in ENGINES:
            for encoding in ("order", "direct"):
                runs = _runs(model, rows, engine, encoding, definition="majoritary")
                lines.append([engine, encoding, *_limited(runs)])
        show(
            f"majoritary reasons, {count} trees of depth 6, {DATA[0]}, {ROWS} rows, "
            f"limit {LIMIT:g} CPU s",
            ["engine", "encoding", *_LIMITED_HEAD],
            lines,
        )


def full() -> None:
    """Print minimum and subset-minimal reasons by the full definition."""
    lines = []
    for count in SIZES:
        model = read_sklearn(forest(DATA[0], count, 6), rule="vote")
        rows = table(DATA[0]).rows(ROWS)
        minimal, sizes = [], []
        for x in rows:
            deleted = solve(SufficientReason(model, x, definition="sufficient"), "deletion")
            sizes.append(float(deleted.objective or 0))
            minimal.append(1000 * (deleted.times.cpu or 0.0))
        runs = _runs(model, rows, "hitting-sets", definition="sufficient")
        lines.append(
            [count, *_limited(runs), statistics.mean(sizes), statistics.median(minimal),
             max(minimal)]
        )  # fmt: skip
        print(f"{count} trees: done", file=sys.stderr)
    show(
        f"the full definition, votes, {DATA[0]}, depth 6, {ROWS} rows, limit {LIMIT:g} CPU s",
        ["trees", *_LIMITED_HEAD, "subset-minimal: mean size", "median CPU ms", "worst CPU ms"],
        lines,
    )


def specific() -> None:
    """Print tree-specific reasons of gradient boosting."""
    from sklearn.ensemble import GradientBoostingClassifier

    data, lines = table(DATA[0]), []
    for count in (50, 100):
        fitted = GradientBoostingClassifier(n_estimators=count, random_state=0)
        model = read_sklearn(fitted.fit(data.X, data.y))
        for engine in ENGINES:
            runs = _runs(model, data.rows(ROWS), engine, definition="tree-specific")
            lines.append([count, engine, *_limited(runs)])
        print(f"{count} trees: done", file=sys.stderr)
    show(
        f"tree-specific reasons of gradient boosting, {DATA[0]}, depth 3, {ROWS} rows, "
        f"limit {LIMIT:g} CPU s",
        ["trees", "engine", *_LIMITED_HEAD],
        lines,
    )


def _large(row: int, limit: float) -> list[Any]:
    """Fit the forest, explain a row within wall seconds; made to run in a process of its own."""
    from sklearn.ensemble import RandomForestClassifier

    data = generated(2000, 100, 2)
    fitted = RandomForestClassifier(100, random_state=0).fit(data.X, data.y)
    model = read_sklearn(fitted, rule="vote")
    problem = SufficientReason(model, data.rows(3)[row], definition="sufficient")
    result = solve(problem, "hitting-sets", time_limit=limit)
    first = next((p.seconds for p in result.trace if p.objective is not None), None)
    searching = result.times.state + result.times.compile + result.times.solve
    checking = result.times.total - searching
    valid = result.explanation is not None and problem.enough(result.explanation.features)
    return [int(model.sizes.sum()), result.bound, result.objective, first, searching, checking,
            "checker" if result.verified else "oracle" if valid else "-"]  # fmt: skip


def large(rows: int = 3, limit: float = 30.0) -> None:
    """Print what is known of a large forest within the limit."""
    runs = [in_own_process(_large, row, limit) for row in range(rows)]
    show(
        f"100 trees of unbounded depth, 100 attributes, limit {limit:g} s",
        ["thresholds", "bound", "size", "first reason, s", "search, wall s", "checking, wall s",
         "valid by", "peak MB"],
        [[*run["value"], run["memory"]] for run in runs],
    )  # fmt: skip


TABLES = {"trees": trees, "majoritary": majoritary, "full": full, "specific": specific,
          "large": large}  # fmt: skip


def main() -> None:
    """Print the tables."""
    _runs(read_sklearn(forest(DATA[2], 2, 2)), table(DATA[2]).rows(1), "hitting-sets",
          definition="sufficient")  # fmt: skip
    for name in chosen("CPX_REASONS", TABLES):
        TABLES[name]()


if __name__ == "__main__":
    main()
