"""Probabilistic explanations on the command line: from a table, or a model, to the problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from cpx.cli import options as opt
from cpx.cli.option_groups import given
from cpx.cli.row_question import RuleOptions, Source, read_source
from cpx.cli.tree_row import Columns
from cpx.errors import InvalidOption, UnknownName, shown

if TYPE_CHECKING:
    import pandas as pd

    from cpx.models.expected_prediction.explainer import ExpectationExplainer
    from cpx.models.expected_prediction.problem import ExpectedPrediction
    from cpx.models.expected_prediction.sampled_probability import FewestSampled

Wanted = RuleOptions | Columns
"""What names columns that are required and forbidden, and side constraints."""

_MEASURES = ("expectation", "probability-bound", "sampled-probability")
_DISTRIBUTION = "mixture"


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

    def refuse(self, kind: str) -> None:
        """Raise for options that are for a probabilistic explanation."""
        if options := given(self):
            raise InvalidOption(f"{options[0]} is for {kind}")

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

    def problem(self, row: ExplainedRow, k: int | None, wanted: Wanted) -> ExpectedPrediction:
        """State the problem of so many columns at most, or of the threshold."""
        measure: Any = self.measure
        return row.explainer.problem(
            row.x, k, threshold=self.threshold, measure=measure, **_of_columns(row, wanted)
        )

    def sampled(self, row: ExplainedRow, wanted: Wanted) -> FewestSampled:
        """Draw the rows a share of which must reach the threshold."""
        if self.threshold is None:
            raise InvalidOption(f"--measure {self.measure} needs --threshold")
        own = {name: getattr(self, name) for name in ("samples", "least")}
        own = {name: value for name, value in own.items() if value is not None}
        return row.explainer.sampled(row.x, self.threshold, **own, **_of_columns(row, wanted))


def _of_columns(row: ExplainedRow, wanted: Wanted) -> dict[str, Any]:
    return {
        "required": opt.read_features(wanted.required),
        "forbidden": opt.read_features(wanted.forbidden),
        "where": wanted.where or (),
        "name": row.name,
    }


def of_table(
    source: Source, wanted: RuleOptions, missing_in: str | None, name: str | None = None
) -> ExplainedRow:
    """Train a tree model on a table and fit a distribution to it.

    A column of texts becomes 0/1 columns, one for each text, which are known together.
    """
    from cpx.cli.progress import phase
    from cpx.data.classifiers import tree_classifier

    _refuse_options_of_rules(source, wanted, "target", "row", "model")
    distribution = _distribution(source)
    if source.model not in opt.TREES:
        raise InvalidOption(
            f"a probabilistic explanation is of tree models: --model {', '.join(opt.TREES)}, "
            f"got {shown(source.model)}"
        )
    X, y, _ = read_source(source)
    table, groups = encoded(X)
    with phase(f"training {source.model} on {len(X)} rows", long=True):
        model = tree_classifier(source.model, source.seed).fit(table, y)
    may = opt.read_missing(missing_in)
    explainer = explainer_of(model, table, distribution, groups, source.seed, may)
    title = name or f"{source.table.name.partition('.')[0]}-{source.row}"
    return ExplainedRow(explainer, table.iloc[[source.row]], title, source.model)


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


def _refuse_options_of_rules(source: Source, wanted: RuleOptions, *taken: str) -> None:
    refused = given(source, "table", "missing", "distribution", "seed", *taken)
    for option in (*refused, *given(wanted, "required", "forbidden", "where")):
        raise InvalidOption(f"{option} is for a rule, not for a probabilistic explanation")


def _distribution(source: Source) -> str:
    """Return the distribution that is asked for; that of rules unless another one is."""
    from cpx.explainers.background import FITTED
    from cpx.options import read_named

    if "--distribution" not in given(source):
        return _DISTRIBUTION
    if read_named("distribution", source.distribution)[0] not in FITTED:
        raise InvalidOption(
            "a probabilistic explanation needs a distribution that is fitted: --distribution "
            f"{', '.join(FITTED)}, got {shown(source.distribution)}"
        )
    return source.distribution


def encoded(X: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, list[str]]]:
    """Return columns of texts as 0/1 columns, and these by the name of theirs."""
    import pandas as pd
    from pandas.api.types import is_numeric_dtype

    groups: dict[str, list[str]] = {}
    parts: list[Any] = []
    for name, column in X.items():
        if is_numeric_dtype(column.dtype):
            parts.append(column)
            continue
        texts = column.astype(object).where(column.notna(), "missing").astype(str)
        bits = pd.get_dummies(texts, prefix=str(name), prefix_sep=" = ").astype("int8")
        groups[str(name)] = [str(title) for title in bits.columns]
        parts.append(bits)
    return pd.concat(parts, axis=1), groups
