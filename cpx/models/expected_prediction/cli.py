"""Probabilistic explanations on the command line: from a table, or a model, to the problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from cpx.cli import options as opt
from cpx.cli.option_groups import given
from cpx.cli.tree_row import Columns
from cpx.errors import InvalidOption, UnknownName

if TYPE_CHECKING:
    import pandas as pd

    from cpx.models.expected_prediction.explainer import ExpectationExplainer
    from cpx.models.expected_prediction.problem import ExpectedPrediction
    from cpx.models.expected_prediction.sampled_probability import FewestSampled

_MEASURES = ("expectation", "probability-bound", "sampled-probability")


@dataclass(frozen=True)
class ExplainedRow:
    """A row to explain, what explains it, and what these are called."""

    explainer: ExpectationExplainer
    x: Any
    name: str
    model: str

    def title(self, label: object, words: Sequence[str]) -> str:
        """Return what is asked, in one line."""
        by = f" by {self.model}" if self.model else ""
        return f"class {label}{by}: {', '.join(words)}"


@dataclass(frozen=True)
class ExpectationOptions:
    """What is asked of an expected prediction."""

    title: ClassVar[str] = "Expectation"

    threshold: Annotated[
        str | None,
        typer.Option(
            metavar="T",
            help="For a probabilistic explanation, in place of -k: the fewest columns that reach "
            "it.",
        ),
    ] = None
    measure: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What must reach the threshold: expectation (default), probability-bound, the "
            "proved share of rows that get the class, or sampled-probability, the share of rows "
            "that are drawn.",
            autocompletion=opt.choices(_MEASURES),
        ),
    ] = None
    samples: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Rows drawn for the measure sampled-probability.  [default: 10000]",
        ),
    ] = None
    least: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Columns count for it where at least so many of these rows have their values.  "
            "[default: 100]",
        ),
    ] = None

    def check(self) -> None:
        """Raise for a measure that is not known, and for options of another one."""
        if self.measure is not None and self.measure not in _MEASURES:
            raise UnknownName("measure", self.measure, _MEASURES)
        if not self.of_rows_drawn and (options := given(self, "threshold", "measure")):
            raise InvalidOption(f"{options[0]} is for --measure {_MEASURES[2]}")

    @property
    def of_rows_drawn(self) -> bool:
        """Whether the threshold is a share of rows that are drawn."""
        return self.measure == _MEASURES[2]

    def problem(self, row: ExplainedRow, k: int | None, wanted: Columns) -> ExpectedPrediction:
        """State the problem of so many columns at most, or of the threshold."""
        measure: Any = self.measure
        return row.explainer.problem(
            row.x, k, threshold=self.threshold, measure=measure, **_of_columns(row, wanted)
        )

    def sampled(self, row: ExplainedRow, wanted: Columns) -> FewestSampled:
        """Draw the rows a share of which must reach the threshold."""
        if self.threshold is None:
            raise InvalidOption(f"--measure {self.measure} needs --threshold")
        own = {name: getattr(self, name) for name in ("samples", "least")}
        own = {name: value for name, value in own.items() if value is not None}
        return row.explainer.sampled(row.x, self.threshold, **own, **_of_columns(row, wanted))


def _of_columns(row: ExplainedRow, wanted: Columns) -> dict[str, Any]:
    return {
        "required": opt.read_features(wanted.required),
        "forbidden": opt.read_features(wanted.forbidden),
        "where": wanted.where or (),
        "name": row.name,
    }


def explainer_of(
    model: Any,
    rows: pd.DataFrame,
    distribution: str,
    groups: dict[str, list[str]],
    seed: int,
    missing: Any,
) -> ExpectationExplainer:
    from cpx.cli.output import note
    from cpx.cli.progress import phase
    from cpx.models.expected_prediction.explainer import ExpectationExplainer

    with phase(f"fitting the distribution {distribution} to {len(rows)} rows"):
        explainer = ExpectationExplainer(
            model,
            rows,
            distribution=distribution,
            groups=groups,
            seed=seed,
            missing=missing,
        )
    for text in explainer.notes:
        note(text)
    return explainer
