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

from typing import NamedTuple

from cpx.backends.search.side_constraints import Buffers
from cpx.compiled.kernel import Ints, Shorts2, Words, Words2, kernel
from cpx.models.rule_set.search.rows import Rows

EMPTY, NO_ROOM, BETTER, PAUSED = 0, 1, 2, 3
"""Nothing is open; workspace or stack is full; a better set was met; it is time to look up."""


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


@kernel
def branch(rows: Rows, workspace: Workspace, stack: Stack, buffers: Buffers, work: int) -> int:
    """Search the open nodes until nothing is left, a better set is met, or work was done.

    It goes on where it ended when it is called again.
    """
