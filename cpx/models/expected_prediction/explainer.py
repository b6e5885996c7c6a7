"""Probabilistic sufficient explanations: from a model, rows and x to what it expects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from cpx.answers.result import Result, Status
from cpx.data.coding import Coding
from cpx.data.fitted.tree_mixture import TreeMixture
from cpx.errors import InvalidOption, UnknownName, shown
from cpx.explainers.arguments import (
    BACKEND,
    FRESH,
    SOLVE_OPTIONS,
    TIME_LIMIT,
    ExpectationOptions,
    ReaderOptions,
)
from cpx.explainers.background import (
    fitted_distribution,
    read_background,
    rows_that_may_lack,
)
from cpx.explainers.class_names import ClassNames
from cpx.explainers.preparation import counted, left_of, solve_in_time, with_limit
from cpx.modelling.row import row_values
from cpx.models.expected_prediction.answer import ExpectedExplanation
from cpx.models.expected_prediction.expectations import (
    all_sizes,
    answered,
    nothing_found,
    with_same_class,
)
from cpx.models.expected_prediction.fewest import FewestExpected
from cpx.models.expected_prediction.frontier import Frontier
from cpx.models.expected_prediction.problem import MLSE, ExpectedPrediction
from cpx.models.expected_prediction.text import MEASURES
from cpx.models.sufficient_reason.explainer import class_context, several
from cpx.support.validation import positive_integer
from cpx.trees.form import Missing
from cpx.trees.hold import held_against

if TYPE_CHECKING:
    from cpx.data.fitted.mixture_choice import Trial
    from cpx.models.expected_prediction.sampled_probability import FewestSampled

__all__ = ["ProbabilisticExplainer"]

SAMPLED = "sampled-probability"
"""The measure of a threshold that rows drawn must reach, not exact expectations."""

_MOST = 5
"""Attributes of an explanation, where neither k nor a threshold is given."""


class ProbabilisticExplainer:
    """The steps of :func:`cpx.explain` with ``kind="probabilistic"``, for many rows.

    A distribution of rows is fitted to the background once. What is explained then is which
    values of a row make the model expect its class, when nothing but these values is known.

    Parameters
    ----------
    model : fitted classifier, TreeModel or path
        Whatever :func:`cpx.read_model` reads, or a logistic regression of scikit-learn over
        columns of few values.
    background : DataFrame or array of shape (n, columns)
        Rows of numbers that say what the data look like, without the target.
    distribution : str or TreeMixture, default="mixture"
        What is fitted: ``"factorised"`` (all attributes independent: the best explanation can be
        proved), a ``"mixture"`` of such distributions, ``"chow-liu"`` trees, or ``"fitted"``: the
        one of these that suits rows kept aside best. ``"naive-bayes"`` has all attributes
        independent among the rows that the model gives the same class. Options may follow in
        braces: ``"mixture{components=5}"``. Or a distribution that is fitted already, over the
        same states.
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
    class_names : sequence or mapping, optional
        Names of the classes, by position or by label.
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
    distribution : TreeMixture
    trials : tuple of Trial
        With ``"fitted"``: what was tried, and how probable rows kept aside are under it.

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
    >>> explainer = ProbabilisticExplainer(forest, X, distribution="factorised",
    ...                                    class_names=["setosa", "versicolor", "virginica"])
    >>> print(explainer.explain(X.iloc[0], k=1))
    0.2 < petal width (cm) <= 0.7 => setosa
    """

    def __init__(
        self,
        model: Any,
        background: Any,
        *,
        distribution: str | TreeMixture = "mixture",
        components: int | None = None,
        groups: Mapping[str, Sequence[int | str]] | None = None,
        max_states: int = 10,
        smoothing: float = 1.0,
        class_names: ClassNames = None,
        seed: int = 0,
        missing: Missing = "auto",
        **reader: Unpack[ReaderOptions],
    ) -> None:
        self.class_names, self.seed = class_names, seed
        self.model, rows, self.notes = read_background(model, background, reader)
        also = None
        if not (isinstance(missing, str) and missing == "auto"):
            self.model = self.model.with_missing(missing)
            rows, also, told = rows_that_may_lack(self.model, rows, missing)
            self.notes += told
        self.coding = Coding.fit(
            rows,
            names=[a.name for a in self.model.attributes],
            cuts=self.model.thresholds,
            groups=groups,
            cast=self.model.cast,
            max_states=max_states,
            also=also,
        )
        self.trials: tuple[Trial, ...] = ()
        if isinstance(distribution, TreeMixture):
            if components is not None:
                raise InvalidOption("components is for a distribution that is fitted, by its name")
            self.distribution = distribution
        else:
            self.distribution, self.trials = fitted_distribution(
                distribution, self.model, self.coding, rows, components, smoothing, seed
            )

    # ------------------------------------------------------------------ one row

    def problem(
        self,
        x: Any,
        k: int | None = None,
        *,
        threshold: Any = None,
        measure: str | None = None,
        prediction: str | None = None,
        required: Any = (),
        forbidden: Any = (),
        where: str | Sequence[str] = (),
        unit: Any = None,
        label: Any = None,
        name: str = "",
    ) -> ExpectedPrediction:
        """State the problem of explaining x.

        Parameters
        ----------
        x : row
            A Series, a dict, a one-row frame or a vector.
        k : int, optional
            The greatest number of attributes; unless there is a threshold, 5 or all there are.
        threshold : number, optional
            In place of k: the fewest attributes are wanted that reach it.
        measure : {"expectation", "probability-bound"}, optional
            What must reach the threshold; see
            :class:`~cpx.models.expected_prediction.fewest.FewestExpected`.
        prediction : {"score", "probability", "share of votes"}, optional
            What is expected, to be sure of it: a model has one of them only.
        where : str or sequence of str
            Side constraints on the attributes; see :meth:`cpx.models.Problem.where`.
        required, forbidden, unit, label, name
            As for :class:`~cpx.models.expected_prediction.problem.MLSE`.

        Raises
        ------
        InvalidOption, InvalidInstance, DataError
            Naming the argument that is wrong; DataError for the row.
        """
        if prediction is not None:
            self._require(prediction)
        values: Any = x
        shared: dict[str, Any] = {
            "required": several(required),
            "forbidden": several(forbidden),
            "side_constraints": where,
            "unit": unit,
            "label": label,
            "context": self._context(x),
            "name": name,
        }
        stated = (self.model, values, self.coding, self.distribution)
        if threshold is None:
            if measure is not None:
                raise InvalidOption("measure says what must reach a threshold: give threshold")
            most = min(_MOST, self.coding.n_attributes)
            return MLSE(*stated, k=most if k is None else k, **shared)
        if k is not None:
            raise InvalidOption("give k, or a threshold: the fewest attributes that reach it")
        return FewestExpected(*stated, threshold, measure or "expectation", **shared)  # type: ignore[arg-type]

    def _require(self, prediction: str) -> None:
        own = MEASURES[self.model.rule]
        if prediction not in MEASURES.values():
            raise UnknownName("prediction", prediction, sorted(MEASURES.values()))
        if prediction == own:
            return
        why = ""
        if own == "score" and prediction == "probability":
            why = (
                ": its probability is the sigmoid of a sum over trees, and the expectation of it "
                "is no sum; first_order_probability approximates that, without a guarantee"
            )
        raise InvalidOption(f"the model has a {own}, prediction is {shown(prediction)}{why}")

    def _context(self, x: Any) -> dict[str, str]:
        own = int(self.model.predict_index(np.array(row_values(self.model, x)))[0])
        return class_context(self.model, own, self.class_names)

    def solve(self, x: Any, k: int | None = None, **options: Unpack[ExpectationOptions]) -> Result:
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
        asked, fresh = {**options}, options.get("fresh", FRESH)
        if asked.get("measure") == SAMPLED:
            question, result = self._by_samples(x, k, asked)
            return self.measured(question.problem, result, fresh)
        return self.measured(*self._solved(x, k, asked), fresh)

    def measured(self, problem: ExpectedPrediction, result: Result, fresh: int = FRESH) -> Result:
        """Return a result that says how many rows with the known values get the class of x.

        It is computed where there are few rows of states, else estimated on ``fresh`` rows drawn.
        """
        return with_same_class(problem, result, fresh, self.seed)

    def explain(
        self, x: Any, k: int | None = None, **options: Unpack[ExpectationOptions]
    ) -> ExpectedExplanation:
        """Explain the prediction of x by the values that make the model expect it.

        Parameters
        ----------
        x, k
            As for :meth:`problem`, which takes some of the options, too.
        **options
            ``backend``, ``time_limit`` and others of :func:`cpx.solve`; ``fresh``, the number of
            rows drawn to see how often the class stays, where it is not computed exactly. A
            ``threshold`` may also be of the ``measure="sampled-probability"``: the fewest values
            are wanted with which so large a share of the rows drawn keep the class. Any engine
            for rules answers. ``samples`` is the number of these rows (10,000), ``least`` how
            many of them must have the values (100).

        Returns
        -------
        ExpectedExplanation
            Its ``result`` is the whole result of the solve.

        Raises
        ------
        EngineError
            When the engine or the check failed, or nothing was found within the limit, or no
            attributes reach the threshold.
        """
        asked, fresh = {**options}, options.get("fresh", FRESH)
        if asked.get("measure") == SAMPLED:
            question, result = self._by_samples(x, k, asked)
            if result.explanation is None:
                raise question.nothing(result)
            problem: ExpectedPrediction = question.problem
            notes = [*problem.missing_notes(), *self.notes]
            checked = "the share of these rows"
        else:
            problem, result = self._solved(x, k, asked)
            found: Any = result.explanation
            if found is None or result.status is Status.ERROR:
                raise nothing_found(problem, result, self.seed)
            notes, checked = [*found.notes, *self.notes], "the expectation"
        notes += held_against(self.model, problem.x)
        return answered(problem, self.measured(problem, result, fresh), checked, notes)

    def sampled(
        self,
        x: Any,
        threshold: Any,
        *,
        samples: int = 10_000,
        least: int = 100,
        seed: int | None = None,
        **asked: Any,
    ) -> FewestSampled:
        """Draw rows to explain x by the fewest values with which enough of these keep the class.

        What :meth:`explain` answers with ``measure="sampled-probability"``. The question for one
        size is a problem to save, to solve by any engine for rules, and to compare.

        Parameters
        ----------
        x, **asked
            As for :meth:`problem`: what is required and forbidden, side constraints.
        threshold, samples, least
            As for :meth:`explain`.
        seed : int, optional
            Of the rows; that of the explainer unless it is given.
        """
        from cpx.models.expected_prediction.sampled_probability import FewestSampled

        problem = self.problem(x, self.coding.n_attributes, **asked)
        seed = self.seed if seed is None else seed
        return FewestSampled(problem, threshold, samples, least, seed)

    @counted()
    def _by_samples(
        self, x: Any, k: int | None, asked: dict[str, Any]
    ) -> tuple[FewestSampled, Result]:
        """Ask for the fewest values with which enough rows that are drawn keep the class of x."""
        if k is not None or asked.get("threshold") is None:
            raise InvalidOption(f"measure {SAMPLED} needs a threshold, and no k")
        asked = {name: v for name, v in asked.items() if name not in ("measure", "fresh")}
        backend, seed, engine = self._engine(asked)
        question = self.sampled(x, seed=seed, **asked)
        limit = engine["time_limit"]
        result = question.answer(backend, {**engine, "time_limit": left_of(limit)})
        return question, with_limit(result, limit)

    @counted()
    def _solved(
        self, x: Any, k: int | None, asked: dict[str, Any]
    ) -> tuple[ExpectedPrediction, Result]:
        asked = {name: v for name, v in asked.items() if name != "fresh"}
        if own := [name for name in ("samples", "least") if name in asked]:
            raise InvalidOption(f"{own[0]} is for the measure {SAMPLED}")
        backend, seed, engine = self._engine(asked)
        problem = self.problem(x, k, **asked)
        result = solve_in_time(problem, backend, seed, engine)
        return problem, with_limit(result, engine["time_limit"])

    def _engine(self, asked: dict[str, Any]) -> tuple[str, int, dict[str, Any]]:
        """Take out who solves, the seed, and the options of the solve."""
        engine: dict[str, Any] = {"time_limit": TIME_LIMIT}
        engine |= {name: asked.pop(name) for name in SOLVE_OPTIONS if name in asked}
        seed = engine.pop("seed", self.seed)
        return asked.pop("backend", None) or BACKEND, seed, engine

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
