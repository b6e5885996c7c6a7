"""Explanations of many rows: in several processes, or on the machines of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from cpx.answers.result import Result
from cpx.data.other_frames import as_pandas
from cpx.errors import InvalidOption
from cpx.explainers.explainer import Explainer
from cpx.models.expected_prediction.explainer import ProbabilisticExplainer


def explain_rows(
    explainer: Explainer | ProbabilisticExplainer,
    X: Any,
    k: int | Sequence[int] | None = None,
    *,
    n_jobs: int | None = None,
    **options: Any,
) -> list[Result]:
    """Explain the prediction of each row of a table.

    Inside ``joblib.parallel_config(backend="dask")`` the rows are explained on the machines of
    that cluster; one whose machine is lost is explained again on another one.

    Parameters
    ----------
    explainer : Explainer or ProbabilisticExplainer
        With more than one process, the classifier in it must be one that can be pickled.
    X : DataFrame or array
        The rows.
    k : int or sequence of int, optional
        The size of all explanations, or of that of each row; unless it is given, as for the
        ``explain`` of the explainer.
    **options
        As for the ``explain`` of the explainer.
    n_jobs : int, optional
        Processes, as scikit-learn has it: -1 for one for each core. Default: this one, unless
        ``joblib.parallel_config`` says otherwise.

    Returns
    -------
    list of Result
        As the ``solve`` of the explainer returns for each row, whatever the number of processes.
        Its ``explanation`` is None where the engine found nothing.

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

    rows = _rows(X)
    sizes = [k] * len(rows) if k is None or isinstance(k, int) else list(k)
    if len(sizes) != len(rows):
        raise InvalidOption(f"k has {len(sizes)} sizes, there are {len(rows)} rows")
    fixed = options.get("m") is None and options.get("epsilon") is None
    if fixed and isinstance(explainer, Explainer):
        explainer = explainer.labelled()
    # On a cluster joblib leaves arguments with one machine, and a row with them if that is lost.
    found: list[Result] = Parallel(n_jobs=n_jobs)(
        delayed(partial(explainer.solve, row, **_size(size), **options))()
        for row, size in zip(rows, sizes, strict=True)
    )
    return found


def _size(k: int | None) -> dict[str, Any]:
    return {} if k is None else {"k": k}


def _rows(X: Any) -> Sequence[Any]:
    # A row of a table keeps the names and types of its columns as a table of one row.
    X = as_pandas(X)
    return [X.iloc[[i]] for i in range(len(X))] if hasattr(X, "iloc") else list(X)
