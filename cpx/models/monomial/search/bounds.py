"""Lower bounds on the cost of all sets below a node, from sums of weights, with proofs.

At a node some features are chosen; ``covered`` bad weight is left and ``lost`` good weight is
excluded. For a candidate p, ``c_p`` and ``l_p`` are the same after adding p, and the removal is
d_p = covered - c_p. A completion is a non-empty set T of at most r candidates; c(T) bad weight is
covered and l(T) good weight lost with it.

(1) What is lost stays lost: l(T) is at least the largest l_p over p in T, because excluded
    sets only grow. For the same reason c(T) is at most the smallest c_p.
(2) Removals overlap: c(T) is at least covered - sum of d_p over T, because a union weighs at
    most the sum of its parts.
(3) Losses overlap little: with p and q in T, l(T) is at least l_p + l_q - lost - s_pq, where s_pq
    is the good weight that both exclude at the root: here it is no more.

Sums of removals are cut off at ``covered``: no completion removes more, and sums of many, or what
they cost, may not fit 64 bits.

What these limits of c(T) and l(T) say about the cost of T, ``low(c_high, c_low, l_low)``, is
proved in objective.h. Bound (3) is in bounds.h.
"""

from __future__ import annotations

from cpx.compiled.kernel import Ints, kernel
from cpx.models.monomial.search.objective import Numbers

UNKNOWN = (1 << 31) - 1
"""In place of the good weight that two columns both exclude, where it was not weighed."""


@kernel
def select(
    objective: Numbers,
    covered: int,
    after: Ints,
    lost: Ints,
    kept: Ints,
    n: int,
    r: int,
    limit: int,
    top: Ints,
) -> int:
    """Keep the candidates that can be part of a completion of cost below ``limit``.

    For T with p in T, the sum of d over T is at most d_p + the r - 1 largest removals, and at
    most the r largest: with D_s the sum of the s largest, by (1) and (2) T costs at least

        low(c_p, covered - min(d_p + D_(r-1), D_r), l_p).

    A candidate whose bound reaches the limit is in no better completion, so the sums are taken
    anew without it. A candidate with d_p = 0 removes nothing under any completion: T without
    it covers the same bad weight, no less good weight, and is smaller, so unless coverage has
    an upper limit, or other sets than the best count, it is not needed (the node's own cost
    counts already).

    Returns: How many are left, at the front of ``kept`` in their old order.
    """


@kernel
def tighten(
    objective: Numbers,
    covered: int,
    after: Ints,
    lost: Ints,
    kept: Ints,
    n: int,
    r: int,
    limit: int,
    top: Ints,
    lows: Ints,
    lows_with: Ints,
) -> tuple[int, int]:
    """Drop more candidates by bound (1) and (2) at all thresholds of the good weight lost.

    Sort the candidates by l. If l_x is the largest loss in T, then T is within the prefix up
    to x, and with D_s(x) the sum of the s largest removals of that prefix T costs at least

        low(covered, covered - D_r(x), l_x),
        base + alpha (c_p - D_(r-1)(x)) + beta l_x      if p in T and alpha >= 0.

    A completion with p has its largest loss at some x at or after p. So the minimum of either
    expression over these x bounds all completions that contain p, and so does
    low(c_p, 0, l_p).

    Returns: How many candidates are left in ``kept`` (sorted by l), and a lower bound on all
        completions.
    """


@kernel
def subtree_bounds(
    objective: Numbers,
    covered: int,
    after: Ints,
    lost: Ints,
    kept: Ints,
    n: int,
    r: int,
    bounds: Ints,
) -> None:
    """Bound the completions that begin with each candidate and go on with later ones.

    The candidates must be sorted by removal, the largest first. A completion of p and at most
    r - 1 later candidates costs by (1) and (2) at least low(c_p, c_p - R, l_p), where R sums
    the r - 1 removals next after p: these are the largest among the later ones.
    """


@kernel
def order_by(keys: Ints, items: Ints, n: int) -> None:
    """Sort items by their key, increasing and stable."""
