"""Proofs about minimum certificates: branching on the linear relaxation, with rounded prices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.check.proofs.certificates import Table
from cpx.check.proofs.document import Claim, Refused
from cpx.check.proofs.parts import Part

__all__ = ["prove"]

_UNIT, _FINE = 2**20, 2**10
_MOST = 2**60


def prove(
    instance: Mapping[str, Any], goal: Claim, over: Callable[[], bool]
) -> tuple[Claim | None, list[str]]:
    """Return what was proved and the lines: the goal, or the bound that the parts reached.

    Nothing is split once the time is up. Refused is raised where the goal is wrong.
    """
    table = Table(instance)
    reached: Any = goal.bound
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
