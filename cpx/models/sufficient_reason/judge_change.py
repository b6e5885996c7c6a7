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

import numpy as np

from cpx.check.result_fields import shown
from cpx.models.sufficient_reason.judge import Reason, forest_of

_MOST_NODES = 200_000


@dataclass(frozen=True)
class Change:
    """A change as it is judged.

    model: As it is saved; its attributes say what a value may be.
    x, row: The row and the changed one, None for a missing value.
    wanted: The classes of which one is to be reached.
    kept: Columns that may not change.
    weights: What the change of each column costs.
    chosen: The columns of the change; each that differs is one of them.
    """

    model: Mapping[str, Any]
    x: list[float | None]
    row: list[float | None]
    wanted: Collection[Any]
    kept: Collection[int]
    weights: Sequence[int]
    chosen: Collection[int]

    @property
    def columns(self) -> list[int]:
        """The columns that differ."""
        return [a for a, (old, new) in enumerate(zip(self.x, self.row)) if old != new]

    def violations(self, value: int | None) -> list[str]:
        """Say what is wrong with the change, whose weight is said to be this."""
        out = [f"column {a} may not change" for a in self.chosen if a in self.kept]
        out += [f"column {a} changes, too" for a in self.columns if a not in self.chosen]
        weight = sum(self.weights[a] for a in self.chosen)
        if weight != value:
            out.append(f"the change weighs {weight}, not {value}")
        for a in self.columns:
            if not _may_be(self.model["attributes"][a], self.row[a]):
                out.append(f"column {a} cannot be {self.row[a]}")
        given = class_of(self.model, self.row)
        if given not in self.wanted:
            out.append(f"the changed row gets {given!r}")
        return out

    def showing(
        self, reasons: Sequence[Collection[int]], bound: int, seconds: float
    ) -> list[list[int]] | None:
        """Return some of these sets that show that no change weighs less than a bound.

        None where they do not show it, or not in so many seconds.
        """
        deadline = time.monotonic() + seconds
        # x itself is of no wanted class: something must change.
        first = frozenset(range(len(self.weights))) - {*self.kept}
        sets = [first, *sorted({*map(frozenset, reasons)} - {first}, key=lambda s: (len(s), *s))]
        for count in [*(1 << k for k in range(len(sets).bit_length())), len(sets)]:
            if count <= len(sets) and no_lighter(sets[:count], self.weights, bound, deadline):
                few = self._needed(sets[:count], bound, time.monotonic() + seconds / 10)
                some = [sorted(one) for one in few]
                left = deadline - time.monotonic()
                return some if self.wrong_sets(some, bound, left) == [] else None
        return None

    def _needed(
        self, sets: list[frozenset[int]], bound: int, deadline: float
    ) -> list[frozenset[int]]:
        """Leave out sets, the last first, while the others show a bound: each takes time to judge.

        Runs of sets are tried before single ones.
        """
        for run in [len(sets) >> k for k in range(1, len(sets).bit_length())]:
            for end in range(len(sets), 0, -run):
                rest = sets[: max(end - run, 0)] + sets[end:]
                if no_lighter(rest, self.weights, bound, deadline):
                    sets = rest
        return sets

    def wrong_sets(
        self, sets: Sequence[Collection[int]], bound: int, seconds: float
    ) -> list[str] | None:
        """Say what is wrong with sets that should show that no change weighs less than a bound.

        Returns: None where so many seconds are too few to decide it.
        """
        reading = _reading(self.model, self.x)
        deadline = reading.deadline = time.monotonic() + seconds
        classes = reading.forest.classes
        reading.rivals = [r for r in reading.rivals if classes[r] in self.wanted]
        for one in sets:
            if not {*one} <= {*range(reading.n)}:
                return [f"sets: {shown([*one])} are no columns"]
            forced = reading.forces(reading.cells.box(frozenset(one) | {*self.kept}))
            if forced is None:
                return None
            if not forced:
                return [f"sets: that one of {shown([*one])} must change is not so"]
        some = [frozenset(one) - {*self.kept} for one in sets]
        if no_lighter(some, self.weights, bound, deadline):
            return []
        if time.monotonic() > deadline:
            return None
        return [f"sets: they do not show that no change weighs less than {bound}"]

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


def class_of(model: Mapping[str, Any], row: Sequence[float | None]) -> Any:
    """Return the class of a row, by one walk through each tree; None where it is refused."""
    base = [Fraction(float.fromhex(v)) for v in model["base"]]
    for tree in model["trees"]:
        found = _leaf(model, tree, row)
        if found is None:
            return None
        for score, text in zip(tree["outputs"], found, strict=True):
            base[score] += Fraction(float.fromhex(text))
    if model["decision"] == "first":
        return model["classes"][base.index(max(base))]
    return model["classes"][base[0] > 0 or (base[0] == 0 and model["decision"] == "nonnegative")]


def _leaf(
    model: Mapping[str, Any], tree: Mapping[str, Any], row: Sequence[float | None]
) -> Sequence[str] | None:
    """Return the values of the leaf of a row."""
    columns, width = tree["attribute"], len(tree["outputs"])
    at = tests = leaves = 0
    while (column := columns[at]) >= 0:
        split, way = tree["split"][tests], tree["missing"][tests]
        left = way == "l"
        if row[column] is None:
            if way == "-":
                return None
        else:
            left = _goes_left(model, column, split, row[column])
        at, tests = at + 1, tests + 1
        # Nodes are in preorder: what goes right passes over all of the left side.
        open_ = 0 if left else 1
        while open_:
            inner = columns[at] >= 0
            open_ += 1 if inner else -1
            tests, leaves, at = tests + inner, leaves + (not inner), at + 1
    found: Sequence[str] = tree["values"][leaves * width : (leaves + 1) * width]
    return found


def _goes_left(model: Mapping[str, Any], column: int, split: int, value: float | None) -> bool:
    limits, single = model["thresholds"][column], model["cast"] == "float32"
    with np.errstate(over="ignore"):  # beyond float32 is infinity
        seen = float(np.float32(value)) if single else float(value or 0.0)
    if split in (-1, len(limits)):  # no cell goes left, or each does
        return split != -1
    if split < len(limits):
        return seen <= float.fromhex(limits[split])
    cell = sum(seen > float.fromhex(t) for t in limits)
    return cell in model["sets"][column][split - len(limits) - 1]


def _reading(model: Mapping[str, Any], row: list[float | None]) -> Reason:
    parameters = {"level": "attributes", "definition": "sufficient", "unit": "0"}
    instance = {"model": model, "x": row, "parameters": parameters}
    return Reason(instance, forest_of(model, row))


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


def no_lighter(
    sets: Sequence[frozenset[int]], weights: Sequence[int], bound: int, deadline: float
) -> bool:
    """Say whether each set that meets all of these weighs a bound at least; False when unsure.

    Sets are integers here, whose lowest bit is the lightest column. A node is what was chosen,
    with its weight, and what was left out.
    """
    order = sorted({a for one in sets for a in one}, key=lambda a: weights[a])
    bit, prices = {a: 1 << i for i, a in enumerate(order)}, [weights[a] for a in order]
    masks = sorted({sum(bit[a] for a in one) for one in sets}, key=int.bit_count)
    waiting = [(0, 0, 0)]
    for _ in range(_MOST_NODES):
        if not waiting:
            return True
        chosen, weight, out = waiting.pop()
        missed = [one & ~out for one in masks if not one & chosen]
        first = min(missed, key=int.bit_count, default=0)
        if missed and (not first or weight + _disjoint(first, missed, prices) >= bound):
            continue
        if not missed:
            if weight >= bound:
                continue
            return False
        if time.monotonic() > deadline:
            return False
        while first:
            one = first & -first
            first ^= one
            waiting.append((chosen | one, weight + prices[one.bit_length() - 1], out))
            out |= one
    return False


def _disjoint(first: int, missed: Sequence[int], prices: Sequence[int]) -> int:
    """Add up the least prices of sets that have nothing in common with others before them."""
    total = used = 0
    for one in (first, *missed):
        if not one & used:
            total += prices[(one & -one).bit_length() - 1]
            used |= one
    return total
