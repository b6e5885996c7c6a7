"""Proofs about rules of several clauses by prices of rows, which need no list of all clauses.

Branching is on rows, as far as the time goes; prices come from column generation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cpx.check.proofs.branching import Part
from cpx.models.kernel_rule.proof_check import Clauses
from cpx.models.monomial.prove import close

__all__ = ["by_boxes", "by_prices"]

Ints = NDArray[np.int64]

_BITS = 44
"""Of the sum of all numbers, in the unit of several clauses."""
# What a clause that is none is worth: less than what may be left for one that is.
_NEVER = -(4 << _BITS)
_ROUNDS = 200
# Clauses found at once.
_FOUND = 10
# A row of which as much is undecided is one to branch on, as a share of all weights.
_DOUBT = 1e-7


def by_prices(clauses: Clauses, goal: int, over: Callable[[], bool]) -> tuple[int, list[str]]:
    """Return a bound and the lines that prove it: the goal, if there is time to get that far.

    Otherwise it is the bound of the first linear program.
    """
    search = _Search(clauses, goal, over)
    if not search.close():
        search = _Search(clauses, goal, lambda: False)
        search.close(branching=False)
    return search.reached, search.lines


def by_boxes(
    clauses: Clauses,
    part: Part,
    unit: Fraction,
    prices: Ints,
    worth: int,
    over: Callable[[], bool],
) -> list[str]:
    """Return the lines that say what no clause of a part exceeds; none for want of time."""
    box = clauses.box(unit, part, prices, worth)
    closed, left_open = close(box, over, empty=False)
    if left_open:
        return []
    whole, _ = clauses.scaled(unit, part)
    used = np.flatnonzero(prices != np.where(part.kept, whole, 0))
    pairs = np.stack([used, prices[used]], axis=1).reshape(-1).tolist()
    numbers = [unit.denominator, unit.numerator, worth, *pairs]
    return [" ".join(map(str, ["prices", *numbers])), *closed]


class _Search:
    """Depth-first closing of parts, with the lines for those that are done."""

    def __init__(self, clauses: Clauses, goal: int, over: Callable[[], bool]) -> None:
        self.lines: list[str] = []
        self.reached = goal
        self._clauses, self._goal, self._over = clauses, goal, over
        total = clauses.most * int(np.abs(clauses.weights).sum())
        self._unit = Fraction(2) ** (total.bit_length() - _BITS)
        d = clauses.table.shape[1]
        # Nothing is true of the last row but the clause without features, which is none.
        self._table = np.vstack([clauses.table, np.zeros((1, d), dtype=np.bool_)])
        self._found: dict[tuple[int, ...], NDArray[np.bool_]] = {}
        self._add([(j,) for j in range(d)])

    def _add(self, features: list[tuple[int, ...]]) -> None:
        for one in features:
            self._found[one] = np.array(self._clauses.table[:, list(one)].all(axis=1))

    def close(self, branching: bool = True) -> bool:
        """Write the lines for all formulas; return whether there was time."""
        none = np.zeros(self._clauses.weights.size, dtype=np.bool_)
        left = [Part(none, none)]
        while left:
            if self._over():
                return False
            part = left.pop()
            prices, worth, row = self._relaxation(part)
            # As much as the goal allows, or as little as the clauses do.
            room = math.ceil((self._goal + 1) / self._unit) - 1 - int(prices.sum())
            allowed = room // self._clauses.most if room > 0 else room
            if branching and allowed < worth and row >= 0:
                self.lines.append(f"split {row}")
                left += reversed(part.halves(row))
                continue
            worth = max(worth, allowed)
            if self._over():
                return False  # the best clause may not have been found
            lines = by_boxes(self._clauses, part, self._unit, prices, worth, self._over)
            if not lines:
                return False
            self.lines += lines
            self.reached = max(self.reached, self._clauses.bound(self._unit, prices, worth))
        return True

    def _relaxation(self, part: Part) -> tuple[Ints, int, int]:
        """Return prices of the rows, what the best clause is worth, and the row to branch on.

        Prices are dual to a linear program: clauses are chosen in part, as many as a formula has;
        a positive row counts as far as clauses are true of it, up to once. That a clause is true
        of a row which is to be kept may be missed, at a cost beyond all others.
        """
        from scipy.sparse import csr_array

        from cpx.backends.linear_program import minimum
        from cpx.models.monomial.search.max_weight import max_weight_monomials

        clauses = self._clauses
        whole, costs = clauses.scaled(self._unit, part)
        rows = np.flatnonzero(part.kept | (clauses.positive & part.free))
        kept, most = part.kept[rows], int(np.abs(whole).sum() + costs.sum())
        missing = np.where(kept, 4 * most, whole[rows])
        scale, n = float(max(1, most)), rows.size
        prices, worth, row = np.where(part.kept, whole, 0), most, -1
        for _ in range(_ROUNDS):
            used = [one for one, covers in self._found.items() if not covers[part.out].any()]
            covers = np.array([self._found[one] for one in used], dtype=np.float64).T
            covers = covers.reshape(clauses.positive.size, len(used))
            # How far rows are missed, and how far clauses are chosen: one at least. The last is
            # true of nothing, at a cost beyond all others, for where none is known.
            covers = np.hstack([covers, np.zeros((covers.shape[0], 1))])
            number = np.append(np.zeros(n), np.ones(covers.shape[1]))
            price = np.append(costs @ covers[:, :-1], 4 * most)
            gained_by = np.hstack([-np.eye(n), -covers[rows]])
            asked = np.concatenate([missing, price]) / scale
            found = minimum(
                asked,
                csr_array(np.vstack([gained_by, number, -number])),
                np.concatenate([-np.ones(n), [clauses.most, -1]]),
                np.full(asked.size, np.inf),
            )
            if found is None:
                break
            chosen, worths = found
            # What a clause gains with each row.
            gained = np.clip(np.round(-worths[:-2] * scale), 0, missing)
            prices[rows] = whole[rows] - gained.astype(np.int64)
            row = self._row(part, covers @ chosen[n:], costs)
            weights = whole - prices - costs
            weights[part.out] = _NEVER
            best = max_weight_monomials(
                self._table,
                np.append(weights, _NEVER),
                clauses.literals,
                n=_FOUND,
                bits=52,
                stop=self._over,
            )
            worth = int((whole - prices).sum())
            if best.bound is not None:
                worth = min(worth, math.floor(best.bound))
            new = [one for one in best.features if one and one not in self._found]
            rate = (worths[-1] - worths[-2]) * scale
            if self._over() or not new or worth <= rate + 1e-9 * scale:
                break
            self._add(new)
        return prices, worth, row

    def _row(self, part: Part, times: NDArray[np.float64], costs: Ints) -> int:
        """Return the free row whose weight the relaxation counts worst; -1 for none.

        It is said how many clauses are true of each row.
        """
        weights = np.abs(self._clauses.weights) / float(self._unit)
        once = np.minimum(times, 1)
        doubt = costs * (self._clauses.most * once - times)
        doubt += weights * np.minimum(once, 1 - once)
        doubt = np.where(part.free, doubt, -1)
        row = int(doubt.argmax())
        return row if doubt[row] > _DOUBT * float(weights.sum()) else -1
