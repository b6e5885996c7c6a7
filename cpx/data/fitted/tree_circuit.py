"""Mixtures of trees as circuits."""

from __future__ import annotations

from cpx.data.fitted.circuit import Circuit
from cpx.data.fitted.circuit_nodes import InnerNode, LeafNode, Node
from cpx.data.fitted.message_passing import ONE
from cpx.data.fitted.tree_mixture import TreeMixture


def circuit_of(mixture: TreeMixture) -> Circuit:
    """Return the same distribution as a circuit.

    An attribute with others below it has for each of its states a product: the state itself, and
    what depends on it. For each state of its parent it has a sum of these.

    >>> half, most = ONE // 2, 3 * ONE // 4
    >>> coins = TreeMixture([ONE], [[-1, 0]],
    ...                     [[[[half, half]], [[most, ONE - most], [ONE - most, most]]]])
    >>> circuit_of(coins), circuit_of(coins).exact_marginal([1, 1], [0, 1])
    (<Circuit: 7 nodes, 2 attributes>, Fraction(3, 8))
    """
    nodes: list[Node] = []

    def add(node: Node) -> int:
        nodes.append(node)
        return len(nodes) - 1

    states = [
        [
            add(LeafNode(a, tuple(ONE * (s == own) for s in range(size)))) if inner else -1
            for own in range(size)
        ]
        for a, (size, inner) in enumerate(zip(mixture.cardinalities, _inner(mixture), strict=True))
    ]
    roots = []
    for forest in mixture.forests:
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
        add(InnerNode(tuple(roots), tuple(mixture.weights.tolist())))
    return Circuit.of_checked(nodes, mixture.cardinalities)


def _inner(mixture: TreeMixture) -> list[bool]:
    """Return which attributes others depend on, in some component."""
    parents = {a for tree in mixture.parents.tolist() for a in tree}
    return [a in parents for a in range(mixture.n_attributes)]
