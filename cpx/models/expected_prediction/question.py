"""What is asked of known values: how many, what must be reached, and what is expected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, get_args

from cpx.errors import InvalidInstance, InvalidOption
from cpx.explainers.options import FORBIDDEN, FRESH, LABEL, NAME, REQUIRED, WHERE, Option
from cpx.models.expected_prediction.text import MEASURES
from cpx.support.validation import Share, positive_integer

SAMPLED: Literal["sampled-probability"] = "sampled-probability"
"""The measure of a threshold that rows drawn must reach, not exact expectations."""

SAMPLED_ONLY = {"samples": 10_000, "least": 100}
"""Rows drawn, and how many of them must have the values, for the measure of rows drawn."""

Measure = Literal["expectation", "probability-bound", "sampled-probability"]
MEASURE_NAMES: tuple[str, ...] = get_args(Measure)


PREDICTIONS = (*MEASURES.values(), "decision")
"""What can be expected of a row."""


@dataclass(frozen=True)
class ExpectationQuestion:
    """Which values are wanted; see :meth:`ExpectationExplainer.explain`."""

    k: Annotated[int | None, Option("Most values: 5, or all where these are fewer.", "N", int)] = (
        None
    )
    threshold: Annotated[
        Share | None, Option("In place of k: the fewest columns that reach it.", "T")
    ] = None
    min_probability: Annotated[
        Share | None,
        Option("How likely the values must be at least; k is then all unless given.", "P"),
    ] = None
    measure: Annotated[
        Measure | None,
        Option(
            "What must reach the threshold, or is made greatest: expectation (unless given), "
            "sampled-probability, the share of rows that are drawn, or of a threshold "
            "probability-bound, the proved share of rows that get the class.",
            "NAME",
            choices=MEASURE_NAMES,
        ),
    ] = None
    samples: Annotated[
        int | None, Option("Rows drawn for the measure sampled-probability: 10,000.", "N", int)
    ] = None
    least: Annotated[
        int | None, Option("How many of these rows must have the values: 100.", "N", int)
    ] = None
    prediction: Annotated[
        str | None,
        Option(
            "What is expected: the model's own score, probability or share of votes (unless "
            "given); the probability that follows from a sum of trees; or the decision, so that "
            "it is the share of rows that get the class.",
            "NAME",
            choices=PREDICTIONS,
        ),
    ] = None
    required: Annotated[object, REQUIRED] = ()
    forbidden: Annotated[object, FORBIDDEN] = ()
    where: Annotated[str | Sequence[str], WHERE] = ()
    unit: Annotated[Share | None, Option("What scores are rounded to.", shell=None)] = None
    label: Annotated[Any, LABEL] = None
    fresh: Annotated[int, Option("Fresh samples that the answer is measured on.", "N", int)] = (
        FRESH
    )
    name: Annotated[str, NAME] = ""

    def __post_init__(self) -> None:
        given = [name for name in SAMPLED_ONLY if getattr(self, name) is not None]
        if given and not self.by_samples:
            raise InvalidOption(f"{given[0]} is for the measure {SAMPLED}")
        if self.by_samples and self.min_probability is not None:
            raise InvalidOption(f"min_probability is not for the measure {SAMPLED}: least is")
        if self.k is not None and self.threshold is not None:
            raise InvalidOption("give k, or a threshold: the fewest attributes that reach it")
        if self.min_probability is not None and self.threshold is not None:
            raise InvalidOption("min_probability is for k, and not for a threshold")
        positive_integer("fresh", self.fresh)

    def on_rows_drawn(self, why: InvalidInstance) -> ExpectationQuestion:
        """Return the question to be answered on rows drawn, where no expectation is exact.

        Raises InvalidInstance: Where it cannot be, with what stands in the way.
        """
        if self.measure == "probability-bound":
            raise InvalidInstance(f"{why}; the measure probability-bound is for scores") from None
        if self.min_probability is not None:
            told = f"min_probability is not for the measure {SAMPLED}: least is"
            raise InvalidInstance(f"{why}; {told}") from None
        return replace(self, measure=SAMPLED)

    @property
    def may_be_drawn(self) -> bool:
        """Whether rows drawn can answer it, and exact expectations are not asked for."""
        return self.measure is None and self.min_probability is None

    @property
    def by_samples(self) -> bool:
        """Whether the threshold is a share of rows that are drawn."""
        return self.measure == SAMPLED
