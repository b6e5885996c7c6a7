"""Cost splitting: what each good sample pays at least for sets of rules that may be added.

All costs are whole numbers in units of 1/D. What an error on bad sample j costs is divided among
the good samples i, b(i, j) each, and the price of rule r among those that it covers, c(i, r) each;
no share is negative, and the shares of a cost add up to it at most. So sample i is asked to pay
d(i, r) = c(i, r) + the sum of b(i, j) over the bad samples that r covers. Let least(i) be what an
error on i costs, or the least d(i, r) of the rules left that cover it, if that is less. For a set
S of these let due(i, S) be the sum of c(i, r) over its rules, and of b(i, j) over the bad samples
that they cover. Every set that has S costs at least

    the sum of max(least(i), due(i, S)) over all good samples.

Proof. A larger set T costs the sum over i of due(i, T), and of what an error on i costs where no
rule of T covers it. No share is negative: due(i, T) is at least due(i, S), and at least d(i, r)
for each rule r of T; so it is at least least(i) where T covers i. Elsewhere i pays an error more.

A rule r for which S = {r} reaches the limit is in no set below it, and is left out. Then least(i)
may be more, and it is looked at again, eight times in all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cpx.check.proofs.document import Refused, Undecided
from cpx.models.rule_set.proof_cheaper_sets import Rows

__all__ = ["LARGEST", "Shares"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LARGEST = 2**31
"""What all costs and the prices of all rules add up to less than, in units of 1/D."""

_PASSES = 8
"""How often rules are left out."""


class Shares:
    """Shares for some rules, of the samples that no rule covers already.

    prices: Of each rule.
    unit: D.
    asked (good samples,): What rules are to ask of each at least, as far as their price goes: it
        is divided in proportion to what is missing.
    parts (bad samples, good samples): The cost of each bad one is divided in this proportion;
        small numbers.
    """

    def __init__(
        self, good: Rows, bad: Rows, prices: Ints, unit: int, asked: Ints, parts: Ints
    ) -> None:
        every = int(good.costs.sum()) + int(bad.costs.sum()) + int(prices.sum())
        if unit < 1 or unit * every >= LARGEST:
            raise Undecided("the unit is 0, or numbers are too large for the checker")
        if asked.max(initial=0) >= LARGEST:
            raise Refused(f"shares are below {LARGEST}")
        self._unit, self._costs = unit, good.costs * unit
        # Floats add up whole numbers exactly here.
        self._covers = bad.covers.T.astype(float)
        of_each = bad.costs * unit // np.maximum(parts.sum(axis=1), 1)
        self._of_bad = (parts * of_each[:, None]).astype(float)
        due = self._covers @ self._of_bad
        missing = np.where(good.covers.T, np.maximum(asked - due.astype(np.int64), 0), 0)
        total, most = missing.sum(axis=1)[:, None], (prices * unit)[:, None]
        divided = missing * most // np.maximum(total, 1)
        self._of_rules = np.where(total <= most, missing, divided).astype(float)
        self._demand = np.where(good.covers.T, due + self._of_rules, np.inf)

    @property
    def least(self) -> Floats:
        """What each good sample pays for any set of the rules that are left."""
        return np.asarray(np.minimum(self._costs, self._demand.min(axis=0, initial=np.inf)))

    def leave_out(self, limit: int) -> Bools | None:
        """Leave out rules of which no set is below a limit; return which stay of those before.

        None if no set at all is below it.
        """
        left = np.arange(len(self._demand))
        stay = np.zeros(left.size, dtype=np.bool_)
        for _ in range(_PASSES):
            n = len(self._demand)
            if self.reached(np.zeros((1, n), dtype=np.bool_), limit).all():
                return None
            some = ~self.reached(np.eye(n, dtype=np.bool_), limit)
            if some.all():
                break
            left, self._covers = left[some], self._covers[some]
            self._of_rules, self._demand = self._of_rules[some], self._demand[some]
        stay[left] = True
        return stay

    def reached(self, sets: Bools, limit: int) -> Bools:
        """Whether all sets that have the rules of one cost a limit; one in each row."""
        rules = sets.astype(float)
        due = (rules @ self._covers > 0).astype(float) @ self._of_bad + rules @ self._of_rules
        paid = np.maximum(self.least, due).sum(axis=1)
        # A limit beyond all sums is reached by none, or by all, and may not be a float.
        limit = max(min(limit, LARGEST), -LARGEST)
        return np.asarray(paid > (limit - 1) * self._unit)
