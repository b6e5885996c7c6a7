"""The last two features of a set: all pairs of candidates, tested on a few samples first.

Where few samples agree no bound helps: almost every set of features has to be looked at, and
a pair must cost next to nothing. The bad samples that a node covers are put side by side, for
each candidate, in a few words (:mod:`~cpx.backends.search.bad_columns`); a pair that leaves too
many of them covered is done with, often after one AND and one popcount. Eight pairs are tried at
once, and hardly any passes.

For a better pair with candidate p, of whatever other candidate: it loses at least l_p by bound
(1) of :mod:`~cpx.backends.search.bounds`, so that it covers at most
:func:`~cpx.backends.search.objective.most_bad` of l_p; nor does it cover more than the node
does. This is the limit of p, and a better pair of p and q keeps both limits. The same is true of
p alone. There is one limit for each column of the table, -1 where the candidate is in no better
pair.
"""

from __future__ import annotations

from cpx.backends.search.bad_columns import enough_words, first_words, lightest_of
from cpx.backends.search.bitsets import count, stride_of
from cpx.backends.search.bounds import select
from cpx.backends.search.objective import FAR, Numbers, cost, most_bad
from cpx.backends.search.side_constraints import allowed, can_follow, look
from cpx.backends.search.stack import Levels, Params, Scratch, weigh_child, weigh_good
from cpx.compiled.kernel import Ints, subroutine
from cpx.compiled.vectors import LANES, popcount, scan


@subroutine
def improve(shared: Ints, found: Ints, value: int, scratch: Scratch, size: int) -> None:
    """Record the chosen columns if they are better, or as good and first by size and index."""
    if value > found[0] or (value == found[0] and size > found[1]):
        return
    for x in range(size):
        column, y = scratch.chosen[x], x
        while y > 0 and scratch.sorted[y - 1] > column:
            scratch.sorted[y] = scratch.sorted[y - 1]
            y -= 1
        scratch.sorted[y] = column
    if value == found[0] and size == found[1]:
        found[-2] += 1
        x = 0
        while x < size and scratch.sorted[x] == found[2 + x]:
            x += 1
        if x == size or scratch.sorted[x] > found[2 + x]:
            return
    found[0], found[1] = value, size
    for x in range(size):
        found[2 + x] = scratch.sorted[x]
    shared[1] = min(shared[1], value)


@subroutine
def try_each(
    levels: Levels,
    scratch: Scratch,
    t: int,
    n: int,
    params: Params,
    best: int,
    slack: int,
    shared: Ints,
    found: Ints,
    first: bool,
) -> int:
    """Try the n kept candidates under the current child, one by one; return the least cost."""
    for x in range(n):
        p = scratch.kept[x]
        value = cost(params.objective, scratch.covered[p], scratch.lost[p])
        if value < best + slack:
            scratch.chosen[t + 1] = levels.ids[t, p]
            if not allowed(params.side, scratch.side, scratch.chosen, t + 2):
                continue
            improve(shared, found, value, scratch, t + 2)
            best = min(best, value)
            if first:
                return best
    return best


@subroutine
def removals_say_much(levels: Levels, t: int, objective: Numbers) -> bool:
    """Guess whether bound (2) is done with many pairs under the current child.

    It is not where an ordinary candidate, and the one that removes the most, could together
    exclude nearly all. Then what bad samples single candidates leave is not worth finding out.
    """
    if objective.alpha <= 0 or objective.least > 0:
        return True
    following = levels.position[t] + 1
    middle = (following + levels.width[t]) >> 1
    least = levels.covered[t, following] + levels.covered[t, middle] - levels.total[t]
    return bool(8 * least > levels.total[t])


@subroutine
def limit_all(levels: Levels, scratch: Scratch, t: int, params: Params, limit: int) -> int:
    """Write what each later candidate may cover, by its good samples; return how many there are.

    The first is at a multiple of eight. Those not after the child are of no use: -1.
    """
    i, width = levels.position[t], levels.width[t]
    child, groups, objective = levels.covered[t, i], params.groups, params.objective
    weigh_good(levels, scratch, t, params)
    base = (i + 1) & -LANES
    n: int = width - base
    kept, limits, mosts = scratch.kept[:n], scratch.limits[:n], scratch.mosts[:n]
    lost = scratch.lost[base:width]
    for y in range(n):
        kept[y] = base + y
    if objective.alpha == 1 and objective.gamma == 0:
        # The common case, in a form that is vectorised.
        most, beta = limit - 1 - objective.base, objective.beta
        for y in range(n):
            limits[y] = max(-1, min(child, most - beta * lost[y]))
    else:
        for y in range(n):
            limits[y] = max(-1, min(child, most_bad(objective, limit, lost[y])))
    for y in range(i + 1 - base):
        limits[y] = -1
    if groups.size:
        group = groups[levels.ids[t, i]]
        for y in range(n):
            if groups[levels.ids[t, base + y]] == group:
                limits[y] = -1
    side, buffers = params.side, scratch.side
    if side.there != 0:
        # Those that bad and good samples leave, by position.
        ids, left, r = levels.ids[t], 0, params.k - t - 1
        for y in range(i + 1 - base, n):
            if limits[y] >= 0:
                mosts[left] = base + y
                left += 1
        some = 0
        if left > 0:
            some = look(side, buffers, scratch.chosen, t + 1, ids, mosts, left, r)
        for x in range(left if some != 0 else 0):
            if some < 0 or not can_follow(side, buffers, ids[mosts[x]], r):
                limits[mosts[x] - base] = -1
    for y in range(n):
        mosts[y] = limits[y]
    return n


@subroutine
def limit_kept(
    levels: Levels, scratch: Scratch, t: int, n: int, objective: Numbers, limit: int
) -> None:
    """Write what pairs with the kept candidates may cover; -1 where bound (2) is done with them.

    ``limits`` are for pairs with earlier candidates, ``mosts`` for those with later ones.
    """
    kept, limits, mosts = scratch.kept, scratch.limits, scratch.mosts
    child, largest = levels.covered[t, levels.position[t]], 0
    for y in range(n - 1, -1, -1):
        p = kept[y]
        limits[y] = max(-1, min(child, most_bad(objective, limit, scratch.lost[p])))
        mosts[y] = limits[y] if scratch.covered[p] - largest <= limits[y] else -1
        largest = max(largest, child - scratch.covered[p])


@subroutine
def sum_up(limits: Ints) -> tuple[int, float]:
    """Return how many limits are not negative, and about what they add up to."""
    count, total = 0, 0.0
    for y in range(limits.size):
        count += limits[y] >= 0
        total += float(max(limits[y], 0))
    return count, total


@subroutine
def drop_useless(scratch: Scratch, n: int) -> int:
    """Leave out the columns of no use; return how many are left."""
    kept, limits, mosts, left = scratch.kept, scratch.limits, scratch.mosts, 0
    for y in range(n):
        if limits[y] >= 0:
            kept[left], limits[left], mosts[left] = kept[y], limits[y], mosts[y]
            left += 1
    return left


@subroutine
def _keep_good(levels: Levels, scratch: Scratch, t: int, planes: int, a: int) -> None:
    """Write to ``both`` the good samples that the current child covers with candidate a."""
    stride, bad_words = stride_of(levels.width[t], planes), levels.bad_words[t]
    for w in range(bad_words, levels.words[t]):
        word = levels.workspace[levels.start[t] + w * stride + a]
        scratch.both[w - bad_words] = scratch.cover[w] & word


@subroutine
def _weigh_eight(levels: Levels, scratch: Scratch, t: int, planes: int, low: int) -> None:
    """Weigh the good samples of ``both`` & eight candidates from position ``low`` on."""
    n, bad_words = levels.width[t], levels.bad_words[t]
    stride = stride_of(n, planes)
    count(
        levels.workspace,
        levels.start[t] + bad_words * stride,
        stride,
        0,
        levels.words[t] - bad_words,
        low,
        low + LANES,
        n,
        planes,
        scratch.both,
        scratch.low_less,
        scratch.low,
    )


@subroutine
def _price(
    levels: Levels, t: int, planes: int, objective: Numbers, limit: int, a: int, p: int, lost: int
) -> int:
    """Return the cost of the current child with candidates a and p; ``limit`` if it is no less.

    ``lost`` is the good weight that they exclude.
    """
    workspace, start, n, i = levels.workspace, levels.start[t], levels.width[t], levels.position[t]
    stride, most, bad = stride_of(n, planes), most_bad(objective, limit, lost), 0
    if most < 0:
        return limit
    for w in range(levels.bad_words[t]):
        row = start + w * stride
        word = workspace[row + i] & workspace[row + a] & workspace[row + p]
        if planes == 0:
            bad += popcount(word)
        elif word != 0:
            for b in range(planes):
                bad += popcount(word & workspace[row + n + b]) << b
        if bad > most:
            return limit
    return min(limit, cost(objective, bad, lost))


@subroutine
def best_pair(
    levels: Levels,
    scratch: Scratch,
    t: int,
    params: Params,
    best: int,
    slack: int,
    shared: Ints,
    found: Ints,
    first: bool,
) -> None:
    """Find the best one or two candidates to add to the current child of level t.

    Pairs are tried by the first bad samples of the child. With c the bad weight that a pair
    (a, b) covers, and h the number of the first samples that it covers, none lighter than u,
    c >= u h. A better pair has c at most the limits of a and b, see above; so one with u h above
    either is done with. The same goes for one candidate.

    Where the removals of single candidates say much, all are weighed first. Then c >= c_a - d_b
    by bound (2), and a is done with, in pairs with later candidates, when c_a - the largest d_b of
    these is above the limit of a.

    ``best`` is the cost to beat, ``slack`` 1 when sets of equal cost are wanted as well.
    """
    i, limit = levels.position[t], best + slack
    planes, groups, objective = params.planes, params.groups, params.objective
    child, kept, limits, mosts = levels.covered[t, i], scratch.kept, scratch.limits, scratch.mosts
    exact = removals_say_much(levels, t, objective)
    base = -1
    if exact:
        n = weigh_child(levels, scratch, t, params)
        best = try_each(levels, scratch, t, n, params, best, slack, shared, found, first)
        if (first and best < limit) or (child == 0 and objective.keep_idle == 0):
            return
        limit = best + slack
        n = select(objective, child, scratch.covered, scratch.lost, kept, n, 2, limit, scratch.top)
        limit_kept(levels, scratch, t, n, objective, limit)
    else:
        n = limit_all(levels, scratch, t, params, limit)
        base = (i + 1) & -LANES
    useful, spare = sum_up(limits[:n])
    if useful == 0 or (exact and useful == 1):
        return
    if 4 * useful < 3 * n:
        n, base = drop_useless(scratch, n), -1
    columns = (n + LANES - 1) & -LANES
    for y in range(n, columns):
        limits[y] = -1
    rows = enough_words(levels, scratch, t, planes, spare / useful)
    height = rows + 1
    filled, rows = first_words(levels, scratch, t, n, base, planes, rows)
    lightest = 1
    if planes != 0 and filled != 0:
        lightest = lightest_of(levels, scratch, t, planes, filled)
        for y in range(n):
            limits[y] = limits[y] // lightest
            mosts[y] = mosts[y] // lightest
    mosts[columns] = FAR

    # The column behind all others has all samples: pairs with it are single candidates.
    for size in range(t + 2 if not exact else t + 3, t + 4):
        alone = size == t + 2
        x, last, y = (columns, columns + 1, 0) if alone else (0, n - 1, 0)
        loaded = weighed = -1
        while x < last:
            table = scratch.first.ctypes.data
            block = scan(table, height, rows, x, last, y, mosts.ctypes.data, limits.ctypes.data, n)
            if block == 0:
                break
            x, y = block >> 32, (block >> 8) & ((1 << 24) - 1)
            a = i if alone else kept[x]
            group = groups[levels.ids[t, a]] if groups.size and not alone else -1
            for z in range(y if alone else max(y, x + 1), min(y + LANES, n)):
                b = kept[z]
                if (block >> (z - y)) & 1 == 0:
                    continue
                if group >= 0 and groups[levels.ids[t, b]] == group:
                    continue
                if loaded != x:
                    loaded, weighed = x, -1
                    _keep_good(levels, scratch, t, planes, a)
                if weighed != b & -LANES:
                    weighed = b & -LANES
                    _weigh_eight(levels, scratch, t, planes, weighed)
                lost = params.good - scratch.low[b]
                value = _price(levels, t, planes, objective, limit, a, b, lost)
                if value >= limit:
                    continue
                scratch.chosen[t + 1] = levels.ids[t, a]
                scratch.chosen[size - 1] = levels.ids[t, b]
                if not allowed(params.side, scratch.side, scratch.chosen, size):
                    continue
                improve(shared, found, value, scratch, size)
                if first:
                    return
                best = min(best, value)
                limit = best + slack
                for v in range(n):
                    here = most_bad(objective, limit, scratch.lost[kept[v]]) // lightest
                    limits[v] = min(limits[v], here)
                    mosts[v] = min(mosts[v], here)
            y += LANES
