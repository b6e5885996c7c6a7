"""The exact search under side constraints: seconds and nodes, beside those without."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.instances import central
from benchmarks.searching import needle, planted
from benchmarks.tables import show
from cpx import KMonomial, solve

SECONDS = 0.4
LIMIT = 60.0


def without_first(**arguments: Any) -> KMonomial:
    """Return the planted instance where no rule may have the first condition of the planted one.

    Its best rule is about as good as those that constraints leave of the planted instance.
    """
    return replace(planted(**arguments), forbidden=(0,))


INSTANCES = {
    "central, m=1000": (central, {}),
    "central, m=20000": (central, {"m": 20_000}),
    "planted, d=90": (planted, {}),
    "planted, without x0": (without_first, {}),
    "needle, k=4": (needle, {"k": 4}),
    "needle, 4 of 1000": (needle, {}),
}


def atom(rng: np.random.Generator, d: int) -> str:
    """Name one feature."""
    return f"feature[{int(rng.integers(d))}]"


def some(rng: np.random.Generator, d: int, n: int) -> str:
    """Name n features."""
    return ", ".join(f"feature[{j}]" for j in sorted(rng.permutation(d)[:n].tolist()))


def limiting(rng: np.random.Generator, d: int) -> str:
    """Return a constraint that the empty rule keeps: an exclusion, a count, or a budget."""
    style = int(rng.integers(3))
    if style == 0:
        return f"excludes({some(rng, d, 2)})"
    if style == 1:
        return f"at_most(1, {some(rng, d, d // 6)})"
    names = some(rng, d, d // 6).split(", ")
    costs = " + ".join(f"{int(rng.integers(1, 5))} * {name}" for name in names)
    return f"{costs} <= 6"


def mixed(rng: np.random.Generator, d: int) -> str:
    """Return a limiting constraint, or in one of three cases an implication."""
    if rng.integers(3):
        return limiting(rng, d)
    return f"implies({atom(rng, d)}, {atom(rng, d)} or {atom(rng, d)})"


def asking(rng: np.random.Generator, d: int) -> str:
    """Return a mixed constraint, or in one of ten cases one that a rule must go to meet."""
    if rng.integers(10):
        return mixed(rng, d)
    return f"at_least(1, {some(rng, d, d // 6)})"


KINDS = {"20 limits": limiting, "implications too": mixed, "demands too": asking}


def measure(problem: Any) -> tuple[float, Any]:
    """Return the least CPU time of two solves or more, and the result."""
    best, result, begun = float("inf"), None, time.process_time()
    solves = 0
    while solves < 2 or time.process_time() < begun + SECONDS:
        solves += 1
        start = time.process_time()
        result = solve(problem, "search", time_limit=LIMIT)
        best = min(best, time.process_time() - start)
    return best, result


def main() -> None:
    """Print the table."""
    # Threads of linear algebra that spin after the classifier's answers would be measured.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    solve(planted(100, 8, 3).where("not feature[0]"), "search")
    rows = []
    for name, (make, arguments) in INSTANCES.items():
        problem: Any = make(**arguments)
        plain, free = measure(problem)
        row: list[object] = [name, free.objective, plain]
        for kind, draw in KINDS.items():
            rng = np.random.default_rng([20, *map(ord, kind[:1])])
            texts = [draw(rng, problem.n_features) for _ in range(20)]
            seconds, result = measure(problem.where(*texts))
            proved = result.objective if result.proved else f"{result.bound}..{result.objective}"
            row += [proved, seconds / plain]
        rows.append(row)
    head = ["instance", "optimum", "CPU s"]
    for kind in KINDS:
        head += [kind, "ratio"]
    show("The search under 20 side constraints", head, rows)


if __name__ == "__main__":
    main()
