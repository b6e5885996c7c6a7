"""The uniform distribution over vectors of Boolean features."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cpx.data.background import Background, checked_groups, plain_literals
from cpx.data.base import Batch, Distribution, ReadRow
from cpx.errors import DataError, InvalidOption
from cpx.support.validation import index_set, name_list, positive_integer

if TYPE_CHECKING:
    from cpx.data.binarizer import Binarizer

BoolArray = npt.NDArray[np.bool_]


class Uniform(Distribution):
    """All of {0,1}^d with the same probability.

    The classifier takes the 0/1 matrix itself, as int8 array. This is the setting of
    Koriche et al.; it ignores that the features of one attribute exclude each other.

    Parameters
    ----------
    d : int
        Number of features.
    feature_names : sequence of d str, optional
        ``x0, x1, ...`` when not given.
    groups : sequence of d int, optional
        Kept for the statement; each feature its own when not given.
    binarizer : Binarizer, optional
        When given, x is a row of the table it was fitted on, and names, groups and
        literals are its own; the classifier still takes the 0/1 matrix. When not, x is
        a vector of 0 and 1.

    Examples
    --------
    >>> D = Uniform(3)
    >>> D.sample_given(2, [1, 0, 1], [0, 1], np.random.default_rng(0)).bits[:, :2]
    array([[ True, False],
           [ True, False]])
    """

    name = "uniform"
    takes_read_rows = True

    def __init__(
        self,
        d: int,
        feature_names: Sequence[str] | None = None,
        groups: Sequence[int] | None = None,
        binarizer: Binarizer | None = None,
    ) -> None:
        self.n_features = positive_integer("d", d)
        self.binarizer = binarizer
        if binarizer is not None:
            if len(binarizer.groups_) != d or feature_names is not None or groups is not None:
                raise DataError(
                    f"the binarizer has {len(binarizer.groups_)} features, names and groups of "
                    f"its own: give d = {len(binarizer.groups_)} and nothing else"
                )
            feature_names = binarizer.get_feature_names_out().tolist()
            groups = binarizer.groups_.tolist()
        self.feature_names = name_list("feature_names", feature_names, d, error=DataError)
        self.groups = checked_groups(groups, self.n_features)

    def parameters(self) -> dict[str, Any]:
        """Return the number of features."""
        return {"d": self.n_features}

    def row(self, x: Any) -> npt.NDArray[np.int8]:
        """Return the features of x as an int8 array of shape (1, d)."""
        return self.read(x)[0]

    def encode(self, x: Any) -> BoolArray:
        """Return the features of x; x as said for the class."""
        from cpx.data.frames import instance

        if isinstance(x, ReadRow):
            return x.bits
        if self.binarizer is None:
            labels = list(self.feature_names)
            if len(set(labels)) < len(labels):
                labels = [f"x{j}" for j in range(self.n_features)]
            # Series and frames come with names, unless they are numbered by default.
            keys = x.keys() if hasattr(x, "keys") else ()
            row = instance(x, labels, any(isinstance(key, str) for key in keys))
            return _one_background(self.n_features).encode(row.to_numpy())
        fitted = self.binarizer.column_labels_
        given = instance(x, fitted or self.binarizer.attributes_, fitted is not None)
        # A binarizer fitted on an array takes any frame by position.
        bits: BoolArray = np.asarray(self.binarizer.transform(given), dtype=bool)[0]
        return bits

    def read(self, x: Any) -> tuple[npt.NDArray[np.int8], BoolArray]:
        """Return what :meth:`row` and :meth:`encode` do."""
        bits = self.encode(x)
        return bits.astype(np.int8)[None, :], bits

    def literal_names(self, bits: Any) -> tuple[str, ...]:
        """Return ``name`` or ``not name``, or the literals of the binarizer.

        Of a column of two values one bit says in a table what the other one does. Here they are
        independent, so they are told apart.
        """
        if self.binarizer is None:
            return plain_literals(self.feature_names, bits)
        names = self.binarizer.literal_names(bits)
        return tuple(
            name if bit or name not in self.feature_names else f"not ({own})"
            for name, own, bit in zip(names, self.feature_names, bits, strict=True)
        )

    def sample(self, m: int, rng: np.random.Generator, x: Any = None) -> Batch:
        """Draw m independent rows of fair bits; x is not looked at."""
        shape = (positive_integer("m", m), self.n_features)
        rows = rng.integers(0, 2, size=shape, dtype=np.int8)
        return Batch(rows, rows.astype(bool))

    def sample_given(
        self, m: int, x: Any, features: Iterable[int], rng: np.random.Generator
    ) -> Batch:
        """Draw fair bits, with the values of x in the given features."""
        chosen = list(index_set("features", features, self.n_features, error=InvalidOption))
        rows = self.sample(m, rng).rows
        rows[:, chosen] = self.encode(x)[chosen]
        return Batch(rows, rows.astype(bool))


def _one_background(d: int) -> Background:
    """Return a background of one row of zeros, which encodes vectors of 0 and 1."""
    return Background(np.zeros((1, d), dtype=np.int8))
