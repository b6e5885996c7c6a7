"""Value and bound on the central problem: cpx and hand-written models, same time limits."""

from __future__ import annotations

import time

from benchmarks.instances import central
from benchmarks.measuring import in_own_process
from benchmarks.natively import NATIVELY
from benchmarks.tables import show
from cpx import solve

RUNS = (
    ("cpsat", 60.0, None),
    ("maxsat:rc2", 20.0, 39),
    ("maxsat:stratified", 20.0, 39),
    ("maxsat:lsu", 30.0, None),
    ("milp:highs", 40.0, None),
    ("milp:cbc", 40.0, None),
    ("search", 60.0, None),
)


def _native(engine: str, limit: float, d: int | None) -> tuple[int | None, int | None, float]:
    problem = central(d=d)
    start = time.perf_counter()
    value, bound = NATIVELY[engine](problem, limit)
    return value, bound, time.perf_counter() - start


def main() -> None:
    """Print the table."""
    rows = []
    for engine, limit, d in RUNS:
        result = solve(central(d=d), engine, time_limit=limit, isolate=True, warm_start=False)
        row = [engine, result.encoding or None, d or 90, limit, result.status]
        row += [result.objective, result.bound, result.times.total]
        if engine in NATIVELY:
            row += in_own_process(_native, engine, limit, d)["value"]
        rows.append(row + [None] * (11 - len(row)))
    show(
        "The central problem: m = 1000, k = 5, one thread",
        [
            "engine",
            "encoding",
            "d",
            "limit, s",
            "status",
            "value",
            "bound",
            "s",
            "by hand: value",
            "bound",
            "s",
        ],
        rows,
    )


if __name__ == "__main__":
    main()
