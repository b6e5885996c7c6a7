"""State and compile: cpx against a hand-written model of the same encoding."""

from __future__ import annotations

import statistics
import time
from typing import Any

from benchmarks.by_hand import BY_HAND
from benchmarks.instances import central
from benchmarks.measuring import in_own_process
from benchmarks.tables import show

LARGE = 20_000


def _cpsat(problem: Any) -> Any:
    from cpx.backends.cpsat.compile import compile_cp_model

    return compile_cp_model(problem.model())


def _maxsat(problem: Any) -> Any:
    from cpx.backends.maxsat.wcnf import compile_statement

    return compile_statement(problem.model())


def _milp(problem: Any) -> Any:
    from cpx.backends.milp.pulp_solver import CPM_pulp

    return CPM_pulp(problem.model().model)


COMPILERS = {"cpsat": _cpsat, "maxsat": _maxsat, "milp": _milp}


def _ratios(engine: str, rounds: int) -> tuple[float, float, float]:
    """Return median seconds of ours and by hand, and the median ratio, in turns."""
    problem = central()
    problem.form()
    ours, theirs = [], []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        COMPILERS[engine](problem)
        middle = time.perf_counter()
        BY_HAND[engine](problem.form())
        theirs.append(time.perf_counter() - middle)
        ours.append(middle - start)
    # The first round pays for imports.
    ours, theirs = ours[1:], theirs[1:]
    ratio = statistics.median(a / b for a, b in zip(ours, theirs))
    return statistics.median(ours), statistics.median(theirs), ratio


def _large(engine: str) -> float:
    problem = central(LARGE)
    problem.form()
    start = time.perf_counter()
    COMPILERS[engine](problem)
    return time.perf_counter() - start


def _large_solve(engine: str) -> float:
    """Seconds of stating and compiling inside a real solve, up to the search."""
    from cpx import solve

    return sum(
        getattr(solve(central(LARGE), engine, time_limit=12).times, name)
        for name in ("state", "compile")
    )


def main() -> None:
    """Print the table."""
    rows = []
    for engine in COMPILERS:
        ours, theirs, ratio = in_own_process(_ratios, engine, 9)["value"]
        large = in_own_process(_large, engine)
        solving = in_own_process(_large_solve, engine)
        rows.append(
            [engine, ours, theirs, ratio, large["value"], large["memory"], solving["memory"]]
        )
    show(
        "State and compile, clausal, k = 5, d = 90",
        [
            "engine",
            "s, m=1000",
            "by hand, s",
            "ratio",
            "s, m=20000",
            "MB, m=20000",
            "MB with 12 s of search",
        ],
        rows,
    )


if __name__ == "__main__":
    main()
