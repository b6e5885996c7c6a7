"""The check of sufficient reasons of tree models.

The trees are walked test by test from their roots, with what the tests leave to the columns.
Several trees are decided by bounds on all rows that agree with x, in parts that get smaller,
until the class of x wins in each or a row of another class is met; in exact integers.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from cpx.check.claims import (
    broken_by,
    class_name,
    compare_shares,
    wrong_features,
    wrong_figures,
    wrong_rule,
)
from cpx.check.forest import Forest, Node
from cpx.check.intervals import Intervals
from cpx.models.sufficient_reason import judge_minimum_subset as minimum_subset
from cpx.models.sufficient_reason.judge_cells import Box, Cells
from cpx.models.sufficient_reason.judge_class_margin import always_wins

KINDS = ("sufficient-reason",)
"""Kinds of problem that are judged here."""


def judge(instance: Mapping[str, Any], seconds: float) -> Callable[[Mapping[str, Any]], list[str]]:
    """Read an instance; return what says what is wrong with a result for it.

    Reading and judging a result take so many seconds; then sufficiency is left undecided.
    """
    started = time.monotonic()
    reading = Reason(instance)
    parameters = instance["parameters"]
    data = minimum_subset.MinimumSubset(
        list(parameters.get("weights") or [1] * reading.n),
        set(parameters.get("required", ())),
        set(parameters.get("forbidden", ())),
        reading.enough,
        broken_by(instance),
    )
    left = seconds - (time.monotonic() - started)

    def violations(result: Mapping[str, Any]) -> list[str]:
        reading.deadline = time.monotonic() + left
        if (given := reading.predicted) != instance["class"]:
            return [f"class: the instance says {instance['class']!r}, the model gives {given!r}"]
        reading.conditions = reading.conditions_of(result["explanation"])
        out = minimum_subset.violations(data, result)
        if result["explanation"] is None or out:
            return out
        return reading.wrong_words(instance, result)

    return violations


class Reason:
    """What a saved reason is judged by: the forest, the row and its class."""

    def __init__(self, instance: Mapping[str, Any]) -> None:
        self.forest = forest = Forest(instance["model"], instance["x"])
        parameters = instance["parameters"]
        self.by_columns = parameters["level"] == "attributes"
        self.definition = parameters["definition"]
        self.unit = Fraction(parameters["unit"]) * forest.scale
        self.n = len(forest.attributes) if self.by_columns else len(forest.conditions)
        self.cells = Cells(forest, self.by_columns)
        self.intervals = Intervals(forest)
        self.deadline = float("inf")
        self.conditions: _Conditions | None = None
        self.own = [leaf for (leaf,) in self._reached(self.cells.box(frozenset(range(self.n))))]
        self.label = self.class_of([leaf.values for leaf in self.own])
        self.predicted = forest.classes[self.label]
        self.rivals = [r for r in range(len(forest.classes)) if r != self.label]

    def class_of(self, leaves: list[tuple[int, ...]]) -> int:
        forest = self.forest
        sums = [sum(column) for column in zip(forest.base, *leaves, strict=True)]
        if forest.decision == "first":
            return sums.index(max(sums))
        return int(sums[0] > 0 or (sums[0] == 0 and forest.decision == "nonnegative"))

    def margin(self, values: tuple[int, ...] | list[int], rival: int) -> int:
        if self.forest.decision == "first":
            return values[self.label] - values[rival]
        return values[0] if self.label == 1 else -values[0]

    def wins(self, margin: int, rival: int) -> bool:
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
        """Decide by the definition of the instance.

        The conditions of the answer allow no fewer rows than its features do: where they force
        the class, so do the features.
        """
        wider = self.conditions
        if wider is not None and wider.features == chosen and wider.box is not None:
            wider.force = self.forces(wider.box)
            if wider.force is not False:
                return wider.force
        return self.forces(self.cells.box(chosen))

    def forces(self, box: Box) -> bool | None:
        """Say whether all rows of a box have the class, by the definition of the instance."""
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
            self.wins(votes + self.margin(self.forest.base, rival), rival) for rival in self.rivals
        )

    def _worst_wins(self, reached: list[list[Node]], rival: int) -> bool:
        total = self.margin(self.forest.base, rival)
        own = [self.margin(leaf.values, rival) for leaf in self.own]
        worst = [min(self.margin(leaf.values, rival) for leaf in leaves) for leaves in reached]
        if not self.unit:
            return self.wins(total + sum(worst), rival)
        # By how much x wins; a tie that the rival would get is one unit short.
        slack = total + sum(own)
        slack -= not self.wins(0, rival)
        lost = sum(-((w - o) // self.unit) for o, w in zip(own, worst, strict=True))
        return lost <= slack // self.unit

    def _always_wins(self, box: Box, rival: int) -> bool:
        leads = [self.margin(leaf.values, rival) for leaf in self.cells.leaves]
        base = self.margin(self.forest.base, rival)
        return always_wins(self.cells, box, leads, base, int(not self.wins(0, rival)), self._look)

    def _look(self) -> None:
        if time.monotonic() > self.deadline:
            raise _TooLong

    # ----------------------------------------------------------------- words

    def conditions_of(self, found: Mapping[str, Any] | None) -> _Conditions | None:
        """Read the conditions that an answer prints for its features, None without any."""
        words = found and found["rule"].get("conditions")
        if not found or not words or not self.by_columns:
            return None
        features = sorted(found["features"])
        out = _Conditions(frozenset(features))
        if len(words) != len(features) or wrong_features(features, self.n):
            return out
        box = self.cells.box(frozenset(features))
        for j, text in zip(features, words, strict=True):
            span = self.intervals.range_of(j, text)
            if span is None:
                return out
            if j in self.forest.tested and self.forest.x[j] is not None:
                first, last = (self.cells.first[j] + at for at in span)
                box[first : last + 1] = self.cells.everything[first : last + 1]
        out.box = box
        return out

    def wrong_words(self, instance: Mapping[str, Any], result: Mapping[str, Any]) -> list[str]:
        """Complain about words that are not those of the features."""
        found, conditions = result["explanation"], self.conditions
        features = sorted(found["features"])
        names = {j: self._name(j) for j in features}
        words, out = list(names.values()), list[str]()
        if conditions is not None:
            words = found["rule"]["conditions"]
            if conditions.box is None:
                out.append(f"conditions: {words} are not true of x, one for each feature")
            elif conditions.force is False:
                out.append(f"conditions: {words} do not force the class")
        compare_shares(out, found, None, None)
        called = class_name(instance, instance["class"])
        out += wrong_rule(found, names, called, words if conditions is not None else ())
        return out + wrong_figures(found, self._figures(features))

    def _name(self, j: int) -> str:
        if self.by_columns:
            return self.intervals.text(j, *self.intervals.own(j))
        place = self.forest.conditions[j]
        return self.intervals.test(*place, self.forest.holds(*place))

    def _figures(self, features: list[int]) -> dict[str, Any]:
        """Return what else is claimed: in what sense the class is forced."""
        decision = self.forest.decision
        figures = {"features": self.n, "decision": decision, "missing": self._missing(features)}
        if decision != "first":
            figures["second"] = str(self.forest.classes[-1])
        if self.definition == "majoritary":
            figures |= {"votes": self._votes_needed(), "trees": len(self.own)}
        return figures

    def _missing(self, features: list[int]) -> str | list[str]:
        """Return which other columns may be missing, of those that a test may look at."""
        columns = self.forest.attributes
        rest = [a for a in range(len(columns)) if not self.by_columns or a not in features]
        tested = [a for a in rest if a in self.forest.tested]
        if all(a in self.forest.refusing for a in tested):
            return "refused"
        if not self.by_columns:
            return []
        may = [a for a in rest if columns[a].get("missing")]
        return "all" if {*tested} <= {*may} else [columns[a]["name"] for a in may]

    def _votes_needed(self) -> int:
        """Return the least number of votes with which the class wins whatever the others do."""
        least, scale = 0, self.forest.scale
        for rival in self.rivals:
            # The lead is 2 votes - trees, and what the base gives.
            missing = scale * len(self.own) - self.margin(self.forest.base, rival)
            votes = -(-missing // (2 * scale))
            least = max(least, votes + (not self.wins(2 * scale * votes - missing, rival)))
        return least


@dataclass
class _Conditions:
    """What an answer prints for its features: the rows it allows, and whether these suffice."""

    features: frozenset[int]
    box: Box | None = None
    force: bool | None = None


class _TooLong(Exception):
    """There is no time left."""
