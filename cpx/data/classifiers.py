"""Classifiers: asking one for labels, and the named ones of the command line."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.errors import ClassifierError, UnknownName, shortened, shown
from cpx.support.validation import valid_seed

__all__ = [
    "CLASSIFIERS",
    "TREES",
    "classifier_name",
    "labels",
    "named_classifier",
    "tree_classifier",
]

CLASSIFIERS = ("boosting", "forest", "logistic", "mlp", "tree")
"""Names that :func:`named_classifier` knows."""

TREES = ("boosting", "forest", "tree")
"""Names that :func:`tree_classifier` knows."""


def labels(f: Any, rows: Any) -> npt.NDArray[Any]:
    """Return the labels the classifier gives to the rows.

    Parameters
    ----------
    f : object with ``predict``, or callable
        The classifier; ``predict`` is taken when there is one.
    rows : data frame or (m, n) array
        What f takes.

    Returns
    -------
    (m,) array
        One label per row; an answer of shape (m, 1) is flattened.

    Raises
    ------
    ClassifierError
        When f is no classifier, raises, or answers with something that is not one class
        label per row: another length or number of dimensions, probabilities, missing
        labels.

    Examples
    --------
    >>> labels(lambda z: z[:, 0] > 2, np.array([[1.0], [3.0]]))
    array([False,  True])
    """
    ask = getattr(f, "predict", f)
    if not callable(ask) or isinstance(f, type):
        raise ClassifierError(
            f"the classifier must have a method predict or be callable, got {shown(f)}"
        )
    name = classifier_name(f)
    try:
        # Some classifiers scale in place: the table of the caller is not for that.
        answer = ask(rows.copy() if hasattr(rows, "copy") else rows)
    except Exception as error:
        raise ClassifierError(
            f"the classifier {name} raised {type(error).__name__}: {shortened(error)}"
        ) from error
    return _checked(answer, len(rows), name)


def classifier_name(f: Any) -> str:
    """Return the class name of a classifier, or the name of a function.

    Of a scikit-learn pipeline, the last step is named too: ``Pipeline(MLPClassifier)``.

    Examples
    --------
    >>> classifier_name(labels), classifier_name(np.random.default_rng(0))
    ('labels', 'Generator')
    """
    if type(f).__name__ == "Pipeline" and getattr(f, "steps", None):
        return f"Pipeline({type(f.steps[-1][1]).__name__})"
    if hasattr(f, "predict") or not hasattr(f, "__name__"):
        return type(f).__name__
    return str(f.__name__)


def _checked(answer: Any, m: int, name: str) -> npt.NDArray[Any]:
    """Return the answer of a classifier as m labels, or say what it is instead."""
    # A scalar, a string, None or a generator has no shape, and no label per row.
    if not isinstance(answer, (list, tuple)) and not hasattr(answer, "__array__"):
        raise ClassifierError(
            f"the classifier {name} must answer with an array of labels, "
            f"got {type(answer).__name__}"
        )
    try:
        array = np.asarray(answer)
    except Exception as error:
        raise ClassifierError(
            f"the classifier {name} must answer with an array of labels ({shortened(error)})"
        ) from error
    if array.ndim == 2 and array.shape[1] == 1:
        array = array.ravel()
    if array.ndim == 2 and array.shape[0] == m:
        raise ClassifierError(
            f"the classifier {name} answered with an array of shape {array.shape}: if these are "
            "probabilities, pass labels instead, such as lambda rows: proba(rows).argmax(axis=1)"
        )
    if array.shape != (m,):
        raise ClassifierError(
            f"the classifier {name} answered with shape {array.shape} for {m} rows: "
            "one label per row expected"
        )
    if array.dtype.kind not in "biufUSO":
        raise ClassifierError(
            f"the classifier {name} answered with entries of type {array.dtype}, no class labels"
        )
    if array.dtype.kind == "f":
        missing = np.isnan(array)
    elif array.dtype.kind == "O":
        missing = np.array([_is_missing(value) for value in array], dtype=bool)
    else:
        missing = np.zeros(m, dtype=bool)
    if missing.any():
        raise ClassifierError(
            f"the classifier {name} gave no label (NaN or None) to {int(missing.sum())} "
            f"of {m} rows, the first being row {int(np.flatnonzero(missing)[0])}"
        )
    if array.dtype.kind == "f" and (array != np.floor(array)).any():
        value = array[array != np.floor(array)][0]
        raise ClassifierError(
            f"the classifier {name} answered with numbers such as {shown(value.item())}: "
            "these are "
            "probabilities or a regression, class labels are needed (compare with a threshold)"
        )
    return array


def _is_missing(value: Any) -> bool:
    # NaN and NaT differ from themselves; pd.NA answers comparisons with itself.
    if value is None or type(value).__name__ == "NAType":
        return True
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def named_classifier(name: str, seed: int = 0) -> Any:
    """Return an unfitted scikit-learn pipeline by its short name.

    Numbers are imputed by their median and standardised, all other columns are one-hot
    encoded with the missing value as a category and unseen categories as zeros. So the
    pipeline takes data frames of mixed columns as well as arrays.

    Parameters
    ----------
    name : {"boosting", "forest", "logistic", "mlp", "tree"}
        ``mlp`` is scikit-learn's ``MLPClassifier`` in its default architecture, as in
        Koriche et al. (ECML PKDD 2024), with 500 instead of 200 iterations at most.
    seed : int
        Seed of the classifier.

    Returns
    -------
    sklearn.pipeline.Pipeline
        With the steps ``columns`` and ``classifier``.

    Raises
    ------
    UnknownName
        When there is no such name.
    InvalidOption
        When the seed is no non-negative integer.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"size": [1.0, None, 3.0, 4.0], "colour": ["r", "g", None, "g"]})
    >>> labels(named_classifier("tree").fit(table, ["a", "b", "a", "b"]), table).tolist()
    ['a', 'b', 'a', 'b']
    """
    if name not in CLASSIFIERS:
        raise UnknownName("classifier", name, CLASSIFIERS)
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline, make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

    numbers = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
    )
    categories = make_pipeline(
        FunctionTransformer(_as_text),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    )
    columns = ColumnTransformer(
        [("numbers", numbers, _numeric_columns), ("categories", categories, _other_columns)]
    )
    return Pipeline([("columns", columns), ("classifier", _estimator(name, valid_seed(seed)))])


def tree_classifier(name: str, seed: int = 0) -> Any:
    """Return an unfitted tree model of scikit-learn by its short name.

    It is the last step of :func:`named_classifier` alone, so that its tests are about the
    columns themselves, which must be numbers.

    Parameters
    ----------
    name : {"boosting", "forest", "tree"}
    seed : int

    Raises
    ------
    UnknownName
        When there is no such name.
    InvalidOption
        When the seed is no non-negative integer.

    Examples
    --------
    >>> tree_classifier("forest")
    RandomForestClassifier(random_state=0)
    """
    if name not in TREES:
        raise UnknownName("tree model", name, TREES)
    return _estimator(name, valid_seed(seed))


def _estimator(name: str, seed: int) -> Any:
    if name == "mlp":
        from cpx.data.perceptron import MLPClassifier

        return MLPClassifier(max_iter=500, random_state=seed)
    if name == "forest":
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(random_state=seed)
    if name == "tree":
        from sklearn.tree import DecisionTreeClassifier

        return DecisionTreeClassifier(random_state=seed)
    if name == "boosting":
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(random_state=seed)
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000, random_state=seed)


def _numeric_mask(table: Any) -> list[bool]:
    """Say of each column whether it holds numbers; truth values count as categories."""
    import pandas as pd
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    # infer_objects reads an object array of numbers as numbers.
    frame = table if isinstance(table, pd.DataFrame) else pd.DataFrame(table).infer_objects()
    return [is_numeric_dtype(t) and not is_bool_dtype(t) for t in frame.dtypes]


def _numeric_columns(table: Any) -> list[int]:
    return [i for i, numeric in enumerate(_numeric_mask(table)) if numeric]


def _other_columns(table: Any) -> list[int]:
    return [i for i, numeric in enumerate(_numeric_mask(table)) if not numeric]


def _as_text(table: Any) -> npt.NDArray[np.object_]:
    """Return categories as text, the missing value as a text of its own.

    OneHotEncoder sorts the categories of a column, which fails for mixed types and pd.NA.
    """
    import pandas as pd

    frame = pd.DataFrame(table)
    text = np.empty(frame.shape, dtype=object)
    for c in range(frame.shape[1]):
        column = frame.iloc[:, c]
        values = column.astype(object).to_numpy()
        text[:, c] = [
            "(missing)" if gone else str(value)
            for value, gone in zip(values, column.isna(), strict=True)
        ]
    return text
