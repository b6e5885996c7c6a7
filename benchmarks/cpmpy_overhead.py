"""What ``cpmpy:NAME`` costs beyond CPMpy itself: the same model and parameters, in turns.

CPMpy states, compiles and solves, with the parameters that cpx gives its solver; the backend does
so too, and measures solutions, keeps the bound, checks the answer and puts it in words.
"""

from __future__ import annotations

import time
from statistics import median
from typing import Any

from benchmarks.instances import central
from benchmarks.tables import show
from cpx import library, solve
from cpx.backends import backend
from cpx.modelling.base import Problem
from cpx.options import SolveOptions

SECONDS = 10.0
"""Of each instance and engine, for all its solves."""
TURNS = (3, 100)
ENGINES = ("cpmpy:ortools", "cpmpy:pumpkin", "cpmpy:choco", "cpmpy:z3")
FAMILIES = (("dnf", 100, 12, 3), ("planted", 400, 24, 4), ("needle", 100, 24, 4))


def main() -> None:
    """Print one row an instance and engine: seconds of both, and the ratio."""
    instances = [library.make(*one) for one in FAMILIES]
    instances += [central(m=m, d=d, k=3) for m, d in ((200, 20), (400, 16))]
    here = [name for name in ENGINES if backend(name).available()]
    rows = []
    for engine in here:
        for problem in instances:
            rows.append(
                [engine, f"{problem.name} d{problem.n_features}", *_compare(problem, engine)]
            )
            print(*rows[-1], flush=True)
    show(
        "Seconds, the median of solves in turns",
        ["engine", "instance", "CPMpy, s", "cpx, s", "ratio", "solves"],
        rows,
    )


def _compare(problem: Problem, engine: str) -> list[object]:
    """Return seconds by CPMpy and by cpx, and their ratio, from pairs of solves."""
    times: list[tuple[float, float]] = []
    least, most = TURNS
    start = time.perf_counter()
    while len(times) < least or (len(times) < most and time.perf_counter() - start < SECONDS):
        pair = [_seconds(_by_cpmpy, problem, engine), _seconds(_by_cpx, problem, engine)]
        times.append((pair[0], pair[1]))
    ratio = median(cpx / alone for alone, cpx in times)
    return [median(one) for one in zip(*times, strict=True)] + [f"{ratio:.2f}", len(times)]


def _seconds(work: Any, problem: Problem, engine: str) -> float:
    start = time.perf_counter()
    work(problem, engine)
    return time.perf_counter() - start


def _by_cpmpy(problem: Problem, engine: str) -> None:
    import cpmpy as cp

    made = backend(engine)
    options = SolveOptions()
    statement = made.adapted(problem.model())
    compiled = cp.SolverLookup.get(
        engine.partition(":")[2], statement.model, **made.construction(options)
    )
    compiled.solve(**made.parameters(options))
    assert compiled.objective_value() is not None


def _by_cpx(problem: Problem, engine: str) -> None:
    assert solve(problem, engine, warm_start=False).proved


if __name__ == "__main__":
    main()
