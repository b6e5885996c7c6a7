"""Brute force for rule sets and for formulas of kernel machines."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from itertools import combinations

from cpx.testing.truth import Instance, Labelled, Value, share


class RuleSet(Labelled):
    """A set of rules: errors, and a price for each rule."""

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        self.candidates = self._candidates()
        self.n = len(self.candidates)
        self.masks = [self.rows.cover(rule) for rule in self.candidates]
        other, own = self.parameters.get("class_weights") or (1, 1)
        self.errors = [
            w * (own if self.same >> i & 1 else other) for i, w in enumerate(self.rows.weights)
        ]
        price = share(self.parameters["penalty"]) * sum(self.errors)
        # Units are the largest in which the price of a rule is an integer.
        self.scale, self.price = price.denominator, price.numerator
        self.lengths = self.parameters.get("lengths") or [len(r) for r in self.candidates]

    def _candidates(self) -> list[tuple[int, ...]]:
        return [tuple(rule) for rule in self.parameters["rules"]]

    def value(self, features: Iterable[int]) -> Value | None:
        chosen = tuple(features)
        if self.refused(chosen) or self._beyond_limits(chosen):
            return None
        masks = [self.masks[r] for r in chosen]
        covered = reduce(int.__or__, masks, 0)
        wrong = [mask & self.other for mask in masks]
        if self.parameters.get("loss", "zero-one") == "zero-one":
            wrong = [covered & self.other]
        error = sum(self.rows.weight(rows, self.errors) for rows in wrong)
        error += self.rows.weight(self.same & ~covered, self.errors)
        return self.scale * error + self.price * len(chosen)

    def _beyond_limits(self, chosen: tuple[int, ...]) -> bool:
        once = twice = 0
        for r in chosen:
            twice |= once & self.masks[r]
            once |= self.masks[r]
        figures = {
            "max_rules": len(chosen),
            "max_literals": sum(self.lengths[r] for r in chosen),
            "max_overlap": self.rows.weight(twice),
        }
        given = {name: self.parameters.get(name) for name in figures}
        return any(most is not None and figures[name] > most for name, most in given.items())

    @property
    def magnitude(self) -> int:
        return self.scale * sum(self.errors) * (self.n + 1)


class Learning(RuleSet):
    """A set of any conjunctions of at most L literals."""

    def _candidates(self) -> list[tuple[int, ...]]:
        most = min(self.parameters["max_literals"], self.rows.d)
        return [
            rule for size in range(most + 1) for rule in combinations(range(self.rows.d), size)
        ]

    def _beyond_limits(self, chosen: tuple[int, ...]) -> bool:
        return False  # its max_literals is of one rule
