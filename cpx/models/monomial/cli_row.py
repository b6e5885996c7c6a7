"""A table, a classifier trained on it and a row, for commands about rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from cpx.cli import options as opt
from cpx.cli.kind_options import OF_ENGINES, KindOptions, check_values
from cpx.cli.reading import read_columns
from cpx.errors import UnknownName
from cpx.explainers.doors import kind
from cpx.support.validation import valid_seed

if TYPE_CHECKING:
    import pandas as pd

    from cpx.models.monomial.explainers.rule import RuleExplainer
    from cpx.models.monomial.problem import MonomialProblem

# An instance has all of its samples from the start, and no fresh ones.
_IN_ROUNDS = ("epsilon", "delta", "max_queries", "fresh")


def rule_options(*without: str) -> KindOptions:
    """Return the options of rules that say what problem is asked, but for some."""
    return KindOptions("rule", without=(*OF_ENGINES, *_IN_ROUNDS, *without))


def row_options() -> KindOptions:
    """Return the options of rules that say how rows are drawn and cut into bins."""
    return KindOptions("rule", without=tuple(kind("rule").asked))


@dataclass(frozen=True)
class TrainedModel:
    """A table, and a classifier that is trained on it."""

    title: ClassVar[str] = "Table and model"

    table: opt.Table
    target: opt.Target
    model: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Classifier trained on the table: mlp, forest, tree, boosting, logistic.",
            autocompletion=opt.choices(opt.CLASSIFIERS),
        ),
    ] = "mlp"
    missing: opt.Missing = None

    def check(self, options: dict[str, Any]) -> None:
        """Check what can be checked without the table."""
        if self.model not in opt.CLASSIFIERS:
            raise UnknownName("model", self.model, opt.CLASSIFIERS)
        check_values(kind("rule"), options)
        valid_seed(options.get("seed", 0))

    def read(self, options: dict[str, Any]) -> tuple[pd.DataFrame, pd.Series[Any]]:
        """Return the columns of the table without the target, and the target."""
        named, missing = options.get("categorical"), opt.words(self.missing)
        return read_columns(
            self.table, self.target, missing, named, numbers=_about_numbers(options)
        )

    def explainer(self, X: pd.DataFrame, options: dict[str, Any]) -> RuleExplainer:
        """Return what explains rows, of a classifier that is not trained; take its options out."""
        from cpx.data import named_classifier
        from cpx.models.monomial.explainers.rule import RuleExplainer

        prepared = {n: options.pop(n) for n in kind("rule").prepared if n in options}
        seed, numbers = prepared.get("seed", 0), _about_numbers(prepared)
        return RuleExplainer(named_classifier(self.model, seed, numbers), X, **prepared)


def _about_numbers(options: Mapping[str, Any]) -> bool:
    """Whether limits of predicted numbers are given."""
    from cpx.data.targets import target_of

    return target_of(*(options.get(name) for name in ("above", "below", "between"))) is not None


@dataclass(frozen=True)
class Source(TrainedModel):
    """The prediction to explain: of a row of the table."""

    row: opt.Row = field(kw_only=True)


class RowQuestion:
    """A row of a table and its explainer: checked without training, trained on demand."""

    def __init__(self, source: Source, options: dict[str, Any]) -> None:
        from cpx.data import row as row_of

        self.source = source
        source.check(options)
        self._X, self._y = source.read(options)
        self.x = row_of(self._X, source.row)
        self.explainer = source.explainer(self._X, options)

    def problem(self, options: dict[str, Any], unseen: int = 0) -> MonomialProblem:
        """Check the question, train the model and state the problem."""
        from cpx.cli.progress import phase, training

        self.explainer.check(self.x, **options)
        with training(self.source.model, len(self._X)):
            self.explainer.fit(self._X, self._y)
        with phase("labelling samples"):
            return self.explainer.problem(self.x, unseen=unseen, **options)

    def title(self, problem: MonomialProblem) -> str:
        """Return what is explained, in one line."""
        from cpx.models.monomial.explainers.rule import brief

        label = problem.samples.context.get("class")
        return f"class {label!s} by {self.source.model}: {', '.join(brief(problem))}"


def stated(
    source: Source, options: dict[str, Any], name: str | None, unseen: int = 0
) -> tuple[MonomialProblem, RowQuestion]:
    """Train the model, draw samples and state the problem; return the row as well."""
    from cpx.models.monomial.explainers.question import Question

    row = RowQuestion(source, options)
    size = Question.of(options).size(row.explainer.distribution.n_features)
    usual = f"{source.table.name.partition('.')[0]}-{source.row}-k{size}"
    return row.problem({**options, "name": name or usual}, unseen), row
