"""The doors: an Explainer of a model and rows, with a method for each kind, and ``explain``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Any

from cpx.answers.explanation import Explanation
from cpx.answers.explanations import Explanations, Unanswered, unanswered
from cpx.answers.result import Result
from cpx.answers.values import plural
from cpx.data import named_classifier
from cpx.data.other_frames import as_pandas
from cpx.data.targets import target_of
from cpx.errors import CpxError, EngineError, InvalidOption, shown
from cpx.explainers.doors import Answer, Kind, kind, kinds, loaded, refuse_unknown
from cpx.explainers.many_rows import Told, answers
from cpx.explainers.options import READER_OPTIONS
from cpx.explainers.pictures import Pictures
from cpx.explainers.preparation import counted
from cpx.explainers.rows import refuse_other_order, row_of, rows_of
from cpx.processes.interrupts import interruptible
from cpx.support.families import families
from cpx.support.lazy_imports import named_object
from cpx.support.validation import valid_seed
from cpx.trees import read_model


class Explainer:
    """Explains predictions of a model, in the ways that families of problems offer.

    ``rule(x, k=3)``, ``reason(x)``, ``contrast(x)`` and ``expectation(x, k=2)`` explain one row;
    ``rules(X)``, ``reasons(X)``, ``contrasts(X)`` and ``expectations(X)`` many. Whatever is
    prepared, such as a distribution that is fitted, is prepared once.

    Parameters
    ----------
    model : object with ``predict``, callable, TreeModel or path
        A rule explains any classifier. The other kinds read tree models; see
        :func:`cpx.read_model`. They do so once, at the first question, and no time limit
        counts it.
    X : DataFrame or array of shape (n, columns), optional
        The background: rows that say what the data look like, without the target. A reason and a
        contrast need none: nothing is drawn for them, and X says which values may be missing.
    **options
        Options of all rows, each for the kinds that have it: ``class_names``, ``seed``,
        ``missing``, ``distribution``, ``n_bins``; see :doc:`/reference/options`.

    Raises
    ------
    InvalidOption
        Naming the option that no kind has, or what is given in another order.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    >>> ex = Explainer(tree, X, class_names=["setosa", "versicolor", "virginica"])
    >>> print(ex.rule(0, k=2))
    petal length (cm) <= 2 => setosa
    >>> print(ex.reason(0))
    petal width (cm) <= 0.8 forces setosa, whatever the other 3 columns are, none of them missing
    >>> print(ex.contrast(0))
    0.8 < petal width (cm) <= 1.75 (now 0.2) gives versicolor in place of setosa
    >>> len(ex.rules(X.iloc[::50], k=2))
    3
    >>> Explainer(tree, X, seed=1)
    Explainer(DecisionTreeClassifier, 150 rows of 4 columns, seed=1)
    """

    def __init__(self, model: Any, X: Any = None, **options: Any) -> None:
        refuse_other_order(model, X)
        self.model, self.X, self.options = model, X, options
        self._made: dict[str, Any] = {}
        self._trees: Any = None
        self._pictures = Pictures(X)
        if options:
            self._refuse_unknown()
        valid_seed(options.get("seed", 0))

    def _refuse_unknown(self) -> None:
        known: dict[str, Any] = {}
        for one in loaded():
            known |= one.prepared
            if known.keys() >= self.options.keys():
                return
        refuse_unknown(self.options, known, "")

    @classmethod
    def train(cls, model: str, X: Any, y: Any, **options: Any) -> Explainer:
        """Train a named classifier on a table and return its explainer.

        Parameters
        ----------
        model : {"mlp", "forest", "tree", "boosting", "logistic"}
            Classifier of scikit-learn.
        X : DataFrame
            Feature columns.
        y : array of shape (n,)
            Labels.
        **options
            As for the class; ``seed`` is the classifier's as well.
        """
        limits = (options.get(name) for name in ("above", "below", "between"))
        classifier = named_classifier(
            model, options.get("seed", 0), target_of(*limits) is not None
        )
        with interruptible():
            classifier.fit(as_pandas(X), as_pandas(y))
        return cls(classifier, X, **options)

    def of(self, kind_name: str) -> Any:
        """Return what explains rows in one way, made when it is first asked for.

        It is the class that the family registers for the kind, and has the steps to an answer
        one by one.

        Raises
        ------
        UnknownName
            When there is no such kind.
        InvalidOption
            When it needs X, which is not there.
        """
        if kind_name not in self._made:
            one = kind(kind_name)
            if self.X is None and one.needs_rows:
                raise InvalidOption(
                    f"kind={shown(one.name)} needs X, rows that say what the data look like: "
                    "Explainer(model, X)"
                )
            own = {n: v for n, v in self.options.items() if n in one.prepared}
            model = self._read_once(own) if one.door.trees else self.model
            self._made[kind_name] = one.explainer(model, self.X, **own)
        return self._made[kind_name]

    def _read_before(self, kind_name: str) -> None:
        """Read a model of trees while no time counts: large forests take longer than answers."""
        if kind(kind_name).door.trees:
            self.of(kind_name)

    def _read_once(self, own: Mapping[str, Any]) -> Any:
        """Return the model as trees, read once for all kinds that it is read alike for."""
        if own.keys() & {*READER_OPTIONS, "above", "below", "between"}:
            return self.model
        if self._trees is None:
            try:
                self._trees = read_model(self.model, rows=self.X)
            except CpxError:  # the kind says what is wrong, or does without trees
                return self.model
        return self._trees

    def __repr__(self) -> str:
        model = getattr(self.model, "__name__", type(self.model).__name__)
        told = [shown(self.model) if isinstance(self.model, str | PathLike) else model]
        if self.X is not None:
            shape = getattr(self.X, "shape", (len(self.X),))
            told.append(" of ".join(map(plural, shape, ("row", "column"))))
        told += (f"{name}={shown(value)}" for name, value in self.options.items())
        return f"Explainer({', '.join(told)})"

    def problem(self, x: Any, k: int | None = None, kind: str = "rule", **asked: Any) -> Any:
        """State the problem of explaining x, to save it, to solve it by any engine, to compare.

        Parameters
        ----------
        x : one row, or its position or label in X
        k : int, optional
        kind : str, default="rule"
        **asked
            As for the method of that kind.
        """
        state = getattr(self.of(kind), "problem", None)
        if state is None:
            raise InvalidOption(f"kind={shown(kind)} is no problem that engines solve")
        return state(row_of(self.X, x), **_with(k, asked))

    def solve(self, x: Any, k: int | None = None, kind: str = "rule", **asked: Any) -> Result:
        """Solve the problem of explaining x and return the whole result, also without an answer.

        Parameters
        ----------
        x, k, kind, **asked
            As for :meth:`problem`.
        """
        asked = _with(k, asked)
        _refuse(kind, asked)
        answer: Answer = self.of(kind).answer(row_of(self.X, x), **asked)
        return answer.result

    def explain(
        self, x: Any, k: int | None = None, kind: str = "rule", **asked: Any
    ) -> Explanation:
        """Explain the prediction of x; what ``rule``, ``reason`` and the others are short for.

        Parameters
        ----------
        x : one row, or its position or label in X
            A Series, a dict, a one-row frame or a vector.
        k : int, optional
        kind : str, default="rule"
        **asked
            As for the method of that kind.

        Returns
        -------
        Explanation
            Where there is none, one that says so, like those of many rows: its ``why`` is not
            empty, its ``status`` is what was proved, and its ``error`` what
            :func:`cpx.explain` raises.
        """
        asked = _with(k, asked)
        _refuse(kind, asked)
        row = row_of(self.X, x)
        self._read_before(kind)
        with counted():
            by = self.of(kind)
            try:
                found: Explanation = by.explain(row, **asked)
            except EngineError as error:
                none: Explanation = by.of_row(unanswered(error), row)
                return none
            return self._pictures.of(found, row)

    def explain_many(
        self,
        X: Any,
        k: int | None = None,
        kind: str = "rule",
        *,
        n_jobs: int | None = None,
        progress: Told = None,
        **asked: Any,
    ) -> Explanations:
        """Explain the predictions of many rows; what ``rules`` and the others are short for.

        Inside ``joblib.parallel_config(backend="dask")`` the rows are explained on the machines
        of that cluster; one whose machine is lost is explained again on another one.

        Parameters
        ----------
        X : DataFrame or array
            The rows.
        k : int, optional
        kind : str, default="rule"
        n_jobs : int, optional
            Processes, as scikit-learn has it: -1 for one for each core. Default: this one, unless
            ``joblib.parallel_config`` says otherwise. With several, the model must be one that
            can be pickled.
        progress : bool or callable, optional
            Show how many rows are done: by default in a terminal or a notebook. A function is
            called with how many are done and how many there are.
        **asked
            As for the method of that kind.

        Returns
        -------
        Explanations
            One for each row. A row without an answer, or with a value that cannot be read, has one
            that says why: its ``why`` is not empty, and its ``status`` what was proved. After
            Ctrl-C these are the rows that were answered until then, and the others say so.
        """
        (rows, labels), asked = rows_of(X), _with(k, asked)
        _refuse(kind, asked)
        found = answers(self.of(kind), rows, asked, n_jobs, progress)
        drawn = tuple(self._pictures.of(one, row) for one, row in zip(found, rows))
        return Explanations(drawn, tuple(labels), as_pandas(X))

    def all_kinds(self, x: Any, k: int | None = None, **asked: Any) -> Any:
        """Explain the prediction of x by all kinds, and say how the answers relate.

        These are the optimal rule on the rows, the certificate on them (the fewest conditions
        that leave no row of another class), the expectation under the distribution, the minimum
        reason and the contrast. Rules and certificates are about the rows of X, whatever
        ``distribution`` says.

        Parameters
        ----------
        x : one row, or its position or label in X
        k : int, optional
            Most conditions of the rule and values of the expectation: as many as the reason has
            columns, but at most 5.
        min_coverage : Fraction, float or str, optional
            As for ``rule``.
        epsilon : Fraction, float or str, optional
            Which share of the rows the certificate may leave that have another class: by default
            those that no condition tells from x, mostly 0.
        target, frozen
            As for ``contrast``.
        time_limit : float or None, default=10.0
            Seconds, for each kind.

        Returns
        -------
        AllKinds
            Each kind with value, bound and proof, or why it has no answer. What follows from the
            definitions, such as that the contrast changes a column of the reason, is checked on
            the row. ``save("page.html")`` and ``save("figure.pdf")`` write page and figure.

        Raises
        ------
        InvalidOption, InvalidInstance, DataError
            Naming the argument that is wrong.
        CheckFailed
            When answers contradict each other.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.ensemble import RandomForestClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, y)
        >>> found = Explainer(forest, X).all_kinds(60)
        >>> found["certificate"].value, found["certificate"].bound
        (2.0, 2.0)
        """
        for family in families():
            if family.all_kinds:
                answer = named_object(family.all_kinds, "explanation by all kinds", InvalidOption)
                return answer(self, x, k, **asked)
        raise InvalidOption("no family of problems is there that answers by all kinds")

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return the method of a kind, or of many rows of it."""
        if not name.startswith("_"):
            for one in kinds():
                if name == one.name:
                    return _method(self.explain, one)
                if name == one.door.plural:
                    return _method(self.explain_many, one)
        raise AttributeError(f"Explainer has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what was prepared: each process prepares what it needs."""
        return {**self.__dict__, "_made": {}, "_trees": None}

    def __dir__(self) -> Iterable[str]:
        """List the methods of all kinds, too."""
        named = [name for one in kinds() for name in (one.name, one.door.plural)]
        return sorted({*super().__dir__(), *named})


def _with(k: int | None, asked: dict[str, Any]) -> dict[str, Any]:
    return asked if k is None else {"k": k, **asked}


def _refuse(name: str, asked: dict[str, Any]) -> None:
    """Raise for options that the kind does not have for a row."""
    one = kind(name)
    for option in asked:
        if option not in one.asked and option in one.prepared:
            raise InvalidOption(
                f"{option} is the same for all rows: Explainer(model, X, {option}=...)"
            )
    refuse_unknown(asked, one.asked, name)


def _method(explain: Callable[..., Any], one: Kind) -> Callable[..., Any]:
    """Return explain of one kind, with the arguments and the help of its family."""
    many, has_k = explain.__name__ == "explain_many", "k" in one.asked

    def method(x: Any, k: Any = None, **asked: Any) -> Any:
        return explain(x, k, one.name, **asked)

    parameter = inspect.Parameter
    named = [
        parameter(name, parameter.KEYWORD_ONLY, default=None)
        for name in ("n_jobs", "progress")
        if many
    ]
    options = {n: d for n, d in one.asked.items() if n != "k"}
    method.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            parameter("X" if many else "x", parameter.POSITIONAL_OR_KEYWORD),
            *([parameter("k", parameter.POSITIONAL_OR_KEYWORD, default=None)] * has_k),
            *named,
            *(parameter(n, parameter.KEYWORD_ONLY, default=d) for n, d in options.items()),
        ]
    )
    method.__name__ = one.door.plural if many else one.name
    method.__doc__ = (Explainer.explain_many if many else one.explainer.explain).__doc__
    return method


def explain(
    model: Any,
    X: Any = None,
    x: Any = None,
    k: int | None = None,
    kind: str = "rule",
    **options: Any,
) -> Explanation:
    """Explain one prediction: by a rule, by what forces it, by what would change it.

    It is :class:`cpx.Explainer` in one call, for one row; where there is no answer, it raises.

    Parameters
    ----------
    model : object with ``predict``, callable, TreeModel or path
    X : DataFrame or array of shape (n, columns)
        The background; None where nothing is sampled.
    x : one row, or its position or label in X
        The instance: a Series, a dict, a one-row frame or a vector.
    k : int, optional
        Most conditions, or values.
    kind : {"rule", "reason", "contrast", "expectation"}, default="rule"
        ``"rule"``: the best rule of at most k conditions on rows like those of X, of any
        classifier. ``"reason"``: a minimum subset of columns that force the class of a tree
        model, whatever the others are. ``"contrast"``: the fewest columns whose change gives
        another class. ``"expectation"``: at most k values of x that make a tree model expect its
        class most surely when nothing else is known.
    **options
        Those of :class:`cpx.Explainer`, and those of the kind, such as ``min_coverage``,
        ``objective``, ``where``, ``backend``, ``time_limit`` (10 seconds); see
        :doc:`/reference/options`.

    Returns
    -------
    Explanation
        What was found in words, and what was proved. Its ``result`` is the whole
        :class:`~cpx.answers.result.Result`.

    Raises
    ------
    Infeasible
        When nothing keeps the limits: says which floor, and the best that can be had.
    EngineError
        When the engine or the check failed, or nothing was found within the time limit.
        :meth:`Explainer.solve` returns what there is.
    InvalidOption, InvalidInstance, UnknownName
        Naming the argument that is wrong, or that is for another kind.
    ModelError, UnsupportedModel, DataError
        When the tree model cannot be read, or x is no row.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> import cpx
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    >>> names = ["setosa", "versicolor", "virginica"]
    >>> print(cpx.explain(tree, X, X.iloc[0], k=2, class_names=names))
    petal length (cm) <= 2 => setosa
    >>> print(cpx.explain(tree, None, X.iloc[0], kind="reason", class_names=names))
    petal width (cm) <= 0.8 forces setosa, whatever the other 3 columns are, none of them missing
    """
    one = _kind(kind)
    if x is None:
        raise InvalidOption(
            "x is missing, the row to explain: explain(model, X, x); X may be None where nothing "
            "is sampled"
        )
    refuse_unknown(options, {**one.prepared, **one.asked}, kind)
    prepared = {n: v for n, v in options.items() if n in one.prepared}
    asked = {n: v for n, v in options.items() if n not in one.prepared}
    found = Explainer(model, X, **prepared).explain(x, k, kind, **asked)
    if isinstance(found, Unanswered):
        raise found.error
    return found


_kind = kind
