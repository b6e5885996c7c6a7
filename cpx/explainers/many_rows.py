"""Explanations of many rows: in several processes, or on the machines of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Unpack

from cpx.answers.result import Result
from cpx.explainers.arguments import RuleOptions
from cpx.explainers.explainer import Explainer

__all__ = ["explain_rows"]


def explain_rows(
    explainer: Explainer,
    X: Any,
    k: int = 5,
    *,
    n_jobs: int | None = None,
    **options: Unpack[RuleOptions],
) -> list[Result]:
    """Explain the prediction of each row of a table.

    Inside ``joblib.parallel_config(backend="dask")`` the rows are explained on the machines of
    that cluster; one whose machine is lost is explained again on another one.

    Parameters
    ----------
    explainer : Explainer
        With more than one process, the classifier in it must be one that can be pickled.
    X : DataFrame or array
        The rows.
    k, **options
        As for :meth:`Explainer.explain`.
    n_jobs : int, optional
        Processes, as scikit-learn has it: -1 for one for each core. Default: this one, unless
        ``joblib.parallel_config`` says otherwise.

    Returns
    -------
    list of Result
        As :meth:`Explainer.solve` returns for each row, whatever the number of processes. Its
        ``explanation`` is None where the engine found nothing.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, (200, 4))
    >>> explainer = Explainer(lambda rows: rows[:, 0] * rows[:, 1], X)
    >>> for result in explain_rows(explainer, X[:2], k=2):
    ...     print(result.explanation)
    x0 > 0 and x1 > 0 => class 1
    x1 <= 0 => class 0
    """
    from joblib import Parallel, delayed

    if options.get("m") is None and options.get("epsilon") is None:
        explainer = explainer.labelled()
    # On a cluster joblib leaves arguments with one machine, and a row with them if that is lost.
    found: list[Result] = Parallel(n_jobs=n_jobs)(
        delayed(partial(explainer.solve, row, k, **options))() for row in _rows(X)
    )
    return found


def _rows(X: Any) -> Sequence[Any]:
    # A row of a table keeps the names and types of its columns as a table of one row.
    return [X.iloc[[i]] for i in range(len(X))] if hasattr(X, "iloc") else list(X)
