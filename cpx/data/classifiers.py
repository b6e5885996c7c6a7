"""The models that the command line trains, as pipelines of scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.errors import UnknownName
from cpx.support.validation import valid_seed

CLASSIFIERS = ("boosting", "forest", "logistic", "mlp", "tree")
"""Names that :func:`named_classifier` knows."""

MISSING_TEXT = "(missing)"
"""The category of a missing value, see :func:`as_text`."""

TREES = ("boosting", "forest", "tree")
"""Names that :func:`tree_classifier` knows."""


def named_classifier(name: str, seed: int = 0, numbers: bool = False) -> Any:
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
    numbers : bool
        Whether it predicts numbers: the regressor of the same kind, least squares for
        ``logistic``.

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
    >>> from cpx.data.oracle import labels
    >>> table = pd.DataFrame({"size": [1.0, None, 3.0, 4.0], "colour": ["r", "g", None, "g"]})
    >>> labels(named_classifier("tree").fit(table, ["a", "b", "a", "b"]), table).tolist()
    ['a', 'b', 'a', 'b']
    """
    if name not in CLASSIFIERS:
        raise UnknownName("classifier", name, CLASSIFIERS)
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline, make_pipeline
    from sklearn.preprocessing import StandardScaler

    numeric = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
    )
    columns = ColumnTransformer([("numbers", numeric, _numeric_columns)], remainder=_encoder())
    estimator = _estimator(name, valid_seed(seed), numbers)
    return Pipeline([("columns", columns), ("classifier", estimator)])


def _encoder() -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

    return make_pipeline(
        FunctionTransformer(as_text),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    )


def tree_classifier(
    name: str, seed: int = 0, numbers: bool = False, texts: Sequence[int] = ()
) -> Any:
    """Return an unfitted tree model of scikit-learn by its short name.

    numbers: Whether it predicts numbers.

    texts: Places of columns that are encoded before, as :func:`named_classifier` does.

    Numbers it takes as they are: a tree needs no scaling, and has a place for missing values.

    Raises UnknownName: When there is no such name.
    Raises InvalidOption: When the seed is no non-negative integer.

    >>> tree_classifier("forest")
    RandomForestClassifier(random_state=0)
    """
    if name not in TREES:
        raise UnknownName("tree model", name, TREES)
    estimator = _estimator(name, valid_seed(seed), numbers)
    if not texts:
        return estimator
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline

    columns = ColumnTransformer([("texts", _encoder(), [*texts])], remainder="passthrough")
    return Pipeline([("columns", columns), ("classifier", estimator)])


def _estimator(name: str, seed: int, numbers: bool) -> Any:
    if numbers:
        return _regressor(name, seed)
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


def _regressor(name: str, seed: int) -> Any:
    if name == "mlp":
        from sklearn.compose import TransformedTargetRegressor
        from sklearn.neural_network import MLPRegressor
        from sklearn.preprocessing import StandardScaler

        network = MLPRegressor(max_iter=500, random_state=seed)
        return TransformedTargetRegressor(network, transformer=StandardScaler())
    if name == "forest":
        from sklearn.ensemble import RandomForestRegressor

        return RandomForestRegressor(random_state=seed)
    if name == "tree":
        from sklearn.tree import DecisionTreeRegressor

        return DecisionTreeRegressor(random_state=seed)
    if name == "boosting":
        from sklearn.ensemble import HistGradientBoostingRegressor

        return HistGradientBoostingRegressor(random_state=seed)
    from sklearn.linear_model import LinearRegression

    return LinearRegression()


def _numeric_columns(table: Any) -> list[int]:
    """Return which columns hold numbers; truth values count as categories."""
    import pandas as pd
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    # infer_objects reads an object array of numbers as numbers.
    frame = table if isinstance(table, pd.DataFrame) else pd.DataFrame(table).infer_objects()
    kinds = enumerate(frame.dtypes)
    return [c for c, kind in kinds if is_numeric_dtype(kind) and not is_bool_dtype(kind)]


def as_text(table: Any) -> npt.NDArray[np.object_]:
    """Return categories as text, the missing value as a text of its own.

    OneHotEncoder sorts the categories of a column, which fails for mixed types and pd.NA.
    """
    import pandas as pd

    frame = pd.DataFrame(table)
    return np.where(frame.isna(), MISSING_TEXT, frame.astype(object).map(str)).astype(object)
