"""How sets of attributes are listed: without one that the expectation does not depend on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from cpx.answers.values import Value
from cpx.methods.listing import Cut, Features, Listing
from cpx.modelling.base import Problem
from cpx.support.shares import share_text


class ExpectationListing(Listing):
    """Sets of greatest expectation, or the smallest that reach one."""

    engines: ClassVar[tuple[str, ...]] = ("cpsat", "maxsat", "search")
    kept: ClassVar[tuple[str, ...]] = (
        "codes",
        "feature_names",
        "leaves",
        "scores",
        "leaf_tables",
        "penalties",
        "table_sum",
    )

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.form: Any = problem.form()

    def begin(self) -> None:
        """Cut off what has an attribute that never changes the expectation."""
        if self.problem.sense == "max":
            self.leave_out(self.required, self.idle(self.required))

    def columns(self, values: Sequence[Value], answers: Sequence[Any]) -> dict[str, list[str]]:
        """Return expectation and likelihood: values are in units, or numbers of attributes."""
        return {
            "attributes": [str(len(found.features)) for found in answers],
            "expected": [share_text(found.expected, 4) for found in answers],
            "likelihood": [f"{math.exp(found.log_likelihood):.3g}" for found in answers],
        }

    def same(self, rest: Features, features: Features) -> bool:
        """Whether both have the same expectation, in units."""
        return self.value(rest) == self.value(features)

    def idle(self, features: Features) -> list[int]:
        """Return what changes no expectation beside some, and beside all that contain them."""
        return self.free(self.form.idle(features), features)

    def always(self, rest: Features, j: int) -> bool:
        """Whether an attribute changes nothing beside the rest, whatever is known besides."""
        return self.harmless(rest, j) and j in self.idle(rest)

    def cut(self, features: Features) -> bool:
        """Cut off a set; where its size is what counts, with all that contain it."""
        if self.problem.sense == "max":
            return super().cut(features)
        # Smaller ones were found before, and larger ones have more.
        self.cuts.append(Cut(features))
        return False
