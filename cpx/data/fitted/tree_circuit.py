"""Mixtures of trees as circuits."""

from __future__ import annotations

from collections.abc import Sequence

from cpx.data.fitted.circuit import Circuit
from cpx.data.fitted.circuit_nodes import InnerNode, LeafNode, Node
from cpx.data.fitted.message_passing import ONE, Forest


def circuit_of(
    weights: Sequence[int], forests: Sequence[Forest], cardinalities: Sequence[int]
) -> Circuit:
    """Return a mixture of forests as a circuit.

    An attribute with others below it has for each of its states a product: the state itself, and
    what depends on it. For each state of its parent it has a sum of these.

    >>> import numpy as np
    >>> half, most = ONE // 2, 3 * ONE // 4
    >>> tables = np.array([[half, half]]), np.array([[most, ONE - most], [ONE - most, most]])
    >>> coins = circuit_of([ONE], [Forest([-1, 0], tables)], [2, 2])
    >>> coins, coins.exact_marginal([1, 1], [0, 1])
    (<Circuit: 7 nodes, 2 attributes>, Fraction(3, 8))
    """
    nodes: list[Node] = []
    parents = {a for forest in forests for a in forest.parents}

    def add(node: Node) -> int:
        nodes.append(node)
        return len(nodes) - 1

    states = [
        [
            add(LeafNode(a, tuple(ONE * (s == own) for s in range(size)))) if a in parents else -1
            for own in range(size)
        ]
        for a, size in enumerate(cardinalities)
    ]
    roots = []
    for forest in forests:
        # Of each attribute, by the state of its parent.
        by_parent: dict[int, list[int]] = {}
        for a in reversed(forest.order):
            rows = [tuple(row) for row in forest.tables[a].tolist()]
            below = forest.children[a]
            if not below:
                by_parent[a] = [add(LeafNode(a, row)) for row in rows]
                continue
            products = tuple(
                add(InnerNode((own, *(by_parent[c][s] for c in below)), None))
                for s, own in enumerate(states[a])
            )
            by_parent[a] = [add(InnerNode(products, row)) for row in rows]
        tops = [by_parent[a][0] for a, parent in enumerate(forest.parents) if parent < 0]
        roots.append(tops[0] if len(tops) == 1 else add(InnerNode(tuple(tops), None)))
    if len(roots) > 1:
        add(InnerNode(tuple(roots), tuple(weights)))
    return Circuit.of_checked(nodes, cardinalities)
