"""Branch and bound over sets of features: depth-first, on compacted bitsets, no recursion.

Level t holds a matrix of bits restricted to the samples that t chosen features cover, with a
column for each candidate. The child at position i of level t chooses candidate i; only the
candidates after i may follow it. So every set is met once, in the order of the levels. Entering
a child means: weigh all later candidates under it (all sets with one more feature), drop
those that no better completion has, and with three or more features to go compress the rest
into the matrix of level t + 1. The last two features are chosen by :mod:`pairs`.

:func:`branches` looks for the best set; :mod:`~cpx.backends.search.enumeration` walks the same
tree for all good ones.
"""

from __future__ import annotations

from cpx.backends.search.bitsets import compress, stride_of
from cpx.backends.search.bounds import order_by, pair_bounds, select, subtree_bounds, tighten
from cpx.backends.search.objective import FAR, low
from cpx.backends.search.pairs import best_pair, try_each
from cpx.backends.search.side_constraints import ask_first, still_possible
from cpx.backends.search.stack import Levels, Params, Scratch, weigh_child
from cpx.compiled.kernel import Ints, kernel, subroutine
from cpx.compiled.vectors import LANES

DONE, STOPPED, FULL = -1, -2, -3
"""A branch is exhausted, was told to stop, or needs a larger workspace and can then go on."""


_TIES = 1000
"""Branches entered for the sake of equal sets before that can be called too many."""


@subroutine
def _narrow(
    levels: Levels, scratch: Scratch, t: int, n: int, params: Params, limit: int
) -> tuple[int, int]:
    """Drop candidates that no completion of the child below the limit has.

    Returns how many of the n are kept, and a lower bound on all completions.
    """
    objective, r, covered = (
        params.objective,
        params.k - t - 1,
        levels.covered[t, levels.position[t]],
    )
    after, lost, kept, top = scratch.covered, scratch.lost, scratch.kept, scratch.top
    n = select(objective, covered, after, lost, kept, n, r, limit, top)
    lows, lows_with = scratch.low, scratch.low_less
    return tighten(objective, covered, after, lost, kept, n, r, limit, top, lows, lows_with)


@subroutine
def next_child(levels: Levels, t: int) -> int:
    """Go to the next child that is not below the current one; return its level, or DONE."""
    while t > 0:
        levels.position[t] += 1
        # The last candidate has none after it; its value is known.
        if levels.position[t] < levels.width[t] - 1:
            return t
        t -= 1
    return DONE


@subroutine
def _descend(levels: Levels, scratch: Scratch, t: int, n: int, params: Params, limit: int) -> int:
    """Make level t + 1 of the n kept candidates and return it; FULL where there is no room.

    Where no set that begins with one of them costs less than the limit, it is the next child.
    """
    objective, kept, side = params.objective, scratch.kept, params.side
    width, planes = levels.width[t], params.planes
    covered, r = levels.covered[t, levels.position[t]], params.k - t - 1
    order_by(scratch.covered, kept, n)
    most = 0
    for x in range(min(r - 1, n)):
        most = min(covered, most + covered - scratch.covered[kept[x]])
    front = n
    if side.there != 0:
        front = ask_first(
            side, scratch.side, scratch.chosen, t + 1, levels.ids[t], kept, n, scratch.limits
        )
    after, lost, bounds = levels.covered[t + 1], levels.lost[t + 1], levels.bound[t + 1]
    if front == n:
        subtree_bounds(objective, covered, scratch.covered, scratch.lost, kept, n, r, bounds)
    ids = levels.ids[t + 1]
    for x in range(n):
        p = kept[x]
        ids[x], after[x], lost[x] = levels.ids[t, p], scratch.covered[p], scratch.lost[p]
        if front < n:
            bounds[x] = FAR
            if x < front:
                bounds[x] = low(objective, after[x], after[x] - most, lost[x])
    # Where to lose all good weight costs less, what is lost says little.
    if params.shared.size and objective.base + objective.beta * params.good >= limit:
        before, now = levels.lost[t, levels.position[t]], scratch.side.slacks.now
        pair_bounds(
            objective,
            params.shared,
            side.additive,
            now,
            ids,
            covered,
            before,
            after,
            lost,
            n,
            front,
            most,
            r,
            limit,
            bounds,
        )
        some = False
        for x in range(n - 1):
            some |= bounds[x] < limit
        if not some:
            return next_child(levels, t)
    stride, to_stride = stride_of(width, planes), stride_of(n, planes)
    start, to = levels.start[t], levels.start[t + 1]
    bad_words, words = levels.bad_words[t], levels.words[t]
    if to + (words + 1) * to_stride + LANES > levels.workspace.size:
        return FULL
    for b in range(planes):
        kept[n + b] = width + b
    bad, total = compress(
        levels.workspace,
        start,
        stride,
        bad_words,
        words,
        kept,
        n + planes,
        scratch.cover,
        to,
        to_stride,
        scratch.buffer,
        scratch.moves,
    )
    levels.bad_words[t + 1] = bad
    levels.words[t + 1] = total
    levels.width[t + 1] = n
    levels.total[t + 1] = covered
    levels.start[t + 2] = to + total * to_stride
    levels.position[t + 1] = 0
    return t + 1


@subroutine
def first_child(
    levels: Levels, scratch: Scratch, t: int, n: int, params: Params, limit: int
) -> int:
    """Go to the first child below the current one; return its level, or FULL.

    Its children are the n kept candidates, as far as sets that begin with them can cost less
    than the limit. Where there are none, it is the next child elsewhere, or DONE.
    """
    n, _ = _narrow(levels, scratch, t, n, params, limit)
    r = params.k - t - 1
    if n < 2 or not still_possible(
        params.side, scratch.side, scratch.chosen, t + 1, levels.ids[t], scratch.kept, n, r
    ):
        return next_child(levels, t)
    return _descend(levels, scratch, t, n, params, limit)


@kernel
def look_ahead(
    levels: Levels, scratch: Scratch, params: Params, limit: int, front: int, bounds: Ints
) -> None:
    """Set a lower bound on the completions of each child of the root, ``limit`` at most.

    It is that of :func:`~cpx.backends.search.bounds.tighten`, with the weights that hold
    under the child. These also tell what good weight two columns both exclude. Only for that
    the children from ``front`` on are weighed.
    """
    for i in range(levels.width[0]):
        levels.position[0] = i
        bounds[i] = limit
        if levels.bound[0, i] >= limit or (i >= front and params.shared.size == 0):
            continue
        scratch.chosen[0] = levels.ids[0, i]
        n = weigh_child(levels, scratch, 0, params)
        if params.shared.size:
            column, lost = levels.ids[0, i], levels.lost[0]
            for p in range(i + 1, levels.width[0]):
                other, both = levels.ids[0, p], lost[i] + lost[p] - scratch.lost[p]
                params.shared[column, other] = params.shared[other, column] = both
        if i < front:
            _, least = _narrow(levels, scratch, 0, n, params, limit)
            bounds[i] = min(limit, max(least, levels.bound[0, i]))


@subroutine
def _branch(
    levels: Levels, scratch: Scratch, params: Params, shared: Ints, found: Ints, first: bool
) -> int:
    """Search the subtree of the root's child at ``levels.position[0]``.

    Parameters
    ----------
    levels, scratch : Levels, Scratch
        The thread's own; ``levels.at[0]`` is 0, or what an interrupted call left there.
    params : Params
    shared : ndarray
        ``[stop, least cost of all threads, strict]``. A lost write of another thread costs
        time, not correctness: the least cost only has to be the cost of some set, or any
        larger. Unless ``strict``, branches that can only reach sets as good as the best are
        searched as well, so that the first of all best sets is found; where there are too many
        of them, ``strict`` is set.
    found : ndarray
        ``[cost, size, columns ..., branches entered for equal sets, nodes]``: the best of
        this thread, by cost, size and index.
    first : bool
        Return as soon as any set below ``found[0]`` is found; nothing else counts.
    """
    t = levels.at[0]
    while t >= 0:
        levels.at[0] = t
        if shared[0] != 0:
            return STOPPED
        i = levels.position[t]
        best = found[0] if first else min(shared[1], found[0])
        slack = 0 if first or shared[2] != 0 else 1
        bound, n = levels.bound[t, i], 0
        enter = bound < best + slack
        if enter and bound == best:
            # All below are larger than the child, by one feature at least.
            enter = found[0] > best or t + 2 <= found[1]
            found[-2] += 1
        if enter:
            found[-1] += 1
            if found[-2] > _TIES + (found[-1] >> 3):
                shared[2] = 1
            scratch.chosen[t] = levels.ids[t, i]
            limit = best + slack
            if params.k - t == 3:
                best_pair(levels, scratch, t, params, best, slack, shared, found, first)
            else:
                n = weigh_child(levels, scratch, t, params)
                best = try_each(levels, scratch, t, n, params, best, slack, shared, found, first)
                if params.k - t == 2:
                    n = 0
            if first and found[0] < limit:
                break
        if n < 2:
            t = next_child(levels, t)
        else:
            t = first_child(levels, scratch, t, n, params, best + slack)
    if t == FULL:
        return FULL
    levels.at[0] = 0
    return DONE


@kernel
def branches(
    levels: Levels,
    scratch: Scratch,
    params: Params,
    shared: Ints,
    found: Ints,
    first: bool,
    bounds: Ints,
    tasks: Ints,
    done: Ints,
    at: Ints,
) -> int:
    """Search the subtrees of some children of the root, one by one.

    Parameters
    ----------
    levels, scratch, params, shared, found, first
        As for :func:`_branch`, which is called from here alone, so that it becomes part of this.
    bounds : ndarray
        A lower bound on the completions of each child.
    tasks : ndarray
        Which children.
    done : ndarray
        By child: set to 1 where its subtree was searched.
    at : ndarray
        ``[0]``: the next of the tasks, where this call and those after it go on.
    """
    while at[0] < tasks.size:
        task = tasks[at[0]]
        if bounds[task] <= shared[1] - int(first):
            levels.position[0] = task
            status = _branch(levels, scratch, params, shared, found, first)
            if status != DONE:
                return status
        done[task] = 1
        at[0] += 1
    return DONE
