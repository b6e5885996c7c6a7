"""Labels of rows that are put together of the cells of real rows, without a data frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Mixtures"]

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]


class Mixtures:
    """What a classifier says of mixtures of real rows.

    Each column is encoded by itself, so that cells are encoded in a mixture as in their real
    rows, and these are encoded only once. A data frame for each hundred mixtures would take
    several times as long as all else that finds an anchor.

    Parameters
    ----------
    classifier : Pipeline
        Of :func:`cpx.data.classifiers.named_classifier`, fitted.
    rows : data frame
        Real rows.
    """

    def __init__(self, classifier: Any, rows: pd.DataFrame) -> None:
        columns, self._last = classifier["columns"], classifier[-1]
        self._encoded = np.asarray(columns.transform(rows), dtype=np.float64)
        (_, _, numbers), (_, kinds, others) = columns.transformers_[:2]
        widths = [len(values) for values in kinds[-1].categories_]
        self._columns = np.concatenate([numbers, np.repeat(others, widths)]).astype(np.intp)

    def __call__(self, cells: IntArray) -> BoolArray:
        """Return which mixtures are positive.

        Parameters
        ----------
        cells : array of int, shape (m, columns)
            For each cell of a mixture the real row that it is taken from.
        """
        encoded = self._encoded[cells[:, self._columns], np.arange(len(self._columns))]
        return np.asarray(self._last.predict(encoded), dtype=bool)
