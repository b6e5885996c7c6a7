"""What makes a model expect its class, one row after the other: the door ``expectation``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Unpack

import numpy as np

from cpx.answers.result import Result, Status
from cpx.data.coding import Coding
from cpx.data.fitted.distribution import StateDistribution
from cpx.data.fitted.held_out import HeldOut
from cpx.data.targets import target_of
from cpx.errors import InvalidOption, UnknownName, shown
from cpx.explainers.about_row import of_trees
from cpx.explainers.background import (
    FITTED,
    cuts_of,
    in_words,
    read_background,
    rows_that_may_lack,
)
from cpx.explainers.class_names import ClassNames
from cpx.explainers.doors import Alike, Answer
from cpx.explainers.options import (
    ABOVE,
    BELOW,
    BETWEEN,
    CLASS_NAMES,
    FRESH,
    MISSING_IN,
    SEED,
    WORDS,
    Engine,
    Option,
    ReaderOptions,
    built,
)
from cpx.explainers.preparation import counted, left_of, with_limit
from cpx.explainers.rows import row_of
from cpx.modelling.row import row_values
from cpx.models.expected_prediction.answer import ExpectedExplanation
from cpx.models.expected_prediction.base import ExpectedPrediction
from cpx.models.expected_prediction.expectations import (
    all_sizes,
    answered,
    nothing_found,
    with_same_class,
)
from cpx.models.expected_prediction.fewest import FewestExpected
from cpx.models.expected_prediction.fitted_states import CONFORMANT, FittedStates, given_states
from cpx.models.expected_prediction.frontier import Frontier
from cpx.models.expected_prediction.leaves import Predicted, has_probability
from cpx.models.expected_prediction.problem import MLSE
from cpx.models.expected_prediction.question import (
    PREDICTIONS,
    SAMPLED,
    SAMPLED_ONLY,
    ExpectationQuestion,
)
from cpx.models.expected_prediction.regions import TooManyRegions
from cpx.models.expected_prediction.text import (
    SHARES,
    group_values,
    measure_of,
)
from cpx.models.sufficient_reason.explainer import class_context
from cpx.models.sufficient_reason.features import several
from cpx.support.validation import positive_integer
from cpx.trees.form import Missing
from cpx.trees.hold import held_against

if TYPE_CHECKING:
    from cpx.models.expected_prediction.greatest_sampled import GreatestSampled
    from cpx.models.expected_prediction.sampled_probability import FewestSampled

    Sampled = FewestSampled | GreatestSampled

__all__ = ["ExpectationExplainer"]

_MOST = 5
"""Attributes of an explanation, where neither k nor a threshold is given."""

_MOST_LEAVES = 2**21
"""Leaves times components: with more, measuring one set exactly takes about a second."""


class ExpectationExplainer(Alike):
    """Explain predictions of a tree model by the values that make it expect its class.

    :meth:`cpx.Explainer.expectation` asks it. A distribution of rows is fitted to X once. What
    is explained then is which values of a row make the model expect its class, when nothing but
    these values is known.

    Parameters
    ----------
    model : fitted classifier, TreeModel or path
        Whatever :func:`cpx.read_model` reads, or a logistic regression of scikit-learn over
        columns of few values.
    X : DataFrame or array of shape (n, columns)
        The background: rows of numbers that say what the data look like, without the target.
    distribution : str, path, TreeMixture or Circuit, optional
        By default a mixture, and for 50 and more columns of two states that of a mixture, a
        Chow-Liu tree and four of these which rows kept aside are most probable under. What is
        fitted: ``"factorised"`` (all attributes independent: the best explanation can be
        proved), a ``"mixture"`` of such distributions, ``"chow-liu"`` trees, or ``"fitted"``: the
        one of these that suits rows kept aside best. ``"naive-bayes"`` has all attributes
        independent among the rows that the model gives the same class. ``"conformant"`` is for a
        logistic regression, naive Bayes, or another model whose scores add up a function
        of each attribute: the naive Bayes distribution that suits the rows best of those whose
        probability of the class is that of the model, so that ``prediction="probability"`` is
        exact, whatever the number of attributes. Options may follow in
        braces: ``"mixture{components=5}"``. Or a distribution over the same states that is there
        already: a mixture of trees, a probabilistic circuit
        (:class:`~cpx.data.fitted.circuit.Circuit`), or the path of a file of one: JSON, or a PSDD
        as Juice.jl writes it, over columns of 0 and 1.
    components : int, optional
        By default 10 for a mixture, and one Chow-Liu tree.
    groups : mapping of str to columns, optional
        Attributes of several columns, such as the 0/1 columns of a category: each combination
        that occurs is a state, and all these columns are known or none is.
    max_states : int, default=10
        Numbers are known up to the thresholds of the model, and where these make fewer states
        than so many, more finely.
    smoothing : float, default=1.0
        See :func:`cpx.data.fit_mixture`.
    above, below : float, optional
    between : (float, float), optional
        Of a model that predicts numbers: which of them are asked about; see
        :func:`cpx.read_model`.
    class_names : sequence or mapping, optional
        Names of the classes, by position or by label.
    words : mapping of columns, optional
        What columns are called: of each a label, or a mapping with ``label`` and ``unit``; by
        default ``X.attrs["words"]``.
    seed : int, default=0
        Of the fit, of the rows drawn, and of the engine.
    missing : {"auto", "never", "always"} or sequence of str, default="auto"
        Which values rows may lack: ``"auto"``, those that rows of the background lack, as often as
        they do; ``"never"``, none; ``"always"``, all, also where no row lacks one; or those of
        some columns. Rows of the background that lack others are left out.
    **reader
        Options of :func:`cpx.read_model` and its readers: ``trusted``, ``rounds``, ``classes``.

    Attributes
    ----------
    model : TreeModel
    coding : Coding
        The states of the attributes.
    distribution : TreeMixture or Circuit
    trials : tuple of Trial
        With ``"fitted"``: what was tried, and how probable rows kept aside are under it.
    held_out : HeldOut or None
        The mean logarithm of the probability of rows kept aside, and by how much it is more than
        under independent attributes.

    Raises
    ------
    UnknownName, InvalidOption, DataError
        Naming the argument that is wrong.
    ModelError, UnsupportedModel
        When the model cannot be read.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, y)
    >>> explainer = ExpectationExplainer(forest, X, distribution="factorised",
    ...                                  class_names=["setosa", "versicolor", "virginica"])
    >>> print(explainer.explain(X.iloc[0], k=1))
    0.2 <= petal width (cm) <= 0.7 => setosa
    """

    asks: ClassVar = (ExpectationQuestion, Engine)

    def __init__(
        self,
        model: Any,
        X: Any,
        *,
        distribution: Annotated[
            str | PathLike[str] | StateDistribution | None,
            Option(
                "What is fitted to X, or a file of a circuit: JSON or a PSDD. Unless given, a "
                "mixture, or for 50 and more columns of two states that of three which fits best.",
                "NAME",
                choices=(*FITTED, CONFORMANT),
                or_file=True,
            ),
        ] = None,
        components: Annotated[
            int | None, Option("Parts of a mixture: 10; of Chow-Liu trees 1.", shell=None)
        ] = None,
        groups: Annotated[
            Mapping[str, Sequence[int | str]] | None,
            Option("Attributes of several columns, by name.", shell=None),
        ] = None,
        max_states: Annotated[int, Option("Most states of a number.", shell=None)] = 10,
        smoothing: Annotated[float, Option("Of the shares of states.", shell=None)] = 1.0,
        above: Annotated[float | None, ABOVE] = None,
        below: Annotated[float | None, BELOW] = None,
        between: Annotated[tuple[float, float] | None, BETWEEN] = None,
        class_names: Annotated[ClassNames, CLASS_NAMES] = None,
        words: Annotated[Mapping[Any, Any] | None, WORDS] = None,
        seed: Annotated[int, SEED] = 0,
        missing: Annotated[Missing, MISSING_IN] = "auto",
        **reader: Unpack[ReaderOptions],
    ) -> None:
        self.class_names, self.seed, self._rows = class_names, seed, X
        if between is not None:
            raise InvalidOption("between is for rules, reasons and contrasts: ask above or below")
        target = target_of(above, below)
        self.model, rows, self.notes = read_background(model, X, reader, target)
        self.model = in_words(self.model, words, X)
        given, also = given_states(distribution), None
        if not (isinstance(missing, str) and missing == "auto"):
            self.model = self.model.with_missing(missing)
            rows, also, told = rows_that_may_lack(self.model, rows, missing)
            self.notes += told
        self.coding = Coding.fit(
            rows,
            names=[a.name for a in self.model.attributes],
            cuts=cuts_of(self.model, rows, given),
            groups=groups,
            cast=self.model.cast,
            max_states=max_states,
            also=also,
        )
        self._fitted = FittedStates(
            *(self.model, self.coding, rows, distribution if given is None else given),
            *(components, smoothing, seed),
        )
        self.distribution, self.trials = self._fitted.distribution, self._fitted.trials
        self.notes += self._fitted.notes

    @property
    def held_out(self) -> HeldOut | None:
        """How probable rows kept aside are under the distribution; None for fewer than ten."""
        return self._fitted.held_out

    # ------------------------------------------------------------------ one row

    def problem(self, x: Any, k: int | None = None, **asked: Any) -> ExpectedPrediction:
        """State the problem of explaining x.

        Parameters
        ----------
        x, k, **asked
            As for :meth:`explain`.

        Raises
        ------
        InvalidOption, InvalidInstance, DataError
            Naming the argument that is wrong; DataError for the row.
        """
        return self.state(x, built(ExpectationQuestion, {"k": k, **asked}))

    def state(self, x: Any, question: ExpectationQuestion) -> ExpectedPrediction:
        """Do what :meth:`problem` does, with what is asked as one object."""
        q = question
        x = row_of(self._rows, x)
        shared: dict[str, Any] = {
            "required": several(q.required),
            "forbidden": several(q.forbidden),
            "side_constraints": q.where,
            "prediction": "score" if q.by_samples else self._predicted(q.prediction),
            "unit": q.unit,
            "label": q.label,
            "context": self._context(x),
            "name": q.name,
        }
        stated = (self.model, x, self.coding, self.distribution)
        if q.threshold is None or q.by_samples:
            if q.measure == "probability-bound":
                raise InvalidOption("measure says what must reach a threshold: give threshold")
            every = self.coding.n_attributes
            fewest = q.threshold is not None
            most = every if fewest or q.min_probability is not None else min(_MOST, every)
            k = most if q.k is None else q.k
            return MLSE(*stated, k=k, min_probability=q.min_probability, **shared)
        measure: Any = q.measure or "expectation"
        return FewestExpected(*stated, q.threshold, measure, **shared)

    def _predicted(self, prediction: str | None) -> Predicted:
        """Return what is to be expected of a row: the score unless it is something else."""
        own = measure_of(self.model)
        if prediction in (None, own):
            return "score"
        if prediction not in PREDICTIONS:
            raise UnknownName("prediction", prediction, PREDICTIONS)
        if prediction == "decision":
            return "decision"
        if prediction == "probability" and self._fitted.name == CONFORMANT:
            return "posterior"
        told = f"the model has a {own}, prediction is {shown(prediction)}"
        if (own, prediction) != ("score", "probability"):
            raise InvalidOption(told)
        if not has_probability(self.model):
            live = self.model.live
            name = "the model" if live is None else live.name
            raise InvalidOption(f"{told}: {name} has no probability that follows from its score")
        return "probability"

    def _context(self, x: Any) -> dict[str, str]:
        own = int(self.model.predict_index(np.array(row_values(self.model, x)))[0])
        context = class_context(self.model, own, self.class_names)
        return (
            context
            if self._fitted.name is None
            else {**context, "distribution": self._fitted.name}
        )

    def solve(self, x: Any, k: int | None = None, **options: Any) -> Result:
        """Solve the problem of explaining x, and measure how often the class stays.

        Parameters
        ----------
        x, k, **options
            As for :meth:`explain`.

        Returns
        -------
        Result
            Its ``explanation`` is None when the engine found nothing.
        """
        return self.answer(x, k, **options).result

    def answer(self, x: Any, k: int | None = None, **options: Any) -> Answer:
        """Do what :meth:`solve` does, and say what was asked."""
        question, problem, result, drawn = self._solved(x, {"k": k, **options})
        result = self.measured(problem, result, question.fresh)
        if result.status is Status.INFEASIBLE:
            why = (
                nothing_found(problem, result, self.seed)
                if drawn is None
                else drawn.nothing(result)
            )
            result = result.with_warnings(str(why))
        brief = [problem.kind, *problem._brief()] if drawn is None else drawn.brief()
        called = str(problem.context.get("class", problem.label))
        return Answer(result, called, tuple(brief), problem)

    def measured(self, problem: ExpectedPrediction, result: Result, fresh: int = FRESH) -> Result:
        """Return a result that says how many rows with the known values get the class of x.

        It is computed where there are few rows of states, else estimated on ``fresh`` rows drawn.
        """
        result = with_same_class(problem, result, fresh, self.seed)
        found = result.explanation
        if found is None:
            return result
        columns, names = self.coding.columns, self.coding.names
        alone = [columns[a][0] for a in found.features if len(columns[a]) == 1]
        row = of_trees(self.model, [*problem.x], sorted(alone))
        groups = [
            (names[a], group_values(self.coding, a, problem.x).told)
            for a in found.features
            if len(columns[a]) > 1
        ]
        row = replace(row, values=(*row.values, *groups))
        fit = self.held_out
        if fit is not None and isinstance(found, ExpectedExplanation):
            rows = "of the table" if self._fitted.given else "kept aside"
            found = replace(found, held_out=fit.mean, held_out_gain=fit.gain, held_out_rows=rows)
        return replace(result, explanation=replace(found, row=row))

    def explain(self, x: Any, k: int | None = None, **options: Any) -> ExpectedExplanation:
        """Explain the prediction of x by the values that make the model expect it.

        Parameters
        ----------
        x : one row, or its position or label in X
            A Series, a dict, a one-row frame or a vector.
        k : int, optional
            The greatest number of attributes; unless there is a threshold, 5 or all there are.
        min_probability : number, optional
            How likely the values must be at least. Where it is given and k is not, any number of
            attributes is allowed.
        threshold : number, optional
            In place of k: the fewest attributes are wanted that reach it.
        measure : {"expectation", "probability-bound", "sampled-probability"}, optional
            What must reach the threshold; see
            :class:`~cpx.models.expected_prediction.fewest.FewestExpected`. Of averages and votes
            of more than 2,097,152 leaves, counted once for each component of the distribution, it
            is the last one, of the mean on rows drawn, unless the first one is given: measuring
            one set exactly takes a second there. With the last one, the
            fewest values are wanted with which so large a share of the rows drawn keep the class,
            or with k the values with the greatest share, and with ``prediction="probability"``
            with the greatest mean probability on these rows; any engine for rules answers.
        samples, least : int, optional
            With ``measure="sampled-probability"``: the number of these rows (10,000), and how
            many of them must have the values (100).
        prediction : {"score", "probability", "share of votes", "decision"}, optional
            What is expected of a row: by default what the model adds up or averages. Of a sum of
            trees also the probability that follows, and of all models the decision: then it is
            the share of rows that get the class, the same-decision probability. Both are exact
            up to 16,384 regions that the trees cut the rows into. Beyond, as in a forest of 100
            deep trees, the answer is that of ``measure="sampled-probability"``, and says so.
        required, forbidden, unit, label, name
            As for :class:`~cpx.models.expected_prediction.problem.MLSE`.
        where : str or sequence of str
            Side constraints on the attributes; see :meth:`cpx.models.Problem.where`.
        fresh : int, default=1000
            The number of rows drawn to see how often the class stays, where it is not computed
            exactly.
        backend : str, optional
            The engine; ``cpx backends`` lists them. Default: the exact search.
        time_limit : float or None, default=10.0
            Seconds for preparation and engine.
        threads, gap, hint, encoding, isolate, listen
            As for :func:`cpx.solve`.

        Returns
        -------
        ExpectedExplanation
            Its ``result`` is the whole result of the solve.

        Raises
        ------
        Infeasible, EngineError
            When the engine or the check failed, or nothing was found within the limit, or no
            attributes reach the threshold.
        """
        question, problem, result, drawn = self._solved(x, {"k": k, **options})
        found: Any = result.explanation
        if drawn is not None:
            if found is None:
                raise drawn.nothing(result)
            checked = "the share of these rows"
        else:
            if found is None or result.status is Status.ERROR:
                raise nothing_found(problem, result, self.seed)
            checked = "the expectation"
        remarks = [*self.notes, *held_against(self.model, problem.x)]
        if drawn is None and self.model.prediction is not None:
            remarks.append(self.model.prediction.expected(found.expected, problem.label_index))
        return answered(problem, self.measured(problem, result, question.fresh), checked, remarks)

    def sampled(self, x: Any, **asked: Any) -> Sampled:
        """Draw rows to explain x by the values with which most of these keep the class.

        What :meth:`explain` answers with ``measure="sampled-probability"``: with a threshold by
        the fewest values that reach it. The question for one size is a problem to save, to solve
        by any engine for rules, and to compare.

        Parameters
        ----------
        x, **asked
            As for :meth:`explain`.
        """
        given = {"measure": SAMPLED, **asked}
        return self.drawn(x, built(ExpectationQuestion, given))

    def drawn(self, x: Any, question: ExpectationQuestion) -> Sampled:
        """Do what :meth:`sampled` does, with what is asked as one object."""
        from cpx.models.expected_prediction.greatest_sampled import GreatestSampled
        from cpx.models.expected_prediction.sampled_probability import FewestSampled

        counts = {
            name: usual if getattr(question, name) is None else getattr(question, name)
            for name, usual in SAMPLED_ONLY.items()
        }
        problem = self.state(x, question)
        soft = self._predicted(question.prediction) == "probability" or (
            question.prediction == measure_of(self.model) and self._says_shares
        )
        if not soft and question.prediction not in (None, "decision"):
            told = f"the expected {question.prediction} is exact, and needs no rows drawn"
            raise InvalidOption(f"{told}: leave out the measure {SAMPLED}")
        how: dict[str, Any] = {"soft": soft, "seed": self.seed, **counts}
        if question.threshold is not None:
            return FewestSampled(problem, question.threshold, **how)
        assert isinstance(problem, MLSE)
        return GreatestSampled(problem, problem.k, **how)

    def exact_or_drawn(
        self, x: Any, question: ExpectationQuestion
    ) -> tuple[ExpectedPrediction | Sampled, str]:
        """Return the problem, or rows drawn where asked for or none is exact; and why."""
        if question.by_samples:
            return self.drawn(x, question), ""
        instead = f"answered on rows drawn instead, as by the measure {SAMPLED}"
        if why := self._too_large(question):
            own = replace(question, measure=SAMPLED, prediction=measure_of(self.model))
            told = f"{why}: {instead}; the measure expectation asks for exact ones all the same"
            return self.drawn(x, own), told
        try:
            return self.state(x, question), ""
        except TooManyRegions as error:
            return self.drawn(x, question.on_rows_drawn(error)), f"{error}: {instead}"

    def _too_large(self, question: ExpectationQuestion) -> str:
        """Return why sets are not compared by exact expectations; empty where they are."""
        if not (question.may_be_drawn and self._says_shares and self.distribution.edgeless):
            return ""
        leaves = sum(tree.n_leaves for tree in self.model.trees)
        parts = self.distribution.n_components
        if leaves * parts <= _MOST_LEAVES or self._predicted(question.prediction) != "score":
            return ""
        under = f" under {parts} components" if parts > 1 else ""
        return f"exact expectations of {leaves} leaves{under} take long"

    @property
    def _says_shares(self) -> bool:
        """Whether the model averages probabilities of the classes, or shares of votes."""
        shares = measure_of(self.model) in SHARES and len(self.model.base) > 1
        return shares and self.model.prediction is None

    @counted()
    def _solved(
        self, x: Any, asked: dict[str, Any]
    ) -> tuple[ExpectationQuestion, ExpectedPrediction, Result, Sampled | None]:
        engine = Engine.taken(asked)
        question, limit = built(ExpectationQuestion, asked), engine.time_limit
        stated, why = self.exact_or_drawn(x, question)
        if isinstance(stated, ExpectedPrediction):
            return question, stated, with_limit(engine.solve(stated, self.seed), limit), None
        result = stated.answer(engine.backend, {**engine.options, "time_limit": left_of(limit)})
        result = result.with_warnings(*([why] if why else []))
        return question, stated.problem, with_limit(result, limit), stated

    def frontier(
        self, x: Any, k: int | None = None, *, width: int = 5, threads: int = 1, **asked: Any
    ) -> Frontier:
        """Return the explanations of at most 0, 1, ..., k attributes.

        Under a factorised distribution each of them is the best, with proof. Otherwise beam search
        finds them in one run: the best sets of each size, extended by every attribute [1]_.

        Parameters
        ----------
        x, k
            As for :meth:`problem`; all attributes for no k.
        width : int
            Of the beam: so many sets of each size are kept.
        threads : int
            That share the work of the beam on each size.
        **asked
            ``required``, ``forbidden`` and others of :meth:`problem`.

        References
        ----------
        .. [1] E. Wang, P. Khosravi, G. Van den Broeck: Probabilistic Sufficient Explanations,
           IJCAI 2021, algorithm 1.
        """
        if "threshold" in asked:
            raise InvalidOption("a frontier has all sizes: no threshold is reached in it")
        problem = self.problem(x, self.coding.n_attributes if k is None else k, **asked)
        assert isinstance(problem, MLSE)
        taken = positive_integer("width", width), positive_integer("threads", threads)
        return all_sizes(problem, *taken, self.seed)
