"""Rules of great worth by beam search, many beams in one product of matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cpx.methods.column_generation.table import Features, Table

__all__ = ["beams"]

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]


def beams(
    table: Table, worths: Floats, seeds: NDArray[np.intp], k: int, width: int
) -> list[Features]:
    """Return rules that cover samples of great worth, the worthiest first.

    Each seed is a sample and has a beam of its own, of the ``width`` best sets of each size, of
    literals that are true of the seed: so the rules differ as the samples do, where one beam
    over all literals is full of near copies of one rule. Sets that cover the same worth are
    taken for one.

    Parameters
    ----------
    table : Table
    worths : ndarray of float64, shape (m,)
        Of either sign.
    seeds : ndarray of int
        Samples.
    k : int
        Greatest number of literals, at least 1.
    width : int
    """
    rows = np.flatnonzero(worths)
    matrix = table.single[rows]
    signed: Singles = worths[rows].astype(np.float32)
    allowed = table.literals[seeds]
    d = matrix.shape[1]
    owners = np.arange(len(seeds))
    covers: Singles = np.ones((len(seeds), len(rows)), dtype=np.float32)
    sets: list[Features] = [()] * len(seeds)
    found: dict[Features, float] = {}
    for _ in range(min(k, d)):
        scores: Singles = np.asarray((covers * signed) @ matrix, dtype=np.float32)
        scores[~allowed[owners]] = -np.inf
        for row, chosen in enumerate(sets):
            scores[row, list(chosen)] = -np.inf
        picked: list[tuple[int, int]] = []
        for owner in range(len(seeds)):
            own = np.flatnonzero(owners == owner)
            picked += _best(scores, own, d, width)
        if not picked:
            break
        parents = np.array([row for row, _ in picked])
        added = np.array([j for _, j in picked])
        sets = [tuple(sorted((*sets[row], j))) for row, j in picked]
        found.update(zip(sets, scores[parents, added].tolist()))
        owners, covers = owners[parents], covers[parents] * matrix[:, added].T
    return sorted(found, key=lambda features: (-found[features], features))


def _best(scores: Singles, own: NDArray[np.intp], d: int, width: int) -> list[tuple[int, int]]:
    """Return the best extensions of one beam as (set, literal), of different scores."""
    flat = scores[own].ravel()
    many = min(3 * width, flat.size)
    top = np.argpartition(-flat, many - 1)[:many]
    picked: list[tuple[int, int]] = []
    met: set[float] = set()
    for place in top[np.lexsort((top, -flat[top]))]:
        score = float(flat[place])
        if score == -np.inf or len(picked) == width:
            break
        if score not in met:
            met.add(score)
            picked.append((int(own[place // d]), int(place % d)))
    return picked
