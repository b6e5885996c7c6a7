"""Rules for one prediction after the other, and the steps to them: the door ``rule``."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from cpx.answers.explanation import Explanation
from cpx.answers.result import Result, Status
from cpx.data import (
    Oracle,
    Samples,
)
from cpx.data.bits import require_rows_fit
from cpx.errors import EngineError, InvalidOption
from cpx.explainers.doors import Answer
from cpx.explainers.options import (
    Engine,
)
from cpx.explainers.preparation import counted, left_of, with_limit
from cpx.modelling.base import with_oracle
from cpx.modelling.encodings import find_encoding
from cpx.models.monomial.explainers.adaptive import Rounds
from cpx.models.monomial.explainers.classifier_and_rows import ClassifierAndRows, asked_of
from cpx.models.monomial.explainers.conclusions import (
    break_tie,
    compared,
    with_beyond,
    with_guarantee,
)
from cpx.models.monomial.explainers.question import OBJECTIVES, Question, size_to_compare
from cpx.models.monomial.explainers.rivals import rivals
from cpx.models.monomial.explainers.unreachable import no_rule, with_reachable
from cpx.models.monomial.problem import MonomialProblem
from cpx.options import TIME_LIMIT
from cpx.processes.interrupts import noted
from cpx.solving.run import solve_with
from cpx.support.validation import positive_integer

_OTHER_SEED = 2**30
"""What makes another seed of one: samples that are kept aside are not those that are seen."""


class RuleExplainer(ClassifierAndRows):
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
        How columns become conditions; see :class:`cpx.data.Binarizer`.
    distribution : str or Distribution, default="empirical"
        ``"empirical"`` (rows of X), ``"product"`` (each column drawn independently from X);
        fitted to X, so that rows that it does not have are drawn too: ``"factorised"``,
        ``"mixture"``, ``"chow-liu"``, or ``"fitted"`` for the one of these that suits the data
        best, with options in braces as in ``"mixture{components=5}"``; ``"perturbed"`` (found on
        rows of X, measured on rows of X with the rule written in: expect a lower precision), or
        ``"uniform"`` over the binary features, which the model must take then.
    above, below : float, optional
    between : (float, float), optional
        Of a model or function that predicts numbers: which of them are asked about. The classes
        are "above 50,000" and "at most 50,000", "below" and "at least", or "between" two limits,
        both among them, "below" and "above".
    class_names : sequence or mapping, optional
        Names of the classes: one for each, in the order of the model's ``classes_``, or by
        label. Of a function, labels 0, 1, ... have positions.
    words : mapping of columns, optional
        What columns are called: of each a label, or a mapping with ``label``, ``unit`` and
        ``cuts``, the only cut points that conditions on it then have. By default
        ``X.attrs["words"]``.
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
        x : one row, or its position or label in X
            The instance: a Series, a dict, a one-row frame or a vector.
        k : int, optional
            Most conditions in the rule: 5, or all features where these are fewer.
        objective : {"precision", "coverage", "loss", "negative-only"}, default="precision"
            What the rule is best in: the precision, among rules that cover enough; the
            coverage, among rules that are precise enough; the least
            :class:`loss <cpx.KMonomial>`; the least :class:`disagreeing weight covered
            <cpx.models.NegativeOnly>`.
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
            asked about at most, the fresh ones among them. The probability of x itself is asked
            beside.
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
        backend : str, optional
            The engine; ``cpx backends`` lists them. Default: the exact search.
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
                + "".join(f"; {remark}" for remark in result.remarks),
                result,
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
        told = with_reachable(problem, result, self._wording(problem))
        return Answer(told, str(problem.samples.context.get("class")), brief(problem), problem)

    def _answer(self, x: Any, asked: dict[str, Any]) -> tuple[MonomialProblem, Result]:
        with counted():
            return self._answer_in_time(x, asked)

    def _answer_in_time(self, x: Any, asked: dict[str, Any]) -> tuple[MonomialProblem, Result]:
        engine = Engine.taken(asked)
        question = Question.of(asked)
        require_rows_fit("fresh", question.fresh, self.distribution.n_features)
        limit = engine.time_limit
        if question.adaptive and engine.backend in (None, "search"):
            answer = self.in_rounds(x, question, left_of(limit))
            if answer is not None:
                return answer
            question = question.without_sampling()
        problem = self.state(x, question)
        result = engine.solve(problem, self.seed)
        with noted(threading.Event()):  # the answer is there
            return problem, with_limit(self.conclude(result, problem, question), limit)

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
        if not problem.samples.same.any():
            none = f"no sample has the class of x: {problem.without_agreement()}"
            told = replace(told, remarks=(*told.remarks, none))
        return replace(result, explanation=told)

    def score(
        self,
        rule: object,
        x: Any,
        *,
        k: int | None = None,
        compare: bool = True,
        backend: str | None = None,
        time_limit: float | None = TIME_LIMIT,
        **asked: Any,
    ) -> Explanation:
        """Measure a rule that someone wrote, and compare it with the best one.

        Parameters
        ----------
        rule : str, Rule, Explanation, or a sequence of conditions
            Text such as ``"a <= 2 and b = red"``, conditions as they are printed, one by one
            or joined by "and", or indices of features. All must be true of x.
        x : one row, or its position or label in X
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
        (1.000, 0.333)
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
        found, oracle = problem.explanation(features), asked_of(problem)
        if best is not None:
            if best.explanation is not None:
                rule = self._in_words(best.explanation.rule, oracle)
                best = replace(best, explanation=replace(best.explanation, rule=rule))
            found = compared(problem, found, best)
        measured = self._known_or_measured(found, problem, question.fresh)
        bound = None if best is None else best.bound
        limit = TIME_LIMIT if best is None else best.options.get("time_limit")
        return with_guarantee(question, problem, measured, bound, limit)


def brief(problem: MonomialProblem) -> tuple[str, ...]:
    """Say what is asked: the kind, its limits, the samples, and the sizes."""
    samples = problem.samples
    total = f"all {samples.total} rows" if samples.population else f"{samples.total} samples"
    drawn = samples.context.get("distribution", {}).get("name", "")
    return (
        *(problem.kind, *problem.short_limits()),
        f"{total} ({drawn}, {samples.m} distinct)",
        f"{samples.d} features",
        f"k = {problem.k}",
    )
