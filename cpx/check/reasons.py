"""Answers to sufficient reasons, from the saved model and row alone.

The trees are walked test by test from their roots, with what the tests leave to the columns.
Several trees are decided by bounds on all rows that agree with x, in parts that get smaller,
until the class of x wins in each or a row of another class is met; in exact integers.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from cpx.check import minimum_subset as smallest
from cpx.check.cells import Box, Cells
from cpx.check.class_margin import always_wins
from cpx.check.forest import Forest, Node

__all__ = ["judge"]


def judge(instance: Mapping[str, Any], seconds: float) -> Callable[[Mapping[str, Any]], list[str]]:
    """Read an instance; return what says what is wrong with a result for it.

    Reading and judging a result take so many seconds; then sufficiency is left undecided.
    """
    started = time.monotonic()
    reading = _Reason(instance)
    parameters = instance["parameters"]
    data = smallest.Smallest(
        list(parameters.get("weights") or [1] * reading.n),
        set(parameters.get("required", ())),
        set(parameters.get("forbidden", ())),
        reading.enough,
    )
    left = seconds - (time.monotonic() - started)

    def complaints(result: Mapping[str, Any]) -> list[str]:
        reading.deadline = time.monotonic() + left
        if (given := reading.predicted) != instance["class"]:
            return [f"class: the instance says {instance['class']!r}, the model gives {given!r}"]
        out = smallest.complaints(data, result)
        found = result["explanation"]
        return out if found is None or out else reading.wrong_words(found)

    return complaints


class _Reason:
    def __init__(self, instance: Mapping[str, Any]) -> None:
        self.forest = forest = Forest(instance["model"], instance["x"])
        parameters = instance["parameters"]
        self.by_columns = parameters["level"] == "attributes"
        self.definition = parameters["definition"]
        self.unit = Fraction(parameters["unit"]) * forest.scale
        self.n = len(forest.attributes) if self.by_columns else len(forest.conditions)
        self.cells = Cells(forest, self.by_columns)
        self.deadline = float("inf")
        self.own = [leaf for (leaf,) in self._reached(self.cells.box(frozenset(range(self.n))))]
        self.label = self._class([leaf.values for leaf in self.own])
        self.predicted = forest.classes[self.label]
        self.rivals = [r for r in range(len(forest.classes)) if r != self.label]

    def _class(self, leaves: list[tuple[int, ...]]) -> int:
        forest = self.forest
        sums = [sum(column) for column in zip(forest.base, *leaves, strict=True)]
        if forest.decision == "first":
            return sums.index(max(sums))
        return int(sums[0] > 0 or (sums[0] == 0 and forest.decision == "nonnegative"))

    def _margin(self, values: tuple[int, ...] | list[int], rival: int) -> int:
        if self.forest.decision == "first":
            return values[self.label] - values[rival]
        return values[0] if self.label == 1 else -values[0]

    def _wins(self, margin: int, rival: int) -> bool:
        if margin != 0:
            return margin > 0
        decision = self.forest.decision
        if decision == "first":
            return self.label < rival
        return bool(decision == "nonnegative") == (self.label == 1)

    # ----------------------------------------------------------- sufficiency

    def _reached(self, box: Box) -> list[list[Node]]:
        """Return the leaves of each tree that rows of the box reach."""
        places = np.flatnonzero(self.cells.reached(box))
        ends = np.searchsorted(places, self.cells.of_tree)
        found = [self.cells.leaves[at] for at in places.tolist()]
        return [found[a:b] for a, b in itertools.pairwise(ends)]

    def enough(self, chosen: frozenset[int]) -> bool | None:
        """Decide by the definition of the instance."""
        box = self.cells.box(chosen)
        if self.definition == "majoritary":
            return self._majority(self._reached(box))
        if self.definition == "tree-specific":
            reached = self._reached(box)
            return all(self._worst_wins(reached, rival) for rival in self.rivals)
        try:
            return all(self._always_wins(box, rival) for rival in self.rivals)
        except _TooLong:
            return None

    def _majority(self, reached: list[list[Node]]) -> bool:
        """Add up the worst case: all trees that may vote otherwise vote for one rival."""
        sure = sum(all(leaf.values[self.label] for leaf in leaves) for leaves in reached)
        votes = self.forest.scale * (2 * sure - len(reached))
        return all(
            self._wins(votes + self._margin(self.forest.base, rival), rival)
            for rival in self.rivals
        )

    def _worst_wins(self, reached: list[list[Node]], rival: int) -> bool:
        total = self._margin(self.forest.base, rival)
        own = [self._margin(leaf.values, rival) for leaf in self.own]
        worst = [min(self._margin(leaf.values, rival) for leaf in leaves) for leaves in reached]
        if not self.unit:
            return self._wins(total + sum(worst), rival)
        # By how much x wins; a tie that the rival would get is one unit short.
        slack = total + sum(own)
        slack -= not self._wins(0, rival)
        lost = sum(-((w - o) // self.unit) for o, w in zip(own, worst, strict=True))
        return lost <= slack // self.unit

    def _always_wins(self, box: Box, rival: int) -> bool:
        leads = [self._margin(leaf.values, rival) for leaf in self.cells.leaves]
        base = self._margin(self.forest.base, rival)
        return always_wins(self.cells, box, leads, base, int(not self._wins(0, rival)), self._look)

    def _look(self) -> None:
        if time.monotonic() > self.deadline:
            raise _TooLong

    # ----------------------------------------------------------------- words

    def wrong_words(self, found: Mapping[str, Any]) -> list[str]:
        """Complain about literals that are not of the features they stand for."""
        literals = found["rule"]["literals"]
        if [j for j, _ in literals] != sorted(found["features"]):
            return [f"rule: its literals are not those of the features {found['features']}"]
        out = []
        for j, text in literals:
            column = j if self.by_columns else self.forest.conditions[j][0]
            name = self.forest.attributes[column]["name"]
            if name not in text:
                out.append(f"literal {j}: {text!r} is not about {name!r}")
        return out


class _TooLong(Exception):
    """There is no time left."""
