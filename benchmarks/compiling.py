"""State and compile: cpx against a hand-written model of the same encoding."""

from __future__ import annotations

import resource
import statistics
import time
from typing import Any

from benchmarks.by_hand import BY_HAND
from benchmarks.instances import central
from benchmarks.measuring import in_own_process
from benchmarks.tables import show

SIZES = (10_000, 100_000)
SOLVED = 20_000
TURNS = 3


def _cpsat(problem: Any, encoding: str) -> Any:
    from cpx.backends.cpsat.compile import compile_cp_model

    return compile_cp_model(problem.model(encoding))


def _maxsat(problem: Any, encoding: str) -> Any:
    from cpx.backends.maxsat.wcnf import compile_statement

    return compile_statement(problem.model(encoding))


def _milp(problem: Any, encoding: str) -> Any:
    from cpx.backends.milp.pulp_solver import CPM_pulp

    return CPM_pulp(problem.model(encoding).model)


COMPILERS = {"cpsat": _cpsat, "maxsat": _maxsat, "milp": _milp}


def _one(engine: str, encoding: str, m: int, ours: bool) -> tuple[float, float]:
    """Return the processor seconds of one way, and the peak of its process in MB."""
    problem, small = central(m), central(50)
    for one in (small, problem):
        form = one.form()
        if one is problem:
            start = time.process_time()
        by_hand = BY_HAND[engine, encoding]
        made = COMPILERS[engine](one, encoding) if ours else by_hand(form)
    spent = time.process_time() - start
    assert made is not None
    return spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _solve(engine: str) -> None:
    from cpx import solve

    solve(central(SOLVED), engine, time_limit=12)


def main() -> None:
    """Print the table; each way has processes of its own, in turns."""
    rows = []
    for engine, encoding in BY_HAND:
        for m in SIZES:
            turns = [
                [in_own_process(_one, engine, encoding, m, way)["value"] for way in (True, False)]
                for _ in range(TURNS)
            ]
            spent, memory = (
                [statistics.median(turn[way][of] for turn in turns) for way in (0, 1)]
                for of in (0, 1)
            )
            rows.append(
                [
                    *(engine, encoding, m, *spent, f"{spent[0] / spent[1]:.2f}"),
                    *(*map(round, memory), f"{memory[0] / memory[1]:.2f}"),
                ]
            )
    show(
        "State and compile, k = 5, d = 90: processor seconds, peak of the process in MB",
        ["engine", "encoding", "samples", "s", "by hand", "ratio", "MB", "by hand", "ratio"],
        rows,
    )
    rows = [[engine, in_own_process(_solve, engine)["memory"]] for engine in COMPILERS]
    show(f"Peak of a process that solves {SOLVED} samples, 12 s", ["engine", "MB"], rows)


if __name__ == "__main__":
    main()
