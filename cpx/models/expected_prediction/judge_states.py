"""States of attributes as the checker reads them: probabilities, and leaves that they reach."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import accumulate
from operator import or_
from typing import Any, NamedTuple

from cpx.check.forest import Forest, Node
from cpx.models.expected_prediction.judge_circuits import (
    CircuitValues,
    nodes_of_circuit,
    nodes_of_trees,
)

__all__ = ["Leaf", "Probabilities", "States"]

_ONE = 2**30

Event = Mapping[int, int]
"""For some attributes, the states that they may have: a bit for each, the first one lowest."""


class Leaf(NamedTuple):
    """A leaf that some row reaches.

    ``tests`` has for each attribute that its path restricts the states that lead there, as an
    event.
    """

    tree: int
    values: tuple[int, ...]
    tests: dict[int, int]


class States:
    """The states of a saved coding, and what they are in a saved forest.

    coding: As it is saved.
    look: Told of each node that is gone through, with the bits of a new event; it may raise.
    own: The state of the forest's x in each attribute, -1 where it is none.
    lost: Tests that are between the cuts of a column.
    """

    def __init__(
        self, coding: Mapping[str, Any], forest: Forest, look: Callable[[int], None]
    ) -> None:
        self.names, self.columns, self.titles = (
            coding[key] for key in ("names", "columns", "column_names")
        )
        self.states = coding["states"]
        self.cuts = [[float.fromhex(text) for text in texts] for texts in coding["cuts"]]
        self.forest = forest
        self._place = {
            c: (a, i) for a, columns in enumerate(self.columns) for i, c in enumerate(columns)
        }
        row = [self._cell(c, value) for c, value in enumerate(forest.x)]
        self.own = [self._own(a, row) for a in range(len(self.columns))]
        self.lost: list[str] = []
        self._below: dict[int, tuple[list[int], int]] = {}
        self._every = [(1 << len(states)) - 1 for states in self.states]
        self._look = look
        # Each event is kept once: those of columns with thousands of thresholds are large.
        self._events: list[dict[int, int]] = [{} for _ in self.states]
        trees = enumerate(map(_merged, forest.trees))
        self.leaves = [leaf for t, root in trees for leaf in self._walk(t, root)]

    def _cell(self, c: int, value: float | None) -> int:
        return -1 if value is None else sum(value > cut for cut in self.cuts[c])

    def _own(self, a: int, row: Sequence[int]) -> int:
        cells = [row[c] for c in self.columns[a]]
        return int(self.states[a].index(cells)) if cells in self.states[a] else -1

    def _walk(self, tree: int, root: Node) -> list[Leaf]:
        found: list[Leaf] = []
        waiting: list[tuple[Node, dict[int, int]]] = [(root, {})]
        while waiting:
            node, path = waiting.pop()
            if node.left is None or node.right is None:
                tests = {a: self._kept(a, some) for a, some in path.items()}
                found.append(Leaf(tree, node.values, tests))
                continue
            self._look(0)
            a = self._place[node.column][0]
            left, before = self._lefts(node), path.get(a, self._every[a])
            for child, some in ((node.right, before & ~left), (node.left, before & left)):
                if some:
                    waiting.append((child, path if some == before else {**path, a: some}))
        return found

    def _kept(self, a: int, some: int) -> int:
        events = self._events[a]
        if some not in events:
            self._look(len(self.states[a]))
            events[some] = some
        return events[some]

    def _lefts(self, node: Node) -> int:
        """Return the states of the tested attribute that go left."""
        cuts = self.cuts[node.column]
        below, missing = self._states_of(node.column)
        if node.lefts is not None:
            return self._in_cells(node.column, node.lefts) | (missing * (node.missing == "l"))
        if math.isfinite(node.threshold):
            place = bisect_right(cuts, node.threshold)
            if not place or cuts[place - 1] != node.threshold:
                self.lost.append(f"{self.titles[node.column]} at {node.threshold:g}")
        else:
            place = len(below) - 1 if node.threshold > 0 else 0
        return below[place] | (missing if node.missing == "l" else 0)

    def _in_cells(self, c: int, lefts: frozenset[int]) -> int:
        """Return the states that have the value of a column in some cells of the forest."""
        limits, (below, _) = self.forest.thresholds[c], self._states_of(c)
        places = [bisect_right(self.cuts[c], t) for t in limits]
        self.lost += [
            f"{self.titles[c]} at {t:g}"
            for t, place in zip(limits, places, strict=True)
            if not place or self.cuts[c][place - 1] != t
        ]
        ends = [0, *places, len(below) - 1]
        return reduce(or_, (below[ends[j + 1]] & ~below[ends[j]] for j in lefts), 0)

    def _states_of(self, c: int) -> tuple[list[int], int]:
        """Return the states with a value in the first cells of a column, and those without one."""
        if c not in self._below:
            a, i = self._place[c]
            cells, missing = [0] * (len(self.cuts[c]) + 1), 0
            for state, found in enumerate(self.states[a]):
                if found[i] < 0:
                    missing |= 1 << state
                else:
                    cells[found[i]] |= 1 << state
            self._below[c] = list(accumulate(cells, or_, initial=0)), missing
        return self._below[c]


def _merged(root: Node) -> Node:
    """Return a tree with equal sibling leaves as one, again and again.

    The test above them says nothing, and their parts are not to be rounded one by one.
    """
    order, waiting = list[Node](), [root]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting += [child for child in (node.left, node.right) if child is not None]
    done = dict[int, Node]()
    for node in reversed(order):
        made = node
        if node.left is not None and node.right is not None:
            left, right = done[id(node.left)], done[id(node.right)]
            alone = left.left is None and right.left is None
            if alone and left.values == right.values:
                made = left
            elif left is not node.left or right is not node.right:
                made = replace(node, left=left, right=right)
        done[id(node)] = made
    return done[id(root)]


class Probabilities:
    """A saved distribution: the exact probability of events.

    saved: A mixture of trees or a circuit, as it is saved.
    dependent: The same as a circuit; without edges it has no nodes.
    """

    def __init__(self, saved: Mapping[str, Any]) -> None:
        self._masses: dict[tuple[int, int], list[int]] = {}
        self._sums: dict[int, list[list[int]]] = {}
        self._circuit = saved["format"] == "cpx-circuit"
        self.edgeless, nodes = False, list[Any]()
        if self._circuit:
            self.weights, nodes = [_ONE], nodes_of_circuit(saved)
        else:
            self.weights, self.tables, trees = saved["weights"], saved["tables"], saved["parents"]
            self.edgeless = all(p < 0 for tree in trees or [] for p in tree)
            if not self.edgeless:
                nodes = nodes_of_trees(self.weights, trees, self.tables)
        self.dependent = CircuitValues(nodes)
        self.sizes = (
            [len(table[0]) for table in self.tables[0]] if self.edgeless else self.dependent.sizes
        )

    @property
    def factorised(self) -> bool:
        """Whether all attributes are independent."""
        return self.edgeless and len(self.weights) == 1

    @property
    def structure(self) -> str:
        """What the distribution is called."""
        several = len(self.weights) > 1
        if self._circuit:
            return "circuit"
        if self.edgeless:
            return "mixture" if several else "factorised"
        return "mixture of chow-liu trees" if several else "chow-liu"

    def masses(self, a: int, some: int) -> list[int]:
        """Return the probability of some states of an attribute without parents, over 2**30.

        One for each component. Numbers of a column that lead to a leaf are states next to each
        other: sums up to each state make that a difference.
        """
        if (a, some) not in self._masses:
            if a not in self._sums:
                self._sums[a] = [[0, *accumulate(tables[a][0])] for tables in self.tables]
            found, rest, first = [0] * len(self.weights), some, 0
            while rest:
                skipped = (rest & -rest).bit_length() - 1
                rest, first = rest >> skipped, first + skipped
                length = (~rest & (rest + 1)).bit_length() - 1
                for c, sums in enumerate(self._sums[a]):
                    found[c] += sums[first + length] - sums[first]
                rest, first = rest >> length, first + length
            self._masses[a, some] = found
        return self._masses[a, some]

    def of(self, event: Event) -> Fraction:
        """Return the probability of an event."""
        if not self.edgeless:
            return self.dependent.of(event)
        total, masses = 0, [self.masses(a, some) for a, some in event.items()]
        for c, share in enumerate(self.weights):
            total += share * math.prod(own[c] for own in masses)
        return Fraction(total, _ONE ** (1 + len(event)))
