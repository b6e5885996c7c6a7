"""The check of smallest changes: the class of the changed row, and that no change is lighter.

A change must meet each set of columns which, with those that may not change, force that no wanted
class is given. That they do is decided on the saved model; and that no set of less weight meets
them all, by branching. Of a sum of functions of one column each it is enough to add up what
columns gain at most.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from cpx.models.sufficient_reason.judge import Reason

_MOST_NODES = 200_000


@dataclass(frozen=True)
class Change:
    """A change as it is judged.

    model: As it is saved; its attributes say what a value may be.
    x, row: The row and the changed one, None for a missing value.
    wanted: The classes of which one is to be reached.
    kept: Columns that may not change.
    weights: What the change of each column costs.
    """

    model: Mapping[str, Any]
    x: list[float | None]
    row: list[float | None]
    wanted: Collection[Any]
    kept: Collection[int]
    weights: Sequence[int]

    @property
    def columns(self) -> list[int]:
        """The columns that differ."""
        return [a for a, (old, new) in enumerate(zip(self.x, self.row)) if old != new]

    def violations(self, value: int | None) -> list[str]:
        """Say what is wrong with the change, whose weight is said to be this."""
        out = [f"column {a} may not change" for a in self.columns if a in self.kept]
        weight = sum(self.weights[a] for a in self.columns)
        if weight != value:
            out.append(f"the change weighs {weight}, not {value}")
        for a in self.columns:
            if not _may_be(self.model["attributes"][a], self.row[a]):
                out.append(f"column {a} cannot be {self.row[a]}")
        given = _reading(self.model, self.row).predicted
        if given not in self.wanted:
            out.append(f"the changed row gets {given!r}")
        return out

    def confirmed(
        self, reasons: Sequence[Collection[int]], bound: int, seconds: float
    ) -> int | None:
        """Return by how many sets it is confirmed that no change weighs less than a bound.

        reasons: Sets of columns that each change should meet.
        Returns: None where they do not confirm it, or not in so many seconds.
        """
        reading = _reading(self.model, self.x)
        reading.deadline = time.monotonic() + seconds
        classes = reading.forest.classes
        reading.rivals = [r for r in reading.rivals if classes[r] in self.wanted]
        # x itself is of no wanted class: something must change.
        first = [frozenset(range(reading.n)) - {*self.kept}]
        rest = sorted(map(frozenset, reasons), key=len)
        counts: list[int] = [1 << k for k in range(1, len(rest).bit_length())]
        counts.append(len(rest))
        for count in counts:
            if _no_lighter([*first, *rest[:count]], self.weights, bound, reading.deadline):
                break
        else:
            return None
        for reason in rest[:count]:
            if reading.forces(reading.cells.box(reason | {*self.kept})) is not True:
                return None
        return count

    def gains_too_little(self, bound: int) -> bool:
        """Say whether columns that weigh less than a bound gain no wanted class enough, added up.

        False where a tree tests several columns, and where that does not show it.
        """
        reading = _reading(self.model, self.x)
        cells, classes = reading.cells, reading.forest.classes
        trees = [
            {j for spans in cells.spans[a:b] for j in spans}
            for a, b in itertools.pairwise(cells.of_tree.tolist())
        ]
        if any(len(columns) > 1 for columns in trees):
            return False
        reached = reading._reached(cells.box(frozenset(self.kept)))
        for rival in (r for r in reading.rivals if classes[r] in self.wanted):
            lead = reading.margin(reading.forest.base, rival)
            gains: dict[int, int] = {}
            for columns, own, leaves in zip(trees, reading.own, reached, strict=True):
                now = reading.margin(own.values, rival)
                lead += now
                least = min(reading.margin(leaf.values, rival) for leaf in leaves)
                for column in columns:
                    gains[column] = gains.get(column, 0) + now - least
            if not reading.wins(lead - self._most_gained(gains, bound - 1), rival):
                return False
        return True

    def _most_gained(self, gains: Mapping[int, int], weight: int) -> int:
        """Return what columns of so much weight gain at most, parts of them allowed."""
        total = Fraction(0)
        for a in sorted(gains, key=lambda a: Fraction(-gains[a], self.weights[a])):
            part = min(Fraction(weight, self.weights[a]), Fraction(1))
            total, weight = total + part * gains[a], weight - min(weight, self.weights[a])
        return math.floor(total)


def _reading(model: Mapping[str, Any], row: list[float | None]) -> Reason:
    parameters = {"level": "attributes", "definition": "sufficient", "unit": "0"}
    return Reason({"model": model, "x": row, "parameters": parameters})


def _may_be(attribute: Mapping[str, Any], value: float | None) -> bool:
    if value is None:
        return bool(attribute.get("missing", False))
    if "values" in attribute:
        return value in map(float.fromhex, attribute["values"])
    kind = attribute.get("kind", "real")
    if kind == "boolean":
        return value in (0.0, 1.0)
    if "lower" in attribute and value < float.fromhex(attribute["lower"]):
        return False
    if "upper" in attribute and value > float.fromhex(attribute["upper"]):
        return False
    return kind != "integer" or value == int(value)


def _no_lighter(
    sets: Sequence[frozenset[int]], weights: Sequence[int], bound: int, deadline: float
) -> bool:
    """Say whether each set that meets all of these weighs a bound at least; False when unsure.

    A node is what was chosen, with its weight, and what was left out.
    """
    waiting: list[tuple[frozenset[int], int, frozenset[int]]] = [(frozenset(), 0, frozenset())]
    for _ in range(_MOST_NODES):
        if not waiting:
            return True
        chosen, weight, out = waiting.pop()
        missed = sorted((s - out for s in sets if not s & chosen), key=len)
        if weight + _disjoint(missed, weights) >= bound or (missed and not missed[0]):
            continue
        if not missed:
            return False
        if time.monotonic() > deadline:
            return False
        for a in sorted(missed[0]):
            waiting.append((chosen | {a}, weight + weights[a], out))
            out |= {a}
    return False


def _disjoint(missed: Sequence[frozenset[int]], weights: Sequence[int]) -> int:
    """Add up the least weights of sets that have nothing in common."""
    total, used = 0, frozenset[int]()
    for one in missed:
        if one and not one & used:
            total += min(weights[a] for a in one)
            used |= one
    return total
