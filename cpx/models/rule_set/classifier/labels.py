"""The two classes of a target column, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.errors import DataError, InvalidOption, shown
from cpx.support.warnings import warn

__all__ = ["Target", "plain_labels", "two_classes"]


@dataclass(frozen=True, eq=False)
class Target:
    """Two classes, one of which rules describe.

    classes: The labels, sorted.
    wanted: The class that rules describe; the greater one when not given.
    Raises InvalidOption: When it is not one of the labels.

    >>> target = Target(np.array(["no", "yes"]))
    >>> target.positive, target.negative
    ('yes', 'no')
    >>> target.labels(np.array([True, False]))
    array(['yes', 'no'], dtype='<U3')
    """

    classes: npt.NDArray[Any]
    wanted: Any = None

    def __post_init__(self) -> None:
        if self.wanted is not None and self.wanted not in self.classes.tolist():
            raise InvalidOption(
                f"positive must be one of the labels {self.classes.tolist()}, got "
                f"{shown(self.wanted)}"
            )

    @property
    def _place(self) -> int:
        return 1 if self.wanted is None else self.classes.tolist().index(self.wanted)

    @property
    def positive(self) -> Any:
        """The class that rules describe."""
        return self.classes.tolist()[self._place]

    @property
    def negative(self) -> Any:
        """The other one."""
        return self.classes.tolist()[1 - self._place]

    def same(self, labels: Any) -> npt.NDArray[np.bool_]:
        """Return which labels are the positive one, shape (n,).

        Raises DataError: When there are other labels than the two.
        """
        given = np.asarray(labels)
        strange = given[~np.isin(given, self.classes)]
        if strange.size:
            raise DataError(
                f"the labels are {self.classes.tolist()}, got {shown(strange.tolist()[0])} as well"
            )
        return np.asarray(given == self.classes[self._place], dtype=bool)

    def labels(self, positive: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
        """Return a label for each truth value, shape (n,)."""
        found: npt.NDArray[Any] = self.classes[np.where(positive, self._place, 1 - self._place)]
        return found

    def columns(self, positive: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return shares of both classes from those of the positive one, shape (n, 2)."""
        both = [1 - positive, positive] if self._place else [positive, 1 - positive]
        return np.column_stack(both)


def plain_labels(y: Any) -> Any:
    """Return labels in the type that their values have.

    Truth values and integers of nullable columns and in arrays of objects would else be taken
    for floats, or refused.

    Raises DataError: Naming the place of a missing one among objects.

    >>> plain_labels(np.array([True, False], dtype=object))
    array([ True, False])
    """
    import pandas as pd

    if hasattr(getattr(y, "dtype", None), "numpy_dtype") and not pd.isna(y).any():
        return y.to_numpy(dtype=y.dtype.numpy_dtype)
    if isinstance(y, (np.ndarray, pd.Series)) and y.ndim == 1 and y.dtype == object:
        missing = np.flatnonzero(pd.isna(y))
        if missing.size:
            place = int(missing[0])
            raise DataError(f"y has a missing label, {shown(np.asarray(y)[place])} at {place}")
        if pd.api.types.infer_dtype(y, skipna=False) in ("boolean", "integer"):
            return np.array(list(y))
    return y


def two_classes(y: Any, rows: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the two labels, sorted, and the labels of the rows, shape (n,).

    rows: Number of labels that is right.
    Raises DataError: When y is missing, has missing values, another length, is no vector of
        labels, or has one class only or more than two.

    >>> two_classes(["no", "yes", "no"], 3)[0]
    array(['no', 'yes'], dtype='<U3')
    """
    from sklearn.exceptions import DataConversionWarning
    from sklearn.utils import check_array, column_or_1d
    from sklearn.utils.multiclass import check_classification_targets

    if y is None:
        raise DataError(
            "RuleSetClassifier requires y to be passed, but the target y is None: only with a "
            "black box there are labels without it"
        )
    y = plain_labels(y)
    try:
        given = check_array(y, ensure_2d=False, dtype=None, input_name="y")
        labels = column_or_1d(given)
        check_classification_targets(labels)
        classes = np.unique(labels)
    except (TypeError, ValueError) as error:
        raise DataError(f"y cannot be used: {error}") from error
    if given.ndim == 2:
        warn(
            "A column-vector y was passed when a 1d array was expected: it is taken for the "
            f"labels of {len(labels)} rows",
            DataConversionWarning,
        )
    if len(labels) != rows:
        raise DataError(f"y has {len(labels)} labels, X has {rows} rows")
    if len(classes) == 1:
        raise DataError(
            f"y has one class only, {shown(classes.tolist()[0])}: there is nothing for "
            "rules to tell "
            "apart"
        )
    if len(classes) > 2:
        raise DataError(
            "Only binary classification is supported. The type of the target is multiclass: "
            f"{len(classes)} classes in y; pass y == label for the rules of one of them, or take "
            "sklearn.multiclass.OneVsRestClassifier(RuleSetClassifier(...)) for the rules of each"
        )
    return classes, labels
