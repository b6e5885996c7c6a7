"""Value and bound of every engine on the central problem, within the same limits."""

from __future__ import annotations

from benchmarks.instances import central
from benchmarks.tables import show
from cpx import solve

RUNS = (
    ("cpsat", 60.0, None),
    ("maxsat:rc2", 20.0, 39),
    ("maxsat:stratified", 20.0, 39),
    ("maxsat:lsu", 30.0, None),
    ("milp:highs", 40.0, None),
    ("milp:cbc", 40.0, None),
)


def main() -> None:
    """Print the table."""
    rows = []
    for engine, limit, d in RUNS:
        result = solve(central(d=d), engine, time_limit=limit, isolate=True)
        rows.append(
            [engine, d or 90, limit, result.status, result.objective, result.bound, result.gap]
        )
    show(
        "The central problem: m = 1000, k = 5, one thread",
        ["engine", "d", "limit, s", "status", "value", "bound", "gap"],
        rows,
    )


if __name__ == "__main__":
    main()
