"""Branch and bound over sets of clauses: the formula of greatest weight.

A node has some clauses and leaves others to choose from; rows that the former are true of do not
count any more. Its bound (``dual``) is improved until it is no better than the best formula
known, clauses that no better one needs are dropped on the way, and where it settles, the clause
of the greatest value is chosen or left out. The node with the greatest bound is next, so that
the bound of the whole search gets better all the time.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cpx.backends.search.dnf.candidates import Candidates
from cpx.backends.search.dnf.dual import Dual, Multipliers, Part
from cpx.backends.search.dnf.exchange import exchange
from cpx.backends.search.dnf.rows import Rows

__all__ = ["Master"]

Ints = NDArray[np.int64]

_BITS = 52
"""Weights are multiplied such that their sum has so many bits: multipliers are integers."""

_STEPS, _BELOW = 300, 40
"""Steps at the root, and below it."""

_RATES, _WIDTHS = (0.5, 0.01), (3e-3, 1e-5)
"""With what the steps at the root begin and end."""

_RATES_BELOW, _WIDTHS_BELOW = (0.1, 0.01), (1e-4, 1e-5)
"""The same for the steps below it."""

_WIDE = 600
"""Clauses that better formulas are looked for among."""

_MANY = 0.8
"""Share of the clauses that has to be dropped for it to be worth while."""

_LOOK = 10
"""Steps between two looks at what has come of them."""


_MOST_OPEN = 500
"""Nodes kept for their bounds; with more, the search goes depth first for a while."""


@dataclass(frozen=True, eq=False)
class _Node:
    """Clauses chosen, by number, what they are worth, and the bound of what is left.

    That is: the ``numbers`` of clauses, the ``rows`` and ``others`` that count, and the
    multipliers of these. Both nodes below one share them; ``covering``, where it is not None, is
    the clause whose rows are still to be taken away.
    """

    clauses: tuple[int, ...]
    value: int
    bound: int
    numbers: Ints
    rows: Ints
    others: Ints
    multipliers: Multipliers
    covering: int | None = None


class Master:
    """The search, with the best that is known and proved.

    Parameters
    ----------
    rows : Rows
    candidates : Candidates
        All clauses that a formula better than the best known one may need.
    max_clauses : int
    value : int
        What the best known formula is worth.
    found : callable
        Told the candidates, by number, of every better formula.
    proved : callable
        Told every better bound.
    stop : callable
        Asked now and then.

    Attributes
    ----------
    value : int
        What the best formula is worth.
    nodes : int
    """

    def __init__(
        self,
        rows: Rows,
        candidates: Candidates,
        max_clauses: int,
        value: int,
        *,
        found: Callable[[list[int]], None],
        proved: Callable[[int], None],
        stop: Callable[[], bool],
    ) -> None:
        self._max_clauses = max_clauses
        self._found, self._proved, self._stop = found, proved, stop
        self.value, self.nodes = value, 0
        total = int(rows.gains.sum() + rows.costs.sum())
        self._scale = 1 << max(0, _BITS - total.bit_length())
        self._whole = Part.whole(
            candidates.inside,
            candidates.outside,
            rows.gains * self._scale,
            rows.costs * self._scale,
        )

    def search(self) -> bool:
        """Search; return whether it was finished, which proves ``value``."""
        whole = self._whole
        if not len(whole):
            return True
        start = Multipliers.in_proportion(whole.gains, whole.costs.size)
        most = int(whole.gains.sum())
        root = _Node((), 0, most, whole.numbers, whole.rows, whole.others, start)
        # The number of a node decides between equal bounds.
        heap, stack = [(-root.bound, 0, root)], list[_Node]()
        while heap or stack:
            if stack:
                node = stack.pop()
            else:
                bound, _, node = heapq.heappop(heap)
                self._prove(-bound)
            if not self._better(node.bound):
                continue
            self.nodes += 1
            children = self._expand(node)
            if len(heap) > _MOST_OPEN:
                stack += reversed(children)
            else:
                for number, child in enumerate(children):
                    heapq.heappush(heap, (-child.bound, 2 * self.nodes + number, child))
            if self._stop():
                return False
        return True

    def _better(self, bound: int) -> bool:
        """Whether a formula within the bound may be better than the best known one."""
        return bound // self._scale > self.value

    def _prove(self, bound: int) -> None:
        self._proved(max(bound // self._scale, self.value))

    def _report(self, clauses: list[int], value: int) -> None:
        if value // self._scale > self.value:
            self.value = value // self._scale
            self._found(clauses)

    def _expand(self, node: _Node) -> list[_Node]:
        """Return what is left to search below a node."""
        left = self._max_clauses - len(node.clauses)
        part, multipliers = self._opened(node)
        if not len(part) or not left:
            return []
        nets = part.nets
        best = int(nets.argmax())
        self._report([*node.clauses, int(part.numbers[best])], node.value + int(nets[best]))
        if left == 1:
            return []
        dual = self._improved(node, Dual(part, left, multipliers))
        if dual is None:
            return []
        return self._split(node, dual)

    def _opened(self, node: _Node) -> tuple[Part, Multipliers]:
        """Return what is left at a node."""
        whole, multipliers = self._whole, node.multipliers
        if node.covering is None:
            return whole.only(node.numbers, node.rows, node.others), multipliers
        kept = ~whole.inside[node.covering, node.rows]
        free = ~whole.outside[node.covering, node.others]
        part = whole.only(node.numbers, node.rows[kept], node.others[free])
        return part, multipliers.only(kept, free)

    def _improved(self, node: _Node, dual: Dual) -> Dual | None:
        """Take steps until the node is done with, which is None, or they lead no further."""
        root = self.nodes == 1
        steps = _STEPS if root else _BELOW
        rates = np.geomspace(*(_RATES if root else _RATES_BELOW), steps)
        widths = np.geomspace(*(_WIDTHS if root else _WIDTHS_BELOW), steps)
        for at in range(steps):
            if at % _LOOK == 0:
                settled = self._looked(node, dual)
                if settled is None or self._stop():
                    return settled
                dual = settled
            dual.step(float(rates[at]), float(widths[at]))
        return self._looked(node, dual)

    def _looked(self, node: _Node, dual: Dual) -> Dual | None:
        """Bound, and drop what no better formula needs; None where nothing is left."""
        bound = node.value + dual.look()
        if self.nodes == 1:
            self._prove(bound)
        self._try(node, dual)
        if not self._better(bound):
            return None
        needed = dual.needed((self.value + 1) * self._scale - 1 - node.value)
        if not needed.any():
            return None
        if needed.mean() > _MANY:
            return dual
        kept = dual.only(needed)
        kept.look()
        return kept

    def _try(self, node: _Node, dual: Dual) -> None:
        """Look for a better formula among the clauses of the greatest values."""
        chosen, value = exchange(dual.part, dual.order[:_WIDE], dual.most)
        if chosen.size:  # a formula has a clause
            numbers = dual.part.numbers[chosen].tolist()
            self._report([*node.clauses, *numbers], node.value + value)

    def _split(self, node: _Node, dual: Dual) -> list[_Node]:
        """Choose the clause of the greatest value, or leave it out."""
        part, at = dual.part, int(dual.order[0])
        number = int(part.numbers[at])
        gained, paid = part.inside[at], part.outside[at]
        value = node.value + int(part.gains[gained].sum() - part.costs[paid].sum())
        chosen = (*node.clauses, number)
        self._report(list(chosen), value)
        bound = min(node.bound, node.value + dual.bound)
        without = min(bound, node.value + dual.bound_without(at))
        numbers = part.numbers[part.numbers != number]
        left = (numbers, part.rows, part.others, dual.multipliers.brief())
        return [
            _Node(chosen, value, bound, *left, covering=number),
            _Node(node.clauses, node.value, without, *left),
        ]
