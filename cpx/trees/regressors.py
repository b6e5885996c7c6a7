"""Tree models that predict numbers, read as classifiers: on which side of limits the sum is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cpx.data.oracle import numbers_of
from cpx.data.targets import Prediction, Target
from cpx.trees.building import Nodes
from cpx.trees.live import LiveModel

__all__ = ["LiveNumbers", "fields_of_numbers"]


def fields_of_numbers(
    target: Target, trees: Sequence[Nodes], start: Iterable[float] = (), averaged: bool = False
) -> dict[str, Any]:
    """Return the fields of the TreeModel that says on which side of limits a sum of trees is.

    The limit is taken off the sum, exactly: where that is no float, a tree of a single leaf adds
    what is left.

    trees: Each with one value at its leaves.
    start: What is added to their sum.
    averaged: Whether the sum is divided by the number of trees; the limit is multiplied then.
    """
    count = len(trees) if averaged else 1
    signs = [sign for sign, _ in target.scores]
    outputs = tuple(k for k, sign in enumerate(signs) if sign)
    steps = np.array([signs[k] for k in outputs], dtype=np.float64)
    signed = [replace(tree, values=tree.values[:, :1] * steps, outputs=outputs) for tree in trees]
    begin = sum(map(Fraction, start), Fraction(0))
    wanted = [count * Fraction(constant) + sign * begin for sign, constant in target.scores]
    base = [float(number) for number in wanted]
    rest = [number - Fraction(part) for number, part in zip(wanted, base)]
    while any(rest):
        added = [float(number) for number in rest]
        signed.append(_leaf([added[k] for k in outputs], outputs))
        rest = [number - Fraction(part) for number, part in zip(rest, added)]
    return {
        "trees": signed,
        "rule": "sum",
        "decision": target.decision,
        "base": base,
        "classes": target.classes,
        "prediction": Prediction(target, count),
    }


def _leaf(values: Sequence[float], outputs: tuple[int, ...]) -> Nodes:
    none = np.array([-1])
    return Nodes(none, np.zeros(1), none, none, none, np.array([values]), outputs)


@dataclass(frozen=True, eq=False)
class LiveNumbers(LiveModel):
    """A model that predicts numbers, to be asked on which side of limits they are."""

    target: Target = field(kw_only=True)

    method: ClassVar[str] = "predict"

    def values(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what ``predict`` says."""
        found: NDArray[np.float64] = self._ask(lambda table: numbers_of(self.model, table), rows)
        return found

    def predict(
        self, rows: NDArray[np.float64], given: Sequence[Any]
    ) -> tuple[NDArray[np.int64], list[Any]]:
        """Return the index of the class of each row, and the numbers."""
        said = self.values(rows)
        return self.target.classify(said), said.tolist()

    def probabilities(self, rows: NDArray[np.float64], width: int) -> None:
        """Return None: there are none."""

    def scores(self, rows: NDArray[np.float64], width: int) -> NDArray[np.float64]:
        """Return the scores that its numbers make."""
        said = self.values(rows)
        return np.stack([sign * said + constant for sign, constant in self.target.scores], axis=1)
