"""Rules for one prediction after the other, and the steps to them: the door ``rule``."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from typing import Annotated, Any, ClassVar, Literal, Unpack

from cpx.answers.explanation import Explanation, PrecisionEstimate
from cpx.answers.result import Result, Status
from cpx.answers.rule import Rule
from cpx.data import (
    Background,
    Distribution,
    Oracle,
    Samples,
    named_classifier,
)
from cpx.data import distribution as make_distribution
from cpx.data.bits import require_rows_fit
from cpx.data.oracle import labels, precision_of
from cpx.data.other_frames import as_pandas
from cpx.data.terms import true_of
from cpx.errors import EngineError, InvalidOption, NoMass
from cpx.explainers.about_row import of_classifier
from cpx.explainers.background import TreePredictor, fitted_to_rows
from cpx.explainers.class_names import ClassNames, class_name, classes_of
from cpx.explainers.doors import Answer
from cpx.explainers.options import (
    BACKEND,
    CLASS_NAMES,
    SEED,
    TIME_LIMIT,
    Engine,
    Option,
    ReaderOptions,
    names,
)
from cpx.explainers.preparation import counted, left_of, with_limit
from cpx.modelling.base import with_oracle
from cpx.modelling.encodings import find_encoding
from cpx.models.monomial.explainers.adaptive import Rounds
from cpx.models.monomial.explainers.conclusions import (
    break_tie,
    compared,
    with_beyond,
    with_guarantee,
)
from cpx.models.monomial.explainers.conditions import Conditions
from cpx.models.monomial.explainers.question import OBJECTIVES, Question, size_to_compare
from cpx.models.monomial.explainers.rivals import rivals
from cpx.models.monomial.explainers.unreachable import no_rule, with_reachable
from cpx.models.monomial.problem import MonomialProblem
from cpx.processes.interrupts import interruptible, noted
from cpx.solving.run import solve_with
from cpx.support.validation import positive_integer
from cpx.trees import TreeModel, read_model

_FITTED = ("factorised", "mixture", "chow-liu", "fitted")
_DISTRIBUTION = Option(
    "Where rows come from. A rule: empirical rows, product of the columns' marginals, a "
    "distribution fitted to them (factorised, mixture, chow-liu, or fitted for the best), "
    "perturbed rows, or uniform over the binary features. An expectation: a fitted one, mixture "
    "unless given. Options in braces: mixture{components=5}.",
    "NAME",
    choices=("empirical", "product", *_FITTED, "perturbed", "uniform"),
)
_OTHER_SEED = 2**30
"""What makes another seed of one: samples that are kept aside are not those that are seen."""


class RuleExplainer:
    """Explain predictions of any classifier by the best rule of at most k conditions.

    :meth:`cpx.Explainer.rule` asks it; here are the steps to a rule, one by one.

    Parameters
    ----------
    model : object with ``predict``, callable, TreeModel or path
        Maps rows like those of X to one label per row. A path is that of a tree model; see
        :func:`cpx.read_model`.
    X : DataFrame or array of shape (n, columns)
        The background: rows that say what the data look like, without the target. Frames of
        Polars, PyArrow and others are taken, too; the model gets them as frames of pandas.
    n_bins : int, default=3
    strategy : {"quantile", "uniform"}, default="quantile"
    categorical : sequence of column names, optional
        How columns become conditions; see :class:`cpx.Binarizer`.
    distribution : str or Distribution, default="empirical"
        ``"empirical"`` (rows of X), ``"product"`` (each column drawn independently from X);
        fitted to X, so that rows that it does not have are drawn too: ``"factorised"``,
        ``"mixture"``, ``"chow-liu"``, or ``"fitted"`` for the one of these that suits the data
        best, with options in braces as in ``"mixture{components=5}"``; ``"perturbed"`` (found on
        rows of X, measured on rows of X with the rule written in: expect a lower precision), or
        ``"uniform"`` over the binary features, which the model must take then.
    class_names : sequence or mapping, optional
        Names of the classes: one for each, in the order of the model's ``classes_``, or by
        label. Of a function, labels 0, 1, ... have positions.
    seed : int, default=0
        Seed of the samples, of the fresh samples and of the engine. Where all rows are used,
        the answer of the exact search depends on none.
    **reader
        Options of :func:`cpx.read_model`, for a path.

    Attributes
    ----------
    binarizer : Binarizer
        Fitted on X.
    distribution : Distribution
        What samples are drawn from.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from cpx import solve
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    >>> explainer = RuleExplainer(tree, X)
    >>> samples = explainer.samples(X.iloc[0], m=500)
    >>> samples.total
    500
    >>> problem = explainer.problem(X.iloc[0], k=2, m=500)
    >>> str(solve(problem).status)
    'OPTIMAL'
    """

    asks: ClassVar = (Question, Engine)

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
        class_names: Annotated[ClassNames, CLASS_NAMES] = None,
        seed: Annotated[int, SEED] = 0,
        **reader: Unpack[ReaderOptions],
    ) -> None:
        self.notes: tuple[str, ...] = ()
        if isinstance(model, str | os.PathLike | TreeModel):
            trees, _, self.notes = fitted_to_rows(read_model(model, **reader), X)
            model = TreePredictor(trees)
        elif reader:
            raise InvalidOption(f"{next(iter(reader))} is for the file of a tree model")
        self.classifier = model
        self._said: Any = None
        self.seed = seed
        self.class_names = class_names
        from cpx.data.binarizer import Binarizer  # loads pandas and scikit-learn

        self.binarizer = Binarizer(n_bins=n_bins, strategy=strategy, categorical=categorical)
        self.binarizer.fit(X)
        if isinstance(distribution, Distribution):
            self.distribution = distribution
        else:
            rows = Background(X, self.binarizer)
            self.distribution = make_distribution(distribution, rows)

    @classmethod
    def train(cls, model: str, X: Any, y: Any, **options: Any) -> RuleExplainer:
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
        seed = options.get("seed", 0)
        return cls(named_classifier(model, seed), X, **options).fit(X, y)

    def fit(self, X: Any, y: Any) -> RuleExplainer:
        """Train the classifier, and return the explainer itself.

        Under ``distribution="uniform"`` it is trained on the binary features, as in Koriche
        et al., section 4.1; else on the rows.
        """
        bits = self.distribution.name == "uniform"
        rows = self.binarizer.transform(X).astype("int8") if bits else as_pandas(X)
        with interruptible():
            self.classifier.fit(rows, as_pandas(y))
        return self

    def check(self, x: Any, **asked: Any) -> None:
        """Raise for what is wrong, as far as it can be told without asking the model."""
        engine = Engine.taken(asked)
        question, d = Question.of(asked), self.distribution.n_features
        question.draws(d)
        find_encoding(OBJECTIVES[question.objective], engine.encoding)
        require_rows_fit("fresh", question.fresh, d)
        conditions = self.conditions(x)
        conditions.features(question.required, "required")
        conditions.features(question.forbidden, "forbidden")

    def for_many(self, asked: Mapping[str, Any]) -> RuleExplainer:
        """Return an explainer that knows what the classifier says of all rows, if all are used.

        It asks once for all the instances to come, where the rows of the background are the
        distribution; what the classifier learns after that it does not notice.
        """
        rows, known = self.distribution.population(), copy(self)
        drawn = asked.get("m") is not None or asked.get("epsilon") is not None
        if rows is not None and not drawn:
            known._said = labels(self.classifier, rows.rows)
        return known

    def oracle(self, x: Any) -> Oracle:
        """Return the classifier and the distribution as they are asked about x."""
        return Oracle(self.classifier, x, self.distribution, self._said)

    def conditions(self, x: Any) -> Conditions:
        """Return the conditions that are true of x, to read rules with."""
        return self._conditions(self.oracle(x))

    def _conditions(self, oracle: Oracle) -> Conditions:
        return Conditions(oracle, self.binarizer if self._own_features else None)

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

    def problem(
        self, x: Any, k: int | None = None, *, unseen: int = 0, **asked: Any
    ) -> MonomialProblem:
        """State the problem of explaining x.

        Parameters
        ----------
        x, k
            As for :meth:`explain`.
        unseen : int
            So many samples more, which no engine sees, to measure rules on.
        **asked
            ``objective``, ``m`` or ``epsilon`` and ``delta``, ``min_coverage``,
            ``max_coverage``, ``min_precision``, ``required``, ``forbidden``,
            ``one_per_group`` as for :meth:`explain`, and ``name``, that of the problem.
        """
        return self.state(x, Question.of({"k": k, **asked}), unseen)

    def state(self, x: Any, question: Question, unseen: int = 0) -> MonomialProblem:
        """Do what :meth:`problem` does, with what is asked as one object."""
        if question.max_queries is not None:
            raise InvalidOption(
                "max_queries is for explain, which draws samples in rounds; a problem has all of "
                "its samples from the start: give m"
            )
        oracle = self.oracle(x)
        conditions = partial(self._conditions, oracle)
        problem = question.problem(self._samples(oracle, question), conditions)
        if unseen:
            problem = replace(problem, unseen=self._unseen(oracle, problem.samples, unseen))
        return with_oracle(problem, oracle)

    def _unseen(self, oracle: Oracle, seen: Samples, m: int) -> Samples:
        """Draw samples independent of those that were seen."""
        if seen.population:
            raise InvalidOption(
                "unseen: the samples are all rows of the distribution, and none is left; give m"
            )
        require_rows_fit("unseen", positive_integer("unseen", m), seen.d)
        return Samples.ask(oracle, m, self.seed ^ _OTHER_SEED)

    def explain(self, x: Any, k: int | None = None, **options: Any) -> Explanation:
        """Explain the prediction of x by the best rule of at most k conditions.

        Parameters
        ----------
        x : one row
            The instance: a Series, a dict, a one-row frame or a vector.
        k : int, optional
            Most conditions in the rule: 5, or all features where these are fewer.
        objective : {"precision", "coverage", "loss", "negative-only"}, default="precision"
            What the rule is best in: the precision, among rules that cover enough; the
            coverage, among rules that are precise enough; the least
            :class:`loss <cpx.KMonomial>`; the least :class:`disagreeing weight covered
            <cpx.NegativeOnly>`.
        min_coverage, max_coverage, min_precision : Fraction, float or str, optional
            Limits of shares, such as ``0.05`` or ``"1/20"``, on the samples. By default 1/20 of
            the samples must be covered for the objective precision, and the precision must be at
            least 19/20 for the objective coverage.
        m : int, optional
            Number of samples the rule is found on. By default, all rows of X are used where they
            are the distribution (``"empirical"``, up to 100,000 rows): nothing is drawn, and the
            answer is exact for them. Else 1000.
        epsilon, delta : float, optional
            Instead of m. For the objective precision and the engine ``search``, samples are drawn
            in rounds until no rule can be more than epsilon more precise than the one found, or
            the time limit is over; then the gap so far is told. Otherwise as many samples are
            drawn as it takes to know the loss up to epsilon (see :func:`cpx.data.sample_size`).
            What the explanation guarantees holds with probability 1 - delta; by default that is
            0.95.
        max_queries : int, optional
            With epsilon and delta, for the objective precision: how many rows the model may be
            asked about at most, the fresh ones among them.
        required, forbidden : str, int, or a sequence of them
            Conditions that the rule must, and must not, have: as they are printed, or indices
            of features.
        where : str or sequence of str
            Side constraints on the conditions, such as ``"not (age > 60 and sex == male)"`` or
            ``"at_most(2, age, sex, job)"``; see :meth:`cpx.models.Problem.where`. A condition
            that is not true of x is in no rule.
        one_per_group : bool, default=False
            At most one condition per column.
        fresh : int, default=1000
            Number of fresh samples the precision is measured on; none are needed where all
            rows are used.
        name : str, optional
            That of the problem.
        backend : str, default="search"
            The engine; ``cpx backends`` lists them.
        time_limit : float or None, default=10.0
            Seconds for preparation and engine, which gets a tenth of it at least.
        threads, gap, hint, encoding, isolate, listen
            As for :func:`cpx.solve`.

        Returns
        -------
        Explanation
            Its ``result`` is the whole result of the solve, with status, bound and times; its
            ``rivals`` are the rules within 0.01 of it, found when they are asked for.

        Raises
        ------
        Infeasible
            When no rule keeps the limits: with the best precision or coverage that one has.
        EngineError
            When the engine or the check failed, or nothing was found within the time limit.
            :meth:`solve` returns what there is.
        """
        problem, result = self._answer(x, {"k": k, **options})
        if result.status is Status.INFEASIBLE:
            raise no_rule(problem, result, self._wording(problem))
        found = result.explanation
        if found is None or result.status is Status.ERROR:
            what = "no rule" if found is None else "a rule that is wrong"
            raise EngineError(
                f"{result.engine} found {what}: {result.status}, {result.raw_status}"
                + "".join(f"; {remark}" for remark in result.remarks)
            )
        limit = result.options.get("time_limit")
        return replace(found, result=result, ask_rivals=partial(rivals, problem, time_limit=limit))

    def solve(self, x: Any, k: int | None = None, **options: Any) -> Result:
        """Solve the problem of explaining x and measure the rule on fresh samples.

        Parameters
        ----------
        x, k, **options
            As for :meth:`explain`.

        Returns
        -------
        Result
            Its ``explanation`` is None when the engine found nothing. Where no rule keeps the
            limits, a warning in it says what the best one has.
        """
        return self.answer(x, k, **options).result

    def answer(self, x: Any, k: int | None = None, **options: Any) -> Answer:
        """Do what :meth:`solve` does, and say what was asked."""
        problem, result = self._answer(x, {"k": k, **options})
        samples = problem.samples
        total = f"all {samples.total} rows" if samples.population else f"{samples.total} samples"
        drawn = samples.context.get("distribution", {}).get("name", "")
        brief = (
            *(problem.kind, *problem.short_limits()),
            f"{total} ({drawn}, {samples.m} distinct)",
            f"{samples.d} features",
            f"k = {problem.k}",
        )
        told = with_reachable(problem, result, self._wording(problem))
        return Answer(told, str(samples.context.get("class")), brief, problem)

    def _answer(self, x: Any, asked: dict[str, Any]) -> tuple[MonomialProblem, Result]:
        with counted():
            return self._answer_in_time(x, asked)

    def _answer_in_time(self, x: Any, asked: dict[str, Any]) -> tuple[MonomialProblem, Result]:
        engine = Engine.taken(asked)
        question = Question.of(asked)
        require_rows_fit("fresh", question.fresh, self.distribution.n_features)
        limit = engine.time_limit
        if question.adaptive and engine.backend in (None, BACKEND):
            answer = self.in_rounds(x, question, left_of(limit))
            if answer is not None:
                return answer
            question = question.without_sampling()
        problem = self.state(x, question)
        result = engine.solve(problem, self.seed)
        with noted(threading.Event()):  # the answer is there
            return problem, with_limit(self.conclude(result, problem, question), limit)

    def _about(self, found: Explanation, oracle: Oracle) -> Explanation:
        """Return a rule that shows the row: its values, and how sure the model is of its class."""
        terms = [one for case in found.rule.cases or () for one in case]
        if self.distribution.name == "uniform":
            return found  # its rows are bits
        places, names = [one.place for one in terms], [one.column.name for one in terms]
        row = of_classifier(self.classifier, oracle.row, oracle.label, places, names)
        return replace(found, row=row)

    def in_rounds(
        self, x: Any, question: Question, time_limit: float | None = TIME_LIMIT
    ) -> tuple[MonomialProblem, Result] | None:
        """Draw samples in rounds, until the precision is known up to epsilon.

        Parameters
        ----------
        x : one row
        question : Question
            With epsilon and delta, for the objective precision.
        time_limit : float or None
            Seconds for rounds and solves.

        Returns
        -------
        tuple of MonomialProblem and Result, or None
            On the last samples drawn without a condition. None where it takes fewer queries to
            use all rows: ``question.without_sampling()``.
        """
        oracle = self.oracle(x)
        question.draws(oracle.bits.size)  # refuses a k that does not fit
        rounds = Rounds(
            oracle,
            partial(self._conditions, oracle),
            question,
            self.seed,
            self._class_name,
            question.fresh,
            time_limit,
        )
        answer = rounds.run()
        if answer is None:
            return None
        found = answer.result.explanation
        if found is None:
            return answer.problem, answer.result
        found = self._measure(found, oracle, question.fresh)
        found = with_beyond(answer.problem, found, answer.guarantee(question))
        remarks = found.remarks
        if answer.stopped:
            remarks += (f"epsilon = {question.epsilon} was not reached: {answer.stopped}",)
        told = replace(found, remarks=remarks)
        return answer.problem, replace(answer.result, explanation=told)

    def conclude(self, result: Result, problem: MonomialProblem, question: Question) -> Result:
        """Return the result of solving ``problem`` with its rule measured on fresh samples.

        The problem is what :meth:`state` returned for the question. Of equally precise rules the
        one that covers most is taken; see
        :func:`~cpx.models.monomial.explainers.conclusions.break_tie`.
        """
        result = break_tie(problem, result)
        if result.explanation is None:
            return result
        found = self._known_or_measured(result.explanation, problem, question.fresh)
        limit = result.options.get("time_limit")
        left = None if limit is None else max(0.0, limit - result.times.total)
        told = with_guarantee(question, problem, found, result.bound, left)
        return replace(result, explanation=told)

    def score(
        self,
        rule: object,
        x: Any,
        *,
        k: int | None = None,
        compare: bool = True,
        backend: str = BACKEND,
        time_limit: float | None = TIME_LIMIT,
        **asked: Any,
    ) -> Explanation:
        """Measure a rule that someone wrote, and compare it with the best one.

        Parameters
        ----------
        rule : str, Rule, Explanation, or a sequence of conditions
            Text such as ``"a <= 2 and b = red"``, conditions as they are printed, one by one
            or joined by "and", or indices of features. All must be true of x.
        x : one row
            The instance.
        k : int, optional
            Size of the rules it is compared with; by default that of the rule.
        compare : bool
            Find the best rule for the objective and say what it has.
        backend, time_limit
            The engine that finds it, and its limit.
        **asked
            As for :meth:`problem`, and ``fresh``.

        Returns
        -------
        Explanation
            With the exact precision and coverage on the samples, and the interval on fresh
            ones, unless all rows are used; ``proved`` compares its value with that of the best
            rule.

        Raises
        ------
        InvalidOption
            For a condition that is unknown or false of x, and a rule of more than k.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
        >>> scored = RuleExplainer(tree, X).score("petal width (cm) <= 0.8", X.iloc[0])
        >>> scored.precision, scored.coverage
        (Fraction(1, 1), Fraction(1, 3))
        """
        features = self.conditions(x).features(rule)
        question = Question.of({"k": size_to_compare(features, k), **asked})
        problem = self.state(x, question)
        best = None
        if compare:
            engine = {"time_limit": time_limit, "hint": features}
            best = solve_with(problem, backend, self.seed, engine)
        return self.judge(features, best, problem, question)

    def judge(
        self,
        features: Sequence[int],
        best: Result | None,
        problem: MonomialProblem,
        question: Question,
    ) -> Explanation:
        """Do what :meth:`score` does, with the problem stated and solved before."""
        found, oracle = problem.explanation(features), _asked(problem)
        if best is not None:
            if best.explanation is not None:
                rule = self._in_words(best.explanation.rule, oracle)
                best = replace(best, explanation=replace(best.explanation, rule=rule))
            found = compared(problem, found, best)
        measured = self._known_or_measured(found, problem, question.fresh)
        bound = None if best is None else best.bound
        limit = TIME_LIMIT if best is None else best.options.get("time_limit")
        return with_guarantee(question, problem, measured, bound, limit)

    def measure(self, explanation: Explanation, x: Any, n: int = 1000) -> Explanation:
        """Return the explanation with its precision on n fresh samples given the rule.

        Where the distribution cannot be conditioned on the rule, a note says so instead.
        """
        return self._measure(explanation, self.oracle(x), n)

    def _known_or_measured(
        self, explanation: Explanation, problem: MonomialProblem, fresh: int
    ) -> Explanation:
        """Give the precision itself where all rows are at hand, else measure it."""
        found, oracle = problem.evaluate(explanation), _asked(problem)
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

    def _wording(self, problem: MonomialProblem) -> Callable[[Rule], Rule] | None:
        oracle = problem.oracle  # none where samples were drawn in rounds
        return None if oracle is None else partial(self._in_words, oracle=oracle)

    def _in_words(self, rule: Rule, oracle: Oracle) -> Rule:
        """Join the literals of one column, where the features are the binarizer's own."""
        if not self._own_features:
            return rule
        words = self.binarizer.conditions(oracle.bits, rule.features)
        terms = true_of(self.binarizer, oracle.bits, rule.features)
        return replace(rule, conditions=words, cases=(terms,))

    @cached_property
    def _own_features(self) -> bool:
        names = tuple(self.binarizer.get_feature_names_out())
        return self.distribution.feature_names == names

    def _class_name(self, label: Any) -> str:
        return class_name(label, self.class_names, classes_of(self.classifier))


def _asked(problem: MonomialProblem) -> Oracle:
    assert problem.oracle is not None  # RuleExplainer.state attached it
    return problem.oracle
