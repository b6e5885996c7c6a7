"""Lower bounds of a network's scores over boxes of inputs, sound whatever floats round.

A linear function of the scores is traced back to the inputs, layer by layer (Zhang and others,
CROWN, NeurIPS 2018). On its way each ReLU whose sign is not known is replaced by a line below or
above it, and signs that were fixed count by multipliers (Wang and others, beta-CROWN, NeurIPS
2021). Slopes and multipliers may be any numbers; what rounding may have cost is taken off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.models.sufficient_reason.networks.network import Network

__all__ = ["Bounder", "Nodes", "Traced"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_ROUND = 2.0**-52
"""Twice what a product or a sum of floats may be off, relatively."""

_TINY = 1e-150
"""More than all products that underflow are off; weights are at most 1e30."""


@dataclass
class Nodes:
    """Boxes of inputs with signs of neurons, n of them.

    allowed: Of each column whose values are listed: which of them, shape (n, k).
    phase: Of each hidden layer, shape (n, neurons): 1 where a sum is at least 0, -1 where it is at
        most 0, and 0 where that was not fixed.
    low, high: Between which numbers the sums of hidden layers are.
    slope: Of the lines below unstable neurons, from 0 to 1.
    multiplier: Of signs that are fixed.
    bound: No row of the box has a smaller value.
    """

    allowed: list[Bools]
    phase: list[NDArray[np.int8]]
    low: list[Floats]
    high: list[Floats]
    slope: list[Floats]
    multiplier: list[Floats]
    bound: Floats

    def __len__(self) -> int:
        return len(self.bound)

    def take(self, places: NDArray[np.int64] | Bools) -> Nodes:
        """Return some of them."""
        made: list[Any] = [[one[places] for one in part] for part in self._parts()]
        made.append(self.bound[places])
        return Nodes(*made)

    def _parts(self) -> Sequence[Sequence[Any]]:
        return (self.allowed, self.phase, self.low, self.high, self.slope, self.multiplier)

    @classmethod
    def joined(cls, several: Sequence[Nodes]) -> Nodes:
        """Return all nodes of several."""
        made: list[Any] = [
            [np.concatenate(arrays) for arrays in zip(*held)]
            for held in zip(*(nodes._parts() for nodes in several))
        ]
        made.append(np.concatenate([nodes.bound for nodes in several]))
        return cls(*made)


@dataclass(frozen=True)
class Traced:
    """What a function traced back to the inputs says, of n nodes.

    bound: Shape (n, m), for m functions.
    inputs: Where the lines take it, shape (n, m, inputs).
    weights: Of each hidden layer: by what its neurons count, shape (n, m, neurons).
    """

    bound: Floats
    inputs: Floats
    weights: list[Floats]


class Bounder:
    """Bounds functions of the scores of a network while some columns keep their values.

    low, high: Of the inputs, shape (inputs,); those of a column that keeps its value are equal.
    groups: Columns whose values are listed: their inputs, and what these are for each value.
    """

    def __init__(
        self,
        network: Network,
        low: Floats,
        high: Floats,
        groups: Sequence[tuple[NDArray[np.int64], Floats]],
    ) -> None:
        self.layers, self.relu = network.layers, network.activation == "relu"
        self.low, self.high, self.groups = low, high, [*groups]
        self.single = np.ones(len(low), dtype=np.bool_)
        for inputs, _ in groups:
            self.single[inputs] = False
        self.most = np.maximum(np.abs(low), np.abs(high))
        for inputs, points in groups:
            self.most[inputs] = np.abs(points).max(axis=0)
        widest = max(max(layer.weights.shape) for layer in self.layers)
        self._dot = (widest + 8) * _ROUND

    @cached_property
    def _sizes(self) -> list[tuple[Floats, Floats]]:
        return [(np.abs(layer.weights), np.abs(layer.biases)) for layer in self.layers]

    # ----------------------------------------------------------------- nodes

    def root(self, allowed: Sequence[Bools]) -> Nodes:
        """Return the node of all inputs, with these values of columns that are listed."""
        widths = [len(layer.biases) for layer in self.layers[:-1]]
        nodes = Nodes(
            [one[None, :] for one in allowed],
            [np.zeros((1, w), dtype=np.int8) for w in widths],
            [np.full((1, w), -np.inf) for w in widths],
            [np.full((1, w), np.inf) for w in widths],
            [np.zeros((1, w)) for w in widths],
            [np.zeros((1, w)) for w in widths],
            np.full(1, -np.inf),
        )
        self.bound_neurons(nodes, 0, new=True)
        return nodes

    def bound_neurons(self, nodes: Nodes, first: int, new: bool = False) -> Bools:
        """Bound the sums of hidden layers from the first one on; say which nodes are empty.

        new: Whether lines below neurons are chosen anew.
        """
        empty = np.zeros(len(nodes), dtype=np.bool_)
        for at in range(first, len(self.layers) - 1):
            width = len(self.layers[at].biases)
            both = np.vstack([np.eye(width), -np.eye(width)])
            coefficients = np.broadcast_to(both, (len(nodes), 2 * width, width))
            bound = self.trace(nodes, at, coefficients, with_signs=False).bound
            nodes.low[at] = np.maximum(nodes.low[at], bound[:, :width])
            nodes.high[at] = np.minimum(nodes.high[at], -bound[:, width:])
            self.clip(nodes, at)
            empty |= (nodes.low[at] > nodes.high[at]).any(axis=1)
            low, high = nodes.low[at], nodes.high[at]
            if new or at > first:
                nodes.slope[at] = (high > -low).astype(np.float64)
        return empty

    def clip(self, nodes: Nodes, at: int) -> None:
        """Make the bounds of a hidden layer agree with the signs that are fixed."""
        if not self.relu:
            return
        phase = nodes.phase[at]
        nodes.low[at] = np.where(phase > 0, np.maximum(nodes.low[at], 0.0), nodes.low[at])
        nodes.high[at] = np.where(phase < 0, np.minimum(nodes.high[at], 0.0), nodes.high[at])

    def unstable(self, nodes: Nodes, at: int) -> Bools:
        """Say of which neurons of a hidden layer the sign is not known."""
        if not self.relu:
            return np.zeros(nodes.low[at].shape, dtype=np.bool_)
        return np.asarray((nodes.low[at] < 0) & (nodes.high[at] > 0))

    # --------------------------------------------------------------- tracing

    def trace(
        self, nodes: Nodes, last: int, coefficients: Floats, with_signs: bool = True
    ) -> Traced:
        """Trace functions of the sums of a layer back to the inputs.

        coefficients: Shape (n, m, neurons of the layer).
        with_signs: Whether multipliers of fixed signs count.
        """
        now, off = coefficients, np.zeros(coefficients.shape)
        constant = np.zeros(coefficients.shape[:2])
        size, lost = np.zeros_like(constant), np.zeros_like(constant)
        weights: list[Floats] = []
        for at in range(last, -1, -1):
            layer, (absolute, biases) = self.layers[at], self._sizes[at]
            magnitude = np.abs(now)
            constant = constant + now @ layer.biases
            size += magnitude @ biases
            lost += self._dot * (magnitude @ biases) + off @ biases
            off = off @ absolute + self._dot * (magnitude @ absolute)
            now = now @ layer.weights
            if at:
                most = np.maximum(np.abs(nodes.low[at - 1]), np.abs(nodes.high[at - 1]))
                lost += (off @ most[:, :, None])[:, :, 0]
                weights.insert(0, now)
                now, off, added = self._through(nodes, at - 1, now, with_signs)
                constant = constant + added.sum(axis=2)
                size += np.abs(added).sum(axis=2)
        lost += off @ self.most
        found, inputs = self._least(nodes, now, size)
        bound = constant + found - 1.001 * lost - self._dot * 4 * size - _TINY
        return Traced(np.where(np.isfinite(bound), bound, -np.inf), inputs, weights)

    def _through(
        self, nodes: Nodes, at: int, now: Floats, with_signs: bool
    ) -> tuple[Floats, Floats, Floats]:
        """Replace neurons by lines: return the coefficients of sums, their error, constants."""
        below, above, shift = self.lines(nodes, at)
        up = now >= 0
        sums = now * np.where(up, below[:, None, :], above[:, None, :])
        added = np.where(up, 0.0, now * shift[:, None, :])
        off = _ROUND * np.abs(sums)
        if with_signs:
            fixed = nodes.multiplier[at] * nodes.phase[at]
            sums = sums - fixed[:, None, :]
            off += _ROUND * np.abs(sums)
        return sums, off + _TINY, added

    def lines(self, nodes: Nodes, at: int) -> tuple[Floats, Floats, Floats]:
        """Return slopes below and above each neuron, and by how much the line above is shifted."""
        low, high = nodes.low[at], nodes.high[at]
        if not self.relu:
            one = np.ones(low.shape)
            return one, one, np.zeros(low.shape)
        unstable = self.unstable(nodes, at)
        active = (low >= 0).astype(np.float64)
        below = np.where(unstable, nodes.slope[at], active)
        with np.errstate(divide="ignore", invalid="ignore"):
            steep = high / (high - low)
            shift = np.maximum(-steep * low, high - steep * high)
        shift = shift * (1 + 4 * _ROUND) + high * (4 * _ROUND) + _TINY
        return below, np.where(unstable, steep, active), np.where(unstable, shift, 0.0)

    def _least(self, nodes: Nodes, now: Floats, size: Floats) -> tuple[Floats, Floats]:
        """Return the least values of linear functions of the inputs, and where; adds to size."""
        inputs = np.where(now >= 0, self.low, self.high)
        terms = now[:, :, self.single] * inputs[:, :, self.single]
        found = terms.sum(axis=2)
        size += np.abs(terms).sum(axis=2)
        for (own, points), allowed in zip(self.groups, nodes.allowed):
            values = now[:, :, own] @ points.T
            least = np.where(allowed[:, None, :], values, np.inf)
            place = least.argmin(axis=2)
            found = found + np.take_along_axis(values, place[:, :, None], axis=2)[:, :, 0]
            size += (np.abs(now[:, :, own]) @ np.abs(points).T).max(axis=2)
            inputs[:, :, own] = points[place]
        return found, inputs

    def sums(self, nodes: Nodes, traced: Traced) -> list[Floats]:
        """Return the sums of hidden layers where the lines take the first function."""
        values, found = traced.inputs[:, 0], []
        for at, layer in enumerate(self.layers[:-1]):
            sums = values @ layer.weights.T + layer.biases
            found.append(sums)
            below, above, shift = self.lines(nodes, at)
            up = traced.weights[at][:, 0] >= 0
            values = np.where(up, below * sums, above * sums + shift)
        return found
