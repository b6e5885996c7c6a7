"""The least lead in a node where all signs of neurons are known: a linear program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.models.sufficient_reason.networks.bounds import Bounder, Nodes

__all__ = ["Leaf", "least_lead", "linear_sums"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Leaf:
    """What a linear program says of a node; floats, of which nothing is taken for proved.

    inputs: Where the lead is least, columns whose values are listed at one of them; None of an
        empty node.
    shares: Of each such column: what part each value has.
    multipliers: Of the signs of neurons, that show it, or that show that the node is empty.
    """

    inputs: Floats | None
    shares: list[Floats]
    multipliers: list[Floats] | None


def linear_sums(bounder: Bounder, node: Nodes) -> list[tuple[Floats, Floats]]:
    """Return the sums of each layer as functions of the inputs: weights, constants."""
    weights, constants = np.eye(len(bounder.low)), np.zeros(len(bounder.low))
    found = []
    for at, layer in enumerate(bounder.layers):
        weights = layer.weights @ weights
        constants = layer.weights @ constants + layer.biases
        found.append((weights, constants))
        if at < len(node.low) and bounder.relu:
            active = (node.low[at][0] >= 0).astype(np.float64)
            weights, constants = active[:, None] * weights, active * constants
    return found


def least_lead(bounder: Bounder, node: Nodes, lead: Floats) -> Leaf:
    """Minimise the lead over the node."""
    sums = linear_sums(bounder, node)
    weights, constants = lead @ sums[-1][0], lead @ sums[-1][1]
    signs = [phase[0].astype(np.float64) for phase in node.phase]
    fixed = [np.flatnonzero(sign) for sign in signs]
    rows = [
        (sign[own, None] * w[own], sign[own] * c[own])
        for sign, own, (w, c) in zip(signs, fixed, sums)
    ]
    inputs = len(bounder.low)
    left = np.vstack([r for r, _ in rows]) if rows else np.zeros((0, inputs))
    right = np.concatenate([c for _, c in rows]) if rows else np.zeros(0)
    variables = _Variables(bounder, node)
    solved = variables.least(weights, left, right)
    if solved is not None:
        values, duals = solved
        return Leaf(*variables.inputs(values), _placed(signs, fixed, duals))
    # No inputs have these signs, or they hardly have: by how much is shown by multipliers.
    short, duals = variables.shortfall(left, right)
    if short <= 0:
        return Leaf(None, [], None)
    reach = float(np.abs(weights) @ bounder.most + abs(constants)) + 1.0
    return Leaf(None, [], _placed(signs, fixed, duals * (2 * reach / short)))


def _placed(signs: list[Floats], fixed: list[NDArray[np.int64]], duals: Floats) -> list[Floats]:
    found, at = [], 0
    for sign, own in zip(signs, fixed):
        one = np.zeros((1, len(sign)))
        one[0, own] = np.maximum(duals[at : at + len(own)], 0.0)
        at += len(own)
        found.append(one)
    return found


class _Variables:
    """The variables of the program: inputs of single columns, and shares of listed values."""

    def __init__(self, bounder: Bounder, node: Nodes) -> None:
        single = np.flatnonzero(bounder.single)
        self.bounder, self.single = bounder, single
        self.bounds = list(zip(bounder.low[single].tolist(), bounder.high[single].tolist()))
        blocks = [np.eye(len(bounder.low))[:, single]]
        self.parts: list[slice] = []
        count = len(single)
        for (own, points), allowed in zip(bounder.groups, node.allowed):
            block = np.zeros((len(bounder.low), len(points)))
            block[own] = points.T
            blocks.append(block)
            self.parts.append(slice(count, count + len(points)))
            self.bounds += [(0.0, float(yes)) for yes in allowed[0]]
            count += len(points)
        self.makes = np.hstack(blocks)  # inputs of variables
        self.whole = np.zeros((len(self.parts), count))
        for row, part in enumerate(self.parts):
            self.whole[row, part] = 1.0

    def least(self, weights: Floats, left: Floats, right: Floats) -> tuple[Floats, Floats] | None:
        """Minimise weights of inputs with ``left @ inputs + right >= 0``; None if there are none.

        Returns values and multipliers.
        """
        solved = self._solve(weights @ self.makes, -left @ self.makes, right, self.bounds)
        return None if solved is None else (solved[0], solved[1])

    def shortfall(self, left: Floats, right: Floats) -> tuple[float, Floats]:
        """Return by how much some row falls short at least, and multipliers that show it."""
        count = self.makes.shape[1]
        cost = np.zeros(count + 1)
        cost[-1] = 1.0
        table = np.hstack([-left @ self.makes, -np.ones((len(left), 1))])
        solved = self._solve(cost, table, right, [*self.bounds, (0.0, np.inf)])
        return (0.0, np.zeros(len(left))) if solved is None else (float(solved[0][-1]), solved[1])

    def _solve(
        self, cost: Floats, table: Floats, most: Floats, bounds: list[tuple[float, float]]
    ) -> tuple[Floats, Floats] | None:
        from scipy.optimize import linprog

        whole = np.zeros((len(self.whole), len(cost)))
        whole[:, : self.whole.shape[1]] = self.whole
        more: dict[str, Any] = {}
        if len(self.whole):
            more |= {"A_eq": whole, "b_eq": np.ones(len(whole))}
        if len(table):
            more |= {"A_ub": table, "b_ub": most}
        solved = linprog(cost, bounds=bounds, method="highs", **more)
        if solved.x is None or not solved.success:
            return None
        duals = -solved.ineqlin.marginals if len(table) else np.zeros(0)
        return np.asarray(solved.x, dtype=np.float64), np.asarray(duals, dtype=np.float64)

    def inputs(self, values: Floats) -> tuple[Floats, list[Floats]]:
        """Return the inputs, listed columns at their values of the largest share, and shares."""
        inputs = np.zeros(len(self.bounder.low))
        inputs[self.single] = values[: len(self.single)]
        inputs = np.clip(inputs, self.bounder.low, self.bounder.high)
        shares = [values[part] for part in self.parts]
        for (own, points), share in zip(self.bounder.groups, shares):
            inputs[own] = points[int(share.argmax())]
        return inputs, shares
