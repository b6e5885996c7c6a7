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
proved in :mod:`~cpx.backends.search.objective`.
"""

from __future__ import annotations

from cpx.backends.search.objective import FAR, Numbers, low
from cpx.backends.search.side_constraints import Additive
from cpx.compiled.kernel import Ints, Shorts2, kernel, subroutine

UNKNOWN = (1 << 31) - 1
"""In place of the good weight that two columns both exclude, where it was not weighed."""


@subroutine
def _insert(top: Ints, r: int, value: int) -> None:
    """Keep the r largest values seen, decreasing."""
    if value <= top[r - 1]:
        return
    at = r - 1
    while at > 0 and top[at - 1] < value:
        top[at] = top[at - 1]
        at -= 1
    top[at] = value


@subroutine
def survey(
    covered: int, after: Ints, lost: Ints, kept: Ints, n: int, r: int, top: Ints
) -> tuple[int, int, int, int, int]:
    """Return figures of the kept candidates, in one pass.

    The sums of the r - 1 and of the r largest removals, ``covered`` at most, the least and the
    largest removal, the largest loss.
    """
    least, worst = covered, 0
    if r == 2:
        first = second = 0
        for x in range(n):
            p = kept[x]
            removed = covered - after[p]
            second = max(second, min(first, removed))
            first = max(first, removed)
            least = min(least, removed)
            worst = max(worst, lost[p])
        return first, min(first + second, covered), least, first, worst
    for x in range(r):
        top[x] = 0
    for x in range(n):
        p = kept[x]
        removed = covered - after[p]
        _insert(top, r, removed)
        least = min(least, removed)
        worst = max(worst, lost[p])
    total = 0
    for x in range(r - 1):
        total = min(total + top[x], covered)
    return total, min(total + top[r - 1], covered), least, top[0], worst


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

    Returns
    -------
    int
        How many are left, at the front of ``kept`` in their old order.
    """
    while True:
        less, full, least, most, worst = survey(covered, after, lost, kept, n, r, top)
        rest = covered - min(least + less, full)
        # The worst of all figures together: no candidate has a greater bound.
        if least > 0 and low(objective, covered - most, rest, worst) < limit:
            return n
        left = 0
        for x in range(n):
            p = kept[x]
            removed = covered - after[p]
            if removed == 0 and objective.keep_idle == 0:
                continue
            rest = covered - min(removed + less, full)
            if low(objective, after[p], rest, lost[p]) < limit:
                kept[left] = p
                left += 1
        # With two features to go the pairs are cheap, and a second round has little to gain.
        if left == n or left == 0 or r == 2:
            return left
        n = left


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

    Returns
    -------
    (int, int)
        How many candidates are left in ``kept`` (sorted by l), and a lower bound on all
        completions.
    """
    order_by(lost, kept, n)
    for x in range(r):
        top[x] = 0
    alpha, beta, base = objective.alpha, objective.beta, objective.base
    less = full = 0
    for x in range(n):
        removed = covered - after[kept[x]]
        if removed > top[r - 1]:
            _insert(top, r, removed)
            less = 0
            for y in range(r - 1):
                less = min(less + top[y], covered)
            full = min(less + top[r - 1], covered)
        loss = lost[kept[x]]
        lows[x] = low(objective, covered, covered - full, loss)
        lows_with[x] = base + beta * loss - alpha * less if alpha >= 0 else -FAR
    for x in range(n - 2, -1, -1):
        lows[x] = min(lows[x], lows[x + 1])
        lows_with[x] = min(lows_with[x], lows_with[x + 1])
    left = 0
    bound = limit
    for x in range(n):
        p = kept[x]
        mine = max(lows[x], lows_with[x] + max(alpha, 0) * after[p])
        mine = max(mine, low(objective, after[p], 0, lost[p]))
        if mine < limit:
            bound = min(bound, mine)
            kept[left] = p
            left += 1
    return left, bound


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
    total = 0
    # Sums that may not fit are not looked at.
    most = covered if covered > FAR // r else 0
    for x in range(n - 1, -1, -1):
        # total: removals of the places x + 1 .. x + r - 1.
        p = kept[x]
        bounds[x] = low(objective, after[p], after[p] - max(total, most), lost[p])
        total += covered - after[p]
        if x + r - 1 < n:
            total -= covered - after[kept[x + r - 1]]


@subroutine
def pair_bounds(
    objective: Numbers,
    shared: Shorts2,
    asking: Additive,
    slack: Ints,
    ids: Ints,
    covered: int,
    before: int,
    after: Ints,
    lost: Ints,
    n: int,
    front: int,
    most: int,
    r: int,
    limit: int,
    bounds: Ints,
) -> None:
    """Raise the bounds of :func:`subtree_bounds` by (3), for completions of two or more.

    ``before`` is the good weight that is lost without any of the candidates. With p and a later q
    a completion loses at least l_p + (l_q - s_pq) - before. Where that is too much for a cost
    below the limit, with the least bad weight that completions with p leave, q is in none, and
    what it removes does not count. Others must be in one where they alone add to a constraint
    that is not kept with p: ``slack`` is what is left of each without it. Single candidates are
    not looked at: their costs are known.

    Only the first ``front`` candidates are looked at. Where these are all, they are sorted as
    there; else so are the first and the others, and no completion removes more than ``most``
    besides p.
    """
    alpha, beta, base = objective.alpha, objective.beta, objective.base
    for x in range(min(front, n - 1)):
        if bounds[x] >= limit:
            continue
        row, rest = shared[ids[x]], after[x]
        if front < n:
            rest -= min(rest, most)
        else:
            for y in range(x + 1, min(x + r, n)):
                rest -= min(rest, covered - after[y])
        spare = (limit - 1 - base - alpha * rest) // beta - lost[x] + before
        least, left, some = FAR, after[x], 0
        for y in range(x + 1, n):
            if y == front:
                some = 0
            more = max(before, lost[y] - row[ids[y]])
            if more <= spare:
                least = min(least, more)
                if some < r - 1:
                    some += 1
                    left -= min(left, covered - after[y])
                # Too low already, whatever the others.
                if alpha * max(left - rest, 0) <= beta * (spare - least):
                    least, left = before, 0
                    break
        for c in range(asking.gains.size):
            if least < FAR and slack[c] + asking.changes[ids[x], c] < 0:
                adding = FAR
                for y in range(x + 1, n):
                    if asking.changes[ids[y], c] > 0:
                        adding = min(adding, max(before, lost[y] - row[ids[y]]))
                least = max(least, adding if adding <= spare else FAR)
        if least == FAR:
            bounds[x] = limit
        else:
            loss = lost[x] + least - before
            bounds[x] = max(bounds[x], low(objective, after[x], max(rest, left), loss))


@kernel
def order_by(keys: Ints, items: Ints, n: int) -> None:
    """Sort items by their key, increasing and stable."""
    for x in range(1, n):
        item = items[x]
        key = keys[item]
        y = x
        while y > 0 and keys[items[y - 1]] > key:
            items[y] = items[y - 1]
            y -= 1
        items[y] = item
