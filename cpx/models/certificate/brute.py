"""Brute force for minimum certificates."""

from __future__ import annotations

from collections.abc import Iterable

from cpx.testing.truth import Instance, Labelled, Value, share


class Certificate(Labelled):
    """The lightest features that leave little covered and disagreeing."""

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        self.costs: list[int] = self.parameters.get("weights") or [1] * self.n

    def value(self, features: Iterable[int]) -> Value | None:
        chosen = tuple(features)
        wrong = self.rows.weight(self.rows.cover(chosen) & self.other)
        total = self.rows.weight(self.rows.everything)
        if self.refused(chosen) or wrong > share(self.parameters["epsilon"]) * total:
            return None
        return sum(self.costs[j] for j in chosen)

    @property
    def magnitude(self) -> int:
        return max(super().magnitude, sum(self.costs))


class PreciseCertificate(Labelled):
    """The fewest features whose rule covers something with a small error."""

    def value(self, features: Iterable[int]) -> Value | None:
        chosen = tuple(features)
        covered = self.rows.cover(chosen)
        weight, wrong = self.rows.weight(covered), self.rows.weight(covered & self.other)
        if self.refused(chosen) or not weight:
            return None
        return None if wrong > share(self.parameters["epsilon"]) * weight else len(chosen)

    @property
    def magnitude(self) -> int:
        scale = share(self.parameters["epsilon"]).denominator
        return self.rows.weight(self.rows.everything) * scale
