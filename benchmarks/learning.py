"""Rules learned by column generation compared with rules selected from the paths of a forest.

The task of ``benchmarks.rule_sets``, with more and more samples. All have the same literals, at
most 4 per rule, and the same objective: errors, and a hundredth of the samples per rule. Engines
select from the paths, cold and from the start of local search.
"""

from __future__ import annotations

import os
import time

from benchmarks.rule_sets import cold, task
from benchmarks.tables import show
from cpx import RuleSetSelection, learn_rules, solve

SIZES = tuple(map(int, os.environ.get("CPX_LEARNING_M", "1000,5000,30000").split(",")))
LIMITS = {1000: 1.5, 5000: 15.0, 30_000: 50.0}
DEFAULT_LIMIT = 20.0
ENGINES = tuple(
    filter(
        None,
        os.environ.get(
            "CPX_LEARNING_ENGINES", "search,cpsat,milp:highs,milp:cbc,maxsat:rc2"
        ).split(","),
    )
)
LEAST_LIMIT = float(os.environ.get("CPX_LEARNING_LIMIT", "20"))
"""Seconds that engines get at least, though the learner may have less."""

Row = tuple[object, ...]


def main() -> None:
    """Print a line per number of samples and method, then one per engine."""
    # Kernels are compiled and loaded before anything is timed.
    warm = task(200)
    solve(warm, "local-search")
    solve(warm, "search", time_limit=1)
    learn_rules(warm.samples, 4, warm.penalty, time_limit=60)
    rows: list[Row] = []
    engines: list[Row] = []
    for m in SIZES:
        problem = task(m)
        limit = LIMITS.get(m, DEFAULT_LIMIT)
        rows += learned(problem, m, limit)
        engines += [selected(problem, m, engine, limit) for engine in ENGINES]
    show(
        "Learned rules beside selected ones",
        [
            *("samples", "literals", "method", "objective", "lower by, %"),
            *("Hamming", "its bound", "wall s", "CPU s"),
        ],
        rows,
    )
    show(
        "Engines on the selection from the paths",
        [
            *("samples", "engine", "limit", "cold", "its bound", "CPU s"),
            *("hinted", "its bound", "CPU s"),
        ],
        engines,
    )


def learned(problem: RuleSetSelection, m: int, limit: float) -> list[Row]:
    """Return the lines of local search over the paths, and of the learner."""
    wall, cpu = time.perf_counter(), time.process_time()
    best = solve(problem, "local-search", time_limit=limit)
    times = time.perf_counter() - wall, time.process_time() - cpu
    assert isinstance(best.objective, int)
    found = best.objective / problem.scale
    first = (m, problem.samples.d, f"local search, {problem.n_features} paths")
    wall, cpu = time.perf_counter(), time.process_time()
    learned = learn_rules(problem.samples, 4, problem.penalty, time_limit=limit)
    spent = time.perf_counter() - wall, time.process_time() - cpu
    return [
        (*first, found, None, None, None, *times),
        (
            *(m, problem.samples.d, f"learned, {limit:g} s"),
            float(learned.objective),
            100 * (1 - float(learned.objective) / found),
            float(learned.hamming),
            float(learned.hamming_bound),
            *spent,
        ),
    ]


def selected(problem: RuleSetSelection, m: int, engine: str, limit: float) -> Row:
    """Return the line of an engine: alone, then from the start of local search."""
    limit = max(LEAST_LIMIT, limit)
    start = _cpu()
    alone = cold(problem, engine, limit)
    half = _cpu()
    warm = solve(problem, engine, time_limit=limit)
    spent = half - start, _cpu() - half
    values = (alone.objective, alone.best_bound, warm.objective, warm.bound)
    figures = [None if value is None else float(value / problem.scale) for value in values]
    return (m, engine, limit, *figures[:2], spent[0], *figures[2:], spent[1])


def _cpu() -> float:
    """Return the seconds of processor time so far, with those of programs that were run."""
    return sum(os.times()[:4])


if __name__ == "__main__":
    main()
