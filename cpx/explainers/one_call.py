"""The function :func:`cpx.explain`: from a classifier and an instance to an explanation."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Literal, Unpack, overload

from cpx.answers.explanation import Explanation, Reason
from cpx.errors import InvalidOption, UnknownName, nearest, shown
from cpx.explainers.arguments import (
    BACKEND,
    FRESH,
    READER_OPTIONS,
    TIME_LIMIT,
    ExplainOptions,
    ProbabilisticOptions,
    ReasonOptions,
)
from cpx.explainers.explainer import Explainer
from cpx.explainers.preparation import counted
from cpx.explainers.question import Question
from cpx.models.expected_prediction.answer import ExpectedExplanation
from cpx.models.expected_prediction.explainer import ProbabilisticExplainer
from cpx.models.sufficient_reason.explainer import explain_by_reason
from cpx.options import SolveOptions

_KNOWN = {
    "rule": ("classifier", "background", "x", "k", *ExplainOptions.__annotations__),
    "sufficient": ("model", "x", *ReasonOptions.__annotations__),
    "probabilistic": ("model", "x", "background", "k", *ProbabilisticOptions.__annotations__),
}
"""The arguments of each kind of explanation."""

_NEEDED = {
    "rule": ("classifier", "background", "x"),
    "sufficient": ("model", "x"),
    "probabilistic": ("model", "x", "background"),
}


@overload
def explain(
    classifier: Any,
    background: Any,
    x: Any,
    k: int | None = None,
    *,
    kind: Literal["rule"] = "rule",
    **options: Unpack[ExplainOptions],
) -> Explanation: ...


@overload
def explain(
    model: Any, x: Any, *, kind: Literal["sufficient"], **options: Unpack[ReasonOptions]
) -> Reason: ...


@overload
def explain(
    model: Any,
    x: Any,
    background: Any,
    *,
    kind: Literal["probabilistic"],
    k: int | None = None,
    **options: Unpack[ProbabilisticOptions],
) -> ExpectedExplanation: ...


def explain(*args: Any, kind: str = "rule", **options: Any) -> Explanation:
    """Explain one prediction, by an optimal short rule, by what forces it, or by what suggests it.

    With ``kind="rule"``, the default, any classifier is explained by the best rule of at most k
    conditions on samples: ``explain(classifier, background, x, k)``. With
    ``kind="sufficient"`` a tree model is explained by a minimum subset of columns that force its
    class, whatever the others are: ``explain(model, x, kind="sufficient")``. Nothing is sampled
    then, no background is needed, and what is said holds for all rows. See
    :class:`cpx.SufficientReason`. With ``kind="probabilistic"`` a tree model is explained by at
    most k values of x that make it expect its class most surely when nothing else is known, under
    a distribution fitted to the background: ``explain(model, x, background,
    kind="probabilistic")``. See :class:`cpx.ProbabilisticExplainer` and :class:`cpx.MLSE`.

    Parameters
    ----------
    classifier : object with ``predict``, or callable
        Maps rows like those of ``background`` to one label per row.
    background : DataFrame or array of shape (n, columns)
        Rows that say what the data look like, without the target. Frames of Polars, PyArrow and
        others are taken, too; the classifier gets them as frames of pandas. ``kind="sufficient"``
        takes it by name only, to say which values may be missing.
    x : row
        The instance: a Series, a dict, a one-row frame or a vector.
    k : int, optional
        Most conditions in the rule: 5, or all features where these are fewer. With
        ``kind="probabilistic"`` most attributes, and with a threshold there is no k.
    objective : {"precision", "coverage", "loss", "negative-only"}, default="precision"
        What the rule is best in: the precision, among rules that cover enough; the
        coverage, among rules that are precise enough; the least
        :class:`loss <cpx.KMonomial>`; the least :class:`disagreeing weight covered
        <cpx.NegativeOnly>`.
    min_coverage, min_precision : Fraction, float or str, optional
        Least shares, such as ``0.05`` or ``"1/20"``, on the samples. By default 1/20 of the
        samples must be covered for the objective precision, and the precision must be at
        least 19/20 for the objective coverage. ``max_coverage`` is an option as well.
    m : int, optional
        Number of samples the rule is found on. By default, all rows of the background are
        used where they are the distribution (``"empirical"``, up to 100,000 rows): nothing is
        drawn, and the answer is exact for them. Else 1000.
    epsilon, delta : float, optional
        Instead of m. For the objective precision and the engine ``search``, samples are drawn
        in rounds until no rule can be more than epsilon more precise than the one found, or
        the time limit is over; then the gap so far is told. Otherwise as many samples are
        drawn as it takes to know the loss up to epsilon (see :func:`cpx.sample_size`). What
        the explanation guarantees holds with probability 1 - delta; by default that is 0.95.
    max_queries : int, optional
        With epsilon and delta, for the objective precision: how many rows the classifier may
        be asked about at most, the fresh ones among them.
    required, forbidden : str, int, or a sequence of them
        Conditions that the rule must, and must not, have: as they are printed, or indices
        of features.
    where : str or sequence of str
        Side constraints on the conditions, such as ``"not (age > 60 and sex == male)"`` or
        ``"at_most(2, age, sex, job)"``, of every kind of explanation; see
        :meth:`cpx.models.Problem.where`. A condition that is not true of x is in no rule.
    one_per_group : bool, default=False
        At most one condition per column.
    backend : str, default="search"
        The engine; ``cpx backends`` lists them. For a sufficient reason, the default is
        ``hitting-sets`` where several trees are explained in the full sense, else ``cpsat``.
    time_limit : float or None, default=10.0
        Seconds for the engine.
    fresh : int, default=1000
        Number of fresh samples the precision is measured on; none are needed where all
        rows are used.
    n_bins : int, default=3
    strategy : {"quantile", "uniform"}, default="quantile"
    categorical : sequence of column names, optional
        How columns become conditions; see :class:`cpx.Binarizer`.
    distribution : str or Distribution, default="empirical"
        ``"empirical"`` (background rows), ``"product"`` (each column drawn independently from
        the background); fitted to the background, so that rows that it does not have are drawn
        too: ``"factorised"``, ``"mixture"``, ``"chow-liu"``, or ``"fitted"`` for the one of these
        that suits the data best, with options in braces as in ``"mixture{components=5}"``;
        ``"perturbed"`` (found on background rows, measured on background
        rows with the rule written in: expect a lower precision), or ``"uniform"`` over the
        binary features; with ``"uniform"`` the classifier must take the binary features.
    class_names : sequence or mapping, optional
        Names of the classes: one for each, in the order of the classifier's ``classes_``, or by
        label. Of a function, labels 0, 1, ... have positions.
    seed : int, default=0
        Seed of the samples, of the fresh samples and of the engine. Where all rows are used,
        the answer of the exact search depends on none.
    threads, gap, encoding, isolate, listen
        As for :func:`cpx.solve`.

    Other Parameters
    ----------------
    model : fitted classifier, TreeModel or path
        With ``kind="sufficient"``: whatever :func:`cpx.read_model` reads. A model that was
        trained without names gets those of the columns of x.
    level : {"attributes", "conditions"}, default="attributes"
    definition : {"sufficient", "majoritary", "tree-specific"}, default="sufficient"
    weights, required, forbidden, label
        With ``kind="sufficient"``, as for :class:`cpx.SufficientReason`, where features can
        be given by name; ``weights`` can be a mapping, of the features that do not weigh 1.
    trusted, rounds, classes, rule, output, attributes, objective, base, num_parallel_tree
        With ``kind="sufficient"`` and ``"probabilistic"``, as for :func:`cpx.read_model`: whether
        a file may run code, how many rounds of XGBoost count, and what else its reader takes.
    missing : {"auto", "never", "always"} or sequence of str, default="auto"
        Which values rows may lack, of a tree model that takes missing values: none, all, or those
        of some columns. ``"auto"``: those of columns of which x, the background or the model
        itself shows missing values; see :func:`cpx.read_model`. The answer says which.
    hint : Explanation, or sequence of int or str
        Features of a known solution.
    distribution, components, groups, max_states, smoothing
        With ``kind="probabilistic"``: what is fitted to the background, as for
        :class:`cpx.ProbabilisticExplainer`.
    threshold, measure, prediction, unit
        With ``kind="probabilistic"``, as for :meth:`cpx.ProbabilisticExplainer.problem`: with a
        threshold in place of k, the fewest values that reach it.
    samples, least
        With ``measure="sampled-probability"``, as for :meth:`cpx.ProbabilisticExplainer.explain`.

    Returns
    -------
    Explanation
        The rule in words, its precision (exact, or with an exact interval on fresh samples),
        its coverage, and what was proved. Its ``result`` is the whole :class:`Result`.
        With ``kind="sufficient"`` a :class:`Reason`: what forces the class, in words, and
        between which numbers the size of a smallest reason is known to be. With
        ``kind="probabilistic"`` an
        :class:`~cpx.models.expected_prediction.answer.ExpectedExplanation`: the values that are
        known, what the model expects then, how probable they are, and how often the class stays.

    Raises
    ------
    Infeasible
        When nothing keeps the limits: says which floor, and the best that can be had.
    EngineError
        When the engine or the check failed, or nothing was found within the time limit.
        :meth:`Explainer.solve` returns what there is.
    InvalidOption, InvalidInstance, UnknownName
        Naming the argument that is wrong, or that is for the other kind.
    ModelError, UnsupportedModel, DataError
        When the tree model cannot be read, or x is no row of it.

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
    >>> print(cpx.explain(tree, X.iloc[0], kind="sufficient", class_names=names))
    petal width (cm) <= 0.8 forces setosa, whatever the other 3 columns are, none of them missing
    """
    _refuse(kind, args, options)
    with counted():
        if kind == "sufficient":
            return explain_by_reason(*args, **options)
        if kind == "probabilistic":
            return _expected(*args, **options)
        return _explain_by_rule(*args, **options)


def _signature() -> inspect.Signature:
    """Return the arguments of a rule with their defaults, each from where it is declared."""
    declared = {
        field.name: field.default for cls in (SolveOptions, Question) for field in fields(cls)
    }
    declared |= {p.name: p.default for p in inspect.signature(Explainer).parameters.values()}
    declared |= {"backend": BACKEND, "time_limit": TIME_LIMIT, "fresh": FRESH, "kind": "rule"}
    declared |= {"x": inspect.Parameter.empty}
    positional = (*_NEEDED["rule"], "k")
    named = [name for name in ("kind", *_KNOWN["rule"]) if name not in positional]
    return inspect.Signature(
        [
            inspect.Parameter(name, kind, default=declared.get(name))
            for names, kind in (
                (positional, inspect.Parameter.POSITIONAL_OR_KEYWORD),
                (named, inspect.Parameter.KEYWORD_ONLY),
            )
            for name in names
        ],
        return_annotation=Explanation,
    )


# What ``help`` and notebooks show, where type checkers and editors read the overloads.
explain.__signature__ = _signature()  # type: ignore[attr-defined]


def _explain_by_rule(classifier: Any, background: Any, *args: Any, **options: Any) -> Explanation:
    return Explainer(classifier, background, **_taken(Explainer, options)).explain(
        *args, **options
    )


def _expected(
    model: Any, x: Any, background: Any, *args: Any, **options: Any
) -> ExpectedExplanation:
    own = _taken(ProbabilisticExplainer, options)
    own |= {name: options.pop(name) for name in READER_OPTIONS if name in options}
    return ProbabilisticExplainer(model, background, **own).explain(x, *args, **options)


def _taken(cls: type, options: dict[str, Any]) -> dict[str, Any]:
    """Take the options out that a class has parameters for."""
    own = inspect.signature(cls).parameters
    return {name: options.pop(name) for name in own if name in options}


def _refuse(kind: str, args: tuple[Any, ...], options: Mapping[str, Any]) -> None:
    """Raise for a kind that is not known, and for arguments that are for the other kind."""
    if kind not in _KNOWN:
        raise UnknownName("kind", kind, _KNOWN)
    for name in options:
        if name in _KNOWN[kind]:
            continue
        for other, known in _KNOWN.items():
            if name in known:
                raise InvalidOption(
                    f"{name} is for kind={shown(other)}, this is kind={shown(kind)}"
                )
        raise InvalidOption(f"there is no option {shown(name)}{nearest(name, _KNOWN[kind])}")
    needed = _NEEDED[kind]
    if lacking := [name for name in needed[len(args) :] if name not in options]:
        every = "; ".join(f"kind={k!r} needs {', '.join(v)}" for k, v in _NEEDED.items())
        raise InvalidOption(f"{lacking[0]} is missing with kind={shown(kind)}: {every}")
    if kind == "sufficient" and len(args) > 2:
        raise InvalidOption(
            "kind='sufficient' needs no background, for it speaks of all rows: "
            "explain(model, x, kind='sufficient'); one given as background=... says which values "
            "may be missing"
        )
