"""The check of sufficient reasons of tree models.

The trees are walked test by test from their roots, with what the tests leave to the columns.
Several trees are decided by bounds on all rows that agree with x, in parts that get smaller,
until the class of x wins in each or a row of another class is met; in exact integers.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
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
from cpx.check.result_fields import shown
from cpx.models.sufficient_reason import judge_minimum_subset as minimum_subset
from cpx.models.sufficient_reason.judge_cells import Box, Cells
from cpx.models.sufficient_reason.judge_class_margin import always_wins
from cpx.models.sufficient_reason.judge_descent import loses_nearby

KINDS = ("sufficient-reason",)
"""Kinds of problem that are judged here."""


def judge(instance: Mapping[str, Any], seconds: float) -> Callable[[Mapping[str, Any]], list[str]]:
    """Read an instance; return what says what is wrong with a result for it.

    Reading and judging a result take so many seconds; then sufficiency is left undecided.
    """
    started = time.monotonic()
    reading = Reason(instance, forest_of(instance["model"], instance["x"]))
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
        return reading.wrong_conditions(instance, result)

    return violations


_MOST_VALUES = 100_000
"""Numbers at the leaves of a model that is kept for further rows."""

_last: list[tuple[bytes, Forest]] = []


def forest_of(model: Mapping[str, Any], x: list[float | None]) -> Forest:
    """Read a model; the last one is kept, for other rows of what is, written out, the same."""
    key = hashlib.sha256(json.dumps(model).encode()).digest()
    known = next((forest for last, forest in _last if last == key), None)
    if known is not None:
        return known.of_row(x)
    forest = Forest(model, x)
    if sum(len(tree["values"]) for tree in model["trees"]) <= _MOST_VALUES:
        _last[:] = [(key, forest)]
    return forest


class Reason:
    """What a saved reason is judged by: the forest, the row and its class."""

    def __init__(self, instance: Mapping[str, Any], forest: Forest | None = None) -> None:
        forest = forest or Forest(instance["model"], instance["x"])
        self.forest = forest
        parameters = instance["parameters"]
        self.level = parameters["level"]
        by_columns = self.level != "conditions"
        self.definition = parameters["definition"]
        self.unit = Fraction(parameters["unit"]) * forest.scale
        self.n = len(forest.attributes) if by_columns else len(forest.conditions)
        self.cells = Cells(forest, by_columns)
        everything = frozenset(range(self.n))
        self.ends = [*self._ends()] if self.level == "intervals" else []
        if self.level == "intervals":
            self.n = len(self.ends)
        self.intervals = Intervals(forest)
        self.deadline = float("inf")
        self.conditions: _Conditions | None = None
        self.own = [leaf for (leaf,) in self._reached(self.cells.box(everything))]
        self.label = self.class_of([leaf.values for leaf in self.own])
        self.predicted = forest.classes[self.label]
        self.rivals = [r for r in range(len(forest.classes)) if r != self.label]
        self._known_leads: dict[int, tuple[list[int], int, int]] = {}

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
        return self.forces(self.box(chosen), doubted=True)

    def box(self, chosen: frozenset[int]) -> Box:
        """Return the box of the rows that keep some features."""
        if self.level != "intervals":
            return self.cells.box(chosen)
        out = self.cells.everything.copy()
        for a, side in (self.ends[j] for j in chosen):
            (begin, own, absent) = self._places(a)
            out[begin : own if side <= 0 else begin] = False
            out[absent if side < 0 else own + 1 : absent + 1] = False
        return out

    def _places(self, a: int) -> tuple[int, int, int]:
        """Return the first cell of a column, that of x, and the one of a missing value."""
        first = self.cells.first
        return int(first[a]), int(self.cells.own[a]), int(first[a + 1]) - 1

    def _ends(self) -> Iterator[tuple[int, int]]:
        """Yield the ends that intervals around x can have: -1 lower, 1 upper, 0 for all else.

        A tested column has an end on each side where it can have other cells; one without an
        order, one that is missing in x, or that can only be missing, is one feature.
        """
        forest, possible = self.forest, self.cells.everything
        for a in sorted(forest.tested):
            begin, own, absent = self._places(a)
            plain = forest.attributes[a].get("kind") != "categorical" and not forest.sets[a]
            if own == absent or not plain:
                yield a, 0
                continue
            sides = [-1] * bool(possible[begin:own].any())
            sides += [1] * bool(possible[own + 1 : absent].any())
            yield from ((a, side) for side in sides or [0] * bool(possible[absent]))

    def columns(self, features: Iterable[int]) -> list[int]:
        """Return the columns of some features, increasing."""
        if self.level == "attributes":
            return sorted(features)
        pairs = self.ends if self.level == "intervals" else self.forest.conditions
        return sorted({pairs[j][0] for j in features})

    def forces(self, box: Box, doubted: bool = False) -> bool | None:
        """Say whether all rows of a box have the class, by the definition of the instance.

        doubted: Whether a row that has it not is looked for first.
        """
        if self.definition == "majoritary":
            return self._majority(self._reached(box))
        if self.definition == "tree-specific":
            reached = self._reached(box)
            return all(self._worst_wins(reached, rival) for rival in self.rivals)
        try:
            if doubted and any(self._loses_nearby(box, rival) for rival in self.rivals):
                return False
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
        return always_wins(self.cells, box, *self._leads(rival), self._look)

    def _loses_nearby(self, box: Box, rival: int) -> bool:
        return loses_nearby(self.cells, box, *self._leads(rival), self._look)

    def _leads(self, rival: int) -> tuple[list[int], int, int]:
        """Return the lead at each leaf, what is added to it, and the lead with which x wins."""
        if rival not in self._known_leads:
            leads = [self.margin(leaf.values, rival) for leaf in self.cells.leaves]
            base, enough = self.margin(self.forest.base, rival), int(not self.wins(0, rival))
            self._known_leads[rival] = leads, base, enough
        return self._known_leads[rival]

    def _look(self) -> None:
        if time.monotonic() > self.deadline:
            raise _TooLong

    # ------------------------------------------------------------ conditions

    def conditions_of(self, found: Mapping[str, Any] | None) -> _Conditions | None:
        """Read the conditions that an answer has for its features, None without any.

        Files of earlier versions have words, which are not looked at.
        """
        said = found and found["rule"].get("conditions")
        if not found or not said or all(isinstance(condition, str) for condition in said):
            return None
        features = sorted(found["features"])
        out = _Conditions(frozenset(features))
        if self.level == "conditions" or wrong_features(features, self.n):
            return out
        columns, box = self.columns(features), self.box(frozenset(features))
        if len(said) != len(columns):
            return out
        for a, condition in zip(columns, said, strict=True):
            allowed = self.intervals.cells(a, condition)
            if allowed is None:
                return out
            if a in self.forest.tested and self.forest.x[a] is not None:
                begin, _, absent = self._places(a)
                if not {*np.flatnonzero(box[begin:absent]).tolist()} <= allowed:
                    return out
                own = [begin + cell for cell in allowed]
                box[own] = self.cells.everything[own]
        out.box = box
        return out

    def wrong_conditions(
        self, instance: Mapping[str, Any], result: Mapping[str, Any]
    ) -> list[str]:
        """Complain about conditions that are not those of the features."""
        found, conditions, out = result["explanation"], self.conditions, list[str]()
        if conditions is not None:
            said = shown(found["rule"]["conditions"])
            if conditions.box is None:
                out.append(f"conditions: {said} are not true of x, one for each column")
            elif conditions.force is False:
                out.append(f"conditions: {said} do not force the class")
        compare_shares(out, found, None, None)
        called = class_name(instance, instance["class"])
        out += wrong_rule(found, self._means, called, None)
        return out + wrong_figures(found, self._figures(sorted(found["features"])))

    def _means(self, j: int, said: object) -> bool:
        """Whether a condition is that of a feature: its test, its end, or the cell of x."""
        if self.level == "attributes":
            return self.intervals.cells(j, said) == {self.intervals.own(j)}
        if self.level == "intervals":
            begin, _, absent = self._places(a := self.ends[j][0])
            box, found = self.box(frozenset([j])), self.intervals.cells(a, said)
            possible = {*np.flatnonzero(self.cells.everything[begin:absent]).tolist()}
            if self.forest.x[a] is None:
                return found == {self.intervals.own(a)}
            kept = {*np.flatnonzero(box[begin:absent]).tolist()}
            return found is not None and found & possible == kept
        place = self.forest.conditions[j]
        return self.intervals.is_test(said, *place, self.forest.holds(*place))

    def _figures(self, features: list[int]) -> dict[str, Any]:
        """Return what else is claimed: in what sense the class is forced."""
        decision = self.forest.decision
        figures = {"features": self.n, "decision": decision, "missing": self._missing(features)}
        if self._ranged(features):
            figures["ranged"] = True
        if self.level == "intervals":
            figures["others"] = len(self.forest.attributes) - len(self.columns(features))
        if decision != "first":
            figures["second"] = str(self.forest.classes[-1])
        if self.definition == "majoritary":
            figures |= {"votes": self._votes_needed(), "trees": len(self.own)}
        return figures

    def _ranged(self, features: list[int]) -> bool:
        """Say whether another column that a test looks at has a range that is stated."""
        columns, free = self.forest.attributes, self.level == "conditions"
        rest = self.forest.tested - {*([] if free else self.columns(features))}
        return any(
            columns[a].get("kind", "real") in ("real", "integer")
            and bool({"lower", "upper", "values"} & {*columns[a]})
            for a in rest
        )

    def _missing(self, features: list[int]) -> str | list[str]:
        """Return which other columns may be missing, of those that a test may look at."""
        columns, free = self.forest.attributes, self.level == "conditions"
        kept = [] if free else self.columns(features)
        rest = [a for a in range(len(columns)) if a not in kept]
        tested = [a for a in rest if a in self.forest.tested]
        if all(a in self.forest.refusing for a in tested):
            return "refused"
        if free:
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
    """What an answer says of its features: the rows it allows, and whether these suffice."""

    features: frozenset[int]
    box: Box | None = None
    force: bool | None = None


class _TooLong(Exception):
    """There is no time left."""
