"""Proofs about sets of rules: branching on the linear relaxation, whose multipliers are rounded.

The relaxation is solved in floating point, and nothing of it is trusted: its multipliers, rounded
down to whole numbers of a small unit, bound the node by the checker's own sums.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.check.proofs.document import Claim, Refused
from cpx.check.proofs.rule_sets import DEEPEST, Multipliers, Node, Table, root_of

__all__ = ["prove"]

_UNIT = 2**20
_MOST = 2**60


def prove(
    instance: Mapping[str, Any], goal: Claim, over: Callable[[], bool]
) -> tuple[Claim | None, list[str]]:
    """Return what was proved and the lines: the goal, or the bound that the nodes reached.

    No node is split once the time is up. Refused is raised where the goal is wrong.
    """
    root = root_of(Table(instance))
    if root is None:
        return goal, []
    if not isinstance(goal.bound, int):
        raise Refused("the required rules are a solution")
    lines, reached, left = [], goal.bound, [root]
    while left:
        node = left.pop()
        if node.over():
            lines.append("over")
        elif not node.free.any():
            if node.value() < goal.bound:
                raise Refused(f"the rules {sorted(node.chosen)} cost less")
            lines.append("decided")
        else:
            multipliers, chosen = _relaxation(node)
            bound = node.bound(multipliers)
            if bound < goal.bound and len(left) < DEEPEST and not over():
                rule = _undecided(node, chosen)
                lines.append(f"split {rule}")
                left += [node.part(rule, chosen=False), node.part(rule, chosen=True)]
            else:
                lines.append(_line(node.table, multipliers))
                reached = min(reached, bound)
    return Claim(reached), lines


def _undecided(node: Node, chosen: NDArray[np.float64]) -> int:
    """Return the free rule that the relaxation decides least; of whole ones the first chosen."""
    far = np.abs(chosen - 0.5)
    far[~node.free] = 2
    least = int(far.argmin())
    if far[least] > 0.5 - 1e-6:
        return int(np.where(node.free, chosen, -1).argmax())
    return least


def _relaxation(node: Node) -> tuple[Multipliers, NDArray[np.float64]]:
    """Return the multipliers of the linear relaxation, and how much it chooses each rule."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    table, free = node.table, np.flatnonzero(node.free)
    left = node.uncovered()
    good, bad = np.flatnonzero(left & table.good), np.flatnonzero(left & ~table.good)
    costs, n = np.full(free.size, float(table.price)), free.size
    if table.data.hamming:
        costs += table.costs[~table.good] @ table.covers[np.ix_(~table.good, node.free)]
        bad = bad[:0]
    # Errors on good samples, then on bad ones, are variables behind the rules.
    missed, by = np.nonzero(table.covers[np.ix_(good, free)])
    sample, rule = np.nonzero(table.covers[np.ix_(bad, free)])
    each, many = np.arange(good.size), good.size + np.arange(sample.size)
    entries = [
        (-np.ones(missed.size), missed, by),
        (-np.ones(good.size), each, n + each),
        (np.ones(many.size), many, rule),
        (-np.ones(many.size), many, n + good.size + sample),
    ]
    most = [-np.ones(good.size), np.zeros(many.size)]
    chosen = list(node.chosen)
    limits: list[str] = []
    for name, lengths in (
        ("max_rules", np.ones_like(table.lengths)),
        ("max_literals", table.lengths),
    ):
        if (limit := table.limits[name]) is not None:
            at = np.full(n, good.size + many.size + len(limits))
            entries.append((lengths[free].astype(np.float64), at, np.arange(n)))
            most.append(np.array([limit - lengths[chosen].sum()], dtype=np.float64))
            limits.append(name)
    data, rows, columns = (np.concatenate(some) for some in zip(*entries, strict=True))
    shape = good.size + many.size + len(limits), n + good.size + bad.size
    constraints: Any = csr_array((data, (rows, columns)), shape=shape)
    found = linprog(
        np.concatenate([costs, table.costs[good], table.costs[bad]]),
        A_ub=constraints,
        b_ub=np.concatenate(most),
        bounds=(0, 1),
        method="highs",
    )
    unit = max(1, min(_UNIT, table.room // max(table.most, 1) // 2))
    shared = np.zeros(table.rows.size, dtype=np.int64)
    if found.x is None:  # no relaxation, no multipliers: these prove the least there is
        empty = np.zeros((0, 3), dtype=np.int64)
        return Multipliers(1, 0, 0, shared, empty), np.full(table.count, 0.5)
    duals = np.maximum(-found.ineqlin.marginals, 0)
    shared[good] = np.minimum(_rounded(duals[: good.size], unit), table.costs[good] * unit)
    paid = _rounded(duals[good.size : good.size + many.size], unit)
    paid = _no_more(paid, sample, table.costs[bad] * unit)
    kept = paid > 0
    prices = dict(
        zip(limits, _rounded(duals[good.size + many.size :], unit).tolist(), strict=True)
    )
    whole = np.zeros(table.count)
    whole[free] = found.x[:n]
    return (
        Multipliers(
            unit,
            prices.get("max_rules", 0),
            prices.get("max_literals", 0),
            shared,
            np.stack([bad[sample[kept]], free[rule[kept]], paid[kept]], axis=1),
        ),
        whole,
    )


def _rounded(numbers: NDArray[np.float64], unit: int) -> NDArray[np.int64]:
    return np.minimum(np.round(numbers * unit), float(_MOST)).astype(np.int64)


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
