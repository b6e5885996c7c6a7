"""Totalizer encodings of weighted sums as clauses, with upper bounds tightened incrementally.

Two encodings of ``sum weight * literal``, both one-sided (the outputs are forced up by the
inputs, never down), both built once for a maximum value of interest:

- the generalised totalizer: one output per attainable sum. Propagates best; its size is up
  to quadratic in that value;
- the modulo totalizer: the sum in the number system of a base, one totalizer per digit with
  carries. Of size near ``n * base``, for when the other would be too large.

References
----------
S. Joshi, R. Martins, V. Manquinho: Generalized Totalizer Encoding for Pseudo-Boolean
Constraints, CP 2015. T. Ogawa, Y. Liu, R. Hasegawa, M. Koshimura, H. Fujita: Modulo Based
CNF Encoding of Cardinality Constraints and Its Application to MaxSAT Solvers, ICTAI 2013.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise

__all__ = ["GeneralisedTotalizer", "ModuloTotalizer", "generalised_size", "sum_encoding"]

Add = Callable[[list[int]], None]
New = Callable[[], int]
# A node: attainable sum > 0 -> the literal that says "at least this much".
Node = dict[int, int]

# About the number of clauses that are built and loaded in one or two seconds.
_CLAUSE_LIMIT = 800_000
_BASES = (128, 64, 32, 16, 8, 4)


def sum_encoding(
    weights: Mapping[int, int], cap: int, new: New, add: Add, limit: int = _CLAUSE_LIMIT
) -> GeneralisedTotalizer | ModuloTotalizer:
    """Encode the sum by whichever encoding fits into ``limit`` clauses.

    weights: Literal to weight > 0.
    cap: Sums of ``cap`` and more need not be distinguished; > 0.
    new: Returns a fresh variable.
    add: Takes each clause.
    limit: Number of clauses above which the next smaller encoding is taken.

    >>> from itertools import count
    >>> clauses = []
    >>> total = sum_encoding({1: 2, 2: 3}, 5, count(3).__next__, clauses.append)
    >>> total.at_most(4)
    [-5]
    >>> clauses
    [[-2, 4], [-1, 3], [-1, -2, 5], [-4, 3], [-5, 4]]
    """
    if generalised_size(list(weights.values()), cap) <= limit:
        return GeneralisedTotalizer(weights, cap, new, add)
    base = next(
        (b for b in _BASES if _modulo_size(list(weights.values()), cap, b) <= limit), _BASES[-1]
    )
    return ModuloTotalizer(weights, cap, base, new, add)


class GeneralisedTotalizer:
    """The sum as a sorted list of attainable values, each with a literal."""

    def __init__(self, weights: Mapping[int, int], cap: int, new: New, add: Add) -> None:
        # Neighbours of equal weight keep the number of attainable sums small.
        by_weight = sorted(weights.items(), key=lambda item: item[1])
        leaves = [{min(weight, cap): literal} for literal, weight in by_weight]
        self._root = _merged(leaves, lambda a, b: _merge(a, b, cap, new, add))
        self._values = sorted(self._root)

    def at_most(self, bound: int) -> list[int]:
        """Return assumptions under which the sum is at most ``bound`` < cap."""
        place = bisect_right(self._values, bound)
        return [] if place == len(self._values) else [-self._root[self._values[place]]]


class ModuloTotalizer:
    """The sum as digits to a base: remainders in unary, the top digit unbounded."""

    def __init__(
        self, weights: Mapping[int, int], cap: int, base: int, new: New, add: Add
    ) -> None:
        self._base, self._new, self._add = base, new, add
        self._digits: list[Node] = []
        inputs = [(literal, min(weight, cap)) for literal, weight in weights.items()]
        for _ in range(_digit_count(cap, base) - 1):
            carries: list[tuple[int, int]] = []
            leaves = [dict.fromkeys(range(1, w % base + 1), x) for x, w in inputs if w % base]
            self._digits.append(_merged(leaves, partial(self._merge_modulo, carries)))
            # A carry is worth one unit of the next digit.
            inputs = [(x, w // base) for x, w in inputs if w >= base] + carries
        cap = cap // base ** len(self._digits) + 1
        leaves = [{min(w, cap): x} for x, w in sorted(inputs, key=lambda item: item[1])]
        self._digits.append(_merged(leaves, lambda a, b: _merge(a, b, cap, new, add)))

    def at_most(self, bound: int) -> list[int]:
        """Return assumptions under which the sum is at most ``bound`` < cap."""
        # The digits exceed those of the bound when, after an equal start, one is greater.
        selector = self._new()
        prefix = [-selector]
        for place in range(len(self._digits) - 1, -1, -1):
            digit = self._digits[place]
            allowed = bound // self._base**place
            bound %= self._base**place
            above = [value for value in digit if value > allowed]
            if above:
                self._add([*prefix, -digit[min(above)]])
            reached = [value for value in digit if value >= allowed]
            if allowed and not reached:
                break  # this digit stays below the bound's, whatever follows
            if allowed:
                prefix = [*prefix, -digit[min(reached)]]
        return [selector]

    def _merge_modulo(self, carries: list[tuple[int, int]], a: Node, b: Node) -> Node:
        base, add = self._base, self._add
        most = max(a) + max(b)
        carry = [self._new()] if most >= base else []
        carries += [(literal, 1) for literal in carry]
        out = {value: self._new() for value in range(1, min(most, base - 1) + 1)}
        for i, x in [(0, 0), *a.items()]:
            for j, y in [(0, 0), *b.items()]:
                reasons = [-literal for literal in (x, y) if literal]
                total = i + j
                if 0 < total < base:
                    add([*reasons, out[total], *carry])
                elif total == base:
                    add([*reasons, *carry])
                elif total > base:
                    add([*reasons, out[total - base]])
        _order(out, add)
        return out


def _merged(nodes: list[Node], merge: Callable[[Node, Node], Node]) -> Node:
    """Merge neighbours pairwise until one node is left; an empty sum has no values."""
    while len(nodes) > 1:
        pairs = [merge(a, b) for a, b in zip(nodes[::2], nodes[1::2], strict=False)]
        nodes = pairs + nodes[len(pairs) * 2 :]
    return nodes[0] if nodes else {}


def _merge(a: Node, b: Node, cap: int, new: New, add: Add) -> Node:
    sums = {min(i + j, cap) for i in (0, *a) for j in (0, *b)} - {0}
    out = {value: new() for value in sorted(sums)}
    ordered = [(0, 0), *sorted(b.items())]
    for i, x in [(0, 0), *a.items()]:
        for j, y in ordered:
            if i or j:
                add([-literal for literal in (x, y) if literal] + [out[min(i + j, cap)]])
            if i + j >= cap:
                break  # greater j say no more: outputs of b are ordered
    _order(out, add)
    return out


def _order(out: Node, add: Add) -> None:
    values = sorted(out)
    for low, high in pairwise(values):
        add([-out[high], out[low]])


def _digit_count(cap: int, base: int) -> int:
    count = 1
    while cap >= base:
        cap //= base
        count += 1
    return count


def generalised_size(weights: list[int], cap: int) -> int:
    """Return an upper bound on the clauses of the generalised totalizer.

    The number of attainable sums of a node is at most the product of its children's, its
    total weight over the greatest common divisor (1 here) and the cap.
    """
    nodes = [(1, weight) for weight in sorted(weights)]
    clauses = 0
    while len(nodes) > 1:
        merged = []
        for (a, s), (b, t) in zip(nodes[::2], nodes[1::2], strict=False):
            pairs = (a + 1) * (b + 1)
            clauses += pairs
            merged.append((min(pairs - 1, s + t, cap), s + t))
        nodes = merged + nodes[len(merged) * 2 :]
    return clauses


def _modulo_size(weights: list[int], cap: int, base: int) -> int:
    """Return about the number of clauses of the modulo totalizer."""
    clauses, inputs = 0, [min(weight, cap) for weight in weights]
    for _ in range(_digit_count(cap, base) - 1):
        digits = [w % base for w in inputs if w % base]
        carries = 0
        while len(digits) > 1:
            merged = []
            for a, b in zip(digits[::2], digits[1::2], strict=False):
                clauses += (a + 1) * (b + 1)
                carries += a + b >= base
                merged.append(min(a + b, base - 1))
            digits = merged + digits[len(merged) * 2 :]
        inputs = [w // base for w in inputs if w >= base] + [1] * carries
        cap //= base
    return clauses + generalised_size(inputs, cap + 1)
