"""The base class of Boolean kernels: formulas true of two rows, counted exactly and normalised.

The counts are exact integers, however large, and become floats only when they are divided by
their norms. They depend on the two rows by three numbers alone, so that each combination of
these is counted once.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cpx.data.bits import Bits, bit_table
from cpx.errors import InvalidOption

_PRECISE = 128
"""Bits of a quotient under a root: its root has more than the 53 of a float."""


@dataclass(frozen=True)
class BooleanKernel(ABC):
    """A kernel whose features are formulas over Boolean variables, none of them negated.

    Called with tables of 0 and 1 of shapes (n, d) and (m, d), it returns its values as floats
    of shape (n, m), the second table being the first unless given. So it can be passed to
    scikit-learn as it is, ``SVC(kernel=kernel)``, or its values to ``SVC(kernel="precomputed")``.

    Attributes
    ----------
    normalise : bool
        Divide by the norms: ``K(x, z) / sqrt(K(x, x) K(z, z))``. A row of which no formula is
        true has the value 0 with every row, itself included. Without it, values beyond the range
        of floats are refused.
    """

    normalise: bool = field(default=True, kw_only=True)

    @abstractmethod
    def check_width(self, d: int) -> None:
        """Raise InvalidOption when there is no such formula over d variables."""

    @abstractmethod
    def count(self, d: int, x: int, z: int, both: int) -> int:
        """Return how many formulas over d variables are true of two rows.

        Parameters
        ----------
        d, x, z, both : int
            Number of variables, of ones of the first row, of the second, and of both at once.
        """

    def counts(self, X: ArrayLike, Z: ArrayLike | None = None) -> NDArray[np.object_]:
        """Return the exact counts, not normalised, as Python integers of shape (n, m).

        Parameters
        ----------
        X, Z : array of 0 and 1, shapes (n, d) and (m, d)
            Z is X unless given.

        Raises
        ------
        DataError
            For anything that is no table of 0 and 1.
        InvalidOption
            When there is no such formula over d variables.
        """
        grid = self._grid(X, Z)
        values = np.array(grid.each(lambda x, z, both: self.count(grid.d, x, z, both)), object)
        return values[grid.place]

    def __call__(self, X: ArrayLike, Z: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return the values of the kernel; arguments and errors as in :meth:`counts`."""
        grid = self._grid(X, Z)
        norms = {k: self.count(grid.d, k, k, k) for k in grid.sizes}

        def value(x: int, z: int, both: int) -> float:
            counted = self.count(grid.d, x, z, both)
            if self.normalise:
                return quotient(counted, norms[x], norms[z])
            try:
                return float(counted)
            except OverflowError:
                raise InvalidOption(
                    f"normalise must be True: {math.log10(counted):.0f} digits are beyond a float"
                ) from None

        return np.array(grid.each(value), dtype=np.float64)[grid.place]

    def norm(self, X: ArrayLike) -> list[int]:
        """Return how many formulas are true of each row, exact: ``K(x, x)``."""
        table = bit_table("X", X)
        d = table.shape[1]
        self.check_width(d)
        sizes = table.sum(axis=1).tolist()
        known = {k: self.count(d, k, k, k) for k in set(sizes)}
        return [known[k] for k in sizes]

    def _grid(self, X: ArrayLike, Z: ArrayLike | None) -> _Grid:
        first = bit_table("X", X)
        second = first if Z is None else bit_table("Z", Z, first.shape[1])
        self.check_width(first.shape[1])
        return _Grid(first, second)


class _Grid:
    """The combinations of three numbers that pairs of rows have, and which pair has which."""

    def __init__(self, X: Bits, Z: Bits) -> None:
        self.d = X.shape[1]
        # Products of floats are fast, and exact in these sizes.
        both = (X.astype(np.float64) @ Z.T.astype(np.float64)).astype(np.int64)
        x, z = X.sum(axis=1, dtype=np.int64), Z.sum(axis=1, dtype=np.int64)
        self.sizes = sorted({*x.tolist(), *z.tolist()})
        base = self.d + 1
        codes = (x[:, None] * base + z[None, :]) * base + both
        found, place = np.unique(codes, return_inverse=True)
        self.place: NDArray[np.int64] = place.reshape(codes.shape)
        self.triples = [(c // base**2, c // base % base, c % base) for c in found.tolist()]

    def each(self, value: Any) -> list[Any]:
        return [value(*triple) for triple in self.triples]


def quotient(count: int, x: int, z: int) -> float:
    """Return ``count / sqrt(x z)``: correctly rounded where x = z, else within a last place.

    >>> quotient(10**400, 10**401, 10**401), quotient(6, 4, 9), quotient(0, 0, 5)
    (0.1, 1.0, 0.0)
    """
    if not count:
        return 0.0
    if x == z:
        return count / x
    square, below = count * count, x * z
    shift = max(0, _PRECISE + below.bit_length() - square.bit_length()) // 2
    return math.isqrt((square << 2 * shift) // below) / (1 << shift)
