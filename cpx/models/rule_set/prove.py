"""Proofs about sets of rules: few are counted; else costs are shared, or nodes are split.

Shares of costs come from the ascent of the search, multipliers from the linear relaxation, both in
floating point. Nothing of this is trusted: rounded to whole numbers, they bound the node by the
checker's own sums. Where few sets of a node may cost less than the goal, the checker goes through
these. So it does, unseen by the prover, where the value is trusted and the search that found it
has looked at few.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.check.proofs.branching import Part
from cpx.check.proofs.document import Claim, Refused
from cpx.models.rule_set.proof_cheaper_sets import MOST_ENTRIES, TooMany
from cpx.models.rule_set.proof_check import DEEPEST
from cpx.models.rule_set.proof_nodes import Multipliers, Node, Table, root_of
from cpx.models.rule_set.prove_cost_splitting import rounds
from cpx.models.rule_set.search.record import RecordedTree

__all__ = ["few", "prove"]

_UNIT = 2**20
_MOST, _SCALED = 2**60, 2**20
# Rules that the linear relaxation has at first.
_FIRST = 24
# What is looked at before there are multipliers, and before a node is split.
_FEW, _MANY = 2**20, 2**24
# The checker goes through the tree of the search, but for some orders and how well costs are
# shared: so many times the nodes, and more, are left to it.
_TIMES, _BESIDES = 8, 1000
# With a search that shared costs, it is so many times the nodes after few rounds of shares, and no
# more than the nodes after all of them.
_QUICK = 4


def prove(
    instance: Mapping[str, Any],
    goal: Claim,
    over: Callable[[], bool],
    trusted: bool = False,
    record: Sequence[object] = (),
) -> tuple[Claim | None, list[str]]:
    """Return what was proved and the lines: the goal, or the bound that the nodes reached.

    No node is split once the time is up. Refused is raised where the goal is wrong; if it is
    ``trusted``, only where that is met on the way.
    """
    root = root_of(Table(instance))
    if root is None:
        return goal, []
    table, bound, quick, unseen = root.table, goal.bound, False, False
    if trusted and isinstance(bound, int) and root.exact(bound):
        if few(record, table.rows.size, table.count):
            return goal, ["counted"]
        sizes = table.rows.size, table.count
        quick = few(record, *sizes, times=_QUICK, shared=True)
        unseen = quick or few(record, *sizes, times=1, shared=True)
    side, reached = root.table.side, goal.bound
    assert not isinstance(reached, Fraction)
    lines, left = list[str](), [root]
    # At first those that cover most more of good samples than of bad ones.
    saved = (np.where(root.table.good, 1, -1) * root.table.costs) @ root.table.covers
    known = np.zeros(saved.size, dtype=np.bool_)
    known[np.argsort(-saved)[:_FIRST]] = True
    while left:
        node = left.pop()
        if node.over():
            lines.append("over")
        elif (broken := side.which(node.sets())) is not None:
            lines.append(f"breaks {broken}")
        elif reached is None or not isinstance(goal.bound, int):
            if not node.table.data.broken(list(node.chosen)):
                raise Refused(f"the rules {sorted(node.chosen)} are a solution")
            if over() or len(left) >= DEEPEST:
                return None, []
            left += _split(node, _disputed(node, np.zeros(node.free.size)), lines)
        elif not node.free.any():
            if node.value() < goal.bound:
                raise Refused(f"the rules {sorted(node.chosen)} cost less")
            lines.append("decided")
        elif not unseen and _counted(node, goal.bound, _FEW):
            lines.append("counted")
        else:
            rest = _shared(node, goal.bound, 1 if quick else 2, lines, over)
            if rest is None:
                continue
            node = rest
            if unseen and node.shares is not None:
                lines.append("counted")
                continue
            if not over() and _counted(node, goal.bound, _MANY):
                lines.append("counted")
                continue
            multipliers, chosen = _relaxation(node, known, goal.bound)
            bound = node.bound(multipliers)
            if bound < goal.bound and not over() and len(left) < DEEPEST:
                left += _split(node, _undecided(node, chosen), lines)
            else:
                lines.append(_line(node.table, multipliers))
                reached = min(reached, bound)
    return Claim(reached), lines


def few(
    record: Sequence[object],
    samples: int,
    rules: int,
    times: int = _TIMES,
    shared: bool = False,
) -> bool:
    """Whether a search, with shares of costs or without, says that the checker can count sets."""
    trees = [one for one in record if isinstance(one, RecordedTree) and one.shared == shared]
    sets = sum(times * (one.nodes + _BESIDES) for one in trees)
    return sets > 0 and sets * (samples + rules) + samples * rules <= MOST_ENTRIES


def _shared(
    node: Node, goal: int, most: int, lines: list[str], over: Callable[[], bool]
) -> Node | None:
    """Write shares of the costs of a node; return what they leave of it, None for nothing."""
    for text, rest in rounds(node, goal, most):
        lines.append(text)
        if rest is None or over():
            return rest
        node = rest
    return node


def _counted(node: Node, goal: int, entries: int) -> bool:
    """Whether the sets of a node that may cost less than the goal are few, and none does."""
    try:
        none = node.counted(goal, entries)
    except TooMany:
        return False
    if not none:
        raise Refused("a set costs less")
    return True


def _split(node: Node, rule: int, lines: list[str]) -> list[Node]:
    """Write that a node is split; return the sets without a rule, and those with it."""
    lines.append(f"split {rule}")
    return [node.part(rule, chosen=False), node.part(rule, chosen=True)]


def _undecided(node: Node, chosen: NDArray[np.float64]) -> int:
    """Return the free rule that the relaxation decides least; of whole ones the first chosen."""
    far = np.abs(chosen - 0.5)
    far[~node.free] = 2
    least = int(far.argmin())
    return least if far[least] <= 0.5 - 1e-6 else _disputed(node, chosen)


def _disputed(node: Node, chosen: NDArray[np.float64]) -> int:
    """Return a free rule of a side constraint that the chosen ones break; else one of them."""
    part = node.sets()
    some = part.kept | (node.free & (chosen > 0.5))
    broken = node.table.side.which(Part(some, ~some))
    about = node.free.copy()
    if broken is not None:
        about &= np.isin(np.arange(about.size), node.table.side.features(broken))
    return int(np.where(about, chosen, -1).argmax())


def _relaxation(
    node: Node, known: NDArray[np.bool_], goal: int
) -> tuple[Multipliers, NDArray[np.float64]]:
    """Return multipliers of the linear relaxation, and how much it chooses each rule.

    It has the known rules, to which others are added until the costs that it leaves of the bad
    samples make up for what these would save, or the goal is reached all the same.
    """
    if not (node.free & known).any():
        known[node.free.argmax()] = True
    while True:
        multipliers, chosen, short = _of_known(node, known)
        if not short.any() or node.bound(multipliers) >= goal:
            return multipliers, chosen
        worst = np.argsort(-short)[: max(1, np.count_nonzero(known))]
        known[worst[short[worst] > 0]] = True


def _of_known(
    node: Node, known: NDArray[np.bool_]
) -> tuple[Multipliers, NDArray[np.float64], NDArray[np.int64]]:
    """Return multipliers, how much each rule is chosen, and what rules are short of.

    The linear program is that of the multipliers, which has as many rows as there are rules and
    bad samples; that of the rules has one for each pair of these.
    """
    from scipy.sparse import csr_array

    from cpx.backends.linear_program import minimum

    table, free = node.table, np.flatnonzero(node.free & known)
    left = node.uncovered()
    good, bad = np.flatnonzero(left & table.good), np.flatnonzero(left & ~table.good)
    prices, n = np.full(table.count, table.price), free.size
    if table.data.hamming:
        prices += table.costs[~table.good] @ table.covers[~table.good]
        bad = bad[:0]
    covers = table.covers[bad]
    by, missed = np.nonzero(table.covers[np.ix_(good, free)].T)
    sample, rule = np.nonzero(covers[:, free])
    # Shares of good samples, payments for bad ones, what a rule is worth below 0, and limits.
    shares, pays = good.size, good.size + np.arange(sample.size)
    entries = [
        (np.ones(by.size), by, missed),
        (-np.ones(rule.size), rule, pays),
        (-np.ones(n), np.arange(n), shares + sample.size + np.arange(n)),
        (np.ones(sample.size), n + sample, pays),
    ]
    gains = [-np.ones(shares), np.zeros(sample.size), np.ones(n)]
    most = [table.costs[good], table.costs[bad][sample], np.full(n, np.inf)]
    limits: dict[str, NDArray[np.int64]] = {}
    for name, lengths in (
        ("max_rules", np.ones_like(table.lengths)),
        ("max_literals", table.lengths),
    ):
        if (limit := table.limits[name]) is not None:
            at = np.full(n, shares + sample.size + n + len(limits))
            entries.append((-lengths[free].astype(np.float64), np.arange(n), at))
            gains.append(np.array([limit - lengths[list(node.chosen)].sum()], dtype=np.float64))
            most.append(np.array([np.inf]))
            limits[name] = lengths
    data, rows, columns = (np.concatenate(some) for some in zip(*entries, strict=True))
    most_each = np.concatenate(most)
    # The solver's tolerances are absolute, and it fails where numbers are huge.
    scale = max(1.0, table.most / _SCALED)
    matrix: Any = csr_array((data, (rows, columns)), shape=(n + bad.size, most_each.size))
    limited = np.concatenate([prices[free], table.costs[bad]]) / scale
    found = minimum(np.concatenate(gains), matrix, limited, most_each / scale)
    unit = max(1, min(_UNIT, table.room // max(table.most, 1) // 2))
    exact = unit * scale
    shared = np.zeros(table.rows.size, dtype=np.int64)
    if found is None:  # no relaxation, no multipliers: these prove the least there is
        empty = np.zeros((0, 3), dtype=np.int64)
        none = Multipliers(1, 0, 0, shared, empty)
        return none, np.full(table.count, 0.5), np.zeros(table.count, dtype=np.int64)
    values, worth = found
    shared[good] = np.minimum(_rounded(values[:shares], exact), table.costs[good] * unit)
    paid = np.zeros(covers.shape, dtype=np.int64)
    paid[sample, free[rule]] = _no_more(
        _rounded(values[pays], exact), sample, table.costs[bad] * unit
    )
    last = values[most_each.size - len(limits) :]
    asked = dict(zip(limits, _rounded(last, exact), strict=True))
    # What rules would save beyond what they cost.
    short = shared @ table.covers - prices * unit - paid.sum(axis=0)
    for name, price in asked.items():
        short -= price * limits[name]
    short[~node.free] = 0
    room = table.costs[bad] * unit - paid.sum(axis=1)
    for r in np.flatnonzero(short > 0):
        there = np.cumsum(np.where(covers[:, r], room, 0))
        more = np.diff(np.minimum(there, short[r]), prepend=0)
        paid[:, r] += more
        room -= more
        short[r] -= more.sum()
    place, payer = np.nonzero(paid)
    multipliers = Multipliers(
        unit,
        int(asked.get("max_rules", 0)),
        int(asked.get("max_literals", 0)),
        shared,
        np.stack([bad[place], payer, paid[place, payer]], axis=1),
    )
    whole = np.zeros(table.count)
    whole[free] = -worth[:n]
    return multipliers, whole, np.where(known, 0, np.maximum(short, 0))


def _rounded(numbers: NDArray[np.float64], unit: float) -> NDArray[np.int64]:
    return np.clip(np.round(numbers * unit), 0, float(_MOST)).astype(np.int64)


def _no_more(
    paid: NDArray[np.int64], of: NDArray[np.intp], most: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Take from what the rules pay for a sample where it is more than its cost."""
    # Those of a sample are next to each other; their sums fit 64 bits, as those of the checker do.
    paid = np.minimum(paid, most[of])
    before = np.cumsum(paid) - paid
    first = np.searchsorted(of, of)
    return np.clip(most[of] - (before - before[first]), 0, paid)


def _line(table: Table, by: Multipliers) -> str:
    used = np.flatnonzero(by.good)
    numbers = [by.unit, by.rules, by.literals, used.size]
    numbers += np.stack([table.rows[used], by.good[used]], axis=1).reshape(-1).tolist()
    triples = by.bad.copy()
    triples[:, 0] = table.rows[triples[:, 0]]
    numbers += triples.reshape(-1).tolist()
    return "bound " + " ".join(map(str, numbers))
