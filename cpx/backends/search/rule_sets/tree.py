"""Branch and bound over sets of rules, depth-first on bitsets: the kernels.

A node is a set S. Let c be the price of a rule, the least one where they differ, and let p(r) and
n(r) be what r covers of the good and of the bad rows that S leaves. A rule with p <= c is of no
use below S: without it, a set is no worse. Sets S + r are measured at once. Sets S + T with two
rules or more in T are put into classes by the rule m of T with the greatest n, the last one in
the order by n:

    cost(S) - cost(S + T)  <=  p(m) - c - n(m)  +  sum of p - c over the t others
                           <=  (good rows that rules up to m cover) - n(m) - (t + 1) c

because T covers at least n(m) of the bad rows, and no good row twice. The others come before m,
so the sum is at most that of the t greatest. The greatest over t of the lesser of both numbers
bounds the class of m; the child of m, with the rules before m, is searched unless its bound says
that nothing in it beats the best known set. With the second line, t has a greatest value for sets
that do; with it, the first line says how great p - c must be for each of the others, and rules
that fall short are left out below m. Children are taken by their bounds, the greatest first: so
the bound of the whole search gets better with each child of the root.

A child is left out as well if a rule of S has become useless: if the good rows that it alone
covers are worth no more than its price. Without it every set below is no worse, allowed
(limits never get tighter when a rule is left out), and met elsewhere.
"""

from __future__ import annotations

from cpx.backends.search.rule_sets.node import (
    Stack,
    Workspace,
    affordable,
    keep_allowed,
    measure,
    needed,
    order,
    pay,
    weigh,
    weigh_union,
)
from cpx.backends.search.rule_sets.rows import Rows
from cpx.backends.search.side_constraints import Buffers, is_wanted
from cpx.compiled.kernel import kernel, subroutine

_FAR = 2**62


@subroutine
def bound_classes(
    rows: Rows, workspace: Workspace, stack: Stack, depth: int, first: int, last: int
) -> None:
    """Bound the classes of a node's rules by what their sets may be better than the node."""
    union, top = stack.union, stack.top
    union[:] = 0
    cheapest = rows.prices[workspace.rule[first]]
    for x in range(first, last):
        cheapest = min(cheapest, rows.prices[workspace.rule[x]])
    saved = needed(stack, depth, 2)
    most = min(top.size, stack.room[depth] - 1)
    count = 0
    for m in range(first, last):
        r = workspace.rule[m]
        for w in range(rows.good):
            union[w] |= rows.bits[r, w] & stack.uncovered[depth, w]
        own = workspace.good[m] - rows.prices[r]
        reached = rows.unit * weigh_union(rows, union) - workspace.bad[m] - rows.prices[r]
        total, bound, less = own - workspace.bad[m], -_FAR, own - workspace.bad[m]
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
        workspace.bound[m] = bound
        workspace.least[m], workspace.most[m] = saved - less, t
        # A rule that side constraints may ask for is one of the others, or is not.
        own = max(own, 0)
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


DONE, FULL, BETTER, PAUSED = 0, 1, 2, 3
"""Nothing is open; workspace or stack is full; a better set was met; it is time to look up."""


@kernel
def expand(
    rows: Rows,
    workspace: Workspace,
    stack: Stack,
    buffers: Buffers,
    depth: int,
    first: int,
    last: int,
    least: int,
) -> None:
    """List the children of a node, whose rules are taken from a part of the workspace."""
    start = stack.start[depth]
    stack.tally[1] += 1
    end = measure(rows, workspace, stack, buffers, depth, first, last, least)
    stack.position[depth] = stack.children[depth] = 0
    stack.end[depth] = end
    if end - start < 2 or stack.room[depth] < 2:
        return
    asked, end = keep_allowed(rows, workspace, stack, buffers, depth, end)
    order(workspace, start, asked)
    order(workspace, asked, end)
    bound_classes(rows, workspace, stack, depth, start, end)
    saved = needed(stack, depth, 2)
    n = 0
    for m in range(asked, end):
        if workspace.bound[m] > saved:
            y = n
            while y > 0 and workspace.bound[workspace.turn[start + y - 1]] < workspace.bound[m]:
                workspace.turn[start + y] = workspace.turn[start + y - 1]
                y -= 1
            workspace.turn[start + y] = m
            n += 1
            # Rules after the last of these are in no set that is wanted.
            stack.end[depth] = m + 1
    stack.children[depth] = n


@subroutine
def _enter(rows: Rows, workspace: Workspace, stack: Stack, depth: int, m: int) -> bool:
    """Make the child of a class; False if a rule of the set becomes useless."""
    r, p, q, most = workspace.rule[m], workspace.good[m], workspace.bad[m], workspace.most[m]
    words = rows.bits.shape[1]
    up = depth - 1
    for w in range(words):
        x = rows.bits[r, w]
        left = stack.uncovered[up, w]
        stack.once[depth, w] = (stack.once[up, w] & ~x) | (left & x)
        stack.uncovered[depth, w] = left & ~x
    for y in range(1, depth):
        other = stack.chosen[y]
        if is_wanted(rows.side, other):
            continue
        alone = weigh(rows, other, stack.once, depth, 0, rows.light_good, rows.good)
        if rows.unit * alone <= rows.prices[other]:
            return False
    stack.paid[depth] = pay(rows, stack, depth, r)
    if stack.paid[depth] > affordable(rows, stack, up, 2):
        return False
    overlap = weigh(rows, r, stack.once, up, rows.bad, words, words)
    stack.chosen[depth], stack.room[depth] = r, min(stack.room[up] - 1, most)
    stack.cost[depth] = stack.cost[up] - p + q + rows.prices[r]
    stack.literals[depth] = stack.literals[up] + rows.lengths[r]
    stack.overlap[depth] = stack.overlap[up] + overlap
    stack.start[depth] = stack.end[up]
    return True


@kernel
def branch(rows: Rows, workspace: Workspace, stack: Stack, buffers: Buffers, work: int) -> int:
    """Search the open nodes until nothing is left, a better set is met, or work was done.

    It goes on where it ended when it is called again.
    """
    tally = stack.tally
    depth = tally[0]
    while depth >= 0:
        if tally[3] and tally[2] >= min(tally[3], work):
            tally[3], tally[0] = 0, depth
            return BETTER
        if tally[2] > work:
            tally[2], tally[0] = 0, depth
            return PAUSED
        start, x = stack.start[depth], stack.position[depth]
        saved = needed(stack, depth, 2)
        if x >= stack.children[depth] or workspace.bound[workspace.turn[start + x]] <= saved:
            depth -= 1
            continue
        m = workspace.turn[start + x]
        if stack.end[depth] + m - start > workspace.rule.size or depth + 1 >= stack.cost.size:
            tally[0] = depth
            return FULL
        stack.position[depth] = x + 1
        if _enter(rows, workspace, stack, depth + 1, m):
            depth += 1
            expand(rows, workspace, stack, buffers, depth, start, m, workspace.least[m])
    tally[0] = depth
    if tally[3]:
        tally[3] = 0
        return BETTER
    return DONE
