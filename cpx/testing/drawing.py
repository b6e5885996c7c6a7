"""Parts of random instances, as the JSON values that are saved: samples, choices, constraints."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = [
    "MOST_WEIGHT",
    "Instance",
    "Random",
    "bits",
    "chance",
    "choices",
    "count",
    "samples",
    "share",
    "side_constraint",
    "side_constraints",
    "weights",
]

Random = np.random.Generator
Instance = dict[str, Any]

MOST_WEIGHT = 2**40
"""Of all samples."""


def chance(rng: Random, share: float) -> bool:
    """Say yes with a probability."""
    return bool(rng.random() < share)


def count(rng: Random, low: int, high: int) -> int:
    """Return an integer from low to high, both included."""
    return int(rng.integers(low, high + 1))


def bits(rng: Random, rows: int, columns: int, share: float) -> list[str]:
    """Return rows of bits, each 1 with a probability."""
    return [
        "".join("1" if chance(rng, share) else "0" for _ in range(columns)) for _ in range(rows)
    ]


def weights(rng: Random, m: int, most: int) -> list[int]:
    """Return positive weights of which the sum is below most: equal, small, mixed or huge."""
    style = count(rng, 0, 4)
    if style == 0:
        return [1] * m
    if style == 1:
        return [count(rng, 1, 5) for _ in range(m)]
    if style == 2:
        return [count(rng, 1, 1000) for _ in range(m)]
    top = most // m - 1
    if style == 3:
        listed = [1, 2, 513, 10**6, 10**6 + 1, 10**9]
        return [min(top, listed[count(rng, 0, 5)]) for _ in range(m)]
    return [max(1, min(top, int(math.exp2(rng.uniform(0, math.log2(top)))))) for _ in range(m)]


def samples(rng: Random, m: int, d: int, most: int = MOST_WEIGHT) -> Instance:
    """Return samples and labels; now and then all alike, of one class, or in pairs."""
    share = 1.0 if chance(rng, 0.04) else rng.uniform(0.2, 0.95)
    rows = bits(rng, m, d, share)
    if chance(rng, 0.15):
        rows = [rows[count(rng, 0, m // 3)] for _ in range(m)]
    labels = "1" if chance(rng, 0.06) else "0" if chance(rng, 0.06) else ""
    found: dict[str, Any] = {
        "samples": rows,
        "labels": labels * m or bits(rng, 1, m, rng.uniform(0.1, 0.9))[0],
    }
    if chance(rng, 0.6):
        found["weights"] = weights(rng, m, most)
    return found


def choices(rng: Random, n: int, required: float = 0.25, forbidden: float = 0.25) -> Instance:
    """Return required and forbidden features, seldom contradictory."""
    order = rng.permutation(n).tolist()
    found: Instance = {}
    if n and chance(rng, required):
        found["required"] = sorted(order[: count(rng, 1, min(2, n))])
    if n and chance(rng, forbidden):
        kept = order if chance(rng, 0.15) else order[len(found.get("required", ())) :]
        found["forbidden"] = sorted(kept[-count(rng, 1, 2) :])
    return found


def share(rng: Random, value: float, m: int) -> str:
    """Return a share in few digits, or one that some samples have exactly."""
    if chance(rng, 0.4):
        return f"{round(value * m)}/{m}"
    return str(round(value, count(rng, 1, 3)))


def side_constraints(rng: Random, n: int) -> Instance:
    """Return constraints on a choice of n features, now and then; seldom contradictory."""
    if not chance(rng, 0.3) or not n:
        return {}
    return {"where": [{"text": side_constraint(rng, n)} for _ in range(count(rng, 1, 3))]}


def side_constraint(rng: Random, n: int) -> str:
    """Return a formula over ``feature[j]``: a clause, a count, a sum, or some of them."""

    def atom(negative: float = 0.3) -> str:
        return "not " * chance(rng, negative) + f"feature[{count(rng, 0, n - 1)}]"

    def atoms(most: int) -> list[str]:
        return [atom() for _ in range(count(rng, 2, most))]

    def total() -> str:
        terms = " + ".join(f"{count(rng, -3, 5)} * {atom(0)}" for _ in range(count(rng, 1, 4)))
        return f"{terms} {['<=', '>=', '<', '=='][count(rng, 0, 3)]} {count(rng, -2, 5)}"

    style = count(rng, 0, 6)
    if style == 0:
        return f"not ({' and '.join(atoms(3))})"
    if style == 1:
        return " or ".join(f"({part})" for part in atoms(4))
    if style == 2:
        return f"implies({atom()}, {atom()})"
    if style == 3:
        how = ["at_most", "at_most", "at_least", "exactly"][count(rng, 0, 3)]
        return f"{how}({count(rng, 0, 3)}, {', '.join(atoms(5))})"
    if style == 4:
        return f"({atom()} or {atom()}) and ({atom()} or {atom()} and {atom()})"
    if style == 5:
        return f"implies({atom()}, {total()})"
    return total()
