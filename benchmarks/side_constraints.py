"""The exact search under side constraints: seconds and nodes, beside those without."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.engine_encodings import INSTANCES as OF_LIBRARY
from benchmarks.instances import central
from benchmarks.searching import needle, planted
from benchmarks.tables import show
from cpx import library, solve
from cpx.backends import backend

SECONDS = 0.4
LIMIT = 60.0
BAR = 1.5


INSTANCES: dict[str, tuple[Callable[..., Any], dict[str, int]]] = {
    "central, m=1000": (central, {}),
    "central, m=20000": (central, {"m": 20_000}),
    "planted, d=90": (planted, {}),
    "needle, k=4": (needle, {"k": 4}),
    "needle, 4 of 1000": (needle, {}),
}
# Rows, features and how many seeds: what one instance shows may be its own.
PLANTED = (
    (400, 90, 5),
    (1000, 60, 5),
    (1000, 90, 10),
    (1000, 130, 5),
    (4000, 90, 5),
    (20_000, 90, 5),
)


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


KINDS: dict[str, Callable[[np.random.Generator, int], str]] = {
    "20 limits": limiting,
    "implications too": mixed,
    "demands too": asking,
}


def twenty(kind: str, problem: Any, optimal: Any = None) -> list[str]:
    """Draw constraints; with an optimal answer, those that it keeps."""
    draw, rng = KINDS[kind], np.random.default_rng([20, *map(ord, kind[:1])])
    texts = list[str]()
    while len(texts) < 20:
        text = draw(rng, problem.n_features)
        side = problem.where(text).side_constraints
        if optimal is None or side.allow(optimal.features):
            texts.append(text)
    return texts


def measure(*problems: Any) -> list[tuple[float, Any]]:
    """Return the least CPU time of two solves or more of each, in turns, and the result."""
    best: list[tuple[float, Any]] = [(float("inf"), None) for _ in problems]
    begun, solves = time.process_time(), 0
    while solves < 2 or time.process_time() < begun + SECONDS * len(problems):
        solves += 1
        for i, problem in enumerate(problems):
            start = time.process_time()
            result = solve(problem, "search", time_limit=LIMIT)
            best[i] = min(best[i][0], time.process_time() - start), result
    return best


def main() -> None:
    """Print the tables."""
    # Threads of linear algebra that spin after the classifier's answers would be measured.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    solve(planted(100, 8, 3).where("not feature[0]"), "search")
    rows = []
    for name, (make, arguments) in INSTANCES.items():
        free, plain, others = beside(make(**arguments))
        row: list[object] = [name, free.objective, plain]
        for i, (seconds, result) in enumerate(others):
            same = i < len(KINDS)
            row += [seconds / plain] if same else [result.objective, seconds / plain]
        rows.append(row)
    head = ["instance", "optimum", "CPU s", *(f"{kind}, kept" for kind in KINDS)]
    for kind in KINDS:
        head += [kind, "ratio"]
    show("The search under 20 side constraints", head, rows)
    rows = []
    for m, d, seeds in PLANTED:
        found = [beside(planted(m, d, seed=seed)) for seed in range(seeds)]
        ratios = np.array([[seconds / plain for seconds, _ in o] for _, plain, o in found])
        row = [f"m = {m}, d = {d}", seeds, float(np.mean([plain for _, plain, _ in found]))]
        for kind in ratios.T:
            row.append(f"{kind.mean():.2g} ({kind.max():.2g})")
        rows.append([*row, f"{(ratios <= BAR).sum()} of {ratios.size}"])
    head = ["planted", "seeds", "CPU s", *(f"{kind}, kept" for kind in KINDS), *KINDS]
    show("Ratios in the mean, and the worst", [*head, f"at most {BAR}"], rows)
    rows = []
    for family, *sizes in OF_LIBRARY:
        problem = library.make(family, *sizes)
        if backend("search").accepts(problem):
            _, plain, others = beside(problem)
            ratios = [seconds / plain for seconds, _ in others]
            rows.append([f"{family} {sizes[0]} x {sizes[1]}, k={sizes[2]}", plain, *ratios])
    head = ["instance", "CPU s", *(f"{kind}, kept" for kind in KINDS), *KINDS]
    show("Instances of the library: ratios", head, rows)


def beside(problem: Any) -> tuple[Any, float, list[tuple[float, Any]]]:
    """Solve without constraints and with those of each kind, kept by the optimum and not.

    Returns the result without, its seconds, and seconds and result of each of the others.
    """
    optimal = solve(problem, "search").explanation
    kept = [problem.where(*twenty(kind, problem, optimal)) for kind in KINDS]
    any_ = [problem.where(*twenty(kind, problem)) for kind in KINDS]
    (plain, free), *others = measure(problem, *kept, *any_)
    assert all(result.proved for _, result in others)
    assert all(result.objective == free.objective for _, result in others[: len(kept)])
    return free, plain, others


if __name__ == "__main__":
    main()
