"""The classes of the sets below a node, and their bounds."""

from __future__ import annotations

from cpx.backends.search.rule_sets.node import Arena, Stack, needed, weigh_union
from cpx.backends.search.rule_sets.rows import Rows
from cpx.compiled.kernel import subroutine

__all__ = ["bound_classes"]


@subroutine
def bound_classes(
    rows: Rows, arena: Arena, stack: Stack, depth: int, first: int, last: int
) -> None:
    """Bound the classes of a node's rules by what their sets may be better than the node."""
    union, top = stack.union, stack.top
    union[:] = 0
    cheapest = rows.prices[arena.rule[first]]
    for x in range(first, last):
        cheapest = min(cheapest, rows.prices[arena.rule[x]])
    saved = needed(stack, depth, 2)
    most = min(top.size, stack.room[depth] - 1)
    count = 0
    for m in range(first, last):
        r = arena.rule[m]
        for w in range(rows.good):
            union[w] |= rows.bits[r, w] & stack.uncovered[depth, w]
        own = arena.good[m] - rows.prices[r]
        reached = rows.unit * weigh_union(rows, union) - arena.bad[m] - rows.prices[r]
        total, bound, less = own - arena.bad[m], -1, own - arena.bad[m]
        t = 0
        while t < count and reached - cheapest > saved:
            reached -= cheapest
            less = total
            total += top[t]
            bound = max(bound, min(total, reached))
            t += 1
        # Rules beyond those in the list: any number of them.
        if t == top.size and reached - cheapest > saved:
            bound, less, t = max(bound, reached - cheapest), saved, last - first
        arena.bound[m] = bound
        arena.least[m], arena.most[m] = saved - less, t
        y = count
        if count < most:
            count += 1
        elif count == 0 or top[count - 1] >= own:
            continue
        else:
            y = count - 1
        while y > 0 and top[y - 1] < own:
            top[y] = top[y - 1]
            y -= 1
        top[y] = own
    stack.tally[2] += last - first
