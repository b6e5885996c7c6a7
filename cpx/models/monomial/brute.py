"""Brute force for problems of one rule."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from cpx.testing.truth import Instance, Labelled, Value, share


class Monomial(Labelled):
    """A conjunction of at most k features: least loss, greatest precision or coverage."""

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        self.kind = instance["problem"]
        self.maximised = self.kind in ("max-precision", "max-coverage")
        self.groups = instance.get("groups") if self.parameters.get("one_per_group") else None
        given = dict(self.parameters)
        if self.kind == "max-precision":
            given.setdefault("min_coverage", "1/20")
        if self.kind == "max-coverage":
            given.setdefault("min_precision", "19/20")
        names = ("min_coverage", "max_coverage", "min_precision")
        self.limits = [
            share(given[name]) if given.get(name) is not None else None for name in names
        ]

    def value(self, features: Iterable[int]) -> Value | None:
        chosen = tuple(sorted(set(features)))
        if len(chosen) > self.parameters["k"] or self.refused(chosen):
            return None
        if self.groups is not None:
            groups = [self.groups[j] for j in chosen]
            if len(set(groups)) < len(groups):
                return None
        covered = self.rows.cover(chosen)
        c, g = self.rows.weight(covered), self.rows.weight(covered & self.same)
        total = self.rows.weight(self.rows.everything)
        floor, ceiling, precise = self.limits
        if floor is not None and c < floor * total:
            return None
        if ceiling is not None and c > ceiling * total:
            return None
        if precise is not None and (c == 0 or g < precise * c):
            return None
        if self.kind == "max-coverage":
            return c
        if self.kind == "max-precision":
            return None if c == 0 else Fraction(g, c)
        missed = self.rows.weight(self.same & ~covered) if self.kind == "k-monomial" else 0
        return c - g + missed

    @property
    def magnitude(self) -> int:
        # Limits are stated in integers; so is a ratio, whose terms have the other's weights.
        total = self.rows.weight(self.rows.everything)
        scale = math.prod(limit.denominator for limit in self.limits if limit is not None)
        return total * scale * (total if self.kind == "max-precision" else 1)
