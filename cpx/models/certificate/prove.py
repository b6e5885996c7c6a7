"""Proofs about minimum certificates: branching on the linear relaxation, with rounded prices.

Where the relaxation is too weak at the root, and the sets that cost less than the goal have few
features, the exact search looks for one of them that covers least: this takes a small part of the
time of many linear programs. Where it covers too much, the lines of a proof about a rule follow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.backends.progress import Progress
from cpx.check.proofs.branching import Part
from cpx.check.proofs.document import Claim, Refused
from cpx.modelling.base import Problem
from cpx.models.certificate.proof_check import Table
from cpx.models.monomial.prove import close
from cpx.options import SolveOptions

__all__ = ["prove"]

_UNIT, _FINE = 2**20, 2**10
_MOST = 2**60
# Features that sets have at most of which the exact search is asked.
_FEW = 6


def prove(
    instance: Mapping[str, Any], goal: Claim, over: Callable[[], bool]
) -> tuple[Claim | None, list[str]]:
    """Return what was proved and the lines: the goal, or the bound that the parts reached.

    Nothing is split once the time is up. Refused is raised where the goal is wrong.
    """
    table = Table(instance)
    reached: Any = goal.bound
    root = table.root
    lines, left = list[str](), [] if table.root is None else [table.root]
    while left:
        part = left.pop()
        if (broken := table.side.which(part)) is not None:
            lines.append(f"breaks {broken}")
        elif table.over(part):
            lines.append("over")
        else:
            unit, rate, prices, chosen = _relaxation(table, part)
            bound = table.priced(part, unit, rate, prices)
            if reached is None or bound < reached:
                if not part.free.any():
                    raise Refused(f"{np.flatnonzero(part.kept).tolist()} is a certificate")
                if part is root and (few := _few(table, part, reached, over)) is not None:
                    return goal, few
                if not over():
                    far = np.where(part.free, np.abs(chosen - 0.5), 2)
                    j = int(np.flatnonzero(far <= far.min() + 1e-6)[0])
                    lines.append(f"split {j}")
                    left += reversed(part.halves(j))
                    continue
                if reached is None:
                    return None, []
                reached = bound
            used = np.flatnonzero(prices)
            numbers = np.stack([table.rows[used], prices[used]], axis=1).reshape(-1).tolist()
            lines.append(" ".join(map(str, ["bound", unit, rate, *numbers])))
    return Claim(reached), lines


def _few(
    table: Table, part: Part, bound: int | None, over: Callable[[], bool]
) -> list[str] | None:
    """Return the lines that count the sets that cost less; None where that does not prove it."""
    if bound is None or len(table.side) or over():
        return None
    box = table.box(part, bound)
    if box.r > _FEW:
        return None
    from cpx.backends.search import Search
    from cpx.data.samples import Samples
    from cpx.models.monomial.weighted import NegativeOnly

    samples = Samples(~table.excludes, np.zeros(table.rows.size, dtype=np.bool_), table.weights)
    kept, out = (tuple(np.flatnonzero(some).tolist()) for some in (part.kept, part.out))
    problem = NegativeOnly(samples, len(kept) + box.r, required=kept, forbidden=out)
    progress = _Decision(problem, table.tolerated, over)
    Search().solve(problem, progress.options, progress)
    if progress.best_bound is None or progress.best_bound <= table.tolerated:
        return None
    lines, left_open = close(box, over, trusted=True)
    return None if left_open else ["few", *lines]


class _Decision(Progress):
    """Stops where it is known whether a rule covers no more than is tolerated."""

    def __init__(self, problem: Problem, tolerated: int, over: Callable[[], bool]) -> None:
        super().__init__(problem, SolveOptions())
        self._tolerated, self._over = tolerated, over

    @property
    def should_stop(self) -> bool:
        """Whether it is known, or there is no time."""
        found, bound = self.objective, self.best_bound
        known = (found is not None and found <= self._tolerated) or (
            bound is not None and bound > self._tolerated
        )
        return known or self._over() or super().should_stop


def _relaxation(
    table: Table, part: Part
) -> tuple[int, int, NDArray[np.int64], NDArray[np.float64]]:
    """Return unit, rate and prices of the linear relaxation, and how much it has each feature."""
    from scipy.sparse import csr_array

    from cpx.backends.linear_program import minimum

    free, tolerated = np.flatnonzero(part.free), table.tolerated
    prices, chosen = np.zeros(table.rows.size, dtype=np.int64), part.kept.astype(np.float64)
    if not free.size:
        return 1, 0, prices, chosen
    left = np.flatnonzero(~table.excludes[:, part.kept].any(axis=1))
    # Samples that may be covered have a row that limits their price, behind the features.
    may = left[table.weights[left] <= tolerated]
    must = left[table.weights[left] > tolerated]
    rows = np.concatenate([may, must])
    costs = np.array([table.costs[j] for j in free], dtype=np.float64)
    scale = max(1.0, float(costs.sum()))
    excluded, at = np.nonzero(table.excludes[np.ix_(rows, free)])
    each, limits = np.arange(may.size), free.size + np.arange(may.size)
    data = [np.ones(at.size + may.size), -table.weights[may] / max(1, tolerated)]
    named = np.concatenate([at, limits, limits])
    columns = np.concatenate([excluded, each, np.full(may.size, rows.size)])
    matrix: Any = csr_array(
        (np.concatenate(data), (named, columns)),
        shape=(free.size + may.size, rows.size + 1),
    )
    # The program of the prices and the rate, which has few rows of many numbers.
    gains = np.append(-np.ones(rows.size), 1.0)
    limited = np.concatenate([costs / scale, np.zeros(may.size)])
    found = minimum(gains, matrix, limited, np.full(gains.size, np.inf))
    if found is None:
        return 1, 0, prices, chosen
    values, worth = found
    chosen[free] = -worth[: free.size]
    # Fine enough for a rate that is a whole number, and for prices that add up to few enough bits.
    unit = max(_UNIT, _FINE * tolerated)
    unit = max(1, min(unit, int(_MOST / scale / max(2, rows.size))))
    duals = np.maximum(values, 0) * scale * unit
    rate = round(duals[-1] / max(1, tolerated))
    prices[rows] = np.round(np.minimum(duals[:-1], _MOST / max(1, rows.size)))
    prices[may] = [
        min(y, rate * w)
        for y, w in zip(prices[may].tolist(), table.weights[may].tolist(), strict=True)
    ]
    return unit, rate, prices, chosen
