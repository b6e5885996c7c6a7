"""The linear program of a lightest set under inequalities, by HiGHS."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cpx.errors import EngineError
from cpx.models.sufficient_reason.search.cuts import UNIT

__all__ = ["SCALE", "Relaxation", "Relaxed"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_FEW = 60  # inequalities that are kept in the program whether they are needed or not
_IDLE = 5  # solutions for which an inequality may be idle until it leaves the program
_BACK = 10  # inequalities that come back at once
_MISSED = 1e-3
SCALE = 1 << 16
"""Multipliers are integers, this many to 1."""


@dataclass(frozen=True)
class Relaxed:
    """An optimum of the linear program."""

    value: float
    shares: Floats


class Relaxation:
    """Least weight of a set that meets all inequalities, with shares of elements allowed.

    costs: What each element costs.
    seed: For HiGHS.
    """

    def __init__(self, costs: Integers, seed: int) -> None:
        n = len(costs)
        import highspy

        from cpx.backends.linear_program import empty_program, run

        self._costs, self._api, self._run = costs, highspy, run
        self._highs = highs = empty_program(seed)
        self._columns = np.arange(n, dtype=np.int32)
        highs.addVars(n, np.zeros(n), np.ones(n))
        highs.changeColsCost(n, self._columns, costs.astype(np.float64))
        self._low, self._high = np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.int64)
        # Whole numbers, as floats: their sums are exact below 2**53, and faster.
        self._rows: Floats = np.empty((256, n))
        self._count = 0
        # The inequalities in the program, and for how many solutions each was idle.
        self._used: Integers = np.empty(0, dtype=np.int64)
        self._idle: Integers = np.empty(0, dtype=np.int64)
        self._new: list[int] = []  # to be added before it is solved

    def add(self, weights: Integers) -> None:
        """Ask for a sum of weights of ``UNIT`` at least."""
        if self._count == len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        self._rows[self._count] = weights
        self._new.append(self._count)
        self._count += 1

    def _add_new(self) -> None:
        """Add inequalities to the program."""
        rows, count = self._rows[self._new], len(self._new)
        of_rows, at = np.nonzero(rows)
        self._highs.addRows(
            count, np.ones(count), np.full(count, self._api.kHighsInf), len(at),
            np.searchsorted(of_rows, np.arange(count)).astype(np.int32), at.astype(np.int32),
            rows[of_rows, at] / UNIT,
        )  # fmt: skip
        self._used = np.concatenate([self._used, self._new])
        self._idle = np.concatenate([self._idle, np.zeros(count, dtype=np.int64)])
        self._new.clear()

    def fix(self, low: Integers, high: Integers) -> None:
        """Set the limits of all elements, each 0 or 1."""
        self._low, self._high = low, high
        self._highs.changeColsBounds(
            len(low), self._columns, low.astype(np.float64), high.astype(np.float64)
        )

    def try_out(self, j: int, value: int) -> float:
        """Return the optimum with one element in the set, or not; infinite if there is none."""
        self._highs.changeColBounds(j, float(value), float(value))
        found = self.solve()
        self._highs.changeColBounds(j, float(self._low[j]), float(self._high[j]))
        return np.inf if found is None else found.value

    def solve(self) -> Relaxed | None:
        """Return an optimum under the inequalities in the program; ``None`` if there is none.

        That there is none is taken on trust: :meth:`bound` proves it.
        """
        if not len(self._costs):
            return Relaxed(0.0, np.zeros(0))
        if self._new:
            self._add_new()
        status = self._run(self._highs)
        if status == self._api.HighsModelStatus.kInfeasible:
            return None
        if status != self._api.HighsModelStatus.kOptimal:
            raise EngineError(f"HiGHS ends with {self._highs.modelStatusToString(status)}")
        solution = self._highs.getSolution()
        shares = np.clip(np.array(solution.col_value), 0.0, 1.0)
        return Relaxed(self._highs.getInfo().objective_function_value, shares)

    def recall(self, shares: Floats) -> bool:
        """Bring back inequalities that left the program and are missed; say whether there were."""
        missed = 1.0 - self._rows[: self._count] @ shares / UNIT
        missed[self._used] = 0.0
        some = np.flatnonzero(missed > _MISSED)
        self._new += some[np.argsort(-missed[some], kind="stable")][:_BACK].tolist()
        return bool(some.size)

    def tidy(self, shares: Floats) -> None:
        """Take inequalities out of the program that were idle for some time."""
        slack = self._rows[self._used] @ shares / UNIT - 1.0
        self._idle = np.where(slack > 1e-6, self._idle + 1, 0)
        old = self._idle >= _IDLE
        if len(self._used) > _FEW and old.sum() > _FEW // 4:
            at = np.flatnonzero(old).astype(np.int32)
            self._highs.deleteRows(len(at), at)
            self._used, self._idle = self._used[~old], self._idle[~old]

    def bound(self, upper: int) -> tuple[int, Integers, Integers]:
        """Return a proved bound, by multipliers, and the limits of all sets that cost less.

        Each inequality is multiplied by what it is worth, an integer, and all are added up: a set
        costs no less than what the sum asks for, and for each element the difference between its
        cost and its weight in the sum. Elements for which that is too much are in no such set, or
        in all. Where a set with all elements that it may have misses an inequality there is none.
        """
        if self.missed() is not None:
            return upper, self._low, self._high
        return self.multiplied(self.multipliers(), upper)

    def multiplied(
        self, multipliers: list[tuple[int, int]], upper: int
    ) -> tuple[int, Integers, Integers]:
        """Return what :meth:`bound` does, by some multipliers of inequalities."""
        times = [y for _, y in multipliers]
        one = UNIT * SCALE
        most = (sum(times) * UNIT + int(self._costs.sum()) * one) * (len(self._costs) + 1)
        exact = np.int64 if most < 2**62 else object
        y = np.array(times, dtype=exact)
        rows = self._rows[[row for row, _ in multipliers]].astype(np.int64).astype(exact)
        rest = self._costs.astype(exact) * one - y @ rows
        forced = np.where(rest > 0, self._low, self._high)
        total = sum(times) * UNIT + int((rest * forced).sum())
        room = (upper - 1) * one - total
        low = np.where(-rest > room, self._high, self._low)
        return -(-total // one), low, np.where(rest > room, self._low, self._high)

    def missed(self) -> int | None:
        """Return an inequality that asks for more than all elements that are allowed weigh."""
        short = (self._rows[: self._count] @ self._high) < UNIT
        return int(short.argmax()) if short.any() else None

    def multipliers(self) -> list[tuple[int, int]]:
        """Return the inequalities in the program, in the order in which they were added first.

        With each comes what HiGHS found it worth, in units of 1 / ``SCALE``; any numbers make a
        bound that holds.
        """
        found = self._highs.getSolution()
        worth = np.nan_to_num(np.array(found.row_dual), posinf=0.0, neginf=0.0)
        if len(worth) != len(self._used):
            worth = np.zeros(len(self._used))
        rounded = (int(y * SCALE + 0.5) if y > 0 else 0 for y in worth.tolist())
        return list(zip(self._used.tolist(), rounded, strict=True))
