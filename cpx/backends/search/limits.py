"""The most bad samples a pair of candidates may cover and still improve on the incumbent.

For a better pair with candidate p, of whatever other candidate: it loses at least l_p by bound
(1) of :mod:`~cpx.backends.search.bounds`, so that it covers at most
:func:`~cpx.backends.search.objective.most_bad` of l_p; nor does it cover more than the node
does. This is the limit of p, and a better pair of p and q keeps both limits. The same is true of
p alone.

There is one limit for each column of the table of :mod:`~cpx.backends.search.bad_columns`, -1
where the candidate is in no better pair.
"""

from __future__ import annotations

from cpx.backends.search.objective import Numbers, most_bad
from cpx.backends.search.stack import Levels, Params, Scratch, weigh_good
from cpx.compiled.kernel import Ints, subroutine
from cpx.compiled.vectors import LANES

__all__ = ["drop_useless", "limit_all", "limit_kept", "removals_say_much", "sum_up"]


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
    for y in range(n):
        mosts[y] = limits[y]
    return n


@subroutine
def limit_kept(
    levels: Levels, scratch: Scratch, t: int, n: int, objective: Numbers, limit: int
) -> None:
    """Write what pairs with the kept candidates may cover; -1 where bound (2) is done with them.

    ``limits`` are for a candidate beside earlier ones, ``mosts`` beside later ones.
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
