"""A bound on the expected prediction under a mixture by Dinkelbach's method, and better sets.

With u_c(z) the weight of component c times Pr_c(z), EP(z) > theta says

    sum_c u_c(z) (EP_c(z) - theta) > 0.

Each component by itself is at most U_c. Let d be the one whose summand is the greatest: EP_d(z) >
theta, so that U_d > theta, and of n components with U_c > theta none adds more. The others, of
U_c < theta, take away. Divided by u_d(z):

    sum_{c: U_c < theta} (theta - U_c) u_c(z) / u_d(z) < n (U_d - theta).

The logarithm is concave: whatever the shares a_c > 0 that sum to 1 are, it follows that

    sum_c a_c (log u_c(z) / u_d(z) - t_c) < 0,   t_c = log(n (U_d - theta) a_c / (theta - U_c)),

where log u_c / u_d is a sum over the attributes. So theta is a bound on EP if for every such d
there are multipliers m and shares a with

    max_z EP_d(z) - m sum_c a_c (log u_c(z) / u_d(z) - t_c) <= theta,

the greatest value of a sum of tables again. Subgradients improve multipliers and shares, and
theta is halved between the best known set and the best bound. On the way sets are met that one
component explains well and that have a high expectation under it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from numpy.typing import NDArray

from cpx.models.expected_prediction.form import TableSumForm
from cpx.models.expected_prediction.search.table_sums.beam import beam
from cpx.models.expected_prediction.search.table_sums.branch_and_bound import BranchAndBound
from cpx.models.expected_prediction.search.table_sums.value_and_penalty import (
    GreatestValue,
    Solution,
)

Floats = NDArray[np.float64]

_STEPS = 6
"""Steps of the subgradients for one component and one theta."""

_PACE = 2.0
"""What a subgradient is followed by: more than would do if it stayed as it is."""

_NODES = 50
"""Of a step: it takes few, or theta is too low."""

_OFF = 1e-9
"""The part by which floats are made greater than they are."""

_LARGEST = 2.0**55
"""Prices of attributes stay below that, as integers."""


@dataclass(eq=False)
class Dinkelbach:
    """Whether an expected score is a bound on those of all sets.

    parts: The problem under each component alone.
    bounds: U_c: on the values of the parts.
    logs: Log-probability of each state of x in each component.
    weights: Logarithms of the components' weights.
    rounding: By so much, at most, the values of the parts differ from expected scores.
    met: Told sets that may be good.
    searches: So many more are made; without any, nothing is proved.
    """

    parts: Sequence[TableSumForm]
    bounds: Sequence[int]
    logs: Floats
    weights: Floats
    rounding: int
    met: Callable[[tuple[int, ...]], object]
    stop: Callable[[], bool]
    searches: int = 12

    def proves(self, theta: int) -> bool:
        """Return True only if no set has an expected score above theta, in units."""
        most = np.array([float(bound + self.rounding - theta) for bound in self.bounds])
        # By so much that the floats are no lower than what they stand for.
        most += _OFF * (np.abs(most) + 1)
        above = np.flatnonzero(most >= 0)
        below = np.flatnonzero(most < 0)
        if not below.size:
            return not above.size
        for d in above[np.argsort(-most[above], kind="stable")].tolist():
            limits = np.log(above.size * most[d]) - np.log(-most[below])
            if not self._excluded(d, below, limits, theta):
                return False
        return True

    def _excluded(self, d: int, below: NDArray[np.int64], limits: Floats, theta: int) -> bool:
        """Whether no set has more than theta under component d and explains the rest so badly."""
        apart, first = self.logs[below] - self.logs[d], self.weights[below] - self.weights[d]
        multipliers, target = np.full(below.size, _OFF), theta - self.rounding
        for _ in range(_STEPS):
            whole = multipliers.sum()
            limit = limits + np.log(multipliers / whole)
            prices = -(multipliers @ apart)
            prices += _OFF * (multipliers @ (np.abs(apart) + 1))
            constant = float(multipliers @ (limit - first))
            constant += _OFF * float(multipliers @ (np.abs(limit) + np.abs(first) + 1))
            if max(np.abs(prices).max(), abs(constant)) > _LARGEST:
                return False
            priced = _with_prices(self.parts[d], np.ceil(prices).astype(np.int64), ceil(constant))
            found = self._more_than(target, priced)
            if found is None:
                return True
            if self.searches <= 0 or self.stop():
                return False
            self.met(found.features)
            change = apart[:, list(found.features)].sum(axis=1) + first - limit
            change = np.where((multipliers <= _OFF) & (change < 0), 0.0, change)
            size = float(change @ change)
            if size == 0:
                return False
            step = _PACE * max(found.value - target, 1) / size
            multipliers = np.maximum(_OFF, multipliers + step * change)
        return False

    def _more_than(self, value: int, form: TableSumForm) -> Solution | None:
        """Return None only if no set has more than a value, else one that has or may nearly."""
        objective = GreatestValue(form, form.k, value + 1)
        known = max(map(objective.solution, beam(objective)), key=lambda one: one.value)
        if known.value > value:
            return known
        self.searches -= 1

        def done() -> bool:
            return tree.best is not None or tree.nodes >= _NODES or self.stop()

        tree = BranchAndBound(
            objective, None, found=lambda found: None, proved=lambda bound: None, stop=done
        )
        return None if tree.search() and tree.best is None else tree.best or known


def _with_prices(form: TableSumForm, prices: NDArray[np.int64], constant: int) -> TableSumForm:
    """Return a form with another constant, and so much more for each attribute."""
    priced = np.flatnonzero(prices)
    return replace(
        form,
        features=(*form.features, *(np.array([a], dtype=np.int32) for a in priced.tolist())),
        tables=(*form.tables, *(np.array([0, p], dtype=np.int64) for p in prices[priced])),
        constant=form.constant + constant,
    )
