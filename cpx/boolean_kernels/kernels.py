"""Boolean kernels: how many formulas of some form are true of two rows of bits at once.

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

from cpx.boolean_kernels.bits import Bits, bit_table
from cpx.data.scalars import positive_integer
from cpx.errors import InvalidOption

__all__ = [
    "BooleanKernel",
    "BoundedDNFKernel",
    "MonotoneConjunctiveKernel",
    "MonotoneDNFKernel",
    "MonotoneDisjunctiveKernel",
    "quotient",
]

Floats = NDArray[np.float64]
Counts = NDArray[np.object_]

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

    def counts(self, X: ArrayLike, Z: ArrayLike | None = None) -> Counts:
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

    def __call__(self, X: ArrayLike, Z: ArrayLike | None = None) -> Floats:
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

    Examples
    --------
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


def _refuse_wide(name: str, value: int, d: int) -> None:
    if value > d:
        raise InvalidOption(f"{name} must be at most the number of variables, {d}, got {value}")


def _up_to(n: int, k: int) -> int:
    """Return how many non-empty sets of at most k of n things there are."""
    return sum(math.comb(n, c) for c in range(1, k + 1))


def _disjunctions(n: int, x: int, z: int, both: int, d: int) -> int:
    """Return how many sets of d of n things have one of x things and one of z things."""
    comb = math.comb
    return comb(n, d) - comb(n - x, d) - comb(n - z, d) + comb(n - x - z + both, d)


@dataclass(frozen=True)
class MonotoneConjunctiveKernel(BooleanKernel):
    """Count the conjunctions of exactly ``arity`` variables: the mC-kernel [1]_.

    Parameters
    ----------
    arity : int
        From 1 to the number of variables.
    normalise : bool

    References
    ----------
    .. [1] M. Polato, F. Aiolli: Boolean kernels for interpretable kernel machines, ESANN
       2018, section 2.

    Examples
    --------
    >>> MonotoneConjunctiveKernel(2).counts([[1, 1, 1, 0]], [[1, 1, 1, 1], [1, 0, 1, 1]])
    array([[3, 1]], dtype=object)
    """

    arity: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "arity", positive_integer("arity", self.arity))

    def check_width(self, d: int) -> None:
        """Raise InvalidOption when ``arity`` is above d."""
        _refuse_wide("arity", self.arity, d)

    def count(self, d: int, x: int, z: int, both: int) -> int:
        """Return the conjunctions of variables that are one in both rows."""
        return math.comb(both, self.arity)


@dataclass(frozen=True)
class MonotoneDisjunctiveKernel(BooleanKernel):
    """Count the disjunctions of exactly ``arity`` variables: the mD-kernel [1]_, eq. 1.

    Parameters
    ----------
    arity : int
        From 1 to the number of variables.
    normalise : bool

    References
    ----------
    .. [1] M. Polato, F. Aiolli: Boolean kernels for interpretable kernel machines, ESANN
       2018, section 2.

    Examples
    --------
    >>> MonotoneDisjunctiveKernel(2).counts([[1, 0, 0]], [[1, 0, 0], [0, 1, 0]])
    array([[2, 1]], dtype=object)
    """

    arity: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "arity", positive_integer("arity", self.arity))

    def check_width(self, d: int) -> None:
        """Raise InvalidOption when ``arity`` is above d."""
        _refuse_wide("arity", self.arity, d)

    def count(self, d: int, x: int, z: int, both: int) -> int:
        """Return the disjunctions with a variable that is one in each row."""
        return _disjunctions(d, x, z, both, self.arity)


@dataclass(frozen=True)
class MonotoneDNFKernel(BooleanKernel):
    """Count the disjunctions of ``clauses`` different conjunctions of ``literals`` variables.

    This is the mDNF-kernel: the mD-kernel over the features of the mC-kernel [1]_.

    Parameters
    ----------
    clauses : int
        At least 1, and at most the number of conjunctions.
    literals : int
        From 1 to the number of variables.
    normalise : bool

    References
    ----------
    .. [1] M. Polato, F. Aiolli: Boolean kernels for interpretable kernel machines, ESANN
       2018, section 3.

    Examples
    --------
    >>> MonotoneDNFKernel(2, 3)([[1, 1, 1, 1, 0], [0, 1, 1, 1, 1]]).round(2).tolist()
    [[1.0, 0.6], [0.6, 1.0]]
    """

    clauses: int
    literals: int

    def __post_init__(self) -> None:
        for name in ("clauses", "literals"):
            object.__setattr__(self, name, positive_integer(name, getattr(self, name)))

    def check_width(self, d: int) -> None:
        """Raise InvalidOption when there are no such formulas over d variables."""
        _refuse_wide("literals", self.literals, d)
        if self.clauses > (most := math.comb(d, self.literals)):
            raise InvalidOption(
                f"clauses must be at most the number of conjunctions, {most}, got {self.clauses}"
            )

    def count(self, d: int, x: int, z: int, both: int) -> int:
        """Return the disjunctions with a conjunction that is true of each row."""
        n, true_x, true_z, true_both = (math.comb(k, self.literals) for k in (d, x, z, both))
        return _disjunctions(n, true_x, true_z, true_both, self.clauses)


@dataclass(frozen=True)
class BoundedDNFKernel(BooleanKernel):
    """Count all disjunctions of 1 to D conjunctions of 1 to C variables [1]_.

    A feature is a set of different conjunctions, whether or not one of them makes another
    superfluous.

    Parameters
    ----------
    max_clauses : int
        D, at least 1.
    max_literals : int
        C, from 1 to the number of variables.
    normalise : bool

    References
    ----------
    .. [1] M. Polato, F. Aiolli: Boolean kernels for interpretable kernel machines, ESANN
       2018, section 3, the kernel kappa_*.

    Examples
    --------
    >>> kernel = BoundedDNFKernel(max_clauses=10, max_literals=5)
    >>> rows = [[1] * 9 + [0] * 18, [0] * 3 + [1] * 9 + [0] * 15]
    >>> f"{kernel.counts(rows)[0, 1]:.3e}", f"{kernel(rows)[0, 1]:.6f}"
    ('2.240e+41', '0.188396')
    """

    max_clauses: int
    max_literals: int

    def __post_init__(self) -> None:
        for name in ("max_clauses", "max_literals"):
            object.__setattr__(self, name, positive_integer(name, getattr(self, name)))

    def check_width(self, d: int) -> None:
        """Raise InvalidOption when ``max_literals`` is above d."""
        _refuse_wide("max_literals", self.max_literals, d)

    def count(self, d: int, x: int, z: int, both: int) -> int:
        """Return the disjunctions with a conjunction that is true of each row."""
        n, true_x, true_z, true_both = (_up_to(k, self.max_literals) for k in (d, x, z, both))
        return sum(
            _disjunctions(n, true_x, true_z, true_both, c) for c in range(1, self.max_clauses + 1)
        )
