"""Instances for queries: candidates that satisfy a rule, and the most remote of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cpx.models.decision_set.attributes import Numbers
from cpx.models.decision_set.input_space import Domain
from cpx.models.decision_set.state import Evidence

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

_BOXES = 20
"""Parts of rules that disputed instances are made in, at most."""


def counterfactuals(
    evidence: Evidence, mask: BoolArray, n: int, rng: np.random.Generator
) -> FloatArray:
    """Change random instances that violate a rule, so that they satisfy it.

    Every attribute that the rule has a condition on gets a value drawn uniformly from the
    condition; the others stay.

    mask: The rule.
    Returns: The pool. When all instances satisfy the rule, it is made of these.
    """
    outside = np.flatnonzero(~evidence.covered(mask))
    if not len(outside):
        outside = np.arange(evidence.size)
    values = evidence.values[rng.choice(outside, n)]
    domain = evidence.domain
    for a in domain.constrained(mask).tolist():
        values[:, a] = domain.attributes[a].draw(mask[domain.span(a)], n, rng)
    return np.asarray(values)


def neighbours(evidence: Evidence, n: int, n_changed: int, rng: np.random.Generator) -> FloatArray:
    """Make instances near the data: real ones with some attributes of other real ones.

    n_changed: Attributes that are changed, at most; each has the value of an instance of its own.
    """
    real = evidence.values[: evidence.n_real]
    values = real[rng.integers(len(real), size=n)]
    for _ in range(n_changed):
        changed = rng.integers(real.shape[1], size=n)
        values[np.arange(n), changed] = real[rng.integers(len(real), size=n), changed]
    return np.asarray(values)


def farthest(evidence: Evidence, near: BoolArray, pool: FloatArray, n: int) -> FloatArray:
    """Choose instances of a pool that are far from some of the known ones.

    The first is the one with the greatest distance to its nearest neighbour; then those chosen
    count as neighbours as well.

    near: Which known instances count: those that satisfy the rule in question.
    n: At most p.
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


def disputed(
    evidence: Evidence,
    ours: Sequence[BoolArray],
    theirs: Sequence[BoolArray],
    n: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, BoolArray]:
    """Make instances that two decision sets label differently.

    They satisfy a rule of one set only, and most violate some rule of the other in a condition
    that makes the difference.

    n: About so many are made.
    Returns pool: Those that the sets label differently; there may be none.
    Returns known: Which known instances they label differently.
    """
    mine, other = ({mask.tobytes(): mask for mask in masks} for masks in (ours, theirs))
    boxes = []
    for own, rest in ((mine, other), (other, mine)):
        against = [mask for name, mask in rest.items() if name not in own]
        for name, mask in own.items():
            if name not in rest:
                boxes += [mask, *_differences(evidence.domain, mask, against)]
    if len(boxes) > _BOXES:
        boxes = [boxes[i] for i in rng.choice(len(boxes), _BOXES, replace=False)]
    made = [counterfactuals(evidence, box, -(-n // len(boxes)), rng) for box in boxes]
    pool = np.vstack([evidence.values[:0], *made])
    cells = evidence.domain.cells(pool).T
    pool = pool[_covered(ours, cells) != _covered(theirs, cells)]
    return pool, np.asarray(_covered(ours, evidence.cells) != _covered(theirs, evidence.cells))


def _differences(domain: Domain, mask: BoolArray, against: Sequence[BoolArray]) -> list[BoolArray]:
    """Return the parts of a rule that violate another rule in one of its conditions."""
    found = []
    for other in against:
        for a in domain.constrained(other).tolist():
            span = domain.span(a)
            part = mask[span] & ~other[span]
            # What no condition names cannot be drawn.
            part[-1] = False
            if part.any() and not isinstance(domain.attributes[a], Numbers):
                found.append(_with(mask, span, part))
            elif part.any():
                # An interval less an interval can be two.
                for piece in _runs(part):
                    found.append(_with(mask, span, piece))
    return found


def _with(mask: BoolArray, span: slice, part: BoolArray) -> BoolArray:
    changed = mask.copy()
    changed[span] = part
    return changed


def _runs(part: BoolArray) -> list[BoolArray]:
    """Return the intervals that a set of cells is made of.

    >>> [run.astype(int).tolist() for run in _runs(np.array([1, 0, 1, 1, 0], dtype=bool))]
    [[1, 0, 0, 0, 0], [0, 0, 1, 1, 0]]
    """
    number = np.cumsum(np.diff(part.astype(np.int8), prepend=0) == 1)
    return [part & (number == i) for i in range(1, int(number[-1]) + 1)]


def _covered(masks: Sequence[BoolArray], cells: npt.NDArray[np.intp]) -> BoolArray:
    covered = np.zeros(cells.shape[1], dtype=bool)
    for mask in masks:
        covered |= mask[cells].all(axis=0)
    return covered


def _squared(
    points: npt.NDArray[np.float32], others: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """Return squared distances, shape (points, others)."""
    lengths = (points**2).sum(axis=1)[:, None] + (others**2).sum(axis=1)[None, :]
    return np.asarray(lengths - 2 * points @ others.T)
