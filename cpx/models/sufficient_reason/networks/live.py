"""The live model of a network, to be asked: what is said of the network is held against it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.errors import UnsupportedModel, shown
from cpx.models.sufficient_reason.networks.network import Network
from cpx.trees.hold import ROWS
from cpx.trees.live import LiveModel

__all__ = ["LiveNetwork", "classes_of", "near_ties"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LiveNetwork:
    """Asks a live model about rows.

    asked: Rows that it was asked about already, and how many rows near them rounding decides.
    """

    model: LiveModel
    asked: dict[Any, int] = field(default_factory=dict)

    def inputs(self, rows: Floats) -> Floats:
        """Return what rows give to the network, shape (n, inputs)."""
        front = self.model.front
        assert front is not None
        return front.made(rows) + 0.0

    def hold(self, network: Network, x: Sequence[float], kept: Iterable[int] = ()) -> None:
        """Ask about x and rows that have its values in some columns.

        Raises UnsupportedModel: Where the network differs, and rounding does not explain it; and
            where it differs on x.
        """
        key = tuple(x), tuple(sorted(kept))
        if key in self.asked:
            return
        rows = np.vstack([np.array(x, dtype=np.float64), changed_rows(network, x, key[1])])
        self.asked[key] = self.compare(network, rows, must=1)

    def compare(self, network: Network, rows: Floats, must: int) -> int:
        """Raise where the model answers otherwise; return how often rounding explains it.

        must: So many rows, the first, must have the same class whatever explains it.
        """
        inputs = self.inputs(rows)
        theirs, said = self.model.predict(rows, network.classes)
        ours, near, explained = classes_of(network, inputs), near_ties(network, inputs), 0
        for i in np.flatnonzero(ours != theirs).tolist():
            if near[i] and i >= must and theirs[i] >= 0:
                explained += 1
                continue
            told = shown(network.classes[theirs[i]] if theirs[i] >= 0 else said[i])
            why = (
                "its scores are so close that rounding decides, and no exact sum tells how"
                if near[i]
                else "what is said of the network would be false of the model; kind='rule' "
                "explains any classifier by its predict alone"
            )
            row = "x" if not i else "a changed row"
            raise UnsupportedModel(
                f"{self.model.name}.predict gives {row} the class {told}, its weights give it "
                f"{shown(network.classes[ours[i]])}: {why}"
            )
        return explained

    def told(self, x: Sequence[float]) -> str:
        """Say how many rows it was asked about."""
        near = max((n for (row, _), n in self.asked.items() if row == tuple(x)), default=0)
        rows = f"{ROWS - near} of {ROWS} rows changed from it; rounding decides the others"
        rest = rows if near else f"{ROWS} rows changed from it"
        return f"checked: {self.model.name}.predict agrees on x and on {rest}"


def changed_rows(network: Network, x: Sequence[float], kept: Sequence[int]) -> Floats:
    """Return random rows of the columns' values, with those of x in some columns."""
    random, rows = np.random.default_rng(0), np.tile(np.array(x, dtype=np.float64), (ROWS, 1))
    for a, column in enumerate(network.columns):
        if a in kept:
            continue
        if column.listed:
            rows[:, a] = random.choice(np.array(column.listed), ROWS)
        elif column.ends is not None:
            rows[:, a] = random.uniform(*column.attribute.interval, ROWS)
    # Some columns as in x: rows near it.
    near = random.random((ROWS, len(x))) < random.random((ROWS, 1))
    return np.where(near, np.array(x), rows)


def classes_of(network: Network, inputs: Floats) -> NDArray[np.int64]:
    """Return the classes of rows of inputs, shape (n,), exactly where rounding may decide."""
    scores = network.rounded_scores(inputs)
    positive = network.decision == "positive"
    found = (scores[:, 0] > 0).astype(np.int64) if positive else scores.argmax(axis=1)
    for i in np.flatnonzero(near_ties(network, inputs)).tolist():
        found[i] = network.class_of(inputs[i].tolist())
    return found


def near_ties(network: Network, inputs: Floats) -> NDArray[np.bool_]:
    """Say of each row whether rounding of the library's sums may decide its class.

    A sum of n products is off by at most (n + 1) u times the sum of their sizes, u = 2**-53
    (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1); twice that, for the
    difference of two, and once more for the probabilities that are made of scores.
    """
    values, off = inputs, np.zeros(inputs.shape)
    for i, layer in enumerate(network.layers):
        if i and network.activation == "relu":
            values = np.maximum(values, 0)
        sizes = np.abs(values) @ np.abs(layer.weights).T + np.abs(layer.biases)
        unit = (layer.weights.shape[1] + 4) * 2.0**-52
        off = off @ np.abs(layer.weights).T + unit * sizes
        values = values @ layer.weights.T + layer.biases
    lost = 2 * off.max(axis=1) + 2.0**-50 * (1 + np.abs(values).max(axis=1))
    if network.decision == "positive":
        return np.asarray(np.abs(values[:, 0]) <= lost)
    ordered = np.sort(values, axis=1)
    return np.asarray(ordered[:, -1] - ordered[:, -2] <= lost)
