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

_UNIT = 2**20


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
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack, vstack

    free, tolerated = np.flatnonzero(part.free), table.tolerated
    prices, chosen = np.zeros(table.rows.size, dtype=np.int64), part.kept.astype(np.float64)
    if not free.size:
        return 1, 0, prices, chosen
    left = np.flatnonzero(~table.excludes[:, part.kept].any(axis=1))
    # Samples that may be covered have a variable for it, behind the features.
    may = left[table.weights[left] <= tolerated]
    must = left[table.weights[left] > tolerated]
    rows = np.concatenate([may, must])
    costs = np.array([table.costs[j] for j in free], dtype=np.float64)
    scale = max(1.0, float(costs.sum()))
    weights = table.weights[may] / max(1, tolerated)
    covered = vstack([-eye_array(may.size), csr_array((must.size, may.size))])
    excludes = csr_array(-table.excludes[np.ix_(rows, free)].astype(np.float64))
    weighed = hstack([csr_array((1, free.size)), csr_array(weights[None, :])])
    found = linprog(
        np.concatenate([costs / scale, np.zeros(may.size)]),
        A_ub=vstack([hstack([excludes, covered]), weighed], format="csr"),
        b_ub=np.append(-np.ones(rows.size), 1.0),
        bounds=(0, 1),
        method="highs",
    )
    if found.x is None:
        return 1, 0, prices, chosen
    chosen[free] = found.x[: free.size]
    # Weights of features add up to less than 2**31: in this unit, too, all of them are small.
    duals = np.maximum(-found.ineqlin.marginals, 0) * scale * _UNIT
    rate = round(duals[-1] / max(1, tolerated))
    prices[rows] = np.round(duals[:-1])
    prices[may] = [
        min(y, rate * w)
        for y, w in zip(prices[may].tolist(), table.weights[may].tolist(), strict=True)
    ]
    return _UNIT, rate, prices, chosen
