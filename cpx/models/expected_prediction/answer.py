"""The explanation by an expected prediction: what a model expects of a few known values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from cpx.answers.explanation import Explanation
from cpx.answers.text import Fact
from cpx.errors import InvalidOption
from cpx.support.shares import share_text, significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class SampledMean(NamedTuple):
    """A mean of probabilities on rows drawn, with limits that hold with a confidence.

    >>> print(SampledMean(0.8, 0.75, 0.85, 100, 0.95))
    0.800 [0.750, 0.850] (95% interval, 100 fresh samples)
    """

    value: float
    low: float
    high: float
    drawn: int
    confidence: float

    def __str__(self) -> str:
        limits = f"{share_text(self.value)} [{share_text(self.low)}, {share_text(self.high)}]"
        return f"{limits} ({100 * self.confidence:.10g}% interval, {self.drawn} fresh samples)"


@dataclass(frozen=True)
class ExpectedExplanation(Explanation):
    """Values of x that make a model expect its class, and how surely.

    All scores are those of the class of x: the more, the surer. ``fresh`` is the share of rows
    drawn with these values that get the class.

    measure: What a score is: ``"score"``, ``"probability"``, ``"share of votes"``, or of rows'
        decisions ``"same-decision probability"``.
    expected: The expected score when these values are known, correctly rounded.
    of_x, of_nothing: The score of x itself, and the expected score when nothing is known.
    log_likelihood: Natural logarithm of the probability of these values.
    threshold: A row with a score above this gets the class.
    greatest: No row with these values has a greater score.
    bound: With at least this probability a row with these values gets the class; 0 where nothing
        is known.
    same: The probability itself, where it was computed exactly.
    probability: Of log-odds: what the model says for the class at the mean, on rows drawn.
    held_out: Mean natural logarithm of the probability of rows kept aside; None where it was not
        measured.
    held_out_gain: By how much that is more than under independent attributes.
    held_out_rows: ``"kept aside"`` where the distribution was fitted anew to the others for that;
        ``"of the table"`` where it was given, and may have been fitted to these as well.
    problem: What was asked, for what :func:`cpx.explain` returns. It is not saved, and not
        compared.

    >>> from cpx.answers.rule import Rule
    >>> rule = Rule.of([0], ["a > 1"], "yes")
    >>> found = ExpectedExplanation(rule, measure="score", expected=1.5, of_x=2.0,
    ...                             of_nothing=-1.0, log_likelihood=-0.7, threshold=0.0,
    ...                             greatest=2.5, bound=0.6)
    >>> round(found.first_order_probability, 3)
    0.818
    >>> ExpectedExplanation.from_dict(found.to_dict()) == found
    True
    """

    measure: str = ""
    expected: float = 0.0
    of_x: float = 0.0
    of_nothing: float = 0.0
    log_likelihood: float = 0.0
    threshold: float = 0.0
    greatest: float = 0.0
    bound: float = 0.0
    same: float | None = None
    probability: SampledMean | None = None
    held_out: float | None = None
    held_out_gain: float | None = None
    held_out_rows: str = ""
    # An ExpectedPrediction, whose module needs this one.
    problem: Any = field(default=None, kw_only=True, compare=False, repr=False)

    @property
    def first_order_probability(self) -> float | None:
        """The sigmoid of the expected score of a sum of trees, its log-odds; None for others.

        A model that predicts numbers has no log-odds.

        A first-order approximation of the expected probability, with no guarantee: it can be
        above it or below it.
        """
        numbers = self.problem is not None and self.problem.tree_model.prediction is not None
        if self.measure != "score" or numbers:
            return None
        if self.expected < 0:
            return math.exp(self.expected) / (1 + math.exp(self.expected))
        return 1 / (1 + math.exp(-self.expected))

    def facts(self) -> list[Fact]:
        """Return what is known about it."""
        around = (
            f"all values known: {significant(self.of_x)}, none: {significant(self.of_nothing)}"
        )
        likelihood = f"{math.exp(self.log_likelihood):.3g}, logarithm {self.log_likelihood:.2f}"
        facts = [
            Fact("expected", f"{self.measure} {significant(self.expected)} ({around})"),
            Fact("likelihood", likelihood),
        ]
        if self.same is not None:
            facts.append(Fact("same class", f"{share_text(self.same, 4)}, exact", share=self.same))
        elif self.fresh is not None:
            facts.append(Fact("same class", str(self.fresh), share=self.fresh.value))
        if self.probability is not None:
            told = f"probability {self.probability}"
            facts.append(Fact("predicted", told, share=self.probability.value))
        if self.held_out is not None and self.held_out_gain is not None:
            than = "more" if self.held_out_gain >= 0 else "less"
            fit = f"log-likelihood of rows {self.held_out_rows} {self.held_out:.2f}, "
            fit += f"{abs(self.held_out_gain):.2f} {than} than of independent attributes"
            facts.append(Fact("fit", fit))
        facts += [Fact("proved", self.proved), Fact("guarantee", self.guarantee)]
        return [*facts, *(Fact("note", text) for text in self.notes)]

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain JSON values."""
        own = {name: getattr(self, name) for name in _FIGURES}
        own["probability"] = None if self.probability is None else [*self.probability]
        return {**super().to_dict(), "expectation": own}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ExpectedExplanation:
        """Read what :meth:`to_dict` wrote."""
        plain, figures = Explanation.from_dict(data), dict(data["expectation"])
        mean = figures["probability"]
        figures["probability"] = None if mean is None else SampledMean(*mean)
        return cls(
            plain.rule,
            precision=plain.precision,
            coverage=plain.coverage,
            fresh=plain.fresh,
            claim=plain.claim,
            remarks=plain.remarks,
            **{name: figures[name] for name in _FIGURES},
        )

    def plot(
        self, shape: Sequence[int] | None = None, *, whole: bool = False, ax: Axes | None = None
    ) -> Axes:
        """Draw x as a picture, the pixels that are known over grey; else the known columns.

        shape: Height and width of the picture, whose pixels the columns are, line by line. Not
            needed where the columns are named by row and column, such as ``pixel_0_7``, or are the
            numbered pixels of a square.
        whole: Draw all pixels of x.
        ax: Where to draw; those of a new figure of pyplot when not given.
        Raises InvalidOption: When the columns are no picture of this shape, or x is not known any
            more: it is not saved.
        Raises EngineMissing: When matplotlib is not installed; with the pip line.
        """
        from cpx.models.expected_prediction.pictures import is_picture, plot_pixels

        asked = self.problem
        if asked is None:
            raise InvalidOption(
                "an explanation that was saved has no row to draw: plot what explain returns"
            )
        coding = asked.coding
        if shape is None and self.panels and not is_picture(coding.column_names):
            return super().plot(ax=ax)
        known = [c for a in self.features for c in coding.columns[a]]
        called = self.rule.says
        title = called if whole else f"{called}, {len(known)} of {coding.n_columns} pixels known"
        return plot_pixels(
            asked.x, coding.column_names, None if whole else known, shape=shape, title=title, ax=ax
        )

    def with_same(self, probability: float) -> ExpectedExplanation:
        """Return it with the exact probability that a row with these values gets the class."""
        return replace(self, same=probability)


_FIGURES = (
    *("measure", "expected", "of_x", "of_nothing", "log_likelihood", "threshold", "greatest"),
    *("bound", "same", "probability", "held_out", "held_out_gain", "held_out_rows"),
)
