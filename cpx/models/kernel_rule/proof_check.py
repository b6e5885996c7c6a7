"""Proofs about rules of kernel machines: branching on rows, and prices of rows in the leaves.

A proof whose first line is ``clauses`` is one of :mod:`~cpx.models.kernel_rule.proof_formulas`.
Others are trees of :mod:`~cpx.check.proofs.branching`, of rows in place of features: a row that is
kept is one that some clause is true of, and no clause is true of a row that is left out. A leaf is

- ``prices D E t i p i p ...``: whole numbers in units of E/D, which may be negative, but for the
  rows: p is the price of row i, and no clause is worth more than t.

After it follow the lines of a proof of kind ``monomial`` about all clauses, that none is.

Proof. Let w be the weight of a row. A kept row counts w, which is at most p + n (w - p) for a
price p up to w if n >= 1 clauses are true of it. A free row counts w or nothing: at most
p + n (w - p) for a price from 0 to w if w is positive, and at most n w / K if it is not, for a
formula has K clauses at most. So a formula is worth no more than all prices, and t for each of its
clauses, of which there is one at least, where t bounds the sum of all w - p and w / K over the
rows that a clause is true of. Clauses that are true of a row that is left out do not count. All
weights are rounded up to whole numbers.

Side constraints are not looked at: what bounds all formulas bounds those that keep them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.check.proofs.branching import Part, SideConstraints, walk
from cpx.check.proofs.document import (
    Document,
    Refused,
    Undecided,
    refuse_unknown,
    signed_number,
    whole_numbers,
)
from cpx.models.kernel_rule.judge import KINDS
from cpx.models.kernel_rule.proof_formulas import check_formulas
from cpx.models.monomial.proof_boxes import Box
from cpx.models.monomial.proof_check import check_box, root_box
from cpx.models.monomial.proof_goals import Goal

__all__ = ["KINDS", "NAME", "Clauses", "check"]

NAME = "kernel-rule"

Ints = NDArray[np.int64]

_INSTANCE = {"samples", "weights", "features", "where"}
_PARAMETERS = {"max_clauses", "max_literals", "unit"}

_LARGEST = 2**53


class Clauses:
    """The clauses of an instance, and what they gain and cost in some unit.

    table: shape (rows, features)
    most: Clauses of a formula.
    literals: Features of a clause, at most.
    weights: Of either sign.
    """

    def __init__(self, instance: Mapping[str, Any]) -> None:
        refuse_unknown(instance, _INSTANCE, _PARAMETERS)
        rows, parameters = instance["samples"], instance["parameters"]
        self.table = np.array([[bit == "1" for bit in row] for row in rows], dtype=np.bool_)
        self.weights = np.array(instance["weights"], dtype=np.int64)
        self.positive = self.weights > 0
        self.most = int(parameters["max_clauses"])
        self.literals = int(parameters["max_literals"])

    def scaled(self, unit: Fraction, part: Part) -> tuple[Ints, Ints]:
        """Return in a unit what rows count if kept or positive, and what free others cost."""
        counts = [-(-w // unit) for w in self.weights.tolist()]
        costs = [max(0, -w // (unit * self.most)) for w in self.weights.tolist()]
        if sum(map(abs, counts)) >= _LARGEST:
            raise Undecided("numbers are too large for the checker")
        whole = np.where(part.kept | (self.positive & part.free), counts, 0)
        return whole, np.where(part.free & ~self.positive, costs, 0)

    def bound(self, unit: Fraction, prices: Ints, worth: int) -> int:
        """Return what no formula exceeds, where no clause is worth more than ``worth``."""
        clauses = self.most if worth > 0 else 1
        return math.floor((int(prices.sum()) + clauses * worth) * unit)

    def box(self, unit: Fraction, part: Part, prices: Ints, worth: int) -> Box:
        """Return the box of all clauses, with the goal that none is worth more than ``worth``."""
        whole, costs = self.scaled(unit, part)
        rest, every = whole - prices, np.arange(self.table.shape[1])
        total = int(rest.sum())
        # What a clause covers of the rest, less the costs, is at most its worth.
        goal = Goal(1, 1, total, max(0, total - worth))
        costs = np.where(part.out, goal.target, costs)
        if max(abs(worth), float(np.sum(costs, dtype=np.float64))) >= _LARGEST:
            raise Undecided("numbers are too large for the checker")
        box, _ = root_box(self.table, costs, rest, every, every, self.literals, goal)
        return box


def check(instance: Mapping[str, Any], document: Document) -> None:
    """Refuse a proof that does not prove its claim about an instance."""
    clauses, claim = Clauses(instance), document.claim.bound
    if not isinstance(claim, int):
        raise Refused("header: the objective is an integer, and no rule refutes all formulas")

    def leaf(part: Part, rule: str, words: list[str]) -> None:
        if rule != "prices" or len(words) < 3 or len(words) % 2 == 0:
            raise Refused(f"{rule[:20]!r} is no rule, or its numbers are not complete")
        (over, under), worth = whole_numbers(words[:2]), signed_number(words[2])
        if not over or not under:
            raise Refused("the unit is not above 0")
        unit = Fraction(under, over)
        whole, _ = clauses.scaled(unit, part)
        prices = np.where(part.kept, whole, 0)
        rows = whole_numbers(words[3::2])
        for row, price in zip(rows, map(signed_number, words[4::2]), strict=True):
            free = row < whole.size and part.free[row] and price >= 0
            if not (free or (row < whole.size and part.kept[row])) or price > whole[row]:
                raise Refused(f"row {row} has no such price")
            prices[row] = price
        if sum(map(abs, prices.tolist())) >= _LARGEST:
            raise Undecided("numbers are too large for the checker")
        if (reached := clauses.bound(unit, prices, worth)) > claim:
            raise Refused(f"the bound is {reached}")
        # The clause without features, which the box is not about, is none.
        root = clauses.box(unit, part, prices, worth)
        check_box(root, document, root.goal)

    words = document.line()
    if words == ["clauses"]:
        check_formulas(instance, document)
    else:
        none = np.zeros(clauses.positive.size, dtype=np.bool_)
        walk(Part(none, none), words, document, SideConstraints({}), leaf)
    document.end()
