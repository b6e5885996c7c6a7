"""Instances to ask the black box about: a pool that satisfies a rule, and the most remote one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cpx.methods.active.state import Evidence

__all__ = ["counterfactuals", "farthest"]

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]


def counterfactuals(
    evidence: Evidence, mask: BoolArray, n: int, rng: np.random.Generator
) -> FloatArray:
    """Change random instances that violate a rule, so that they satisfy it.

    Every attribute that the rule has a condition on gets a value drawn uniformly from the
    condition; the others stay.

    Parameters
    ----------
    evidence : Evidence
    mask : (cells,) array of bool
        The rule.
    n : int
    rng : numpy.random.Generator

    Returns
    -------
    (n, m) array
        The pool. When all instances satisfy the rule, it is made of these.
    """
    outside = np.flatnonzero(~evidence.covered(mask))
    if not len(outside):
        outside = np.arange(evidence.size)
    values = evidence.values[rng.choice(outside, n)]
    domain = evidence.domain
    for a in domain.constrained(mask).tolist():
        values[:, a] = domain.attributes[a].draw(mask[domain.span(a)], n, rng)
    return np.asarray(values)


def farthest(evidence: Evidence, near: BoolArray, pool: FloatArray, n: int) -> FloatArray:
    """Choose instances of a pool that are far from some of the known ones.

    The first is the one with the greatest distance to its nearest neighbour; then those chosen
    count as neighbours as well.

    Parameters
    ----------
    evidence : Evidence
    near : (size,) array of bool
        Which known instances count: those that satisfy the rule in question.
    pool : (p, m) array
    n : int
        At most p.

    Returns
    -------
    (n, m) array
    """
    points = evidence.domain.coordinates(pool)
    known = evidence.points[near]
    nearest = np.full(len(pool), np.inf, dtype=np.float32)
    if len(known):
        nearest = _squared(points, known).min(axis=1)
    chosen = []
    for _ in range(n):
        i = int(np.argmax(nearest))
        chosen.append(i)
        nearest = np.minimum(nearest, _squared(points, points[i : i + 1])[:, 0])
        nearest[i] = -np.inf
    return pool[chosen]


def _squared(
    points: npt.NDArray[np.float32], others: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """Return squared distances, shape (points, others)."""
    lengths = (points**2).sum(axis=1)[:, None] + (others**2).sum(axis=1)[None, :]
    return np.asarray(lengths - 2 * points @ others.T)
