"""Memory that repeated solves leave allocated in the process that runs them.

Each engine has a process of its own, in which it solves a small problem again and again, read
anew each time. ``CPX_SOLVES`` is how often, ``CPX_ENGINES`` which engines, separated by commas.
An engine may be followed by a space and an encoding.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.choice import chosen
from benchmarks.measuring import in_own_process
from cpx import KMonomial, Samples, solve
from cpx.backends import backend
from cpx.data.distributions import Uniform
from cpx.data.oracle import Oracle
from cpx.modelling.base import Problem, with_oracle
from cpx.modelling.instances import from_dict
from cpx.models.kernel_rule.problem import KernelRule
from cpx.models.rule_set.cases import random_learning, random_selection
from cpx.models.sufficient_reason.cases import random_votes

SOLVES = 10_000
"""How often an engine solves."""

WARM_UP = 50
"""Solves before the first look: libraries are loaded, kernels compiled, workspaces filled."""

MOST = 50
"""Megabytes by which an engine may grow in all its solves."""


def monomial() -> KMonomial:
    """Return a monomial with the classifier behind it, for engines that ask it."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (40, 6), dtype=np.int8)
    x = bits[0]
    samples = Samples(bits == x, (bits[:, :2] == x[:2]).all(axis=1))
    return KMonomial(samples, k=2)


def asked(problem: Problem) -> Problem:
    """Return the problem with the classifier that certificates ask."""
    classifier = Oracle(lambda rows: rows[:, :2].all(axis=1), [1] * 6, Uniform(6))
    return with_oracle(problem, classifier)


def formula() -> KernelRule:
    """Return a rule of a kernel machine."""
    table = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 0], [0, 0, 1]], dtype=bool)
    return KernelRule(table, [3, 2, -2, -1], max_clauses=2, max_literals=2)


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "cpsat": monomial,
    "maxsat:rc2": monomial,
    "maxsat:stratified": monomial,
    "maxsat:lsu": monomial,
    "milp:highs": monomial,
    "milp:cbc": monomial,
    "milp:glpk": monomial,
    "milp:scip": monomial,
    "exact": monomial,
    "portfolio": monomial,
    "cpsat triples": monomial,
    "maxsat:rc2 triples": monomial,
    "search": monomial,
    "beam": monomial,
    "greedy": monomial,
    "certificates": monomial,
    "hitting-sets": lambda: random_votes(4, 9, 6),
    "deletion": lambda: random_votes(4, 9, 6),
    "best-of-orders:3": lambda: random_votes(4, 9, 6),
    "column-generation": lambda: random_learning(3),
    "local-search": lambda: random_selection(3),
    "genetic": formula,
}
"""What each engine solves."""


def resident() -> float:
    """Return the megabytes of memory that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def grown(engine: str, solves: int) -> tuple[float, float]:
    """Solve so often; return the megabytes before and after."""
    data = PROBLEMS[engine]().to_dict()
    engine, _, encoding = engine.partition(" ")
    asks = backend(engine)._asks_classifier

    def once() -> None:
        problem = from_dict(data)
        solve(asked(problem) if asks else problem, engine, encoding=encoding or None)

    for _ in range(WARM_UP):
        once()
    before = resident()
    for _ in range(solves):
        once()
    return before, resident()


def main() -> None:
    """Print the table, a line as soon as it is known."""
    print(f"\n### Memory of one process after many solves; at most {MOST} MB more\n")
    heads = [
        f"{'engine':>17}",
        "solves",
        "MB before",
        "MB after",
        "KB per solve",
        "kept",
        "minutes",
    ]
    print("| " + " | ".join(heads) + " |")
    print("|" + "|".join("-" * (len(head) + 1) + ":" for head in heads) + "|")
    solves = int(os.environ.get("CPX_SOLVES", SOLVES))
    for engine in chosen("CPX_ENGINES", PROBLEMS):
        start = time.monotonic()
        before, after = in_own_process(grown, engine, solves)["value"]
        more = after - before
        print(
            f"| {engine:>17} | {solves:6} | {before:9.1f} | {after:8.1f} "
            f"| {1000 * more / solves:12.2f} | {'yes' if more <= MOST else 'NO':>4} "
            f"| {(time.monotonic() - start) / 60:7.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
