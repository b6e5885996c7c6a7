"""How often guarantees are wrong, and how wide their intervals are, in worlds that are known."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.tables import show
from cpx.data.statistics import UniformLimits, bernstein_lower, chernoff_lower, exact_lower
from tests.explainers.worlds import WORLDS, World, ask, broken, false_claims, said, world

RUNS = int(os.environ.get("CPX_RUNS", "1000"))
D = int(os.environ.get("CPX_FEATURES", "12"))
K, M, DELTA, EPSILON, FLOOR = 3, 1000, 0.05, 0.1, 0.1

_DRAWS = 10  # of random signs, for a Rademacher average


def violations() -> Iterator[list[object]]:
    """Yield for each world in how many runs a sentence was wrong."""
    for kind in WORLDS:
        known = world(kind, D, K)
        row: list[object] = [kind]
        for objective in ("precision", "coverage", "loss"):
            row.append(
                sum(bool(false_claims(known, objective, M, DELTA, seed)) for seed in range(RUNS))
            )
        wrong, gaps, calls = 0, [], []
        for seed in range(RUNS):
            found, queries = ask(known, seed, epsilon=EPSILON, delta=DELTA)
            wrong += broken(known, found, FLOOR)
            gaps.append(said(found)[1])
            calls.append(sum(queries))
        yield [*row, wrong, float(np.mean(gaps)), round(np.mean(calls))]


def widths() -> Iterator[list[object]]:
    """Yield for each world how wide the interval of the most precise rule is, by each limit."""
    for kind in WORLDS:
        known = world(kind, D, K)
        rng = np.random.default_rng(2)
        counts = rng.multinomial(M, known.chances, size=RUNS)
        found = np.mean([_widths(known, one, rng) for one in counts], axis=0)
        yield [kind, len(known.rules), *map(float, found)]


def _widths(known: World, counts: NDArray[np.int64], rng: np.random.Generator) -> list[float]:
    covered = known.covers @ counts
    agreeing = (known.covers & known.same) @ counts
    enough = np.flatnonzero(covered >= FLOOR * M)
    best = enough[np.lexsort((-covered[enough], -agreeing[enough] / covered[enough]))[0]]
    a, n = int(agreeing[best]), int(covered[best])
    tail = UniformLimits(len(known.rules), DELTA, 2).tail
    alone = exact_lower(a, n, DELTA / 2), exact_lower(n - a, n, DELTA / 2)
    pairs = [alone, (exact_lower(a, n, tail), exact_lower(n - a, n, tail))]
    for lower in (chernoff_lower, bernstein_lower, _hoeffding_lower):
        pairs.append((lower(a, n, tail), lower(n - a, n, tail)))
    pairs.append(_rademacher(known, counts, a, n, rng))
    return [1 - max(0.0, float(low)) - max(0.0, float(other)) for low, other in pairs]


def _hoeffding_lower(hits: int, trials: int, tail: float) -> float:
    return hits / trials - float(np.sqrt(-np.log(tail) / (2 * trials)))


def _rademacher(
    known: World, counts: NDArray[np.int64], a: int, n: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Return lower limits of the precision, and of its opposite, by Rademacher averages.

    With probability 1 - delta, no function of a set, with values from 0 to 1, has a mean further
    above that on m samples than 2 R + 3 sqrt(ln(2 / delta) / (2 m)), nor, with another delta,
    further below (P. Bartlett, S. Mendelson, 2002). R is the empirical Rademacher average of the
    set: here the mean of some draws, as if that had no error of its own. Four such statements are
    needed: what rules cover is bounded from above, for each limit, and what they cover of a class
    from below.
    """
    signs = 2 * rng.binomial(counts, 0.5, size=(_DRAWS, len(counts))) - counts
    rest = 3 * np.sqrt(np.log(2 * 4 / DELTA) / (2 * M))

    def furthest(covers: NDArray[np.bool_]) -> float:
        sums = signs.astype(np.float32) @ covers.T.astype(np.float32)  # exact: they are small
        return float(2 * sums.max(axis=1).mean() / M + rest)

    most = n / M + furthest(known.covers)
    agreeing = a / M - furthest(known.covers & known.same)
    others = (n - a) / M - furthest(known.covers & ~known.same)
    return agreeing / most, others / most


def main() -> None:
    """Print both tables."""
    show(
        f"Of {RUNS} runs, how many had a wrong sentence; d = {D}, k = {K}, m = {M}, "
        f"delta = {DELTA}",
        [
            *("world", "precision", "coverage", "loss", f"rounds, epsilon = {EPSILON}"),
            *("mean gap", "mean calls"),
        ],
        violations(),
    )
    show(
        "Mean width of the interval of the most precise rule",
        [
            *("world", "rules", "one rule alone", "exact", "Chernoff", "Bernstein"),
            *("Hoeffding", "Rademacher"),
        ],
        widths(),
    )


if __name__ == "__main__":
    main()
