"""One call: classifier, background data, instance -> explanation; and its steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from cpx.data import (
    Background,
    Binarizer,
    Distribution,
    Oracle,
    Samples,
    estimate_precision,
    named_classifier,
)
from cpx.data import distribution as make_distribution
from cpx.explanation import Explanation
from cpx.models import Problem, problem_class
from cpx.result import Result
from cpx.rules import Rule
from cpx.solving import solve

__all__ = ["Explainer", "explain"]


def explain(
    classifier: Any,
    background: Any,
    x: Any,
    k: int = 5,
    *,
    m: int = 1000,
    kind: str = "k-monomial",
    backend: str = "cpsat",
    time_limit: float | None = 10.0,
    fresh: int = 1000,
    n_bins: int = 3,
    strategy: Literal["quantile", "uniform"] = "quantile",
    distribution: str | Distribution = "empirical",
    categorical: Sequence[Any] | None = None,
    class_names: Sequence[str] | Mapping[Any, str] | None = None,
    seed: int = 0,
    **options: Any,
) -> Explanation:
    """Explain one prediction by an optimal short rule.

    Parameters
    ----------
    classifier : object with ``predict``, or callable
        Maps rows like those of ``background`` to one label per row.
    background : DataFrame or array of shape (n, columns)
        Rows that say what the data look like, without the target.
    x : row
        The instance: a Series, a dict, a one-row frame or a vector.
    k : int
        Greatest number of conditions in the rule.
    m : int
        Number of samples the rule is found on.
    kind : str
        The problem: ``"k-monomial"`` or ``"negative-only"``.
    backend : str
        The engine; ``cpx backends`` lists them.
    time_limit : float or None
        Seconds for the engine.
    fresh : int
        Number of fresh samples the precision is measured on.
    n_bins, strategy, categorical
        How columns become conditions; see :class:`cpx.Binarizer`.
    distribution : str or Distribution
        ``"empirical"`` (background rows), ``"product"`` (each column drawn independently from
        the background), ``"perturbed"`` (found on background rows, measured on background
        rows with the rule written in: expect a lower precision), or ``"uniform"`` over the
        binary features; with ``"uniform"`` the classifier must take the binary features.
    class_names : sequence or mapping, optional
        Names of the classes, by position or by label.
    seed : int
        Seed of the samples, of the fresh samples and of the engine.
    **options
        Further options of :func:`cpx.solve`: ``threads``, ``gap``, ``encoding``, ...

    Returns
    -------
    Explanation
        The rule in words, its precision with an exact interval on fresh samples, its
        coverage, and what was proved. :meth:`Explainer.explain` returns the whole result.

    Raises
    ------
    EngineError
        When the engine found no rule within the limit or failed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> import cpx
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    >>> names = ["setosa", "versicolor", "virginica"]
    >>> explanation = cpx.explain(tree, X, X.iloc[0], k=2, class_names=names)
    >>> print(explanation)
    petal length (cm) <= 2 => setosa
    """
    from cpx.errors import EngineError

    explainer = Explainer(
        classifier,
        background,
        n_bins=n_bins,
        strategy=strategy,
        distribution=distribution,
        categorical=categorical,
        class_names=class_names,
        seed=seed,
    )
    result = explainer.explain(
        x, k, m=m, kind=kind, backend=backend, time_limit=time_limit, fresh=fresh, **options
    )
    if result.explanation is None:
        raise EngineError(
            f"{result.engine} found no rule: {result.status}, {result.raw_status}"
            + "".join(f"; {warning}" for warning in result.warnings)
        )
    return result.explanation


class Explainer:
    """The steps of :func:`explain`, one by one.

    Parameters
    ----------
    classifier, background, n_bins, strategy, distribution, categorical, class_names, seed
        As for :func:`explain`.

    Attributes
    ----------
    binarizer : Binarizer
        Fitted on the background.
    distribution : Distribution
        What samples are drawn from.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from cpx import Explainer, solve
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    >>> explainer = Explainer(tree, X)
    >>> samples = explainer.samples(X.iloc[0], m=500)
    >>> samples.total
    500
    >>> problem = explainer.problem(X.iloc[0], k=2, m=500)
    >>> str(solve(problem).status)
    'OPTIMAL'
    """

    def __init__(
        self,
        classifier: Any,
        background: Any,
        *,
        n_bins: int = 3,
        strategy: Literal["quantile", "uniform"] = "quantile",
        distribution: str | Distribution = "empirical",
        categorical: Sequence[Any] | None = None,
        class_names: Sequence[str] | Mapping[Any, str] | None = None,
        seed: int = 0,
    ) -> None:
        self.classifier = classifier
        self.seed = seed
        self.class_names = class_names
        self.binarizer = Binarizer(n_bins=n_bins, strategy=strategy, categorical=categorical)
        self.binarizer.fit(background)
        if isinstance(distribution, Distribution):
            self.distribution = distribution
        else:
            rows = Background(background, self.binarizer)
            self.distribution = make_distribution(distribution, rows)

    @classmethod
    def train(
        cls,
        model: str,
        X: Any,
        y: Any,
        *,
        n_bins: int = 3,
        strategy: Literal["quantile", "uniform"] = "quantile",
        distribution: str = "empirical",
        categorical: Sequence[Any] | None = None,
        class_names: Sequence[str] | Mapping[Any, str] | None = None,
        seed: int = 0,
    ) -> Explainer:
        """Train a named classifier on a table and return its explainer.

        Parameters
        ----------
        model : {"mlp", "forest", "tree", "boosting", "logistic"}
            Classifier of scikit-learn. Under ``distribution="uniform"`` it is trained on the
            binary features, as in Koriche et al., section 4.1; else on the rows.
        X : DataFrame
            Feature columns.
        y : array of shape (n,)
            Labels.
        n_bins, strategy, distribution, categorical, class_names, seed
            As for :func:`explain`; ``seed`` is the classifier's as well.
        """
        classifier = named_classifier(model, seed)
        explainer = cls(
            classifier,
            X,
            n_bins=n_bins,
            strategy=strategy,
            distribution=distribution,
            categorical=categorical,
            class_names=class_names,
            seed=seed,
        )
        rows = explainer.binarizer.transform(X).astype("int8") if distribution == "uniform" else X
        classifier.fit(rows, y)
        return explainer

    def samples(self, x: Any, m: int = 1000) -> Samples:
        """Draw m labelled samples; identical ones are merged into weights."""
        samples = Samples.draw(self.classifier, x, self.distribution, m, self.seed)
        context = dict(samples.context)
        context["class"] = self._class_name(context["class"])
        return replace(samples, context=context)

    def problem(
        self,
        x: Any,
        k: int = 5,
        *,
        m: int = 1000,
        kind: str = "k-monomial",
        **parameters: Any,
    ) -> Problem:
        """State the problem of explaining x.

        Further ``parameters`` are those of the problem: ``required``, ``forbidden``,
        ``one_per_group``, ``name``.
        """
        make: Any = problem_class(kind)
        problem: Problem = make(self.samples(x, m), k=k, **parameters)
        return problem.with_oracle(Oracle(self.classifier, x, self.distribution))

    def explain(
        self,
        x: Any,
        k: int = 5,
        *,
        m: int = 1000,
        kind: str = "k-monomial",
        backend: str = "cpsat",
        time_limit: float | None = 10.0,
        fresh: int = 1000,
        **options: Any,
    ) -> Result:
        """Solve the problem of explaining x and measure the rule on fresh samples.

        Returns
        -------
        Result
            Its ``explanation`` is None when the engine found nothing.
        """
        problem = self.problem(x, k, m=m, kind=kind)
        options.setdefault("seed", self.seed)
        result = solve(problem, backend, time_limit=time_limit, **options)
        if result.explanation is None:
            return result
        return replace(result, explanation=self.measure(result.explanation, x, fresh))

    def measure(self, explanation: Explanation, x: Any, n: int = 1000) -> Explanation:
        """Return the explanation with its precision on n fresh samples given the rule."""
        estimate = estimate_precision(
            self.classifier,
            x,
            self.distribution,
            explanation.features,
            n,
            seed=self.seed,
        )
        return replace(explanation, rule=self._in_words(explanation.rule, x), fresh=estimate)

    def _in_words(self, rule: Rule, x: Any) -> Rule:
        """Join the literals of one column, where the features are the binarizer's own."""
        names = tuple(self.binarizer.get_feature_names_out())
        if self.distribution.feature_names != names:
            return rule
        bits = self.distribution.encode(x)
        return replace(rule, conditions=self.binarizer.conditions(bits, rule.features))

    def _class_name(self, label: str) -> str:
        names = self.class_names
        if names is None:
            return label
        if isinstance(names, Mapping):
            return {str(key): str(value) for key, value in names.items()}.get(label, label)
        return str(names[int(label)]) if label.isdecimal() and int(label) < len(names) else label
