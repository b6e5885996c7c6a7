"""Kernels of a node of the search: what adding each rule would change, and the best set met."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cpx.backends.search.rule_sets.rows import Rows
from cpx.backends.search.side_constraints import (
    Buffers,
    allowed,
    ask_first,
    is_wanted,
    keep_possible,
)
from cpx.compiled.kernel import Ints, Shorts2, Words, Words2, subroutine
from cpx.compiled.vectors import popcount

_PATIENCE = 10_000
"""Rules that are measured before a better set is told: a better one yet may be near."""

_SPAN = 512
"""Good rows whose payments are added up before the limit is looked at."""

_NONE, _ONE = np.uint64(0), np.uint64(1)


class Workspace(NamedTuple):
    """Rules of the open nodes, one after the other; those of a node by n, then by number."""

    rule: Ints
    good: Ints  # p
    bad: Ints  # n
    bound: Ints  # by how much a set of the class may be better than S at most
    least: Ints  # p - c of the others in its sets is above
    most: Ints  # how many others they have at most
    turn: Ints  # children of the node, the greatest bound first: places in this workspace


class Stack(NamedTuple):
    """The open nodes, from the root on."""

    uncovered: Words2  # shape (depth, words)
    once: Words2  # rows that exactly one rule covers
    due: Shorts2  # what good rows pay at least for the rules of the node, shape (depth, G)
    paid: Ints  # the sum of what good rows pay
    cost: Ints
    literals: Ints
    overlap: Ints
    chosen: Ints  # the rule that was added; one more than there are levels
    room: Ints  # how many rules more are wanted at most
    start: Ints  # places in the workspace
    end: Ints
    children: Ints  # how many
    position: Ints  # the next one
    union: Words  # scratch, shape (words,)
    top: Ints  # scratch: the greatest p - c
    best: Ints  # cost of the best set, its size, its rules
    scratch: Ints  # shape (depth,)
    tally: Ints  # depth, nodes, work since the last look up, the work at which to tell, or 0


@subroutine
def _weigh_word(rows: Rows, x: Any, w: int) -> int:
    """Return the weight of the rows of one word."""
    total = 0
    for b in range(rows.slices[w]):
        total += popcount(x & rows.masks[w, b]) << b
    return total


@subroutine
def weigh(rows: Rows, r: int, words: Words, depth: int, first: int, light: int, last: int) -> int:
    """Return the weight of what rule r has in common with a set of rows."""
    total = 0
    for w in range(first, light):
        total += _weigh_word(rows, rows.bits[r, w] & words[depth, w], w)
    for w in range(light, last):
        total += popcount(rows.bits[r, w] & words[depth, w])
    return total


@subroutine
def weigh_union(rows: Rows, union: Words) -> int:
    total = 0
    for w in range(rows.light_good):
        total += _weigh_word(rows, union[w], w)
    for w in range(rows.light_good, rows.good):
        total += popcount(union[w])
    return total


@subroutine
def needed(stack: Stack, depth: int, more: int) -> int:
    """Return what sets with so many rules more than a node, or yet more, must save more than.

    Of two sets of one cost the smaller is better, and of two of one size the first.
    """
    saved: int = stack.cost[depth] - stack.best[0]
    return saved - 1 if depth + more <= stack.best[1] else saved


@subroutine
def _note(rows: Rows, stack: Stack, buffers: Buffers, depth: int, r: int, cost: int) -> None:
    """Make a node's set with one rule more the best one, if it is better and allowed."""
    best, scratch = stack.best, stack.scratch
    size = depth + 1
    stack.chosen[size] = r
    if not allowed(rows.side, buffers, stack.chosen[1:], size):
        return
    for x in range(size):
        other = r if x == depth else stack.chosen[x + 1]
        y = x
        while y > 0 and scratch[y - 1] > other:
            scratch[y] = scratch[y - 1]
            y -= 1
        scratch[y] = other
    if cost == best[0]:
        if size > best[1]:
            return
        if size == best[1]:
            x = 0
            while x < size and scratch[x] == best[2 + x]:
                x += 1
            if x == size or scratch[x] > best[2 + x]:
                return
    best[0], best[1] = cost, size
    for x in range(size):
        best[2 + x] = scratch[x]
    if stack.tally[3] == 0:
        stack.tally[3] = stack.tally[2] + _PATIENCE


@subroutine
def payment(rows: Rows, stack: Stack, depth: int, r: int, limit: int) -> int:
    """Return what good rows pay at least for the sets with a node's rules and rule r.

    No row pays less than for the node: what is above the limit need not be added up to the end.
    """
    least, due = rows.paid.least, stack.due[depth]
    own, demand = rows.paid.own[r], rows.paid.demand[r]
    total: int = stack.paid[depth]
    for first in range(0, due.size, _SPAN):
        last = first + _SPAN
        x, y, z, asks = least[first:last], due[first:last], own[first:last], demand[first:last]
        more = np.int32(0)
        for i in range(x.size):
            before = max(x[i], y[i])
            most = max(before, max(np.int32(y[i] + z[i]), asks[i]))
            more = np.int32(more + np.int32(most - before))
        total += int(more)
        if total > limit:
            break
    return total


@subroutine
def pay(rows: Rows, stack: Stack, depth: int, r: int) -> int:
    """Add what good rows pay for a rule to what they pay above; return what they pay at least."""
    due, above, own = stack.due[depth], stack.due[depth - 1], rows.paid.own[r]
    for i in range(due.size):
        due[i] = above[i] + own[i]
    if due.size:
        for w in range(rows.good, rows.bad):
            x = rows.bits[r, w] & stack.uncovered[depth - 1, w]
            while x != _NONE:
                bit = x & (~x + _ONE)
                share = rows.paid.shares[64 * (w - rows.good) + popcount(bit - _ONE)]
                for i in range(due.size):
                    due[i] += share[i]
                x ^= bit
    least, total = rows.paid.least, np.int32(0)
    for i in range(due.size):
        total = np.int32(total + max(least[i], due[i]))
    return int(total)


@subroutine
def affordable(rows: Rows, stack: Stack, depth: int, more: int) -> int:
    """Return what good rows may pay at most for sets with so many rules more that are wanted."""
    cost = stack.cost[depth] - needed(stack, depth, more) - 1
    limit: int = (rows.paid.parts * (cost - rows.paid.fixed)) >> rows.paid.shift
    return limit


@subroutine
def measure(
    rows: Rows,
    workspace: Workspace,
    stack: Stack,
    buffers: Buffers,
    depth: int,
    first: int,
    last: int,
    least: int,
) -> int:
    """Measure the rules of a part of the workspace at a node; put the useful ones behind all.

    Rules whose p - c is not above ``least`` are in no set that is wanted. Of use is as well what
    a side constraint may ask for.
    """
    n = int(stack.start[depth])
    cost, best, alone = stack.cost[depth], stack.best, stack.room[depth] == 1
    saved = needed(stack, depth, 1)
    limit = affordable(rows, stack, depth, 1)
    bits, left, unit = rows.bits, stack.uncovered, rows.unit
    words = bits.shape[1]
    for x in range(first, last):
        r = workspace.rule[x]
        price = rows.prices[r]
        if workspace.good[x] - price <= least:
            continue
        if stack.literals[depth] + rows.lengths[r] > rows.most_literals:
            continue
        # What weigh does, where a call would take longer than that.
        p = q = 0
        for w in range(rows.light_good):
            p += _weigh_word(rows, bits[r, w] & left[depth, w], w)
        for w in range(rows.light_good, rows.good):
            p += popcount(bits[r, w] & left[depth, w])
        p *= unit
        if (p <= price and not is_wanted(rows.side, r)) or (alone and p - price <= saved):
            continue
        if rows.bad < words:
            overlap = weigh(rows, r, stack.once, depth, rows.bad, words, words)
            if stack.overlap[depth] + overlap > rows.most_overlap:
                continue
        for w in range(rows.good, rows.light_bad):
            q += _weigh_word(rows, bits[r, w] & left[depth, w], w)
        for w in range(rows.light_bad, rows.bad):
            q += popcount(bits[r, w] & left[depth, w])
        q *= unit
        if cost - p + q + price <= best[0]:
            _note(rows, stack, buffers, depth, r, cost - p + q + price)
        if payment(rows, stack, depth, r, limit) > limit:
            continue
        workspace.rule[n], workspace.good[n], workspace.bad[n] = r, p, q
        n += 1
    stack.tally[2] += last - first
    return n


@subroutine
def keep_allowed(
    rows: Rows, workspace: Workspace, stack: Stack, buffers: Buffers, depth: int, end: int
) -> tuple[int, int]:
    """Keep the rules of a node that an allowed set may have.

    Returns the places where those begin of which each such set has one, behind the others, and
    where they end.
    """
    start = stack.start[depth]
    if rows.side.there == 0:
        return start, end
    chosen, room = stack.chosen[1:], min(end - start, stack.room[depth])
    turn = workspace.turn[start:end]
    for x in range(end - start):
        turn[x] = start + x
    n = keep_possible(
        rows.side,
        buffers,
        chosen,
        depth,
        workspace.rule,
        workspace.bad,
        0,
        turn,
        end - start,
        room,
    )
    asked = ask_first(
        rows.side, buffers, chosen, depth, workspace.rule, turn, n, workspace.bound[start:end]
    )
    # The numbers of the rules, by way of what is not in use yet.
    for x in range(n):
        y, place = start + (x + n - asked) % n, turn[x]
        workspace.bound[y] = workspace.rule[place]
        workspace.least[y], workspace.most[y] = workspace.good[place], workspace.bad[place]
    for x in range(start, start + n):
        workspace.rule[x] = workspace.bound[x]
        workspace.good[x], workspace.bad[x] = workspace.least[x], workspace.most[x]
    return start + n - asked, start + n


@subroutine
def order(workspace: Workspace, first: int, last: int) -> None:
    """Sort a part of the workspace by n, then by the number of the rule (Shell's sort)."""
    gap = 1
    while gap < last - first:
        gap = 3 * gap + 1
    while gap > 1:
        gap //= 3
        for x in range(first + gap, last):
            r, p, q = workspace.rule[x], workspace.good[x], workspace.bad[x]
            y = x - gap
            while y >= first and (
                workspace.bad[y] > q or (workspace.bad[y] == q and workspace.rule[y] > r)
            ):
                workspace.rule[y + gap] = workspace.rule[y]
                workspace.good[y + gap], workspace.bad[y + gap] = (
                    workspace.good[y],
                    workspace.bad[y],
                )
                y -= gap
            workspace.rule[y + gap], workspace.good[y + gap], workspace.bad[y + gap] = r, p, q
