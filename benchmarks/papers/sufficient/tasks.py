"""The two tables of the paper with their classifiers: digits 3 against 5, and Adult."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from benchmarks.papers.datasets import Dataset, Published
from cpx.errors import UnknownName

if TYPE_CHECKING:
    import pandas as pd

    from benchmarks.papers.sources import Source

__all__ = ["ADULT", "LEFT_OUT", "MNIST", "NAMES", "Split", "prepared"]

_NOTHING = Published(0.0, 0.0)
MNIST = Dataset("mnist", 554, "mnist_3v5", _NOTHING, _NOTHING, _NOTHING)
ADULT = Dataset("adult", 1119, "adult", _NOTHING, _NOTHING, _NOTHING)
NAMES = ("mnist", "adult")

LEFT_OUT = ("fnlwgt", "education-num", "native-country")
"""The three columns of Adult that the code of the paper leaves out."""

_BINS = {"age": 5, "hours-per-week": 4, "capital-gain": 5, "capital-loss": 5}
"""Intervals of a column, as many as in the code of the paper; of gains one is for none."""


@dataclass(frozen=True, eq=False)
class Split:
    """A table of 0/1 columns in two parts, with the classifier trained on the first.

    Attributes
    ----------
    name : str
    train, test : data frames
    train_labels, test_labels : arrays of int
        1 for the positive class: a five, or an income above 50 thousand.
    groups : mapping of str to columns
        The attributes of several columns.
    classes : tuple of str
    classifier : XGBClassifier
    """

    name: str
    train: pd.DataFrame
    test: pd.DataFrame
    train_labels: npt.NDArray[np.int64]
    test_labels: npt.NDArray[np.int64]
    groups: Mapping[str, Sequence[str]]
    classes: tuple[str, str]
    classifier: Any

    @property
    def accuracy(self) -> float:
        """On the test part."""
        return float((self.classifier.predict(self.test.to_numpy()) == self.test_labels).mean())

    def drawn(self, n: int, seed: int) -> npt.NDArray[np.intp]:
        """Return n rows of the test part, drawn at random."""
        rng = np.random.default_rng([seed, 1])
        return rng.choice(len(self.test), size=min(n, len(self.test)), replace=False)


def prepared(name: str, source: Source, seed: int) -> Split:
    """Read a table, split it and train its classifier, as in the paper's appendix A.3.

    But for the digits: of the split of MNIST only images of the test part are at hand, and 30 %
    of these are tested.
    """
    if name not in NAMES:
        raise UnknownName("table", name, NAMES)
    return _mnist(source, seed) if name == "mnist" else _adult(source, seed)


def binarised(pixels: npt.NDArray[np.float64]) -> npt.NDArray[np.uint8]:
    """Return which pixels of each picture are above its mean by 0.05 standard deviations.

    Examples
    --------
    >>> binarised(np.array([[0.0, 0.0, 4.0], [2.0, 2.0, 2.0]])).tolist()
    [[0, 0, 1], [0, 0, 0]]
    """
    mean, deviation = pixels.mean(axis=1), pixels.std(axis=1)
    return np.asarray(pixels > (mean + 0.05 * deviation)[:, None], dtype=np.uint8)


def _mnist(source: Source, seed: int) -> Split:
    import pandas as pd

    table = source.load(MNIST)
    bits = binarised(table.X.to_numpy(dtype=np.float64))
    names = [f"pixel_{j // 28}_{j % 28}" for j in range(bits.shape[1])]
    labels = (table.y.astype(str).to_numpy() == "5").astype(np.int64)
    return _split("mnist", pd.DataFrame(bits, columns=names), labels, {}, ("3", "5"), 0.3, seed)


def _adult(source: Source, seed: int) -> Split:
    import pandas as pd

    table = source.load(ADULT)
    kept = [column for column in table.X.columns if column not in LEFT_OUT]
    # Like their code: rows with a missing value in any column are dropped.
    whole = table.X.replace("?", None).notna().all(axis=1).to_numpy()
    parts, groups = [], {}
    for column in kept:
        values = table.X.loc[whole, column]
        states = _binned(column, values) if values.dtype.kind in "if" else values.astype(object)
        bits = pd.get_dummies(states.astype(str), prefix=column, prefix_sep=" = ")
        groups[str(column)] = [str(c) for c in bits.columns]
        parts.append(bits.astype(np.uint8))
    X = pd.concat(parts, axis=1)
    labels = table.y[whole].astype(str).str.strip().str.startswith(">").to_numpy().astype(np.int64)
    return _split("adult", X, labels, groups, ("at most 50K", "above 50K"), 0.2, seed)


def _binned(column: str, values: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column of numbers as intervals, with one of its own for 0 where most are 0.

    They have equal counts, or equal widths where one value is too frequent for that.
    """
    import pandas as pd

    bins = _BINS.get(column, 5)
    if (values == 0).mean() > 0.5:
        some = pd.qcut(values[values > 0], bins - 1, duplicates="drop").astype(str)
        return some.reindex(values.index).fillna("0")
    states = pd.qcut(values, bins, duplicates="drop")
    even = len(states.cat.categories) == bins
    return (states if even else pd.cut(values, bins)).astype(str)


def _split(
    name: str,
    X: pd.DataFrame,
    labels: npt.NDArray[np.int64],
    groups: Mapping[str, Sequence[str]],
    classes: tuple[str, str],
    share: float,
    seed: int,
) -> Split:
    from sklearn.model_selection import train_test_split
    from xgboost import XGBClassifier

    train, test, own, other = train_test_split(
        X, labels, test_size=share, random_state=seed, stratify=labels
    )
    # XGBoost takes no brackets or < in names of columns, so the table goes without them.
    classifier = XGBClassifier(n_estimators=6, max_depth=6, n_jobs=1, random_state=seed)
    classifier.fit(train.to_numpy(), own)
    return Split(
        name,
        train.reset_index(drop=True),
        test.reset_index(drop=True),
        own,
        other,
        groups,
        classes,
        classifier,
    )
