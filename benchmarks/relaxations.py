"""Linear relaxations of the implications of ``clausal``: by sample, by pair, by feature."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.bool_]
Row = tuple[dict[int, float], float]

SIZES = (
    (100, 39, 5, 0),
    (100, 39, 5, 1),
    (60, 12, 3, 0),
    (12, 6, 2, 0),
    (12, 6, 2, 3),
    (40, 12, 1, 0),
)
"""Samples, features, k and seed."""

FORMS = ("by sample", "by pair", "both", "by feature")


def table(m: int, d: int, seed: int) -> tuple[Bits, Bits]:
    """Return a table of random bits, and which samples agree."""
    rng = np.random.default_rng(seed)
    return rng.random((m, d)) < 0.5, rng.random(m) < 0.5


def rows(agreement: Bits, same: Bits, k: int, form: str) -> list[Row]:
    """Return the rows ``sum <= side`` of a form; columns are the X_j, then one for each sample."""
    d = agreement.shape[1]
    found: list[Row] = [(dict.fromkeys(range(d), 1.0), float(k))]
    for i in np.flatnonzero(~same):
        found.append(({d + i: -1.0, **dict.fromkeys(np.flatnonzero(~agreement[i]), -1.0)}, -1.0))
    for i in np.flatnonzero(same):
        differing = np.flatnonzero(~agreement[i])
        # Of at most k features nothing is gained by adding them up.
        together = form in ("by sample", "both") and len(differing) > k
        if form in ("by pair", "both") or (form == "by sample" and not together):
            found += [({j: 1.0, d + i: -1.0}, 0.0) for j in differing]
        if together:
            found.append(({**dict.fromkeys(differing, 1.0), d + i: -float(k)}, 0.0))
    if form == "by feature":
        for j in range(d):
            lost = d + np.flatnonzero(same & ~agreement[:, j])
            if len(lost):
                found.append(({j: float(len(lost)), **dict.fromkeys(lost, -1.0)}, 0.0))
    return found


def relaxation(agreement: Bits, same: Bits, k: int, form: str) -> tuple[float, int]:
    """Return the value of the linear relaxation, and the number of rows."""
    from scipy.optimize import linprog

    m, d = agreement.shape
    posted = rows(agreement, same, k, form)
    matrix = np.zeros((len(posted), d + m))
    for r, (terms, _) in enumerate(posted):
        matrix[r, list(terms)] = list(terms.values())
    cost = np.r_[np.zeros(d), np.ones(m)]
    sides = [side for _, side in posted]
    return float(linprog(cost, matrix, sides, bounds=(0, 1)).fun), len(posted)


def main() -> None:
    """Print the table of the page on k-monomials."""
    print(f"| samples, features, k | seed | {' | '.join(FORMS)} |")
    print(f"| --- | ---: |{' ---: |' * len(FORMS)}")
    for m, d, k, seed in SIZES:
        found = [relaxation(*table(m, d, seed), k, form) for form in FORMS]
        cells = " | ".join(f"{value:.2f} ({count})" for value, count in found)
        print(f"| {m} x {d}, {k} | {seed} | {cells} |")


if __name__ == "__main__":
    main()
