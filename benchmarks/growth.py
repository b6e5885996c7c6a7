"""How the cost of the exact search grows with samples, features, conditions and noise."""

from __future__ import annotations

import re
from itertools import product
from math import comb
from pathlib import Path

import numpy as np

from benchmarks.measuring import in_own_process, solve_by_cpu
from benchmarks.tables import show
from cpx import KMonomial, Samples

SIZES = (10_000, 100_000)
FEATURES = (60, 120, 240)
CONDITIONS = (3, 4, 5)
NOISES = (0.1, 0.3, 0.4, 0.45)
LIMIT = 30.0
FITTED = 0.1
"""Seconds that count for the law: below it, reading and reporting are most of them."""
LARGE = (
    (100_000, 90, 5, 0.3),
    (1_000_000, 90, 5, 0.3),
    (10_000, 500, 3, 0.45),
    (10_000, 1000, 3, 0.45),
)
"""Instances by samples, features, conditions and noise that are measured with two threads."""

_BLOCK = 4096


def noisy(m: int, d: int, k: int, noise: float, seed: int = 0) -> KMonomial:
    """Return an instance of fair coins, a rule of the first k features, and wrong labels.

    noise: Share of the labels that are wrong.
    """
    rng = np.random.default_rng(seed)
    agreement = np.empty((m, d), dtype=bool)
    for at in range(0, m, _BLOCK):  # less memory than all random numbers at once
        block = agreement[at : at + _BLOCK]
        block[:] = rng.integers(0, 2, block.shape, dtype=np.uint8)
    wrong = rng.random(m, dtype=np.float32) < noise
    return KMonomial(Samples(agreement, agreement[:, :k].all(axis=1) ^ wrong), k=k)


def grid(limit: float = LIMIT) -> list[tuple[int, int, int, float, float | None, str]]:
    """Solve all instances of the grid; return what each is, its seconds, and what was told."""
    solve_by_cpu(noisy(100, 8, 3, 0.1), "search", limit)
    found = []
    for m, d, k, noise in product(SIZES, FEATURES, CONDITIONS, NOISES):
        problem, seconds = noisy(m, d, k, noise), None
        for _ in range(2):
            result, cpu, _ = solve_by_cpu(problem, "search", limit)
            if result.status != "OPTIMAL":
                break
            seconds = cpu if seconds is None else min(cpu, seconds)
            if cpu > 1:
                break
        found.append((m, d, k, noise, seconds, result.raw_status))
    return found


def law(noise: float, rows: list[tuple[int, int, int, float, float | None, str]]) -> list[object]:
    """Fit ``seconds = c m^a C(d, k)^b`` to the proved instances of one noise, but the easy ones.

    Returns the noise, how many there are, c, a, b, and by which factor the law is wrong: in the
    median and at most. Of fewer than six there is no law.
    """
    own = [
        (m, comb(d, k), seconds)
        for m, d, k, p, seconds, _ in rows
        if p == noise and seconds is not None and seconds > FITTED
    ]
    if len(own) < 6:
        return [noise, len(own), *5 * [None]]
    sizes, sets, seconds = np.log(np.array(own, dtype=float)).T
    factors = np.column_stack([np.ones(len(own)), sizes, sets])
    fit = np.linalg.lstsq(factors, seconds, rcond=None)[0]
    wrong = np.exp(np.abs(factors @ fit - seconds))
    c, a, b = float(np.exp(fit[0])), float(fit[1]), float(fit[2])
    return [noise, len(own), c, a, b, float(np.median(wrong)), float(wrong.max())]


def large(m: int, d: int, k: int, noise: float, limit: float = 4 * LIMIT) -> list[object]:
    """Solve in two threads; return seconds, and the peak of memory beside the interpreter's."""
    solve_by_cpu(noisy(100, 8, 3, 0.1), "search", limit)
    base = _memory("VmRSS")
    problem = noisy(m, d, k, noise)
    result, cpu, wall = solve_by_cpu(problem, "search", limit, threads=2)
    peak = _memory("VmHWM") - base
    value, bound = result.objective, result.bound
    return [m, d, k, noise, value, bound, result.raw_status, cpu, wall, m * d / 1e6, peak]


def _memory(name: str) -> float:
    """Return megabytes that the system tells of this process."""
    found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text("ascii"))
    assert found is not None
    return int(found[1]) * 1024 / 1e6


def main() -> None:
    """Print the tables."""
    rows = grid()
    heads = [f"noise {noise}" for noise in NOISES]
    seconds = {row[:4]: row[4] for row in rows}
    show(
        f"search, one thread, CPU s (without a number: not proved in {LIMIT:.0f} s)",
        ["m", "d", "k", *heads],
        [
            [m, d, k, *(seconds[m, d, k, noise] for noise in NOISES)]
            for m, d, k in product(SIZES, FEATURES, CONDITIONS)
        ],
    )
    show(
        "seconds = c m^a C(d, k)^b",
        ["noise", "instances", "c", "a", "b", "wrong by, median", "at most"],
        [law(noise, rows) for noise in NOISES],
    )
    show(
        "two threads",
        ["m", "d", "k", "noise", "value", "bound", "", "cpu, s", "s", "table, MB", "peak, MB"],
        [in_own_process(large, *one)["value"] for one in LARGE],
    )


if __name__ == "__main__":
    main()
