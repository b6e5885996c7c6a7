"""From the options of ``make rule`` and ``score`` to a problem on a row of a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from cpx.cli import options as opt
from cpx.cli.reading import require_two_classes
from cpx.errors import UnknownName
from cpx.support.validation import integer_in, valid_seed

if TYPE_CHECKING:
    import pandas as pd

    from cpx.models.monomial.explainers.question import Question
    from cpx.models.monomial.explainers.rule import RuleExplainer
    from cpx.models.monomial.problem import MonomialProblem


@dataclass(frozen=True)
class TrainedModel:
    """A table, a classifier that is trained on it, and a distribution of its rows."""

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
    distribution: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Where samples come from: product of the columns' marginals, empirical rows, "
            "a distribution fitted to them (factorised, mixture, chow-liu, or fitted for the best "
            "of these), perturbed rows, or uniform over the binary features (trains the model on "
            "these). Options in braces: mixture{components=5}.",
            autocompletion=opt.choices(opt.DISTRIBUTIONS),
        ),
    ] = "empirical"
    n_bins: Annotated[int, typer.Option(metavar="N", help="Bins of a numeric column.")] = 3
    strategy: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Bins of equal counts (quantile) or equal widths (uniform).",
            autocompletion=opt.choices(opt.STRATEGIES),
        ),
    ] = "quantile"
    categorical: opt.Categorical = None
    missing: opt.Missing = None
    seed: opt.Seed = 0

    def check(self) -> None:
        """Check what can be checked without the table."""
        for what, name, known in (
            ("model", self.model, opt.CLASSIFIERS),
            ("distribution", self.distribution_name, opt.DISTRIBUTIONS),
            ("strategy", self.strategy, opt.STRATEGIES),
        ):
            if name not in known:
                raise UnknownName(what, name, known)
        integer_in("n_bins", self.n_bins, 2)
        valid_seed(self.seed)

    def read(self) -> tuple[pd.DataFrame, pd.Series[Any]]:
        """Return the columns of the table without the target, and the target."""
        from cpx.data import read_table

        categorical, missing = opt.split(self.categorical), opt.words(self.missing)
        return read_table(self.table, self.target, categorical, missing=missing)

    @property
    def distribution_name(self) -> str:
        """The name of the distribution without its options."""
        from cpx.options import read_named

        return read_named("distribution", self.distribution)[0]

    def explainer(self, X: pd.DataFrame) -> RuleExplainer:
        """Return the explainer of the table's columns, with a classifier that is not trained."""
        from cpx.data import named_classifier
        from cpx.models.monomial.explainers.rule import RuleExplainer

        strategy: Any = self.strategy
        return RuleExplainer(
            named_classifier(self.model, self.seed),
            X,
            n_bins=self.n_bins,
            strategy=strategy,
            distribution=self.distribution,
            seed=self.seed,
        )


@dataclass(frozen=True)
class Source(TrainedModel):
    """The prediction to explain: of a row of the table."""

    row: opt.Row = field(kw_only=True)


@dataclass(frozen=True)
class RuleOptions:
    """The rule to find: its objective, its constraints, and the samples it is evaluated on."""

    title: ClassVar[str] = "Rule"

    objective: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What is optimised: precision, coverage, loss (all errors), or "
            "negative-only (errors of covered samples).",
            autocompletion=opt.choices(opt.OBJECTIVES),
        ),
    ] = "precision"
    min_coverage: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Minimum share of the samples covered, such as 0.05 or 1/20, the default for "
            "the objective precision.",
        ),
    ] = None
    max_coverage: Annotated[
        str | None,
        typer.Option(metavar="SHARE", help="Maximum share of the samples covered."),
    ] = None
    min_precision: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Minimum precision on the samples, such as 0.95, the default for the objective "
            "coverage.",
        ),
    ] = None
    required: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CONDITION",
            help="A condition that the rule must have, as it is printed, or its number. "
            "Repeatable.",
        ),
    ] = None
    forbidden: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CONDITION",
            help="A condition that it must not have. Repeatable.",
        ),
    ] = None
    where: opt.Where = None
    one_per_group: Annotated[
        bool, typer.Option("--one-per-group", help="At most one condition of each column.")
    ] = False
    m: Annotated[
        int | None,
        typer.Option(
            "-m",
            metavar="N",
            help="Samples the rule is found on.  [default: all rows, where --distribution is "
            "empirical and there are at most 100,000, else 1000]",
        ),
    ] = None
    epsilon: Annotated[
        float | None,
        typer.Option(
            metavar="E",
            help="Instead of -m: draw samples in rounds until no rule can be more than E more "
            "precise; for other objectives, as many as it takes to know the loss to within E.",
        ),
    ] = None
    delta: Annotated[
        float | None,
        typer.Option(
            metavar="D",
            help="With --epsilon: the guarantee holds with probability at least 1 - D.",
        ),
    ] = None

    max_queries: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="With --epsilon, for the objective precision: ask the model about N rows at "
            "most, and tell the gap so far.",
        ),
    ] = None

    def question(self, k: int | None) -> Question:
        """Return the question; a wrong value raises an error that names its option."""
        from cpx.models.monomial.explainers.question import Question

        if k is not None:
            integer_in("k", k, 0)
        return Question.of(
            {
                "k": k,
                "objective": self.objective,
                "m": self.m,
                "epsilon": self.epsilon,
                "delta": self.delta,
                "max_queries": self.max_queries,
                "min_coverage": self.min_coverage,
                "max_coverage": self.max_coverage,
                "min_precision": self.min_precision,
                "required": self.required or (),
                "forbidden": self.forbidden or (),
                "where": self.where or (),
                "one_per_group": self.one_per_group,
            }
        )


def read_source(source: Source) -> tuple[pd.DataFrame, pd.Series[Any], pd.DataFrame]:
    """Return the columns of the table without the target, the target, and the row.

    Raises DataError: When there is no such table, column or row, or the target has a single class.
    """
    from cpx.cli.progress import phase
    from cpx.data import row as row_of

    with phase(f"reading {source.table}"):
        X, y = source.read()
        x = row_of(X, source.row)
    require_two_classes(source.table, y)
    return X, y, x


class RowQuestion:
    """A row of a table and an explainer for it: made without training, trained on demand."""

    def __init__(self, source: Source) -> None:
        self.source = source
        source.check()
        self._X, self._y, self.x = read_source(source)
        self.explainer = source.explainer(self._X)

    def check(self, question: Question) -> None:
        """Check the question before anything is trained."""
        from cpx.data.bits import require_rows_fit

        d = self.explainer.distribution.n_features
        question.draws(d)
        require_rows_fit("fresh", question.fresh, d)
        conditions = self.explainer.conditions(self.x)
        conditions.features(question.required, "required")
        conditions.features(question.forbidden, "forbidden")

    def train(self) -> None:
        """Train the model."""
        from cpx.cli.progress import phase

        with phase(f"training {self.source.model} on {len(self._X)} rows", long=True):
            self.explainer.fit(self._X, self._y)

    def problem(self, question: Question, unseen: int = 0) -> MonomialProblem:
        """Train the model and state the problem."""
        from cpx.cli.progress import phase

        self.train()
        with phase("labelling samples"):
            return self.explainer.state(self.x, question, unseen)

    def title(self, problem: MonomialProblem) -> str:
        """Return what is explained, in one line."""
        samples = problem.samples
        total = f"all {samples.total} rows" if samples.population else f"{samples.total} samples"
        return (
            f"class {samples.context.get('class')!s} by {self.source.model}: "
            f"{', '.join([problem.kind, *problem.short_limits()])}, "
            f"{total} ({self.source.distribution}, {samples.m} distinct), "
            f"{samples.d} features, k = {problem.k}"
        )
