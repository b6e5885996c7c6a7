"""Rules learned by column generation against rules selected from the paths of a forest.

The task of ``benchmarks.rule_sets``, with more and more samples. Both have the same literals, at
most 4 per rule, and the same objective: errors, and a hundredth of the samples per rule.
"""

from __future__ import annotations

import os
import time

from benchmarks.rule_sets import task
from benchmarks.tables import show
from cpx import learn_rules, solve

SIZES = tuple(map(int, os.environ.get("CPX_LEARNING_M", "1000,5000,30000").split(",")))
LIMITS = {1000: 1.8, 5000: 15.0, 30_000: 50.0}
DEFAULT_LIMIT = 20.0


def main() -> None:
    """Print a line per number of samples and method."""
    # Kernels are compiled and loaded before anything is timed.
    warm = task(200)
    solve(warm, "local-search")
    learn_rules(warm.samples, 4, warm.penalty, time_limit=60)
    rows = []
    for m in SIZES:
        problem = task(m)
        limit = LIMITS.get(m, DEFAULT_LIMIT)
        wall, cpu = time.perf_counter(), time.process_time()
        selected = solve(problem, "local-search", time_limit=limit)
        times = time.perf_counter() - wall, time.process_time() - cpu
        assert isinstance(selected.objective, int)
        found = selected.objective / problem.scale
        first = (m, problem.samples.d, f"local search, {problem.n_features} paths")
        rows.append((*first, found, None, None, None, *times))
        wall, cpu = time.perf_counter(), time.process_time()
        learned = learn_rules(problem.samples, 4, problem.penalty, time_limit=limit)
        times = time.perf_counter() - wall, time.process_time() - cpu
        rows.append(
            (
                *(m, problem.samples.d, f"learned, {limit:g} s"),
                float(learned.objective),
                100 * (1 - float(learned.objective) / found),
                float(learned.hamming),
                float(learned.hamming_bound),
                *times,
            )
        )
    show(
        "Learned rules beside selected ones",
        [
            *("samples", "literals", "method", "objective", "lower by, %"),
            *("Hamming", "its bound", "wall s", "CPU s"),
        ],
        rows,
    )
