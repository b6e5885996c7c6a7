"""The check of saved changes that give another class: of the new values, the class and the bound.

The changed row is x with the new values; the trees give it a wanted class, and each row whose
columns are within the intervals that are told. Sets of columns, in each of which one must change,
show that no change is lighter; :mod:`judge_change` says by what.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cpx.check.claims import (
    UNDECIDED,
    class_name,
    compare,
    compare_shares,
    nothing_found,
    proof,
    wrong_features,
    wrong_figures,
    wrong_rule,
    wrong_types,
)
from cpx.check.result_fields import malformed, shown
from cpx.models.sufficient_reason.judge import Reason
from cpx.models.sufficient_reason.judge_change import Change

__all__ = ["judge", "shows_bound"]

_MOST_ROWS = 4096
"""Of all columns, that are tried one by one."""


def judge(instance: Mapping[str, Any], seconds: float) -> Callable[[Mapping[str, Any]], list[str]]:
    """Read an instance; return what says what is wrong with a result for it, in so much time."""

    def violations(result: Mapping[str, Any]) -> list[str]:
        return _Judge(instance, seconds).violations(result)

    return violations


def shows_bound(result: Mapping[str, Any]) -> bool:
    """Whether a result that was confirmed has what shows its bound."""
    found = result["explanation"] or {}
    return result["bound"] is not None and bool(found.get("sets") or found.get("gains"))


class _Judge:
    def __init__(self, instance: Mapping[str, Any], seconds: float) -> None:
        self.instance, self.ends = instance, time.monotonic() + seconds
        self.model, self.x = instance["model"], instance["x"]
        parameters = instance["parameters"]
        self.attributes = self.model["attributes"]
        self.kept = [*parameters.get("frozen", ())]
        self.weights = [*(parameters.get("weights") or [1] * len(self.attributes))]
        self.reading = self._of_row(self.x)
        self.own = self.reading.predicted
        target = parameters.get("target")
        rivals = [c for c in self.model["classes"] if c != self.own]
        self.wanted = rivals if target is None else [target]
        self.any = {*self.wanted} >= {*rivals}

    @property
    def left(self) -> float:
        return max(self.ends - time.monotonic(), 0.0)

    def _of_row(self, row: list[float | None]) -> Reason:
        parameters = {"level": "attributes", "definition": "sufficient", "unit": "0"}
        reading = Reason({"model": self.model, "x": row, "parameters": parameters})
        reading.deadline = self.ends
        return reading

    def violations(self, result: Mapping[str, Any]) -> list[str]:
        """Return what is wrong with a result."""
        given = self.instance["class"]
        if self.own != given:
            return [f"class: the instance says {given!r}, the model gives {self.own!r}"]
        found = result["explanation"]
        if found is None:
            return self._none(result) + nothing_found(result)
        features = found["features"]
        out = wrong_features(features, len(self.attributes)) + wrong_types(result, int)
        row = None if out else self._row(found, out)
        if row is None:
            return out
        change = Change(
            self.model, self.x, row, self.wanted, self.kept, self.weights, sorted(features)
        )
        out += change.violations(result["objective"]) + self._none(result)
        if out:
            return out
        if result["status"] == "OPTIMAL":
            for a in sorted(features):
                back = [self.x[b] if b == a else v for b, v in enumerate(row)]
                if self._of_row(back).predicted in self.wanted:
                    out.append(f"status: OPTIMAL, but column {a} need not change")
        out += self._told(found, row) + self._bound(result, change)
        compare(out, "instead_of", found.get("instead_of"), self._called(self.own))
        for other in found.get("others", ()):
            wrong = malformed({**result, "explanation": other}) or self._other(other)
            out += [one if one == UNDECIDED else f"others: {one}" for one in wrong]
        compare_shares(out, found, None, None)
        out += wrong_figures(found, {})
        out = out + proof(result, result["objective"], 1)
        certain = [one for one in out if one != UNDECIDED]
        return certain or out[:1]

    def _none(self, result: Mapping[str, Any]) -> list[str]:
        """Judge that no change is there."""
        if result["status"] != "INFEASIBLE":
            return []
        classes = self.reading.forest.classes
        self.reading.rivals = [r for r in self.reading.rivals if classes[r] in self.wanted]
        forced = self.reading.forces(self.reading.cells.box(frozenset(self.kept)))
        if forced:
            return []
        if forced is None or not self.any:
            # A third class may be given wherever the wanted one is better than that of x.
            reached = self._reaches()
            if reached is not True:
                return [] if reached is False else [UNDECIDED]
        return ["status: INFEASIBLE, but the columns that may change give a wanted class"]

    def _reaches(self) -> bool | None:
        """Say whether some row of what may change has a wanted class; None of too many."""
        cells, free = self.reading.cells, sorted(self.reading.forest.tested - {*self.kept})
        first, whole = cells.first.tolist(), frozenset(range(self.reading.n))
        options = [
            {int(cells.own[a]), *(np.flatnonzero(cells.everything[b:c]) + b).tolist()}
            for a in free
            for b, c in [first[a : a + 2]]
        ]
        if math.prod(map(len, options)) > _MOST_ROWS:
            return None
        for row in itertools.product(*options):
            if time.monotonic() > self.ends:
                return None
            box = cells.box(whole)
            for a, cell in zip(free, row):
                box[first[a] : first[a + 1]] = False
                box[cell] = True
            leaves = [leaf.values for (leaf,) in self.reading._reached(box)]
            if self.model["classes"][self.reading.class_of(leaves)] in self.wanted:
                return True
        return False

    def _row(self, found: Mapping[str, Any], out: list[str]) -> list[float | None] | None:
        """Return x with the new values; None where these are no values of the columns."""
        values, row = found.get("values") or {}, list(self.x)
        names = [self.attributes[a]["name"] for a in sorted(found["features"])]
        if not isinstance(values, Mapping) or sorted(values) != sorted(names):
            out.append(f"values: {shown(values)} are not those of the columns {shown(names)}")
            return None
        for a, name in zip(sorted(found["features"]), names):
            new = self._number(a, values[name])
            if isinstance(new, str):
                out.append(f"values: {name} cannot be {new}")
                return None
            row[a] = new
        return row

    def _number(self, a: int, value: Any) -> float | str | None:
        """Return the number that stands for a value of a column, or the value in words."""
        if value is None:
            return None
        plain = isinstance(value, int | float) and not isinstance(value, bool)
        plain = plain and math.isfinite(value)
        for label, number in zip(
            self.attributes[a].get("labels") or (), self.attributes[a].get("values") or ()
        ):
            # A category that is a number is one in the table, too.
            if label == value or (plain and _number_of(label) == value):
                return float.fromhex(number)
        return float(value) if plain else shown(value)

    def _told(self, found: Mapping[str, Any], row: list[float | None]) -> list[str]:
        """Judge the intervals that are told, and the values that are."""
        out, reading = list[str](), self._of_row(row)
        rows, says = reading.cells.box(frozenset(range(reading.n))), reading.intervals
        chosen = sorted(found["features"])
        for a, condition in found["rule"]["literals"]:
            cells = says.cells(a, condition) if a in chosen else None
            if cells is None:
                continue
            own = [int(reading.cells.first[a]) + cell for cell in cells]
            rows[own] = reading.cells.everything[own]
        forced = reading.forces(rows)
        if forced is None:
            out.append(UNDECIDED)
        elif not forced:
            out.append("rule: not every such row gets the class")

        def means(a: int, said: Any) -> bool:
            return says.cells(a, said) is not None and self._is_now(a, said.get("now", ""))

        out += wrong_rule(found, means, self._called(reading.predicted))
        told = found.get("told", [])
        right = isinstance(told, list) and len(told) == len(chosen)
        if not right or not all(map(self._is_value, chosen, told, [row[a] for a in chosen])):
            out.append(f"told: {shown(told)} are not the new values")
        return out

    def _is_value(self, a: int, said: Any, value: float | None) -> bool:
        own = self.attributes[a]
        if not isinstance(said, Mapping) or said.get("column") != own["name"]:
            return False
        if any(said.get(key, "") != own.get(key, "") for key in ("label", "unit")):
            return False
        if "one_of" in said:
            labels = said["one_of"]
            return len(labels) == 1 and self._number(a, labels[0]) == value
        if value is None:  # missing, or not said to be there
            return said.get("within") == [] or ("value" in said and said["value"] is None)
        return bool("value" in said and said["value"] == value)

    def _is_now(self, a: int, said: str) -> bool:
        """Whether what x has is not another number, or another category."""
        value, labels = self.x[a], self.attributes[a].get("labels") or ()
        if value is None or said in labels:
            return said == "missing" if value is None else self._number(a, said) == value
        number = _number_of(said.replace(",", ""))
        if number is None:
            return bool(labels)  # a category that only this row has
        return math.isclose(number, value, rel_tol=1e-4, abs_tol=1e-9)

    def _bound(self, result: Mapping[str, Any], change: Change) -> list[str]:
        """Judge what should show the bound."""
        found, bound = result["explanation"], result["bound"]
        sets, gains = found.get("sets", []), found.get("gains", False)
        if (not sets and not gains) or result["status"] == "ERROR":
            return []
        if bound is None:
            return ["sets: there is no bound that they show"]
        if not isinstance(sets, list) or not all(
            isinstance(one, list) and all(type(a) is int for a in one) and sorted({*one}) == one
            for one in sets
        ):
            return [f"sets: {shown(sets)} are no sets of columns"]
        if any(one in sets[:i] for i, one in enumerate(sets)) or (sets and gains):
            return [f"sets: {shown(sets)} say more than what shows the bound"]
        if sets:
            wrong = change.wrong_sets(sets, bound, self.left)
            return [UNDECIDED] if wrong is None else wrong
        if change.gains_too_little(bound):
            return []
        return [f"gains: columns that weigh less than {bound} may gain enough"]

    def _other(self, other: Mapping[str, Any]) -> list[str]:
        """Judge a further change: its values, class and intervals."""
        out = wrong_features(other["features"], len(self.attributes))
        row = None if out else self._row(other, out)
        if row is None:
            return out
        chosen = sorted(other["features"])
        weight = (other.get("claim") or {}).get("value")
        change = Change(self.model, self.x, row, self.wanted, self.kept, self.weights, chosen)
        return change.violations(weight) or self._told(other, row)

    def _called(self, label: Any) -> str:
        """Return what a class is called."""
        names, classes = self.instance.get("context", {}).get("classes"), self.model["classes"]
        if isinstance(names, list) and len(names) == len(classes):
            return str(names[classes.index(label)])
        return class_name({}, label)


def _number_of(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
