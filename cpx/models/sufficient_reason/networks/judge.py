"""The check of sufficient reasons of networks.

Rows are evaluated in integers. That all rows of a box have the class is decided by linear
functions of the inputs below and above each neuron, in parts that get smaller: signs of neurons
are fixed, values of columns cut. What floats may have lost is taken off each bound.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cpx.check.claims import broken_by, class_name, compare_shares, wrong_figures, wrong_rule
from cpx.models.sufficient_reason import judge_minimum_subset as minimum_subset
from cpx.models.sufficient_reason.networks.judge_boxes import Parts, always_leads

KINDS = ("network-reason",)
"""Kinds of problem that are judged here."""

_FURTHER = 0.3
"""Seconds for each further set that is asked about, which an answer need not be refused for."""


def judge(instance: Mapping[str, Any], seconds: float) -> Callable[[Mapping[str, Any]], list[str]]:
    """Read an instance; return what says what is wrong with a result for it.

    Judging a result takes about so many seconds; then sufficiency is left undecided.
    """
    reading = NetworkReading(instance["network"], [float.fromhex(v) for v in instance["inputs"]])
    parameters, called = instance["parameters"], class_name(instance, instance["class"])
    data = minimum_subset.MinimumSubset(
        list(parameters.get("weights") or [1] * len(reading.columns)),
        set(parameters.get("required", ())),
        set(parameters.get("forbidden", ())),
        reading.enough,
        broken_by(instance),
    )

    def violations(result: Mapping[str, Any]) -> list[str]:
        reading.deadline, reading.asked = time.monotonic() + seconds, 0
        if out := reading.wrong_row(instance["x"]):
            return out
        if reading.predicted != instance["class"]:
            told = f"the network gives {reading.predicted!r}"
            return [f"class: the instance says {instance['class']!r}, {told}"]
        out = minimum_subset.violations(data, result)
        if result["explanation"] is None or out:
            return out
        found = result["explanation"]
        compare_shares(out, found, None, None)
        means = {a: reading.condition(a, v) for a, v in enumerate(instance["x"])}
        out += wrong_rule(found, means, called)
        return out + wrong_figures(found, reading.figures(found["features"]))

    return violations


class NetworkReading:
    """A saved network and what a row gives it.

    inputs: Those of the row.
    """

    def __init__(self, network: Mapping[str, Any], inputs: list[float]) -> None:
        self.columns, self.classes = network["columns"], network["classes"]
        self.relu, self.decision = network["activation"] == "relu", network["decision"]
        self.layers = [
            (
                np.array([[float.fromhex(v) for v in row] for row in layer["weights"]]),
                np.array([float.fromhex(v) for v in layer["biases"]]),
            )
            for layer in network["layers"]
        ]
        self.x, self.deadline, self.asked = inputs, float("inf"), 0
        self.label = self.class_of(inputs)
        self.predicted = self.classes[self.label]
        self.rivals = [r for r in range(len(self.classes)) if r != self.label]

    # ----------------------------------------------------------------- scores

    def scores(self, inputs: Sequence[float]) -> list[int]:
        """Return the exact scores of a row, all times the same power of 2."""
        values, power = _integers(inputs)
        for i, (weights, biases) in enumerate(self.layers):
            if i and self.relu:
                values = [max(v, 0) for v in values]
            flat, more = _integers([*weights.ravel().tolist(), *biases.tolist()])
            rows, shifts = flat[: weights.size], flat[weights.size :]
            width = weights.shape[1]
            values = [
                sum(w * v for w, v in zip(rows[j * width :], values)) + (shift << power)
                for j, shift in enumerate(shifts)
            ]
            power += more
        return values

    def class_of(self, inputs: Sequence[float]) -> int:
        scores = self.scores(inputs)
        return int(scores[0] > 0) if self.decision == "positive" else scores.index(max(scores))

    def lead(self, rival: int) -> list[float]:
        """Return what scores are multiplied by: by how much the class leads another one."""
        if self.decision == "positive":
            return [1.0 if self.label else -1.0]
        return [float(k == self.label) - float(k == rival) for k in range(len(self.classes))]

    def leads(self, inputs: Sequence[float], rival: int) -> bool:
        scores = self.scores(inputs)
        if self.decision == "positive":
            return (scores[0] > 0) == bool(self.label)
        gap = scores[self.label] - scores[rival]
        return gap > 0 or (gap == 0 and self.label < rival)

    # ----------------------------------------------------------- sufficiency

    def enough(self, chosen: frozenset[int]) -> bool | None:
        """Say whether the network gives all rows that agree on these columns the class."""
        until = self.deadline
        if self.asked:
            until = min(until, time.monotonic() + _FURTHER)
        self.asked += 1
        return self.forced(chosen, self.rivals, until)

    def forced(self, chosen: frozenset[int], rivals: Sequence[int], until: float) -> bool | None:
        """Say whether the class leads some others on all rows that agree on these columns."""
        parts = Parts(self.x, [self.values(a, a in chosen) for a in range(len(self.columns))])
        open_ = False
        for rival in rivals:

            def leads(inputs: Sequence[float], rival: int = rival) -> bool:
                return self.leads(inputs, rival)

            found = always_leads(self.layers, self.relu, parts, self.lead(rival), leads, until)
            if found is False:
                return False
            open_ |= found is None
        return None if open_ else True

    def values(self, a: int, kept: bool) -> tuple[list[int], Any]:
        """Return the inputs of a column and what they may be: two ends, or a list of points."""
        column = self.columns[a]
        own = column["inputs"]
        if kept or not own:
            return own, [[self.x[i] for i in own]]
        if "ends" in column:
            low, high = map(float.fromhex, column["ends"])
            return own, (low, high)
        return own, [[float.fromhex(v) for v in point] for point in column["points"]]

    # ---------------------------------------------------------------- the row

    def wrong_row(self, x: list[float]) -> list[str]:
        """Complain where inputs of the row are none that its columns can give."""
        for a, column in enumerate(self.columns):
            own, may = self.values(a, kept=False)
            inputs = [self.x[i] for i in own]
            if "ends" in column:
                fine = may[0] <= inputs[0] <= may[1]
            elif own:
                listed = column["attribute"].get("values", [(0.0).hex(), (1.0).hex()])
                known = [float.fromhex(v) for v in listed]
                fine = x[a] in known and may[known.index(x[a])] == inputs
            else:
                fine = True
            if not fine:
                return [f"inputs: {inputs} are not what column {a} can give"]
        return []

    def condition(self, a: int, value: float) -> dict[str, Any]:
        """Return what a kept column says: its value."""
        attribute = self.columns[a]["attribute"]
        words = {key: attribute[key] for key in ("label", "unit") if attribute.get(key)}
        if "labels" in attribute:
            at = [float.fromhex(v) for v in attribute["values"]].index(value)
            return {
                "column": attribute["name"],
                "one_of": [attribute["labels"][at]],
                **words,
            }
        return {"column": attribute["name"], "value": value, **words}

    def figures(self, features: list[int]) -> dict[str, Any]:
        """Return what else is claimed: of how many columns, and how the rest varies."""
        rest = [column for a, column in enumerate(self.columns) if a not in features]
        ends = [[*map(float.fromhex, c["ends"])] for c in rest if "ends" in c]
        figures: dict[str, Any] = {"features": len(self.columns), "decision": self.decision}
        figures["missing"] = []
        if any(low < high for low, high in ends):
            figures["ranged"] = True
        if self.decision != "first":
            figures["second"] = str(self.classes[-1])
        return figures


def _integers(numbers: Sequence[float]) -> tuple[list[int], int]:
    """Return numbers as integers over 2 to a power."""
    ratios = [v.as_integer_ratio() for v in numbers]
    power = max((d.bit_length() - 1 for _, d in ratios), default=0)
    return [(n << power) // d for n, d in ratios], power
