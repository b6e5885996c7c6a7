"""The check of expected predictions, from the saved trees, states and probabilities alone."""

from __future__ import annotations

import copy
import itertools
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

from cpx.check.claims import (
    UNDECIDED,
    beaten,
    class_name,
    compare,
    compare_shares,
    nothing_found,
    proof,
    significant,
    wrong_features,
    wrong_figures,
    wrong_rule,
    wrong_types,
)
from cpx.check.intervals import Intervals
from cpx.check.result_fields import shown
from cpx.models.expected_prediction.judge_scores import MOST_WORK, ExactScores, TooLong, bits

KINDS = ("mlse", "fewest-expected")
"""Kinds of problem that are judged here."""

_MOST_SETS = 300
"""Sets that a claim is tried on."""


def judge(instance: Mapping[str, Any], seconds: float) -> Callable[[Mapping[str, Any]], list[str]]:
    """Read an instance; return what says what is wrong with a result for it.

    Reading and judging a result take so many seconds; then it is left undecided.
    """
    started = time.monotonic()
    claims = Greatest if instance["problem"] == "mlse" else Fewest
    try:
        reading = claims(instance, started + seconds)
    except TooLong:
        return lambda result: [UNDECIDED]
    broken = reading.broken()
    left = seconds - (time.monotonic() - started)

    def violations(result: Mapping[str, Any]) -> list[str]:
        reading.deadline = time.monotonic() + left
        try:
            return broken or reading.violations(result)
        except TooLong:
            return [UNDECIDED]

    return violations


class _Claims(ExactScores, ABC):
    """What is claimed of a set of attributes, by both problems."""

    sign = 1

    @property
    def tolerance(self) -> int:
        """Values that differ by no more may be equal, but for rounding."""
        return 0

    def allowed(self, held: frozenset[int]) -> bool:
        """Whether a set has what is required and nothing forbidden."""
        return held >= self.required and not held & self.forbidden and not self.side(held)

    @abstractmethod
    def objective(self, held: frozenset[int]) -> int:
        """Return the objective of a set."""

    @abstractmethod
    def feasible(self, held: frozenset[int]) -> bool:
        """Whether a set is a solution."""

    def others(self, held: frozenset[int] | None) -> list[frozenset[int]]:
        """Return sets that a claim is tried on: all that there are, or those next to a set."""
        some = len(self.leaves) * len(self.chances.weights)
        if not self.chances.edgeless:
            some *= self.n
        most = min(_MOST_SETS, MOST_WORK // max(1, some))
        every = range(self.n)
        if self.n < 9 and 2**self.n <= most:
            sets = (itertools.combinations(every, size) for size in range(self.n + 1))
            return [frozenset(S) for S in itertools.chain.from_iterable(sets)]
        if held is None:
            return [frozenset(every) - self.forbidden, frozenset(self.required)]
        near = [held - {a} for a in sorted(held)] + [held | {a} for a in every if a not in held]
        return near[:most]

    def violations(self, result: Mapping[str, Any]) -> list[str]:
        """Return what is wrong with a result."""
        found, status = result["explanation"], result["status"]
        if found is None:
            out = nothing_found(result)
            if status == "INFEASIBLE":
                known = next((S for S in self.others(None) if self.feasible(S)), None)
                if known is not None:
                    out.append(f"status: INFEASIBLE, but {sorted(known)} is a solution")
            return out
        out = wrong_features(found["features"], self.n) + wrong_types(result, int)
        if out:
            return out
        held = frozenset(found["features"])
        if missing := sorted(self.required - held):
            out.append(f"features: the required {missing} are not chosen")
        if present := sorted(self.forbidden & held):
            out.append(f"features: the forbidden {present} are chosen")
        out += self.side(held)
        if not out and not self.feasible(held):
            out.append(self.too_bad(held))
        if not out and status == "INFEASIBLE":
            out.append(f"status: INFEASIBLE, but {sorted(held)} is a solution")
        objective = self.objective(held)
        compare(out, "objective", result["objective"], objective)
        out += proof(result, objective, self.sign)
        if not out:
            out += self._beaten(result, held)
        return out + self._words(result, held)

    @abstractmethod
    def too_bad(self, held: frozenset[int]) -> str:
        """Say why a set is no solution that has what is required and nothing forbidden."""

    def _beaten(self, result: Mapping[str, Any], held: frozenset[int]) -> list[str]:
        likeliest = (result["explanation"].get("claim") or {}).get("best_of_ties")
        for S in self.others(held):
            if not self.feasible(S):
                continue
            value = self.objective(S)
            within = value + self.sign * self.tolerance
            if out := beaten(result, sorted(S), within, self.sign):
                return out
            good = self.sign * value <= self.sign * result["objective"]
            if likeliest and good and self.penalty(S) < self.penalty(held):
                return [f"claim: {sorted(S)} is as good, and more likely"]
        return []

    # ------------------------------------------------------------------ words and figures

    def _words(self, result: Mapping[str, Any], held: frozenset[int]) -> list[str]:
        found, out = result["explanation"], list[str]()
        called = class_name(self.instance, self.instance["class"])
        compare_shares(out, found, None, None)
        out += wrong_rule(found, self._means, called)
        bound = math.floor(self.bound(held) * 1000) / 1000
        out += self._figures(found.get("expectation"), held, bound)
        figures = {
            "structure": self.chances.structure,
            "factorised": self.by_leaf,
            "missing": self._missing(),
            "within": self.within,
        }
        if self.rival is not None:
            figures["against"] = str(self.forest.classes[self.rival])
        return out + wrong_figures(found, figures)

    @property
    @abstractmethod
    def within(self) -> int:
        """By how many units rounding may deceive about what is claimed."""

    def _missing(self) -> str | list[str]:
        """Return which columns of rows may lack a value, where the model takes such rows."""
        states, forest = self.states, self.forest
        if forest.tested <= forest.refusing:
            return "refused"
        return [
            states.titles[c]
            for columns, rows in zip(states.columns, states.states, strict=True)
            for i, c in enumerate(columns)
            if any(row[i] < 0 for row in rows)
        ]

    def _means(self, a: int, said: object) -> bool:
        """Whether a condition is what an attribute says of x."""
        states = self.states
        columns = states.columns[a]
        if len(columns) == 1:
            return self._cells.cells(columns[0], said) == {self._cells.own(columns[0])}
        values = {states.titles[c]: self.forest.given[c] for c in columns}
        if None in values.values():
            return said == {"column": states.names[a], "value": None}
        return said == {"column": states.names[a], "values": [[*pair] for pair in values.items()]}

    @cached_property
    def _cells(self) -> Intervals:
        """The cells of single columns, between the cuts of the states."""
        cut = copy.copy(self.forest)
        cut.thresholds = self.states.cuts
        cut.tested = {*range(len(self.states.cuts))}
        return Intervals(cut)

    def _figures(self, said: Any, held: frozenset[int], bound: float) -> list[str]:
        if not isinstance(said, Mapping):
            return ["expectation: is missing"]
        out: list[str] = []
        every = frozenset(range(self.n))
        figures = {
            "measure": self.measure,
            "expected": float(self.expected(held)),
            "of_x": float(self.greatest(every)),
            "of_nothing": float(self.expected(frozenset())),
            "threshold": float(self.threshold),
            "greatest": float(self.greatest(held)),
            "bound": bound,
        }
        for name, given in figures.items():
            compare(out, name, said.get(name), given)
        chance, likely = self.chance(held), said.get("log_likelihood")
        given = math.log(chance.numerator) - math.log(chance.denominator)
        if not isinstance(likely, float) or abs(likely - given) > 1e-9 * max(1.0, abs(given)):
            out.append(f"log_likelihood: the result says {likely}, the data give {given}")
        if (same := said.get("same")) is not None:
            share = self.same_decision(held)
            if not isinstance(same, float) or not 0 <= same <= 1:
                out.append(f"same: must be a probability, got {shown(same)}")
            elif share is not None:
                compare(out, "same", same, float(share))
        # Of rows drawn, only that limits are about their mean can be seen.
        mean = said.get("probability")
        if mean is not None and not (
            isinstance(mean, list)
            and len(mean) == 5
            and all(isinstance(v, int | float) and not isinstance(v, bool) for v in mean)
            and 0 <= mean[1] <= mean[0] <= mean[2] <= 1
        ):
            out.append(f"probability: must be a mean and its limits, got {shown(mean)}")
        # The rows kept aside are not in the file: what is said of them is taken on trust.
        kept = [said.get(name) for name in ("held_out", "held_out_gain", "held_out_rows")]
        numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in kept[:2])
        if kept != [None, None, ""] and not (
            numbers and kept[2] in ("kept aside", "of the table")
        ):
            out.append(
                f"held_out: must be two numbers and of which rows, or none, got {shown(kept)}"
            )
        return out


class Greatest(_Claims):
    """At most k attributes of greatest expected score."""

    sign = -1

    @property
    def tolerance(self) -> int:
        """A unit for each rounding: twice by what two sets that are expected alike may differ."""
        return 2 * self.forgiven

    def objective(self, held: frozenset[int]) -> int:
        """Return the expected score in units."""
        if not self.by_leaf:
            return round(self.expected(held) / self.unit)
        adds = (self.in_units(i, known, False) for i, known in self.reached(held).items())
        return round(self.base / self.unit) + sum(adds)

    def feasible(self, held: frozenset[int]) -> bool:
        """Whether the set is small enough, and likely enough."""
        small = self.allowed(held) and len(held) <= self.parameters["k"]
        return small and self.likely(held)

    def likely(self, held: frozenset[int]) -> bool:
        """Whether the set is as likely as it must be: of independent attributes, in steps."""
        if not self.least:
            return True
        if not self.chances.factorised:
            return self.chance(held) >= self.least
        return sum(self.steps[a] for a in held) <= self.budget

    @property
    def budget(self) -> int:
        """The steps that a set of independent attributes may cost."""
        return math.ceil(2**20 * bits(self.least))

    @cached_property
    def least(self) -> Fraction:
        """How likely a set must be, 0 where that is not asked for."""
        return Fraction(self.parameters.get("min_probability") or 0)

    @cached_property
    def steps(self) -> list[int]:
        """What knowing each attribute costs of the likelihood, in steps of 2**-20 bit."""
        return [math.floor(2**20 * bits(self.chance(frozenset([a])))) for a in range(self.n)]

    def too_bad(self, held: frozenset[int]) -> str:
        """Say that it is too large, or not likely enough."""
        if len(held) <= self.parameters["k"]:
            least = significant(Fraction(self.parameters["min_probability"]), 6)
            return f"likelihood: {significant(self.chance(held), 6)}, {least} is asked for"
        return f"features: {len(held)} are chosen, k is {self.parameters['k']}"

    @property
    def within(self) -> int:
        """Units by which another set may be better for all that rounding tells."""
        return self.tolerance or self.roundings or 1


class Fewest(_Claims):
    """The fewest attributes that reach a threshold."""

    def __init__(self, instance: Mapping[str, Any], deadline: float = math.inf) -> None:
        super().__init__(instance, deadline)
        self.tau = Fraction(self.parameters["threshold"])
        self.bounded = self.parameters["measure"] == "probability-bound"

    def objective(self, held: frozenset[int]) -> int:
        """Return the number of attributes."""
        return len(held)

    def feasible(self, held: frozenset[int]) -> bool:
        """Whether the set reaches the threshold; in units where these are counted."""
        if not self.allowed(held):
            return False
        if not self.by_leaf:
            return (self.bound(held) if self.bounded else self.expected(held)) >= self.tau
        adds = sum(self.in_units(i, known, True) for i, known in self.reached(held).items())
        others, needed = [self.base], self.tau
        if self.bounded:
            others = [(1 - self.tau) * self.base]
            others += [-self.tau * value for value in self.greatest_leaves(held)]
            needed = (1 - self.tau) * self.threshold
        reached = adds + sum(math.floor(value / self.unit) for value in others)
        return reached >= math.ceil(needed / self.unit) - self.forgiven

    def too_bad(self, held: frozenset[int]) -> str:
        """Say that it does not reach the threshold."""
        reached = self.bound(held) if self.bounded else self.expected(held)
        told, asked = significant(reached, 6), significant(self.tau, 6)
        return f"threshold: {told} is reached, {asked} is asked for"

    @property
    def within(self) -> int:
        """Units that rounding may take from what is reached."""
        return self.forgiven
