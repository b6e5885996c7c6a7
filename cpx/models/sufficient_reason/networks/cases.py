"""Sufficient reasons of a tiny network, with known optimum, for tests of engines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from cpx.models.sufficient_reason.networks.network import Column, Layer, Network
from cpx.models.sufficient_reason.networks.problem import NetworkReason
from cpx.trees import Attribute

__all__ = ["cases", "two_or_one"]


def two_or_one() -> NetworkReason:
    """Return a problem in which two columns of numbers, or a category, force the class.

    The score is 2 relu(a + b - 1) + relu(2 [c = u] - 1) - 1/2: it is above 0 for a = b = 1,
    whatever c is, and for c = u.

    >>> two_or_one().row_oracle().counterexample([0, 1]), two_or_one().enough((0,))
    (None, False)
    """
    number = [Column(Attribute(n, lower=0, upper=1), (i,), (0.0, 1.0)) for i, n in enumerate("ab")]
    values = Attribute("c", "categorical", values=(0, 1), labels=("u", "v"))
    layers = (
        Layer(np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 2.0, 0.0]]), np.array([-1.0, -1.0])),
        Layer(np.array([[2.0, 1.0]]), np.array([-0.5])),
    )
    columns = (*number, Column(values, (2, 3), points=np.eye(2)))
    return NetworkReason(Network(layers, columns, ("no", "yes"), "positive"), (1.0, 1.0, 0.0))


def cases() -> Iterator[tuple[str, NetworkReason, int | None]]:
    """Yield name, problem and optimum."""
    problem = two_or_one()
    yield "network", problem, 1
    yield "network_weights", replace(problem, weights=(1, 1, 3)), 2
    yield "network_required", replace(problem, required=(0,)), 2
    yield "network_forbidden", replace(problem, forbidden=(2,), context={"class": "y"}), 2
    yield "network_infeasible", replace(problem, forbidden=(0, 2)), None
