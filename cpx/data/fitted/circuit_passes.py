"""Passes over circuits: values of events up to the last node, and beliefs down from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cpx.compiled.kernel import Bytes, Bytes2, Floats, Ints, kernel
from cpx.data.fitted.circuit_nodes import InnerNode, LeafNode, Node
from cpx.data.fitted.message_passing import ONE

LEAF, PRODUCT, SUM = 0, 1, 2
"""Kinds of nodes."""

STEP = 256
"""Values are numbers of floats times 2**(STEP power): thousands of probabilities make no 0."""


_NO_CHILDREN = InnerNode((), None)


class Nodes(NamedTuple):
    """The nodes of a circuit, children before parents.

    kind: Of each node.
    first: Where its children begin, and their number.
    child: The children of all nodes.
    weight: Their weights; 1 in products.
    attribute, state: Of a leaf: the attribute, and its first state among those of all attributes;
        -1 for others.
    entry, table: Where its probabilities begin, and those of all leaves.
    size: Number of states of the attribute; 0 for others.
    """

    kind: Bytes
    first: Ints
    child: Ints
    weight: Floats
    attribute: Ints
    state: Ints
    entry: Ints
    size: Ints
    table: Floats

    @classmethod
    def of(cls, nodes: Sequence[Node], offsets: NDArray[np.int64]) -> Nodes:
        """Return the arrays of nodes, whose attributes' states begin there."""
        leaves = [node if isinstance(node, LeafNode) else None for node in nodes]
        inner = [node if isinstance(node, InnerNode) else _NO_CHILDREN for node in nodes]
        weights = [
            [ONE] * len(node.children) if node.weights is None else node.weights for node in inner
        ]
        kind = [
            LEAF if leaf else PRODUCT if node.weights is None else SUM
            for leaf, node in zip(leaves, inner, strict=True)
        ]
        attribute = np.array([leaf.attribute if leaf else -1 for leaf in leaves])
        size = np.array([len(leaf.table) if leaf else 0 for leaf in leaves])
        return cls(
            kind=np.array(kind, dtype=np.uint8),
            first=np.cumsum([0, *(len(node.children) for node in inner)]),
            child=np.array([c for node in inner for c in node.children], dtype=np.int64),
            weight=np.array([w for own in weights for w in own], dtype=np.float64) / ONE,
            attribute=attribute,
            state=np.where(attribute < 0, -1, offsets[attribute]),
            entry=np.cumsum(size) - size,
            size=size,
            table=np.array([p for leaf in leaves if leaf for p in leaf.table], dtype=np.float64)
            / ONE,
        )


class Room(NamedTuple):
    """Room for one event.

    value, power: The value of each node, ``value * 2**(STEP power)``.
    share: What part of its parent's value a child of a sum has.
    flow: How probable it is that a node is drawn.
    """

    value: Floats
    power: Ints
    share: Floats
    flow: Floats

    @classmethod
    def of(cls, nodes: Nodes) -> Room:
        """Return room for the nodes."""
        n, edges = len(nodes.kind), len(nodes.child)
        return cls(np.zeros(n), np.zeros(n, dtype=np.int64), np.zeros(edges), np.zeros(n))


@kernel
def event_values(nodes: Nodes, room: Room, allowed: Bytes2, value: Floats, power: Ints) -> None:
    """Write the probability of each event; of the last one ``room`` has values and shares.

    allowed: For each event, which states of all attributes it allows.
    """


@kernel
def conditionals(nodes: Nodes, room: Room, allowed: Bytes2, found: Floats) -> bool:
    """Write how probable each state is given each event; False where one has the probability 0."""
