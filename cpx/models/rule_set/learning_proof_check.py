"""Proofs about sets of rules learned among all conjunctions: dual prices of samples.

A proof of the one line ``counted`` goes through the sets of all conjunctions that may cost less
than the claim, as proofs of selected rule sets do. The first lines of another one are

- ``up-to K``: the set without a rule, and those of more than K rules, are set aside; or, with the
  zero-one loss, ``rules K``, as older proofs have it, or, with Hamming loss, neither of these;
- ``prices D i y i y ...``: y is the price of good sample i, a whole number in units of 1/(D K),
  with Hamming loss of 1/D; it is not needed where K is 0.

Then follow the lines of a proof of kind ``monomial``, that no conjunction is worth more than its
price, after ``up-to`` that none is worth more than some B.

Proof, Hamming loss. A good sample costs its w if no rule covers it, at least y (1 - the number of
rules that do), for y <= w. So a set costs at least the sum P of all y, and for each of its rules
price + n - p, the bad weight n and the prices p that it covers. That is not negative where no
conjunction has p - n > price: every set costs P or more.

Zero-one loss. A set of K rules or fewer covers no sample more than K times: it costs no less if
each rule pays 1/K of the weight of each bad sample that it covers, and the above bounds this. A
set of more rules pays for K + 1, and for the errors that no set avoids; or one of them is of no
use, where there are no more than K different good samples.

After ``up-to K``. Where no conjunction is worth more than B, a set of s rules costs at least
P + s (price - B). Sets have 1 to K rules here: the least of these numbers is that of 1 or of K. It
reaches the claim if it is above the claim less 1, for costs are integers.

Side constraints are not looked at: what bounds all sets bounds those that keep them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.check.proofs.document import (
    Document,
    Refused,
    Undecided,
    refuse_unknown,
    whole_numbers,
)
from cpx.models.monomial.proof_boxes import Box
from cpx.models.monomial.proof_check import check_box, distinct, root_box
from cpx.models.monomial.proof_goals import Goal
from cpx.models.rule_set.judge import Learning
from cpx.models.rule_set.proof_nodes import Node, check_counted, root_of
from cpx.models.rule_set.proof_nodes import Table as Candidates

__all__ = ["KINDS", "NAME", "Table", "check"]

NAME = "rule-set-learning"
KINDS = ("rule-set-learning",)

Ints = NDArray[np.int64]

_INSTANCE = {"samples", "labels", "weights", "features", "groups", "where"}
_SELECTED = {"penalty", "loss", "class_weights"}
_PARAMETERS = {"max_literals", *_SELECTED}

_MOST_LISTED = 2**26
"""Conjunctions times samples that are counted."""


class Table:
    """What a proof needs of an instance: samples, what errors cost, and the price of a rule."""

    def __init__(self, instance: Mapping[str, Any]) -> None:
        refuse_unknown(instance, _INSTANCE, _PARAMETERS)
        self._instance, self._data = instance, Learning(instance)
        data = self._data
        self.literals, self.good, self.costs = data.literals, data.same, data.errors
        self.price, self.scale, self.hamming = data.price, data.price.denominator, data.hamming
        self.most: int = instance["parameters"]["max_literals"]

    def listed(self) -> int | None:
        """Return how many conjunctions there are; None where they are too many to be listed."""
        number = self._data.count()
        return number if number * len(self.good) <= _MOST_LISTED else None

    def all_sets(self) -> Node:
        """Return the sets of all conjunctions, as those of selected rules."""
        d, instance = self.literals.shape[1], self._instance
        sizes = range(min(self.most, d) + 1)
        asked = {key: some for key, some in instance["parameters"].items() if key in _SELECTED}
        asked["rules"] = [list(one) for size in sizes for one in combinations(range(d), size)]
        others = {key: some for key, some in instance.items() if key != "where"}
        root = root_of(Candidates({**others, "parameters": asked}))
        assert root is not None
        return root

    @cached_property
    def different(self) -> Ints:
        """What samples with the same literals cost together: the bad ones, then the good ones."""
        first, of = distinct(np.packbits(self.literals, axis=1))
        sums = np.zeros((2, first.size), dtype=np.int64)
        np.add.at(sums, (self.good.astype(int), of), self.costs)
        return sums

    def few_or(self, rules: int) -> int:
        """Return a lower bound on the objective of sets of more than so many rules, or of none.

        Without a rule all good samples are errors. Samples with the same literals are covered
        together. Where there are no more different good ones than rules, more rules are of no
        use: one of them covers none of these alone, and a set without it costs no more.
        """
        bad, good = self.different
        least = Fraction(int(good.sum()))
        if rules < np.count_nonzero(good):
            least = min(least, int(np.minimum(bad, good).sum()) + (rules + 1) * self.price)
        return math.ceil(least * self.scale)

    def bound(self, prices: Ints, unit: int) -> int:
        """Return the sum of prices in units of the objective, rounded up: it is an integer."""
        return math.ceil(Fraction(int(prices.sum()) * self.scale, unit))

    def most_worth(self, prices: Ints, unit: int, rules: int, claim: int) -> int:
        """Return what conjunctions may be worth if no set of 1 to so many rules is below a claim.

        In units of 1/unit, as prices are.
        """
        total = int(prices.sum())
        spare = total - Fraction(unit * (claim - 1), self.scale)
        # None is worth more than all prices.
        return min(total, math.ceil(self.price * unit + min(spare, spare / rules)) - 1)

    def box(self, prices: Ints, unit: int, rules: int, worth: int | None = None) -> Box:
        """Return the box of all conjunctions, with the goal that none is worth more than a number.

        That is the price of a rule unless given. With p the prices that a conjunction covers and
        P that of all, n - p >= -worth says that n + (P - p) >= P - worth. Errors on bad samples
        are shared by so many rules.
        """
        total = int(prices.sum())
        bad = np.where(self.good, 0, self.costs * (unit // rules))
        d = self.literals.shape[1]
        worth = math.floor(self.price * unit) if worth is None else worth
        goal = Goal(1, 1, total, total - worth)
        box, _ = root_box(self.literals, bad, prices, np.arange(d), np.arange(d), self.most, goal)
        return box


def check(instance: Mapping[str, Any], document: Document) -> None:
    """Refuse a proof that does not prove its claim about an instance."""
    table, claim = Table(instance), document.claim.bound
    if not isinstance(claim, int):
        raise Refused("header: the objective is an integer, and no rule refutes all sets")
    words = document.line()
    if words == ["counted"]:
        if table.listed() is None:
            raise Undecided(f"line {document.number}: there are too many conjunctions to list")
        with document.named():
            check_counted(table.all_sets(), claim)
        document.end()
        return
    rules, limited = 1, words[0] == "up-to"
    if counts := limited or not table.hamming:
        (rules,) = _numbers(document, words, "up-to" if limited else "rules", 1)
        if (reached := table.few_or(rules)) < claim:
            raise Refused(f"line {document.number}: sets of more rules are bounded by {reached}")
    if rules > 0:
        words = document.line() if counts else words
        unit, *pairs = _numbers(document, words, "prices")
        unit *= (shared := 1 if table.hamming else rules)
        if unit < 1 or len(pairs) % 2 or 2 * unit * int(table.costs.sum()) >= 2**53:
            raise Refused(f"line {document.number}: a unit and pairs of small numbers are wanted")
        prices = np.zeros(len(table.good), dtype=np.int64)
        for sample, price in zip(pairs[::2], pairs[1::2], strict=True):
            most = int(table.costs[sample]) * unit if sample < len(table.good) else -1
            if price > most or not table.good[sample]:
                raise Refused(f"line {document.number}: sample {sample} has no such price")
            prices[sample] = price
        worth = table.most_worth(prices, unit, rules, claim) if limited else None
        if not limited and (reached := table.bound(prices, unit)) < claim:
            raise Refused(f"line {document.number}: the bound is {reached}")
        root = table.box(prices, unit, shared, worth)
        root.refuse_chosen()
        check_box(root, document, root.goal)
    document.end()


def _numbers(
    document: Document, words: list[str], name: str, count: int | None = None
) -> list[int]:
    first, *words = words
    with document.named():
        if first != name or not words or len(words) != (count or len(words)):
            raise Refused(f"{name} and whole numbers are wanted")
        return whole_numbers(words)
