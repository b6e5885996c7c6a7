"""Probabilities under a saved circuit as the checker reads it, and mixtures of trees as circuits.

A node is a leaf ``(attribute, row)``, a product ``(children, None)`` or a sum ``(children,
weights)``; children are places of earlier nodes, all numbers integers over 2**30. The value of a
node is a pair of an integer and how often it is to be divided by 2**30.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

__all__ = ["CircuitValues", "nodes_of_circuit", "nodes_of_trees"]

_BITS = 30
_ONE = 1 << _BITS

Node = tuple[Any, Any]
Value = tuple[int, int]


class CircuitValues:
    """The exact probability of events under a circuit.

    look: Called now and then; it may raise.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self._above: dict[int, list[int]] = {}
        over = list[frozenset[int]]()
        for n, (first, _) in enumerate(nodes):
            own = (
                {first} if isinstance(first, int) else set[int]().union(*(over[c] for c in first))
            )
            over.append(frozenset(own))
            for a in own:
                self._above.setdefault(a, []).append(n)
        self.sizes = [0] * len(self._above)
        for first, row in nodes:
            if isinstance(first, int):
                self.sizes[first] = len(row)

    def of(self, event: Mapping[int, int]) -> Fraction:
        """Return the probability of an event: for attributes, a bit for each state."""
        share, power = self._value(event, [(1, 0)] * len(self._nodes))
        return Fraction(share, _ONE**power)

    def mean(
        self,
        known: Mapping[int, int],
        events: Iterable[tuple[int, Mapping[int, int]]],
        look: Callable[[], None],
    ) -> Fraction:
        """Return the sum of whole numbers times the probability of an event each, given another.

        events: Over other attributes than what is known.
        """
        before = [(1, 0)] * len(self._nodes)
        whole = self._value(known, before)
        total, power = 0, 0
        for times, event in events:
            look()
            changed = before.copy() if event else before
            share, own = self._value(event, changed) if event else whole
            if own > power:
                total, power = total << _BITS * (own - power), own
            total += times * share << _BITS * (power - own)
        both = min(power, whole[1])
        return Fraction(total << _BITS * (whole[1] - both), whole[0] << _BITS * (power - both))

    def _value(self, event: Mapping[int, int], values: list[Value]) -> Value:
        """Return the value of the last node, and write those that the event changes."""
        places = {n for a in event for n in self._above[a]}
        for n in sorted(places):
            children, weights = self._nodes[n]
            if isinstance(children, int):
                some = event[children]
                values[n] = sum(p for s, p in enumerate(weights) if some >> s & 1), 1
            elif weights is None:
                share, power = 1, 0
                for c in children:
                    own = values[c]
                    if own[1]:
                        share, power = share * own[0], power + own[1]
                values[n] = share, power
            else:
                most = max([values[c][1] for c in children])
                share = 0
                for c, weight in zip(children, weights, strict=True):
                    own, power = values[c]
                    share += weight * own << _BITS * (most - power)
                values[n] = share, most + 1
        return values[-1]


def nodes_of_circuit(saved: Mapping[str, Any]) -> list[Node]:
    """Return the nodes of a saved circuit."""
    found: list[Node] = []
    for node in saved["nodes"]:
        if "attribute" in node:
            found.append((node["attribute"], _shares(node["probabilities"])))
        elif "product" in node:
            found.append((node["product"], None))
        else:
            found.append((node["sum"], _shares(node["weights"])))
    return found


def _shares(given: Sequence[float]) -> list[int]:
    """Return integers over 2**30; numbers that sum to 1 are rounded; the largest gets the rest."""
    if sum(given) == _ONE:
        return [int(v) for v in given]
    total = math.fsum(given)
    found = [max(1, round(v / total * _ONE)) if v else 0 for v in given]
    largest = found.index(max(found))
    found[largest] += _ONE - sum(found)
    return found


def nodes_of_trees(
    weights: Sequence[int], parents: Sequence[Sequence[int]], tables: Sequence[Any]
) -> list[Node]:
    """Return the nodes of a mixture of trees.

    An attribute is, for each state of its parent, a sum over its own states; each of these is a
    product of the state itself and of all attributes below.
    """
    found: list[Node] = []

    def put(first: Any, second: Any) -> int:
        found.append((first, second))
        return len(found) - 1

    tops = []
    for tree, own in zip(parents, tables, strict=True):
        order = [a for a, parent in enumerate(tree) if parent < 0]
        below: dict[int, list[int]] = {a: [] for a in range(-1, len(tree))}
        for a, parent in enumerate(tree):
            below[parent].append(a)
        for a in order:
            order += below[a]
        given: dict[int, list[int]] = {}
        for a in reversed(order):
            if not below[a]:
                given[a] = [put(a, row) for row in own[a]]
                continue
            size = len(own[a][0])
            alone = [put(a, [_ONE * (s == t) for t in range(size)]) for s in range(size)]
            states = [put([alone[s], *(given[c][s] for c in below[a])], None) for s in range(size)]
            given[a] = [put(states, row) for row in own[a]]
        tops.append(put([given[a][0] for a in below[-1]], None))
    put(tops, weights)
    return found
