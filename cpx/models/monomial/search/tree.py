"""Branch and bound over sets of features: depth-first, on compacted bitsets, no recursion.

Level t holds a matrix of bits restricted to the samples that t chosen features cover, with a
column for each candidate. The child at position i of level t chooses candidate i; only the
candidates after i may follow it. So every set is met once, in the order of the levels. Entering
a child means: weigh all later candidates under it (all sets with one more feature), drop
those that no better completion has, and with three or more features to go compress the rest
into the matrix of level t + 1. The last two features are chosen by pairs.h.

:func:`branches` looks for the best set; :mod:`~cpx.models.monomial.search.enumeration` walks the
same tree for all good ones.
"""

from __future__ import annotations

from cpx.compiled.kernel import Ints, kernel
from cpx.models.monomial.search.stack import Levels, Params, Scratch

DONE, STOPPED, FULL = -1, -2, -3
"""A branch is exhausted, was told to stop, or needs a larger workspace and can then go on."""


@kernel
def look_ahead(
    levels: Levels, scratch: Scratch, params: Params, limit: int, front: int, bounds: Ints
) -> None:
    """Set a lower bound on the completions of each child of the root, ``limit`` at most.

    It is that of :func:`~cpx.models.monomial.search.bounds.tighten`, with the weights that hold
    under the child. These also tell what good weight two columns both exclude. Only for that
    the children from ``front`` on are weighed.
    """


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

    levels, scratch: The thread's own; ``levels.at[0]`` is 0, or what an interrupted call left
        there.
    shared: ``[stop, least cost of all threads, strict]``. A lost write of another thread costs
        time, not correctness: the least cost only has to be the cost of some set, or any larger.
        Unless ``strict``, branches that can only reach sets as good as the best are searched as
        well, so that the first of all best sets is found; where there are too many of them,
        ``strict`` is set.
    found: ``[cost, size, columns ..., branches entered for equal sets, nodes]``: the best of this
        thread, by cost, size and index.
    first: Return as soon as any set below ``found[0]`` is found; nothing else counts.
    bounds: A lower bound on the completions of each child.
    tasks: Which children.
    done: By child: set to 1 where its subtree was searched.
    at: ``[0]``: the next of the tasks, where this call and those after it go on.
    """
