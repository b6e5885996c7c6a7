"""The nodes of circuits, and their validation: order, scopes, weights."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cpx.data.fitted.message_passing import ONE
from cpx.errors import DataError, shown
from cpx.support.validation import entries, integer_in

__all__ = [
    "InnerNode",
    "LeafNode",
    "Node",
    "checked_nodes",
    "quantised_shares",
    "scope_of",
    "sizes_of",
]

_NEAR = 1e-6
"""By how much the sum of weights may differ from 1."""

_SHAPES = ({"attribute", "probabilities"}, {"product"}, {"sum", "weights"})


class LeafNode(NamedTuple):
    """The distribution of one attribute: integers over 2**30, by state."""

    attribute: int
    table: tuple[int, ...]


class InnerNode(NamedTuple):
    """A product of nodes over different attributes, or a mixture of nodes over the same ones.

    weights: Integers over 2**30; None for a product.
    """

    children: tuple[int, ...]
    weights: tuple[int, ...] | None


Node = LeafNode | InnerNode


def quantised_shares(what: str, values: Sequence[float]) -> tuple[int, ...]:
    """Return numbers that sum to 1 as integers that sum to 2**30; what is above 0 stays so.

    what: Named in messages.
    """
    total = math.fsum(values)
    if abs(total - 1) > _NEAR:
        raise DataError(f"{what} have the sum {total:.9g}, 1 is expected")
    shares = [0 if not v else max(1, round(v / total * ONE)) for v in values]
    shares[shares.index(max(shares))] += ONE - sum(shares)
    return tuple(shares)


def checked_nodes(given: Any) -> tuple[tuple[Node, ...], tuple[int, ...]]:
    """Return the nodes of a circuit, and how many states each attribute has.

    Raises DataError: Naming the node that is wrong.
    """
    found: list[Node] = []
    scopes: list[int] = []
    for n, value in enumerate(entries("nodes", given, "objects", error=DataError)):
        what = f"nodes[{n}]"
        node = _read(what, value, n)
        found.append(node)
        scopes.append(scope_of(what, node, scopes))
    if not found:
        raise DataError("nodes has no nodes")
    return tuple(found), sizes_of(found, scopes[-1])


def sizes_of(nodes: Sequence[Node], scope: int) -> tuple[int, ...]:
    """Return how many states each attribute has; the last node is over those of the scope.

    Raises DataError: Where an attribute has other numbers of states in other leaves, or is not
        among those of the last node.
    """
    sizes: dict[int, int] = {}
    for node in nodes:
        if isinstance(node, LeafNode):
            a, size = node.attribute, len(node.table)
            if sizes.setdefault(a, size) != size:
                raise DataError(
                    f"attribute {a} has {sizes[a]} states in a leaf, {size} in another"
                )
    if lacking := [a for a in range(max(sizes) + 1) if not scope >> a & 1]:
        raise DataError(
            f"the last node of a circuit must be over all attributes, attribute {lacking[0]} is "
            "not among its own"
        )
    return tuple(sizes[a] for a in range(len(sizes)))


def scope_of(what: str, node: Node, scopes: Sequence[int]) -> int:
    """Return the attributes of a node as bits; those of its children are known.

    Raises DataError: Where a product is not decomposable, or a sum not smooth.
    """
    if isinstance(node, LeafNode):
        return 1 << node.attribute
    whole = scopes[node.children[0]]
    for c in node.children[1:]:
        own = scopes[c]
        if node.weights is None:
            if whole & own:
                raise DataError(
                    f"{what} is not decomposable: attribute {_lowest(whole & own)} is in several "
                    "of its children"
                )
            whole |= own
        elif own != whole:
            raise DataError(
                f"{what} is not smooth: attribute {_lowest(whole ^ own)} is in some of its "
                "children only"
            )
    return whole


def _read(what: str, value: Any, n: int) -> Node:
    if not isinstance(value, Mapping) or {*value} not in _SHAPES:
        raise DataError(
            f"{what} must be {{attribute, probabilities}}, {{product}} or {{sum, weights}}, got "
            f"{shown(value)}"
        )
    if "attribute" in value:
        a = integer_in(f"{what}: attribute", value["attribute"], 0, 2**20, error=DataError)
        return LeafNode(a, _shares(f"{what}: probabilities", value["probabilities"]))
    key = "product" if "product" in value else "sum"
    children: Any = entries(f"{what}: {key}", value[key], "nodes", error=DataError)
    for c in children:
        if isinstance(c, bool) or not isinstance(c, int | np.integer) or not 0 <= c < n:
            raise DataError(
                f"{what}: {key} has the child {shown(c)}: the children of a node stand before it, "
                "so that there is no cycle"
            )
    own = tuple(map(int, children))
    if not own:
        raise DataError(f"{what}: {key} has no children")
    if key == "product":
        return InnerNode(own, None)
    weights = _shares(f"{what}: weights", value["weights"])
    if len(weights) != len(own):
        raise DataError(f"{what} has {len(own)} children and {len(weights)} weights")
    return InnerNode(own, weights)


def _shares(what: str, values: Any) -> tuple[int, ...]:
    """Return integers that sum to 2**30: these, or numbers that sum to 1 as these."""
    given: Any = entries(what, values, "numbers", error=DataError)
    if not given:
        raise DataError(f"{what} has no entries")
    for v in given:
        real = isinstance(v, int | float | np.integer | np.floating) and not isinstance(v, bool)
        if not real or not 0 <= v <= ONE:
            raise DataError(f"{what} must be probabilities, got {shown(v)}")
    if sum(given) == ONE and all(isinstance(v, int | np.integer) for v in given):
        return tuple(map(int, given))
    return quantised_shares(what, list(map(float, given)))


def _lowest(scope: int) -> int:
    return (scope & -scope).bit_length() - 1
