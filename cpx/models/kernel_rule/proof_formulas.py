"""Proofs about kernel rules of several clauses: a list of all clauses, and branch and bound.

All clauses are gone through, and those are kept that a better formula may need. A proof begins
with the line ``clauses``. Then comes a tree of :class:`Node`, one line for each, a node before its
parts:

- ``shares b a ... s ...``: with these multipliers (:meth:`Node.bound`) no formula of the node is
  better than the goal; or else some clauses are in none that is, and the next line is about the
  others;
- ``open b a ... s ...``: with these multipliers none is better than the claim;
- ``row i``: the formulas that pay for row i, of negative weight, follow, then those with no clause
  that is true of it;
- ``clause j k ...``: the formulas with this clause follow, then those without it;
- ``alone``: no clause is left, or one more may be chosen at most, and all of these are looked at.

A clause *dominates* another one if it is true of all its positive rows and of no other negative
ones. Proof that others need not be looked at: with the one that dominates in its place a formula
is worth no less. So if some formula is better, one without dominated clauses is, and stays in one
of the parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.check.proofs.document import Document, Refused, Undecided, whole_numbers
from cpx.models.monomial.proof_check import distinct

__all__ = ["Formulas", "Node", "check_formulas"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

_BITS = 52
_MOST_LOOKED, _MOST_ENTRIES = 2**20, 2**27
# Of all clauses that are looked at, a bit for each row.
_MOST_BYTES = 2**29
_MOST_SHARE, _MOST_BITS = 2**20, 40
# Clauses weighed at once, and those that are looked at for dominated ones.
_AT_ONCE, _BEST = 4096, 1000


class Formulas:
    """The clauses of an instance that formulas better than some value may need.

    Rows with the same features are one, with the sum of their weights. The instance is one that
    :class:`~cpx.models.kernel_rule.proof_check.Clauses` takes.

    inside, outside: The rows of positive, and of negative weight that each clause is true of.
    clauses: The features of each, behind some -1.
    gains, costs: The weights of these rows, in units of 1 / ``scale``.
    others: The first number of each row of negative weight.
    tables: The rows of positive, and of negative weight themselves.
    most: Clauses of a formula.
    """

    def __init__(self, instance: Mapping[str, Any], value: int) -> None:
        table = np.array([[bit == "1" for bit in row] for row in instance["samples"]], dtype=bool)
        first, of = distinct(np.packbits(table, axis=1))
        given: list[int] = instance["weights"]
        total = sum(map(abs, given))
        if total.bit_length() > _BITS:
            raise Undecided("weights are too large for the checker")
        self.scale = 1 << (_BITS - total.bit_length())
        weights = np.zeros(first.size, dtype=np.int64)
        np.add.at(weights, of, np.array(given, dtype=np.int64) * self.scale)
        order = np.argsort(first)
        plus, minus = (order[sign * weights[order] > 0] for sign in (1, -1))
        self.gains, self.costs = weights[plus], -weights[minus]
        self.others, self.tables = first[minus], (table[first[plus]], table[first[minus]])
        self.most = int(instance["parameters"]["max_clauses"])
        literals = int(instance["parameters"]["max_literals"])
        self.clauses, covers = _all_clauses(*self.tables, literals, empty=value < 0)
        self.inside, self.outside = covers
        paid = _weighed(self.outside, self.costs)
        if value < 0 and (_weighed(self.inside, self.gains) - paid > value * self.scale).any():
            raise Refused("a single clause is worth more")
        # What a formula pays for is at least what each of its clauses does.
        kept = self.inside.any(axis=1)
        kept &= paid < int(self.gains.sum()) - value * self.scale
        self.clauses = self.clauses[kept]
        self.inside, self.outside = self.inside[kept], self.outside[kept]

    def places(self, features: list[int]) -> Ints:
        """Return the clauses that are true of the same rows as that of some features."""
        if not features or max(features) >= self.tables[0].shape[1]:
            raise Refused("there is no such feature")
        inside, outside = (table[:, features].all(axis=1) for table in self.tables)
        same = (self.inside == inside).all(axis=1) & (self.outside == outside).all(axis=1)
        return np.flatnonzero(same)

    def root(self) -> Node:
        """Return the node of all formulas."""
        flags = (np.ones(n, dtype=np.bool_) for n in (*self.inside.shape, self.costs.size))
        allowed, rows, others = flags
        return Node(self, allowed, rows, others, 0, self.most, False)


def _all_clauses(
    inside: Bools, outside: Bools, literals: int, empty: bool
) -> tuple[Ints, tuple[Bools, Bools]]:
    """Return clauses that are true of different rows, and these rows.

    Those are left out that others dominate since a feature excludes no negative row, and, unless
    they are asked for, those that are true of no positive row: dropping them from a formula loses
    nothing, unless it has no other clause, and is worth less than nothing.
    """
    (p, d), q = inside.shape, len(outside)
    width = -(-p // 8)
    having = np.hstack([np.packbits(inside.T, axis=1), np.packbits(outside.T, axis=1)])
    names = np.full((1, literals), -1, dtype=np.int64)
    covers, looked = np.full((1, having.shape[1]), 255, dtype=np.uint8), 0
    found: list[tuple[Ints, NDArray[np.uint8]]] = [(names[:0], covers[:0])]
    for size in range(min(literals, d)):
        grown = [(names[:0], covers[:0])]
        for j in range(d):
            before = np.flatnonzero(names[:, -1] < j)
            looked += before.size
            if looked > _MOST_LOOKED or looked * having.shape[1] > _MOST_BYTES:
                raise Undecided("there are too many clauses for the checker")
            both = covers[before] & having[j]
            kept = np.ones(before.size, dtype=np.bool_) if empty else both[:, :width].any(axis=1)
            if size:
                kept &= (both[:, width:] != covers[before, width:]).any(axis=1)
            more = np.roll(names[before[kept]], -1, axis=1)
            more[:, -1] = j
            grown.append((more, both[kept]))
        names, covers = (np.concatenate(some) for some in zip(*grown, strict=True))
        found.append((names, covers))
        # What excludes all negative rows dominates what has more features.
        impure = covers[:, width:].any(axis=1)
        names, covers = names[impure], covers[impure]
    names, covers = (np.concatenate(some) for some in zip(*found, strict=True))
    first, _ = distinct(covers)
    if first.size * (p + q) > _MOST_ENTRIES:
        raise Undecided("there are too many clauses for the checker")
    names, covers = names[np.sort(first)], covers[np.sort(first)]
    one, two = (
        np.unpackbits(part, axis=1, count=count).view(np.bool_)
        for part, count in ((covers[:, :width], p), (covers[:, width:], q))
    )
    return names, (one, two)


def _weighed(covers: Bools, weights: Ints) -> Ints:
    """Return the weight of each set of rows: in floats, which are exact below 2**53 and fast."""
    parts = [
        covers[first : first + _AT_ONCE].astype(np.float64) @ weights.astype(np.float64)
        for first in range(0, len(covers), _AT_ONCE)
    ]
    return np.concatenate([np.zeros(0), *parts]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Node:
    """Formulas with some clauses, and up to ``left`` more of those that are allowed.

    allowed: Of all clauses.
    rows, others: Rows of positive weight that no chosen clause is true of, and rows of negative
        weight that are not paid for.
    value: What the rows that are decided are worth.
    chosen: Whether some clause is.
    """

    of: Formulas
    allowed: Bools
    rows: Bools
    others: Bools
    value: int
    left: int
    chosen: bool

    @cached_property
    def live(self) -> tuple[Ints, Ints]:
        """The rows that count, of either sign, that some allowed clause is true of."""
        rows = self.rows & self.of.inside[self.allowed].any(axis=0)
        others = self.others & self.of.outside[self.allowed].any(axis=0)
        return np.flatnonzero(rows), np.flatnonzero(others)

    def alone(self) -> int | None:
        """Return what the best formula is worth if one more clause is; None if there is none."""
        of, at = self.of, np.flatnonzero(self.allowed)
        best = [0] * self.chosen
        if at.size and self.left:
            gained = _weighed(of.inside[at] & self.rows, of.gains)
            paid = _weighed(of.outside[at] & self.others, of.costs)
            best.append(int((gained - paid).max()))
        return self.value + max(best) if best else None

    def bound(self, bits: int, portions: Ints, shares: Ints) -> tuple[int, Ints, int]:
        """Return a bound, what each allowed clause is worth at most, and what is beyond these.

        Row i has the price p_i, its gain times ``portions`` over 2**bits, and pays a share of each
        row of negative weight that is true of what gains it; the shares of a row add up to its
        cost at most.

        Proof. Let every row that is gained be counted for one clause that is true of it. A row of
        negative weight that this clause is true of is paid for, so that what the formula pays is
        at least all shares that its rows pay. So it is worth at most all p_i and, for each clause,
        the sum of what is above 0 of the gains less p_i less these shares. Of clauses that do not
        dominate each other there are ``left`` at most.
        """
        of, (rows, others) = self.of, self.live
        rest, paid = self.charged(bits, portions, shares)
        at, inside = np.flatnonzero(self.allowed), rest.astype(np.float64)
        outside, values = paid.astype(np.float64), np.zeros(at.size, dtype=np.int64)
        for first in range(0, at.size, _AT_ONCE):
            some = at[first : first + _AT_ONCE]
            left = inside - of.outside[np.ix_(some, others)].astype(np.float64) @ outside
            gained = np.maximum(left, 0) * of.inside[np.ix_(some, rows)]
            values[first : first + _AT_ONCE] = gained.sum(axis=1).astype(np.int64)
        return self.total(rest, values)

    def charged(self, bits: int, portions: Ints, shares: Ints) -> tuple[Ints, Ints]:
        """Return what the live rows gain beyond their prices, and their shares of the others."""
        rows, others = self.live
        gains, costs = self.of.gains[rows], self.of.costs[others]
        whole = np.maximum(shares.sum(axis=1), 1)
        return gains - (gains >> bits) * portions, (costs // whole)[:, None] * shares

    def total(self, rest: Ints, values: Ints) -> tuple[int, Ints, int]:
        """Return what :meth:`bound` does, for clauses of these values."""
        fixed = self.value + int((self.of.gains[self.live[0]] - rest).sum())
        best = self._best(np.flatnonzero(self.allowed), values)
        return fixed + sum(best), values, fixed + sum(best[: self.left - 1])

    def _best(self, at: Ints, values: Ints) -> list[int]:
        """Return the greatest values of clauses that do not dominate each other."""
        order = np.argsort(-values, kind="stable")
        near, best = order[:_BEST], list[int]()
        inside = self.of.inside[at[near]] & self.rows
        outside = self.of.outside[at[near]] & self.others
        free = np.ones(near.size, dtype=np.bool_)
        while free.any() and len(best) < self.left:
            first = int(free.argmax())
            best.append(int(values[near[first]]))
            beyond = (inside & ~inside[first]).any(axis=1)
            free &= beyond | (outside[first] & ~outside).any(axis=1)
            free[first] = False
        far = order[_BEST : _BEST + self.left - len(best)]
        return [*best, *values[far].tolist()]

    def without(self, clauses: Ints) -> Node:
        """Return the formulas without some clauses."""
        allowed = self.allowed.copy()
        allowed[clauses] = False
        return replace(self, allowed=allowed)

    def by_row(self, other: int) -> tuple[Node, Node]:
        """Return the formulas that pay for a row, and those with no clause that is true of it."""
        others = self.others.copy()
        others[other] = False
        paid = replace(self, others=others, value=self.value - int(self.of.costs[other]))
        return paid, self.without(np.flatnonzero(self.of.outside[:, other]))

    def by_clause(self, c: int) -> tuple[Node, Node]:
        """Return the formulas with a clause, and those without it and what it dominates."""
        of, inside, outside = self.of, self.of.inside[c], self.of.outside[c]
        value = self.value + int(of.gains[self.rows & inside].sum())
        value -= int(of.costs[self.others & outside].sum())
        with_it = replace(
            self.without(np.array([c])),
            rows=self.rows & ~inside,
            others=self.others & ~outside,
            value=value,
            left=self.left - 1,
            chosen=True,
        )
        at = np.flatnonzero(self.allowed)
        beyond = of.inside[np.ix_(at, self.rows & ~inside)].any(axis=1)
        beyond |= ~of.outside[np.ix_(at, self.others & outside)].all(axis=1)
        return with_it, self.without(at[~beyond])


def check_formulas(instance: Mapping[str, Any], document: Document) -> None:
    """Refuse the lines after the first one where they do not prove the claim."""
    goal, claim = document.goal.bound, document.claim.bound
    if not isinstance(goal, int) or not isinstance(claim, int) or claim < goal:
        raise Refused("header: the claim is no integer, or does not follow from the goal")
    formulas = Formulas(instance, goal)
    left = [formulas.root()]
    while left:
        node = left.pop()
        rule, *words = document.line()
        with document.named():
            if len(left) * node.allowed.size > _MOST_ENTRIES:
                raise Refused("too many clauses wait")
            left += _after(node, rule, whole_numbers(words), goal, claim)


def _after(node: Node, rule: str, numbers: list[int], goal: int, claim: int) -> list[Node]:
    """Return the nodes that the next lines are about, the first one last."""
    of = node.of
    if rule == "alone" and not numbers:
        if node.left > 1 and node.allowed.any():
            raise Refused("more clauses may be chosen")
        reached = node.alone()
        if reached is not None and reached > goal * of.scale:
            raise Refused("a formula is worth more")
        return []
    if rule == "row" and len(numbers) == 1:
        known = np.flatnonzero((of.others == numbers[0]) & node.others)
        if not known.size:
            raise Refused(f"row {numbers[0]} is not to be paid for")
        return [*reversed(node.by_row(int(known[0])))]
    if rule == "clause":
        found = of.places(numbers)
        found = found[node.allowed[found]]
        if not found.size or not node.left:
            raise Refused("there is no such clause, or it is decided")
        return [*reversed(node.by_clause(int(found[0])))]
    if rule not in ("shares", "open") or not numbers or not node.left:
        raise Refused(f"{rule[:20]!r} is no rule, or its numbers are not complete")
    bits, multipliers = numbers[0], np.array(numbers[1:], dtype=np.int64)
    rows, others = node.live
    if multipliers.size != rows.size * (1 + others.size) or bits > _MOST_BITS:
        raise Refused("there are not as many multipliers as rows")
    portions, shares = multipliers[: rows.size], multipliers[rows.size :]
    if (portions > 1 << bits).any() or (shares >= _MOST_SHARE).any():
        raise Refused("a multiplier is too large")
    bound, values, beyond = node.bound(bits, portions, shares.reshape(others.size, rows.size))
    most = claim if rule == "open" else goal
    if bound < (most + 1) * of.scale:
        return []
    if rule == "open":
        raise Refused(f"the bound is {bound // of.scale}")
    idle = np.flatnonzero(node.allowed)[values + beyond < (goal + 1) * of.scale]
    if not idle.size:
        raise Refused("all clauses may be needed")
    return [node.without(idle)]
