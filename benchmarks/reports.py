"""Summaries and reports of many runs: seconds and size.

The runs are drawn at random: what they cost to summarise does not depend on where they are from.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from benchmarks.tables import show
from cpx.answers.explanation import Explanation
from cpx.answers.result import Result, Status, Termination, Times, TracePoint
from cpx.answers.rule import Rule
from cpx.compare import Comparison, Run

ENGINES = {
    "search": 0.02,
    "cpsat": 1.0,
    "maxsat:rc2": 3.0,
    "milp:highs": 5.0,
    "maxsat:lsu": 8.0,
    "milp:scip": 9.0,
    "milp:cbc": 12.0,
}
"""Engines, and about how long each takes."""

LIMIT, POINTS = 20.0, 20


def comparison(runs: int, seed: int = 0) -> Comparison:
    """Return a comparison with at least so many runs, each with a trace and a rule."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(-(-runs // len(ENGINES))):
        optimum, hardness = int(rng.integers(20, 300)), float(rng.lognormal(0, 1.6))
        for engine, pace in ENGINES.items():
            seconds = pace * hardness * float(rng.lognormal(0, 0.7))
            made.append(_run(rng, number, engine, seconds, optimum))
    return Comparison(tuple(made), {"jobs": 2})


def _run(rng: np.random.Generator, number: int, engine: str, seconds: float, optimum: int) -> Run:
    proved, total = seconds < LIMIT, min(seconds, LIMIT)
    first = optimum + int(rng.integers(0, optimum))
    last = optimum + (not proved and int(rng.integers(0, 4)) == 0)
    trace = []
    for step, moment in enumerate(np.sort(rng.uniform(0, total, POINTS)), start=1):
        value = last + round((first - last) * (1 - step / POINTS) ** 2)
        bound = round(optimum * step / POINTS * (1 if proved else 0.8))
        trace.append(TracePoint(float(moment), value, bound))
    bound = optimum if proved else trace[-1].bound
    chosen = sorted(rng.choice(90, int(rng.integers(1, 5)), replace=False).tolist())
    rule = Rule.of(chosen, [f"feature {j} <= {j / 10}" for j in range(90)], "class 1")
    backend, _, solver = engine.partition(":")
    result = Result(
        Status.OPTIMAL if proved else Status.FEASIBLE,
        Termination.COMPLETED if proved else Termination.TIME_LIMIT,
        objective=last,
        bound=bound,
        explanation=Explanation(rule, Fraction(19, 20), Fraction(1, 3)),
        trace=(*trace, TracePoint(total, last, bound)),
        times=Times(total=total),
        sizes={"variables": 1090, "clauses": 1000 * len(chosen), "nonzeros": 90_000},
        backend=backend,
        solver=solver,
        versions={"cpx-explain": "0.1.0", backend: "1"},
        options={"time_limit": LIMIT, "threads": 1, "seed": 0, "gap": None},
        memory=int(rng.integers(50, 500)) * 10**6,
        verified=True,
    )
    return Run(f"made {number}", f"{number:064x}", "k-monomial, 90 features", "min", result)


def _timed(work: Callable[[], str]) -> tuple[float, float, float]:
    start, cpu = time.perf_counter(), time.process_time()
    text = work()
    wall, used = time.perf_counter() - start, time.process_time() - cpu
    return wall, used, len(text.encode()) / 1e6


def main() -> None:
    """Print the table."""
    from cpx.compare.report import as_html

    small, large = comparison(3000), comparison(10_000)
    rows = [
        ("summary on screen", len(small.runs), *_timed(lambda: str(small))),
        ("report", len(small.runs), *_timed(lambda: as_html(small))),
        ("report", len(large.runs), *_timed(lambda: as_html(large))),
    ]
    show("Reports", ("what", "runs", "s", "CPU, s", "MB"), rows)
