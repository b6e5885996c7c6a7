"""Proofs about minimum certificates: branching, and prices of bad samples in the leaves.

A *bad* sample is not of the class. Feature j excludes it where the sample does not agree on j; a
set covers the bad samples that none of its features excludes, and is a certificate if they weigh
no more than is tolerated. A proof is a tree of :mod:`~cpx.check.proofs.branching`, with three
rules:

- ``over``: the kept and free features together cover more than is tolerated, and so does each set;
- ``bound D t i y ...``: :meth:`Table.priced`, whole numbers in units of 1/D, bounds all sets;
- ``few``: :meth:`Table.box`, sets that cost less have few features, and all of these cover more
  than is tolerated, as the lines of a proof of :mod:`~cpx.models.monomial.proof_check` say that
  follow.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.check.proofs.branching import Part, SideConstraints, root_part, walk
from cpx.check.proofs.document import Document, Refused, Undecided, refuse_unknown, whole_numbers
from cpx.models.certificate.judge import KINDS
from cpx.models.monomial.judge import table as table_of
from cpx.models.monomial.proof_boxes import Box
from cpx.models.monomial.proof_check import check_box, root_box
from cpx.models.monomial.proof_goals import Goal

__all__ = ["KINDS", "NAME", "Table", "check"]

NAME = "certificate"

Ints = NDArray[np.int64]

_INSTANCE = {"samples", "labels", "weights", "features", "groups", "unseen", "where"}
_PARAMETERS = {"epsilon", "weights", "required", "forbidden"}

_LARGEST = 2**62


class Table:
    """What a proof needs of an instance.

    excludes (bad samples, features): Of the bad samples.
    rows: Their numbers in the instance.
    tolerated: The greatest weight of bad samples that a certificate may cover.
    costs: Of the features.
    """

    def __init__(self, instance: Mapping[str, Any]) -> None:
        refuse_unknown(instance, _INSTANCE, _PARAMETERS)
        parameters, (agrees, same, weights) = instance["parameters"], table_of(instance)
        self.rows = np.flatnonzero(~same)
        self.excludes, self.weights = ~agrees[self.rows], weights[self.rows]
        share = Fraction(parameters["epsilon"])
        self.tolerated = math.floor(share * int(weights.sum()))
        self.costs: list[int] = list(parameters.get("weights") or [1] * agrees.shape[1])
        self.root = root_part(agrees.shape[1], parameters)
        self.side = SideConstraints(instance)

    def over(self, part: Part) -> bool:
        """Whether no set of a part is a certificate: more features only cover less."""
        covered = ~self.excludes[:, ~part.out].any(axis=1)
        return int(self.weights[covered].sum()) > self.tolerated

    def priced(self, part: Part, unit: int, rate: int, prices: Ints) -> int:
        """Return a lower bound on what a certificate of a part costs.

        Proof. Let y be the price of a bad sample: at most ``rate`` times its weight, or anything
        where the sample alone weighs more than is tolerated, for no certificate covers it. If a
        set excludes a sample by n >= 1 features, y is at most n y; if not, the set covers it. So
        all prices together are at most the sum, over the features of the set, of the prices of
        what each excludes, plus ``rate`` times the covered weight, which is at most what is
        tolerated. What is left of the costs of features after that counts where they are kept;
        where they are free, at least what is below 0 does.
        """
        each: list[int] = prices.tolist()
        # Not by NumPy, whose sum of 64 bits may come round to a small number.
        if unit < 1 or (total := sum(each)) >= _LARGEST:
            raise Undecided("the unit is 0, or numbers are too large for the checker")
        pairs = zip(each, self.weights.tolist(), strict=True)
        if any(y > rate * w and w <= self.tolerated for y, w in pairs):
            raise Refused("a price is more than the rate times the weight of its sample")
        total -= rate * self.tolerated
        kept, free = part.kept.tolist(), part.free.tolist()
        for j, less in enumerate((prices @ self.excludes).tolist()):
            rest = self.costs[j] * unit - less
            if kept[j] or (free[j] and rest < 0):
                total += rest
        return -(-total // unit)

    def box(self, part: Part, bound: int) -> Box:
        """Return the box of all sets of a part that cost less, and some others.

        Proof. What a set costs beside the kept features is at least the sum of as many of the
        least costs of free ones. So a set of the part that costs less than the bound has at most
        r free features, with r the greatest number of least costs that is not too many. The goal
        of the box is that its sets cover more than is tolerated, so they are no certificates.
        """
        kept, free = np.flatnonzero(part.kept), np.flatnonzero(part.free)
        left = bound - sum(self.costs[j] for j in kept)
        if left <= 0:
            raise Refused("the kept features cost as much as the bound")
        sums = itertools.accumulate(sorted(self.costs[j] for j in free))
        covered = ~self.excludes[:, kept].any(axis=1)
        box, _ = root_box(
            ~self.excludes[covered],
            self.weights[covered],
            np.zeros(np.count_nonzero(covered), dtype=np.int64),
            free,
            np.arange(part.kept.size),
            sum(cost < left for cost in sums),
            Goal(1, 1, 0, self.tolerated + 1),
            tuple(kept.tolist()),
            self.side,
        )
        return box


def check(instance: Mapping[str, Any], document: Document) -> None:
    """Refuse a proof that does not prove its claim about an instance."""
    bound = document.claim.bound
    if isinstance(bound, Fraction):
        raise Refused("header: the objective is an integer")
    table = Table(instance)

    def leaf(part: Part, rule: str, words: list[str]) -> None:
        numbers = whole_numbers(words)
        if rule == "over":
            if numbers or not table.over(part):
                raise Refused("no more is covered than is tolerated")
            return
        if rule == "few" and not numbers and bound is not None:
            box = table.box(part, bound)
            box.refuse_chosen()
            check_box(box, document, box.goal)
            return
        if rule != "bound" or len(numbers) < 2 or len(numbers) % 2:
            raise Refused(f"{rule[:20]!r} is no rule, or its numbers are not complete")
        unit, rate, *pairs = numbers
        prices = np.zeros(table.rows.size, dtype=np.int64)
        place = {int(row): at for at, row in enumerate(table.rows)}
        for row, price in zip(pairs[::2], pairs[1::2], strict=True):
            if row not in place:
                raise Refused(f"sample {row} is not bad")
            prices[place[row]] = price
        reached = table.priced(part, unit, rate, prices)
        if bound is None or reached < bound:
            raise Refused(f"the bound is {reached}")

    if table.root is not None:
        walk(table.root, None, document, table.side, leaf)
    document.end()
