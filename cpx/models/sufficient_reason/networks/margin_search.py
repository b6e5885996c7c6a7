"""Search for inputs for which one class does not lead another, by branching on signs of neurons.

Nodes are bounded many at a time. A node in which all signs are known is linear: a linear program
finds its least lead, whose multipliers then prove it soundly, or inputs that are a counterexample.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cpx.models.sufficient_reason.networks.bounds import Bounder, Nodes, Traced
from cpx.models.sufficient_reason.networks.exact_leaf import exactly_leads
from cpx.models.sufficient_reason.networks.linear_leaf import Leaf, least_lead
from cpx.models.sufficient_reason.networks.network import Network
from cpx.models.sufficient_reason.sufficiency.oracle import GaveUp

__all__ = ["Box", "MarginSearch", "Unsettled"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_BATCH = 128
"""Nodes that are bounded together."""

_STEPS = 12
"""Steps in which slopes and multipliers of nodes are improved."""

_STARTS, _MOVES = 24, 6
"""Inputs that local search begins with, and steps that it takes from each."""


class Unsettled(GaveUp):
    """Rounding leaves it open, however long it is searched."""


@dataclass(frozen=True)
class Box:
    """Inputs that a network may have.

    low, high: Shape (inputs,).
    groups: Columns whose values are listed: their inputs, and what these are for each value.
    allowed: Which of these values there are.
    """

    low: Floats
    high: Floats
    groups: list[tuple[NDArray[np.int64], Floats]]
    allowed: list[Bools]


class MarginSearch:
    """Decides whether a class leads another one for all inputs of boxes.

    own, rival: Indices of classes.
    look: Called now and then; may raise what ends the search.
    boxes: How many nodes were bounded.
    """

    def __init__(self, network: Network, own: int, rival: int, look: Callable[[], None]) -> None:
        self.network, self.look, self.boxes = network, look, 0
        self.lead = network.lead(own, rival)
        self.ties = network.keeps_ties(own, rival)
        self.random = np.random.default_rng(0)
        self._known: list[Floats] = []

    # ------------------------------------------------------------- the search

    def counterexample(self, box: Box, patience: int | None = None) -> Floats | None:
        """Return inputs of a box for which the class does not lead, None where there are none.

        Raises GaveUp, Unsettled: When it takes more nodes than ``patience``; when a leaf is not
            settled.
        """
        found = self._tried(box)
        if found is not None:
            return found
        bounder = Bounder(self.network, box.low, box.high, box.groups)
        waiting = [bounder.root(box.allowed)]
        unsettled, before = False, self.boxes
        while waiting:
            self.look()
            if patience is not None and self.boxes - before > patience:
                raise GaveUp
            nodes = Nodes.joined(waiting) if len(waiting) > 1 else waiting[0]
            if len(nodes) > _BATCH:
                order = np.argsort(nodes.bound, kind="stable")
                waiting, nodes = [nodes.take(order[_BATCH:])], nodes.take(order[:_BATCH])
            else:
                waiting = []
            self.boxes += len(nodes)
            traced = self._improved(bounder, nodes)
            if (found := self._exact(traced.inputs[:, 0])) is not None:
                return found
            left = ~self._proved(nodes.bound)
            nodes = nodes.take(left)
            traced = Traced(
                traced.bound[left], traced.inputs[left], [w[left] for w in traced.weights]
            )
            if not len(nodes):
                continue
            scores = self._scores(bounder, nodes, traced)
            leaf = scores.max(axis=1, initial=0.0) <= 0
            for at in np.flatnonzero(leaf).tolist():
                settled = self._leaf(bounder, nodes.take(np.array([at])))
                if isinstance(settled, np.ndarray):
                    return settled
                if isinstance(settled, Nodes):
                    waiting.append(settled)
                else:
                    unsettled |= not settled
            inner = nodes.take(~leaf)
            if len(inner):
                waiting += self._branched(bounder, inner, scores[~leaf].argmax(axis=1))
        if unsettled:
            raise Unsettled
        return None

    def _proved(self, bound: Floats) -> Bools:
        return np.asarray(bound >= 0 if self.ties else bound > 0)

    # ---------------------------------------------------------------- bounds

    def _improved(self, bounder: Bounder, nodes: Nodes) -> Traced:
        """Bound nodes, with slopes and multipliers that get better; return the best of each."""
        last = len(bounder.layers) - 1
        coefficients = np.broadcast_to(self.lead, (len(nodes), 1, len(self.lead)))
        best = bounder.trace(nodes, last, coefficients)
        nodes.bound = best.bound[:, 0].copy()
        if not last or not bounder.relu:
            return best
        slopes, multipliers = [*nodes.slope], [*nodes.multiplier]
        now, moment = best, [np.zeros(s.shape) for s in slopes]
        other = [np.zeros(s.shape) for s in slopes]
        for step in range(_STEPS):
            open_ = ~self._proved(nodes.bound)
            if not open_.any():
                break
            rate = 0.5 / (1 + 0.35 * step)
            sums = bounder.sums(nodes, now)
            for at, values in enumerate(sums):
                weights = now.weights[at][:, 0]
                unstable = bounder.unstable(nodes, at)
                rise = np.where(unstable & (weights > 0), weights * values, 0.0)
                scale = np.abs(rise).max(axis=1, keepdims=True) + 1e-300
                moment[at] = 0.6 * moment[at] + rise / scale
                nodes.slope[at] = np.clip(nodes.slope[at] + rate * moment[at], 0.0, 1.0)
                phase = nodes.phase[at]
                rise = np.where(phase != 0, -phase * values, 0.0)
                scale = np.abs(rise).max(axis=1, keepdims=True) + 1e-300
                other[at] = 0.6 * other[at] + rise / scale
                size = np.abs(weights).mean(axis=1, keepdims=True)
                nodes.multiplier[at] = np.maximum(
                    nodes.multiplier[at] + rate * size * other[at], 0.0
                )
            now = bounder.trace(nodes, last, coefficients)
            better = now.bound[:, 0] > nodes.bound
            nodes.bound = np.maximum(nodes.bound, now.bound[:, 0])
            for at in range(last):
                keep = better[:, None]
                slopes[at] = np.where(keep, nodes.slope[at], slopes[at])
                multipliers[at] = np.where(keep, nodes.multiplier[at], multipliers[at])
            best = Traced(
                nodes.bound[:, None],
                np.where(better[:, None, None], now.inputs, best.inputs),
                [np.where(better[:, None, None], a, b) for a, b in zip(now.weights, best.weights)],
            )
        nodes.slope, nodes.multiplier = slopes, multipliers
        return best

    # ------------------------------------------------------------- branching

    def _scores(self, bounder: Bounder, nodes: Nodes, traced: Traced) -> Floats:
        """Say of each neuron, of all hidden layers, what its sign may be worth; 0 if known."""
        found = [np.zeros((len(nodes), 0))]
        for at, weights in enumerate(traced.weights):
            low, high = nodes.low[at], nodes.high[at]
            with np.errstate(divide="ignore", invalid="ignore"):
                gap = np.where(bounder.unstable(nodes, at), -low * high / (high - low), 0.0)
            found.append((np.abs(weights[:, 0]) + 1e-12) * gap)
        return np.concatenate(found, axis=1)

    def _branched(self, bounder: Bounder, nodes: Nodes, neurons: NDArray[np.int64]) -> list[Nodes]:
        """Fix the sign of one neuron of each node both ways."""
        ends = np.cumsum([phase.shape[1] for phase in nodes.phase])
        layer = np.searchsorted(ends, neurons, side="right")
        place = neurons - np.concatenate([[0], ends])[layer]
        children = []
        for sign in (1, -1):
            for at in np.unique(layer).tolist():
                child = nodes.take(layer == at)
                rows, fixed = np.arange(len(child)), place[layer == at]
                child.phase[at][rows, fixed] = sign
                if self.network.twins:
                    twin = self.network.twins[at][fixed]
                    child.phase[at][rows[twin >= 0], twin[twin >= 0]] = -sign
                bounder.clip(child, at)
                empty = bounder.bound_neurons(child, at + 1)
                children.append(child.take(~empty))
        return [child for child in children if len(child)]

    def _leaf(self, bounder: Bounder, node: Nodes) -> bool | Floats | Nodes:
        """Settle a node without unstable neurons: proved, a counterexample, or nodes in it.

        False where rounding does not let it be settled.
        """
        leaf = least_lead(bounder, node, self.lead)
        if leaf.multipliers is not None:
            node.multiplier = leaf.multipliers
            last = len(bounder.layers) - 1
            bound = bounder.trace(node, last, self.lead[None, None, :]).bound[:, 0]
            if self._proved(bound)[0]:
                return True
        if leaf.inputs is not None and (found := self._exact(leaf.inputs[None, :])) is not None:
            return found
        if (parts := _split(node, leaf)) is not None:
            return parts
        return exactly_leads(self.network, bounder, node, self.lead, self.ties)

    # -------------------------------------------------------- counterexamples

    def _exact(self, inputs: Floats) -> Floats | None:
        """Return the first of some inputs for which the class does not lead, in exact numbers."""
        leads = self.network.rounded_scores(inputs) @ self.lead
        sizes = np.abs(self.network.rounded_scores(inputs)).max(axis=1) + 1
        for at in np.argsort(leads, kind="stable")[:3].tolist():
            if leads[at] > 1e-6 * sizes[at]:
                break
            if not self.leads(inputs[at]):
                return np.array(inputs[at] + 0.0)
        return None

    def leads(self, inputs: Floats) -> bool:
        """Say whether the class leads for inputs, in exact numbers."""
        scores = self.network.scores(inputs.tolist())
        lead = sum((Fraction(c) * s for c, s in zip(self.lead.tolist(), scores)), Fraction(0))
        return lead >= 0 if self.ties else lead > 0

    def _tried(self, box: Box) -> Floats | None:
        """Look for a counterexample at corners of the box, each where the lead falls."""
        values = self.random.random((_STARTS, len(box.low)))
        inputs = np.where(values < 0.5, box.low, box.high)
        for at, (own, points) in enumerate(box.groups):
            chosen = self.random.choice(np.flatnonzero(box.allowed[at]), _STARTS)
            inputs[:, own] = points[chosen]
        for _ in range(_MOVES):
            if (found := self._exact(inputs)) is not None:
                return found
            fall = self._slopes(inputs)
            moved = np.where(fall >= 0, box.low, box.high)
            for at, (own, points) in enumerate(box.groups):
                worth = np.where(box.allowed[at], fall[:, own] @ points.T, np.inf)
                moved[:, own] = points[worth.argmin(axis=1)]
            if np.array_equal(moved, inputs):
                break
            inputs = moved
        return self._exact(inputs)

    def _slopes(self, inputs: Floats) -> Floats:
        """Return how the lead rises with each input, shape (n, inputs)."""
        values, masks = inputs, []
        for i, layer in enumerate(self.network.layers):
            if i and self.network.activation == "relu":
                masks.append(values > 0)
                values = np.maximum(values, 0)
            values = values @ layer.weights.T + layer.biases
        found = np.tile(self.lead, (len(inputs), 1))
        for layer in reversed(self.network.layers):
            found = found @ layer.weights
            if masks:
                found = np.where(masks.pop(), found, 0.0)
        return found


def _split(node: Nodes, leaf: Leaf) -> Nodes | None:
    """Return the parts of a node where a column takes no one of its values; None if all do."""
    for at, shares in enumerate(leaf.shares):
        allowed = node.allowed[at][0]
        if shares.max(initial=0.0) < 1 - 1e-9 and allowed.sum() > 1:
            main = np.zeros(len(allowed), dtype=np.bool_)
            main[int(np.where(allowed, shares, -1.0).argmax())] = True
            one, rest = node.take(np.array([0])), node.take(np.array([0]))
            one.allowed[at] = main[None, :]
            rest.allowed[at] = (allowed & ~main)[None, :]
            return Nodes.joined([one, rest])
    return None
