"""A classifier and its background, as rules need them: samples, conditions, precisions."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, Unpack, cast

import numpy as np

from cpx.answers.covered import CoveredRows
from cpx.answers.explanation import Explanation, PrecisionEstimate
from cpx.answers.panels import Panel, Spread
from cpx.answers.rule import Rule
from cpx.data import (
    Background,
    Distribution,
    Oracle,
    Samples,
    named_classifier,
)
from cpx.data import distribution as make_distribution
from cpx.data.condition import Condition, Equals, OneOf, told, valued
from cpx.data.distributions import DISTRIBUTIONS
from cpx.data.oracle import KnownRow, labels, precision_of
from cpx.data.other_frames import as_pandas
from cpx.data.samples import Labelled
from cpx.data.targets import asked_about, target_of
from cpx.data.terms import Term, true_of
from cpx.data.words import ColumnWords, called, cuts_of, with_label, words_of_table
from cpx.errors import InvalidOption, NoMass
from cpx.explainers.about_row import cells_of, known_rows, of_rows, with_values
from cpx.explainers.background import TreePredictor, fitted_to_rows
from cpx.explainers.class_names import ClassNames, class_name, classes_of
from cpx.explainers.doors import Batch
from cpx.explainers.options import (
    ABOVE,
    BELOW,
    BETWEEN,
    CLASS_NAMES,
    SEED,
    WORDS,
    Option,
    ReaderOptions,
)
from cpx.explainers.rows import row_of, values_of
from cpx.models.monomial.explainers.conditions import Conditions
from cpx.models.monomial.explainers.question import Question
from cpx.models.monomial.problem import MonomialProblem
from cpx.options import names
from cpx.processes.interrupts import interruptible
from cpx.support.cells import is_missing, plain
from cpx.trees import TreeModel, read_model

if TYPE_CHECKING:
    from cpx.data.columns import Column

_DISTRIBUTION = Option(
    "Where rows come from. A rule: empirical rows, product of the columns' marginals, a "
    "distribution fitted to them (factorised, mixture, chow-liu, or fitted for the best), "
    "perturbed rows, or uniform over the binary features. An expectation: a fitted one, "
    "naive-bayes, conformant, or a file of a circuit; unless given, mixture, or for 50 and more "
    "columns of two states that of three which fits best. Options in braces: "
    "mixture{components=5}.",
    "NAME",
    choices=tuple(DISTRIBUTIONS),
)


class ClassifierAndRows:
    """A classifier, and the rows on which rules about it are found, read and measured.

    Its parameters are those of
    :class:`~cpx.models.monomial.explainers.rule.RuleExplainer`.
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        *,
        n_bins: Annotated[int, Option("Bins of a numeric column.", "N", int)] = 3,
        strategy: Annotated[
            Literal["quantile", "uniform"],
            Option(
                "Bins of equal counts (quantile) or equal widths (uniform).",
                "NAME",
                choices=("quantile", "uniform"),
            ),
        ] = "quantile",
        distribution: Annotated[str | Distribution, _DISTRIBUTION] = "empirical",
        categorical: Annotated[
            Sequence[Any] | None,
            Option("Numeric columns that are categories, with commas.", "COL,COL", read=names),
        ] = None,
        above: Annotated[float | None, ABOVE] = None,
        below: Annotated[float | None, BELOW] = None,
        between: Annotated[tuple[float, float] | None, BETWEEN] = None,
        class_names: Annotated[ClassNames, CLASS_NAMES] = None,
        words: Annotated[Mapping[Any, Any] | None, WORDS] = None,
        seed: Annotated[int, SEED] = 0,
        **reader: Unpack[ReaderOptions],
    ) -> None:
        self.notes: tuple[str, ...] = ()
        if isinstance(model, str | os.PathLike | TreeModel):
            asked: Any = {"above": above, "below": below, "between": between}
            trees, _, self.notes = fitted_to_rows(read_model(model, rows=X, **asked, **reader), X)
            model = TreePredictor(trees)
        elif reader:
            raise InvalidOption(f"{next(iter(reader))} is for the file of a tree model")
        else:
            model = asked_about(model, target_of(above, below, between))
        self.classifier = model
        self._said: Any = None
        self._X, self._spreads = X, dict[str, Spread]()
        self.seed = seed
        self.class_names = class_names
        from cpx.data.binarizer import Binarizer  # loads pandas and scikit-learn

        self._rows = X
        self.words = words_of_table(words, X)
        cuts = cuts_of(self.words)
        self.binarizer = Binarizer(n_bins, strategy, categorical, cuts=cuts, dates=True)
        self.binarizer.fit(X)
        for column in self.binarizer.columns_:
            if column.source != column.name and (own := self.words.get(column.source)):
                title = column.name.removesuffix(column.source) + (own.label or column.source)
                self.words = {**self.words, column.name: ColumnWords(title)}
        if isinstance(distribution, Distribution):
            self.distribution = distribution
        else:
            rows = Background(X, self.binarizer)
            self.distribution = make_distribution(distribution, rows)

    @classmethod
    def train(cls, model: str, X: Any, y: Any, **options: Any) -> Self:
        """Train a named classifier on a table and return its explainer.

        Parameters
        ----------
        model : {"mlp", "forest", "tree", "boosting", "logistic"}
            Classifier of scikit-learn; see :meth:`fit`.
        X : DataFrame
            Feature columns.
        y : array of shape (n,)
            Labels.
        **options
            The other parameters of the class; ``seed`` is the classifier's as well.
        """
        limits = (options.get(name) for name in ("above", "below", "between"))
        classifier = named_classifier(
            model, options.get("seed", 0), target_of(*limits) is not None
        )
        return cls(classifier, X, **options).fit(X, y)

    def fit(self, X: Any, y: Any) -> Self:
        """Train the classifier, and return the explainer itself.

        Under ``distribution="uniform"`` it is trained on the binary features, as in Koriche
        et al., section 4.1; else on the rows.
        """
        bits = self.distribution.name == "uniform"
        rows = self.binarizer.transform(X).astype("int8") if bits else as_pandas(X)
        with interruptible():
            self.classifier.fit(rows, as_pandas(y))
        return self

    def for_many(self, rows: Sequence[Any], asked: Mapping[str, Any]) -> Batch:
        """Return the rows with what the classifier says of them, asked about all at once.

        Where the rows of the background are the distribution, it is asked about these too; what
        it learns after that is not noticed. Then rows with the same features and class are the
        same question.
        """
        known = known_rows(self.classifier, self.distribution, rows)
        drawn = asked.get("m") is not None or asked.get("epsilon") is not None
        said = None if drawn else Labelled.of(self.classifier, self.distribution)
        if said is None:
            return Batch(cast(Any, self), known, [*map(values_of, rows)])
        by: Any = copy(self)
        by._said = said
        return Batch(by, known, [(one.x.bits.tobytes(), one.label) for one in known])

    def of_row(self, found: Explanation, x: Any) -> Explanation:
        """Return a rule as that of a row with the same features and class; or none, with it."""
        oracle = self.oracle(x)
        if not found.why:
            return self._about(found, oracle)
        called = self._class_name(oracle.label)
        return replace(found, rule=replace(found.rule, conclusion=called))

    def oracle(self, x: Any) -> Oracle:
        """Return the classifier and the distribution as they are asked about x.

        x is one row, or its position or label in X, here and wherever a row is asked for.
        """
        known = x if isinstance(x, KnownRow) else None
        row = row_of(self._rows, x) if known is None else known.x
        return Oracle(self.classifier, row, self.distribution, self._said, known)

    def conditions(self, x: Any) -> Conditions:
        """Return the conditions that are true of x, to read rules with."""
        return self._conditions(self.oracle(x))

    def _conditions(self, oracle: Oracle) -> Conditions:
        if not self._own_features:
            return Conditions(oracle)
        return Conditions(oracle, self.binarizer, self.words)

    def samples(self, x: Any, m: int | None = None) -> Samples:
        """Return labelled samples; identical ones are merged into weights.

        Parameters
        ----------
        x : one row
        m : int, optional
            How many are drawn. By default all rows of the background where they are the
            distribution (``"empirical"``, up to 100,000), else 1000.
        """
        return self._samples(self.oracle(x), Question(m=m, k=0))

    def _samples(self, oracle: Oracle, question: Question) -> Samples:
        called = self._class_name(oracle.label)
        rows = oracle.distribution.population()
        m = question.draws(oracle.bits.size, None if rows is None else len(rows.bits))
        return Samples.ask(oracle, m, self.seed, called=called)

    def measure(self, explanation: Explanation, x: Any, n: int = 1000) -> Explanation:
        """Return the explanation with its precision on n fresh samples given the rule.

        Where the distribution cannot be conditioned on the rule, a note says so instead.
        """
        return self._measure(explanation, self.oracle(x), n)

    def in_words(self, explanation: Explanation, x: Any) -> Explanation:
        """Return a rule about x with literals of one column joined, and with the row."""
        oracle = self.oracle(x)
        rule = self._in_words(explanation.rule, oracle)
        return self._about(replace(explanation, rule=rule), oracle)

    def _known_or_measured(
        self, explanation: Explanation, problem: MonomialProblem, fresh: int
    ) -> Explanation:
        """Give the precision itself where all rows are at hand, else measure it."""
        found, oracle = problem.evaluate(explanation), asked_of(problem)
        if not problem.samples.population or not found.covered:
            return self._measure(explanation, oracle, fresh)
        rule = self._in_words(explanation.rule, oracle)
        known = PrecisionEstimate.known(found.agreeing_covered, found.covered)
        return self._about(replace(explanation, rule=rule, fresh=known), oracle)

    def _measure(self, explanation: Explanation, oracle: Oracle, n: int) -> Explanation:
        rule = self._in_words(explanation.rule, oracle)
        explanation = self._about(replace(explanation, rule=rule), oracle)
        try:
            fresh = precision_of(oracle, explanation.features, n, self.seed)
        except NoMass as error:
            note = f"the precision could not be measured on fresh samples: {error}"
            return replace(explanation, remarks=(*explanation.remarks, note))
        return replace(explanation, fresh=fresh)

    def _about(self, found: Explanation, oracle: Oracle) -> Explanation:
        """Return a rule that shows the row: its values, and how sure the model is of its class."""
        terms = [one for case in found.rule.cases or () for one in case]
        if self.distribution.name == "uniform":
            return found  # its rows are bits
        if oracle.known is None:
            about = of_rows(self.classifier, oracle.row, [oracle.label])[0]
        else:
            about = oracle.known.about
        cells = cells_of(oracle.row)
        row = with_values(about, (self._valued(one.column, cells[one.place]) for one in terms))
        panels = tuple(self._panel(found.rule, oracle, one, cells[one.place]) for one in terms)
        ask = None if found.rule.cases is None else partial(self._covered, found.rule)
        return replace(found, row=row, panels=panels, ask_rows=ask)

    def _covered(self, rule: Rule) -> CoveredRows:
        """Return the rows of X that a rule covers, and near misses."""
        bits, labels, classes = self._labelled
        names, holds = self.distribution.feature_names, list[Any]()
        x = {one.feature: one.means == names[one.feature] for one in rule.literals}
        for literals in self.binarizer.by_condition(x):
            holds.append((bits[:, [*literals]] == [*literals.values()]).all(axis=1))
        table = np.array(holds, dtype=bool).reshape(len(holds), len(bits)).T
        return CoveredRows.of(table, rule.words, labels, classes, rule.conclusion)

    @cached_property
    def _labelled(self) -> tuple[Any, Sequence[Any], Sequence[str]]:
        """The features of all rows of X, their labels, and what the classifier says of them."""
        rows = as_pandas(self._rows)
        said = labels(self.classifier, rows)
        called = {label: self._class_name(label) for label in {*said.tolist()}}
        index = [*rows.index] if hasattr(rows, "iloc") else range(len(said))
        return self.binarizer.transform(rows), index, [called[one] for one in said.tolist()]

    def _valued(self, column: Column, cell: Any) -> Equals | OneOf:
        """Return that a column has a value."""
        from cpx.data.columns import CategoryColumn  # loads pandas

        own = column.of_cell(cell)
        said = valued(column.name, own, isinstance(column, CategoryColumn))
        return with_label(said, column.name, self.words)

    def _panel(self, rule: Rule, oracle: Oracle, term: Term, cell: Any) -> Panel:
        """Return what a rule says of a column, as a picture shows it."""
        import pandas as pd

        from cpx.data.columns import NumberColumn
        from cpx.data.frames import as_table

        column, groups = term.column, self.binarizer.groups_
        group = self.binarizer.columns_.index(column)
        own = [j for j in rule.features if groups[j] == group]
        numeric = isinstance(column, NumberColumn) and bool(column.thresholds)
        if column.name not in self._spreads:
            values = as_table(self._X).iloc[:, term.place].copy()
            self._spreads[column.name] = Spread(column.drawn(values), numeric)
        parts = [*term.parts()]
        value = plain(column.drawn(pd.Series([cell]))[0])
        spans = [column.drawn_span(ends) for what, ends in parts if what == "between"]
        return Panel(
            column.name,
            " and ".join(map(told, self._meaning(oracle, own))),
            None if is_missing(value) else float(value) if numeric else str(value),
            tuple(spans),
            tuple(str(v) for what, named in parts if what != "between" for v in named),
            all(what != "not in" for what, _ in parts),
            self._spreads[column.name],
        )

    def _wording(self, problem: MonomialProblem) -> Callable[[Rule], Rule] | None:
        oracle = problem.oracle  # none where samples were drawn in rounds
        return None if oracle is None else partial(self._in_words, oracle=oracle)

    def _in_words(self, rule: Rule, oracle: Oracle) -> Rule:
        """Join the literals of one column, where the features are the binarizer's own."""
        if not self._own_features:
            return rule
        terms = true_of(self.binarizer, oracle.bits, rule.features)
        said = self._meaning(oracle, rule.features)
        return replace(rule, conditions=said, cases=(terms,))

    def _meaning(self, oracle: Oracle, features: Sequence[int]) -> tuple[Condition, ...]:
        """Return what features mean, with what columns are called."""
        return tuple(called(one, self.words) for one in self.binarizer.said(oracle.bits, features))

    @cached_property
    def _own_features(self) -> bool:
        names = tuple(self.binarizer.get_feature_names_out())
        return self.distribution.feature_names == names

    def _class_name(self, label: Any) -> str:
        return class_name(label, self.class_names, classes_of(self.classifier))


def asked_of(problem: MonomialProblem) -> Oracle:
    assert problem.oracle is not None  # RuleExplainer.state attached it
    return problem.oracle
