"""The least lead in a node whose signs are known, settled in fractions where floats do not."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cpx.models.sufficient_reason.networks.bounds import Bounder, Nodes
from cpx.models.sufficient_reason.networks.network import Network

__all__ = ["exactly_leads"]

Floats = NDArray[np.float64]

_SIMPLE = 10**6
"""Multipliers are taken for fractions of at most such a denominator."""


def exactly_leads(
    network: Network, bounder: Bounder, node: Nodes, lead: Floats, ties: bool
) -> bool:
    """Say whether multipliers, made simple fractions, prove the lead; False where they do not.

    Where two scores are equal at the least, which happens with weights that are whole numbers,
    floats cannot tell.
    """
    now = [Fraction(v) for v in lead.tolist()]
    total = Fraction(0)
    for at in range(len(network.layers) - 1, -1, -1):
        layer = network.layers[at]
        weights, biases = layer.weights.tolist(), layer.biases.tolist()
        total += sum((c * Fraction(b) for c, b in zip(now, biases)), Fraction(0))
        now = [
            sum((c * Fraction(row[i]) for c, row in zip(now, weights) if c), Fraction(0))
            for i in range(layer.weights.shape[1])
        ]
        if at and bounder.relu:
            low, high = node.low[at - 1][0], node.high[at - 1][0]
            for j, phase in enumerate(node.phase[at - 1][0].tolist()):
                if low[j] < 0 < high[j]:
                    return False  # no leaf
                if low[j] < 0:
                    now[j] = Fraction(0)
                price = float(node.multiplier[at - 1][0, j])
                now[j] -= phase * Fraction(price).limit_denominator(_SIMPLE)
    total += _least(bounder, node, now)
    return total >= 0 if ties else total > 0


def _least(bounder: Bounder, node: Nodes, now: list[Fraction]) -> Fraction:
    """Return the least value of a linear function of the inputs."""
    total = Fraction(0)
    for i in np.flatnonzero(bounder.single).tolist():
        end = bounder.low[i] if now[i] >= 0 else bounder.high[i]
        total += now[i] * Fraction(float(end))
    for (own, points), allowed in zip(bounder.groups, node.allowed):
        total += min(
            sum((now[i] * Fraction(v) for i, v in zip(own.tolist(), point)), Fraction(0))
            for point in points[allowed[0]].tolist()
        )
    return total
