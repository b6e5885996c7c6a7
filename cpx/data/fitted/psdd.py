"""Text of PSDDs, as Juice.jl writes it, read as circuits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from cpx.data.fitted.circuit import Circuit
from cpx.data.fitted.circuit_nodes import (
    InnerNode,
    LeafNode,
    Node,
    quantised_shares,
    scope_of,
    sizes_of,
)
from cpx.data.fitted.message_passing import ONE
from cpx.errors import DataError, shown

__all__ = ["read_psdd"]

Adds = Callable[[str, Node], int]
"""Adds a node, which is named in messages; returns its place."""


def read_psdd(lines: Iterable[str]) -> Circuit:
    """Read a probabilistic sentential decision diagram from the lines of its text.

    ``L id vtree literal`` is a variable with a value, ``T id vtree variable log(p)`` a variable
    that is 1 with the probability p, and ``D id vtree n (prime sub log(p))*`` a decision: a
    sum of n products. Variables are numbered from 1 and become the attributes 0, 1, ..., of the
    states 0 and 1. Nodes stand after their children, the root is the last. Parameters are rounded
    to multiples of 2**-30.

    Raises
    ------
    DataError
        Naming the line that is wrong.

    Examples
    --------
    >>> coins = read_psdd(["psdd 4", "L 0 0 1", "L 1 0 -1", "T 2 1 2 -0.5", "D 3 2 2 0 2 -0.7 "
    ...                    "1 2 -0.68634"])
    >>> coins, round(float(coins.exact_marginal([1, 0], [0, 1])), 4)
    (<Circuit: 6 nodes, 2 attributes>, 0.1954)
    """
    nodes: list[Node] = []
    scopes: list[int] = []
    place: dict[str, int] = {}

    def add(what: str, node: Node) -> int:
        scopes.append(scope_of(what, node, scopes))
        nodes.append(node)
        return len(nodes) - 1

    for number, line in enumerate(lines, start=1):
        kind, *rest = line.split() or ["c"]
        if kind in ("c", "psdd"):
            continue
        what = f"line {number}"
        if kind not in ("L", "T", "D") or len(rest) < 3:
            raise DataError(f"{what} is no line of a PSDD: {shown(line)}")
        own, _, argument, *more = rest
        if own in place:
            raise DataError(f"{what}: the node {own} is there already")
        if kind == "D":
            place[own] = _decision(what, argument, more, place, add)
            continue
        variable = _integer(what, argument)
        if not variable or (kind == "T" and (variable < 0 or len(more) != 1)):
            raise DataError(f"{what} is no line of a PSDD: {shown(line)}")
        p = _probability(what, more[0]) if kind == "T" else float(variable > 0)
        table = quantised_shares(what, [1 - p, p])
        place[own] = add(what, LeafNode(abs(variable) - 1, table))
    if not nodes:
        raise DataError("there are no nodes: neither JSON of a circuit nor a PSDD")
    return Circuit.of_checked(nodes, sizes_of(nodes, scopes[-1]))


def _decision(what: str, count: str, elements: list[str], place: dict[str, int], add: Adds) -> int:
    """Add the nodes of a decision; return the last of them."""
    n = _integer(what, count)
    if n < 1 or len(elements) != 3 * n:
        raise DataError(f"{what} must have {max(n, 1)} elements of three numbers each")
    products, weights = [], []
    for prime, sub, log_p in zip(elements[::3], elements[1::3], elements[2::3], strict=True):
        for child in (prime, sub):
            if child not in place:
                raise DataError(
                    f"{what} has the child {shown(child)}, which does not stand before it: "
                    "children come first, so that there is no cycle"
                )
        products.append(add(what, InnerNode((place[prime], place[sub]), None)))
        weights.append(_probability(what, log_p))
    shares = quantised_shares(f"{what}: its probabilities", weights)
    return products[0] if shares == (ONE,) else add(what, InnerNode(tuple(products), shares))


def _integer(what: str, text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        raise DataError(f"{what}: {shown(text)} is no integer") from None
    if abs(value) > 2**20:
        raise DataError(f"{what}: {shown(text)} is too large")
    return value


def _probability(what: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not value <= 1e-9:
        raise DataError(f"{what}: {shown(text)} is no logarithm of a probability")
    return min(1.0, math.exp(value))
