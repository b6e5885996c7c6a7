"""Branch and bound over sets of clauses: the formula that loses the least weight.

A formula loses the positive rows that it is not true of, and the negative ones that it is. A node
branches on a positive row that is left: one of the clauses that are true of it is chosen, or the
row is given up, with all clauses that are true of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cpx.backends.search.dnf.candidates import Candidates, undominated
from cpx.backends.search.dnf.rows import Rows

__all__ = ["Master", "packing"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Node:
    """What is left: candidates by number, weights of the rows that still count, clauses."""

    alive: Ints
    gains: Floats
    costs: Floats
    clauses: tuple[int, ...]
    lost: int


class Master:
    """The search, which can be continued.

    Parameters
    ----------
    rows : Rows
    candidates : Candidates
        All clauses that a formula which loses less than ``loss`` may need.
    max_clauses : int
    loss : int
        What the best known formula loses.
    """

    def __init__(self, rows: Rows, candidates: Candidates, max_clauses: int, loss: int) -> None:
        # Sums of weights are below 2**53, so exact in floats, which have fast products.
        self._inside = candidates.inside.astype(np.float64)
        self._outside = candidates.outside.astype(np.float64)
        self.candidates, self.max_clauses = candidates, max_clauses
        self.loss = loss
        self.nodes = 0
        self._root = _Node(
            np.arange(len(candidates)),
            rows.gains.astype(np.float64),
            rows.costs.astype(np.float64),
            (),
            0,
        )

    def root_bound(self) -> int:
        """Return what every formula loses at least, up to what the best known one does.

        A formula that loses less than b has only clauses that cost less than b. What it then must
        lose is bounded by :func:`packing`; b is doubled while that reaches it.
        """
        root = self._root
        cost = self._outside @ root.costs
        proved, b = 0, 1
        while proved < self.loss:
            b = min(b, self.loss)
            at_least = packing(self._inside[cost < b], root.gains, self.max_clauses)
            proved = max(proved, min(b, at_least))
            if at_least < b:
                break
            b *= 2
        return proved

    def search(self, report: Callable[[list[int], int], None], stop: Callable[[], bool]) -> bool:
        """Search depth first; return whether it was finished.

        Parameters
        ----------
        report : callable
            Told the candidates, by number, of every better formula, and what it loses.
        stop : callable
            Asked at every node.
        """
        stack = [self._root]
        while stack:
            if stop():
                return False
            self.nodes += 1
            stack += self._branches(stack.pop(), report)
        return True

    def _branches(self, node: _Node, report: Callable[[list[int], int], None]) -> list[_Node]:
        """Return the nodes below one, the most promising last."""
        left = self.max_clauses - len(node.clauses)
        gains = self._inside[node.alive] @ node.gains
        costs = self._outside[node.alive] @ node.costs
        kept = (gains > 0) & (node.lost + costs < self.loss)
        alive, gains, costs = node.alive[kept], gains[kept], costs[kept]
        total = node.lost + int(node.gains.sum())
        if not alive.size or not left:
            return []
        nets = gains - costs
        best = int(nets.argmax())
        if total - int(nets[best]) < self.loss:
            self.loss = total - int(nets[best])
            report([*node.clauses, int(alive[best])], self.loss)
        if left == 1:
            return []
        # What rows of negative weight cost is at least the mean over the clauses.
        worth = np.maximum(gains - costs / left, 0)
        most = np.partition(worth, -left)[-left:].sum() if worth.size > left else worth.sum()
        if total - most >= self.loss:
            return []
        inside = self._inside[alive]
        if node.lost + packing(inside, node.gains, left) >= self.loss:
            return []
        return self._split(node, alive, nets, inside)

    def _split(self, node: _Node, alive: Ints, nets: Floats, inside: Floats) -> list[_Node]:
        row = int(node.gains.argmax())
        here = inside[:, row] > 0
        given_up = node.gains.copy()
        given_up[row] = 0
        lost = node.lost + int(node.gains[row])
        children = [_Node(alive[~here], given_up, node.costs, node.clauses, lost)]
        numbers, rest = alive[here], alive[~here]
        kept = undominated(
            (self._inside[numbers] * node.gains) > 0, (self._outside[numbers] * node.costs) > 0
        )
        order = kept[np.argsort(nets[here][kept], kind="stable")]
        # A clause that comes later, from the end of the stack, needs none tried before it.
        for at, place in enumerate(order):
            c = int(numbers[place])
            outside = self._outside[c] * node.costs
            children.append(
                _Node(
                    np.concatenate([rest, numbers[order[:at]]]),
                    node.gains * (1 - self._inside[c]),
                    node.costs - outside,
                    (*node.clauses, c),
                    node.lost + int(outside.sum()),
                )
            )
        return children


def packing(inside: Floats, gains: Floats, clauses: int) -> int:
    """Return what rows lose at least that so many clauses of these can be true of.

    Rows of which no clause is true are lost. Of others that are chosen so that no clause is true
    of two of them, the heaviest first, all are lost but as many as there are clauses.

    Parameters
    ----------
    inside : ndarray of float, shape (k, p)
        1 where a clause is true of a row.
    gains : ndarray of float, shape (p,)
        What the rows weigh; 0 for those that do not count.
    clauses : int

    Examples
    --------
    >>> packing(np.array([[1.0, 1, 0, 0], [0, 0, 1, 0]]), np.array([5.0, 4, 3, 2]), 1)
    5
    """
    reached = inside.any(axis=0) if len(inside) else np.zeros(gains.size, dtype=np.bool_)
    lost = float(gains[~reached].sum())
    blocked = np.zeros(len(inside), dtype=np.bool_)
    open_rows, chosen = reached & (gains > 0), 0
    order = np.argsort(-gains, kind="stable")
    for row in order[open_rows[order]]:
        having = inside[:, row] > 0
        if (having & blocked).any():
            continue
        blocked |= having
        chosen += 1
        if chosen > clauses:
            lost += float(gains[row])
    return int(lost)
