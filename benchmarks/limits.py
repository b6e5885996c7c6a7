"""Isolated solves: whether they end within the limit x 1.05 + 1 s, and their overhead."""

from __future__ import annotations

import time

from benchmarks.instances import central
from benchmarks.tables import show
from cpx import KMonomial, Samples, solve

ENGINES = (
    "cpsat",
    "maxsat:rc2",
    "maxsat:stratified",
    "maxsat:lsu",
    "milp:highs",
    "milp:cbc",
    "search",
)
LIMITS = (1.0, 5.0, 30.0)


def _overhead(engine: str) -> float:
    """Median seconds an isolated solve of a trivial problem takes beyond the solve itself."""
    tiny = KMonomial(Samples([[1, 0], [0, 1]], [1, 0]), k=1)
    solve(tiny, engine, isolate=True)
    extra = []
    for _ in range(9):
        start = time.perf_counter()
        result = solve(tiny, engine, isolate=True)
        extra.append(time.perf_counter() - start - result.times.total)
    return sorted(extra)[4]


def main(limits: tuple[float, ...] = LIMITS) -> None:
    """Print the table."""
    problem = central(20_000)
    rows = []
    for engine in ENGINES:
        overhead = _overhead(engine)
        for limit in limits:
            start = time.perf_counter()
            result = solve(problem, engine, time_limit=limit, isolate=True)
            wall = time.perf_counter() - start
            kept = "yes" if wall <= 1.05 * limit + 1 else "NO"
            rows.append(
                [
                    engine,
                    result.encoding or None,
                    overhead,
                    limit,
                    wall,
                    kept,
                    result.status,
                    result.objective,
                    result.bound,
                    result.raw_status,
                ]
            )
    show(
        "Isolated solves, m = 20,000, d = 90, k = 5",
        [
            "engine",
            "encoding",
            "overhead, s",
            "limit, s",
            "wall, s",
            "kept",
            "status",
            "value",
            "bound",
            "ended",
        ],
        rows,
    )


if __name__ == "__main__":
    main()
