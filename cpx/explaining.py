"""One call: classifier, background data, instance -> explanation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

from cpx.data import Distribution
from cpx.errors import EngineError
from cpx.explainer import Explainer
from cpx.explanation import Explanation

__all__ = ["explain"]


def explain(
    classifier: Any,
    background: Any,
    x: Any,
    k: int = 5,
    *,
    objective: str = "precision",
    min_coverage: Fraction | float | str | None = None,
    min_precision: Fraction | float | str | None = None,
    m: int | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    required: object = (),
    forbidden: object = (),
    one_per_group: bool = False,
    backend: str = "search",
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
    objective : {"precision", "coverage", "loss", "negative-only"}
        What the rule is best in: the precision, among rules that cover enough; the
        coverage, among rules that are precise enough; the least
        :class:`loss <cpx.KMonomial>`; the least :class:`disagreeing weight covered
        <cpx.NegativeOnly>`.
    min_coverage, min_precision : Fraction, float or str, optional
        Least shares, such as ``0.05`` or ``"1/20"``, on the samples. By default 1/20 of the
        samples must be covered for the objective precision, and the precision must be at
        least 19/20 for the objective coverage. ``max_coverage`` is an option as well.
    m : int, optional
        Number of samples the rule is found on, by default 1000.
    epsilon, delta : float, optional
        Instead of m: as many samples are drawn as it takes to know the loss up to epsilon
        (see :func:`cpx.sample_size`), and the explanation says what is guaranteed of the
        rule with probability 1 - delta.
    required, forbidden : str, int, or a sequence of them
        Conditions that the rule must, and must not, have: as they are printed, or indices
        of features.
    one_per_group : bool
        At most one condition per column.
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
        When the engine failed or found no rule within the limit, or none meets the limits.
    InvalidOption, InvalidInstance, UnknownName
        Naming the argument that is wrong.

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
        x,
        k,
        objective=objective,
        min_coverage=min_coverage,
        min_precision=min_precision,
        m=m,
        epsilon=epsilon,
        delta=delta,
        required=required,
        forbidden=forbidden,
        one_per_group=one_per_group,
        backend=backend,
        time_limit=time_limit,
        fresh=fresh,
        **options,
    )
    if result.explanation is None:
        raise EngineError(
            f"{result.engine} found no rule: {result.status}, {result.raw_status}"
            + "".join(f"; {warning}" for warning in result.warnings)
        )
    return result.explanation
