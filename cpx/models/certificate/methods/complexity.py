"""Certificate and decision tree complexities of functions of few bits, exactly."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.errors import DataError, InvalidOption
from cpx.options import TIME_LIMIT
from cpx.support.validation import Share, integer_in, seconds, share

Ints = npt.NDArray[np.int64]
Function = Callable[[npt.NDArray[np.int8]], Any]

MOST_BITS = 12
"""Bits of a function whose certificates and trees are gone through."""

MOST_GLOBAL = 8
"""Bits of a function whose collections of certificates are."""


@dataclass(frozen=True, eq=False)
class CertificateComplexity:
    """The sizes of the smallest certificates of all instances.

    Attributes
    ----------
    sizes : ndarray of int64, shape (2 ** d,)
        C(f, x, epsilon), x being the bits of the position, the first bit the highest.
    weights : ndarray of int64, shape (2 ** d,)
        What each x weighs in the mean.
    """

    sizes: Ints
    weights: Ints

    @property
    def mean(self) -> Fraction:
        """C(f, epsilon), the mean over all x."""
        return Fraction(int(self.sizes @ self.weights), int(self.weights.sum()))


def cube(d: int) -> npt.NDArray[np.int8]:
    """Return all vectors of d bits in the order of the numbers they write, shape (2 ** d, d)."""
    numbers = np.arange(2**d, dtype=np.int64)
    return ((numbers[:, None] >> np.arange(d - 1, -1, -1)) & 1).astype(np.int8)


def certificate_complexity(
    f: Function, d: int, epsilon: Share, *, weights: npt.ArrayLike | None = None
) -> CertificateComplexity:
    """Return C(f, x, epsilon) for all x, and its mean C(f, epsilon), exactly.

    Parameters
    ----------
    f : callable
        Maps an (m, d) int8 array of 0 and 1 to m labels, of any number of classes.
    d : int
        Bits, 1 to 12.
    epsilon : Fraction, int, float or str
        Greatest error of a certificate, from 0 to 1.
    weights : (2 ** d,) array of int, optional
        Probabilities in units, of the vectors in the order of the numbers they write; each at
        least 0. Default: all the same.

    Raises
    ------
    InvalidOption, DataError
        Naming what is wrong.

    References
    ----------
    Blanc, Lange, Tan (NeurIPS 2021), Definition 3.

    Examples
    --------
    The smallest certificates of a conjunction: either bit that is 0, or both.

    >>> found = certificate_complexity(lambda z: z[:, 0] & z[:, 1], 2, 0)
    >>> found.sizes.tolist(), found.mean
    ([1, 1, 1, 2], Fraction(5, 4))
    """
    table = _Table.of(f, d, weights)
    limit = share("epsilon", epsilon)
    p, q = limit.numerator, limit.denominator
    numbers, sizes = np.arange(2**d), np.full(2**d, d, dtype=np.int64)
    for k in range(d):
        for chosen in combinations(range(d), k):
            groups = numbers & sum(1 << (d - 1 - j) for j in chosen)
            mass = np.zeros((2**d, table.classes), dtype=np.int64)
            np.add.at(mass, (groups, table.labels), table.weights)
            total, own = mass.sum(axis=1)[groups], mass[groups, table.labels]
            if q >= 2**31:
                total, own = total.astype(object), own.astype(object)
            precise = ((total - own) * q <= p * total).astype(bool)
            sizes[precise] = np.minimum(sizes[precise], k)
    return CertificateComplexity(sizes, table.weights)


def tree_errors(
    f: Function, d: int, *, weights: npt.ArrayLike | None = None
) -> tuple[Fraction, ...]:
    """Return the least errors of decision trees of depth 0, 1, ..., d, exactly.

    By dynamic programming over all 3 ** d restrictions of f: the best tree of depth k of a
    restriction queries some free bit, and has the best trees of depth k - 1 below.

    f, d, weights: As for :func:`certificate_complexity`.

    Examples
    --------
    >>> [str(error) for error in tree_errors(lambda z: z[:, 0] ^ z[:, 1], 3)]
    ['1/2', '1/2', '0', '0']
    """
    table = _Table.of(f, d, weights)
    per_class = np.zeros((2**d, table.classes), dtype=np.int64)
    per_class[np.arange(2**d), table.labels] = table.weights
    mass = per_class.reshape((2,) * d + (table.classes,))
    for axis in range(d):
        # A free bit is the third value: what the two others have together.
        mass = np.concatenate([mass, mass.sum(axis=axis, keepdims=True)], axis=axis)
    wrong = mass.sum(axis=-1) - mass.max(axis=-1)
    free, total = (2,) * d, int(table.weights.sum())
    errors = [Fraction(int(wrong[free]), total)]
    for _ in range(d):
        best = wrong.copy()
        for axis in range(d):
            zero, one = (np.take(wrong, bit, axis=axis) for bit in (0, 1))
            queried = np.moveaxis(best, axis, 0)[2:]
            np.minimum(queried, (zero + one)[None], out=queried)
        wrong = best
        errors.append(Fraction(int(wrong[free]), total))
    return tuple(errors)


def decision_tree_complexity(
    f: Function, d: int, epsilon: Share, *, weights: npt.ArrayLike | None = None
) -> int:
    """Return D(f, epsilon): the least depth of a decision tree with an error of at most epsilon.

    f, d, epsilon, weights: As for :func:`certificate_complexity`.

    References
    ----------
    Blanc, Lange, Tan (NeurIPS 2021), Definition 2.

    Examples
    --------
    >>> decision_tree_complexity(lambda z: z[:, 0] & z[:, 1] & z[:, 2], 4, "1/8")
    0
    """
    limit = share("epsilon", epsilon)
    errors = tree_errors(f, d, weights=weights)
    return next(depth for depth, error in enumerate(errors) if error <= limit)


@dataclass(frozen=True)
class GlobalComplexity:
    """What was proved of GC(f, epsilon).

    Attributes
    ----------
    low, high : int
        It is one of these or between them.
    """

    low: int
    high: int

    @property
    def proved(self) -> bool:
        """Whether it is known."""
        return self.low == self.high

    def __str__(self) -> str:
        return str(self.low) if self.proved else f"{self.low} to {self.high}"


def global_certificate_complexity(
    f: Function,
    d: int,
    epsilon: Share,
    *,
    weights: npt.ArrayLike | None = None,
    time_limit: float | None = TIME_LIMIT,
) -> GlobalComplexity:
    """Return GC(f, epsilon), the least size of two collections of certificates that give f.

    One collection speaks for each class: an x that agrees with a certificate of the one, and
    with none of the other, gets that class, and every other x is an error. The size is the least
    k for which two collections of certificates of k features have an error of at most epsilon.
    Whether one of size k does is asked of CP-SAT.

    Parameters
    ----------
    f, epsilon, weights
        As for :func:`certificate_complexity`; f has two classes.
    d : int
        Bits, 1 to 8.
    time_limit : float or None
        Seconds in all; where it ends the search, an interval is returned.

    Notes
    -----
    The paper's Definition 5 has sets of features as certificates, and x satisfies a collection
    where a set of it is a 0-error certificate for x. Taken literally, a set speaks for both
    classes: already for f(x) = x_1, each set that certifies an x certifies all of them, so that
    no two collections give f. Its text makes certificates of the paths of a tree with errors, so
    here a certificate is a set of features with their values, and x satisfies it where it has
    these. Then GC(f, epsilon) is at most D(f, epsilon), as the paper says.

    References
    ----------
    Blanc, Lange, Tan (NeurIPS 2021), Definition 5.

    Examples
    --------
    >>> f = lambda z: (z[:, 0] & z[:, 1]) | (z[:, 2] & z[:, 3])
    >>> str(global_certificate_complexity(f, 4, 0)), decision_tree_complexity(f, 4, 0)
    ('2', 4)
    """
    integer_in("d", d, 1, MOST_GLOBAL)
    table = _Table.of(f, d, weights)
    if table.classes > 2:
        raise DataError(f"f must have two classes, it has {table.classes}")
    limit, total = share("epsilon", epsilon), int(table.weights.sum())
    least_right = total - limit.numerator * total // limit.denominator
    errors = tree_errors(lambda _: table.labels, d, weights=table.weights)
    high = next(depth for depth, error in enumerate(errors) if error <= limit)
    sizes = certificate_complexity(lambda _: table.labels, d, 0, weights=table.weights).sizes
    # All certificates without an error, of a size: they never speak for the wrong class.
    high = min(
        high,
        next(k for k in range(d + 1) if int(table.weights[sizes <= k].sum()) >= least_right),
    )
    within = seconds(time_limit)
    ends = None if within is None else time.monotonic() + within
    # Of size 0 are the two constants, which are trees of depth 0.
    for k in range(1, high):
        answer = _enough(table, d, k, least_right, ends)
        if answer is None:
            return GlobalComplexity(k, high)
        if answer:
            return GlobalComplexity(k, k)
    return GlobalComplexity(high, high)


def _enough(table: _Table, d: int, k: int, least_right: int, ends: float | None) -> bool | None:
    """Whether two collections of size k are right for so much weight; None when time is over."""
    import cpmpy as cp

    numbers = np.arange(2**d)
    covers: list[npt.NDArray[np.bool_]] = []
    for chosen in combinations(range(d), k):
        mask = sum(1 << (d - 1 - j) for j in chosen)
        covers += [numbers & mask == value for value in np.unique(numbers & mask)]
    inside = np.array(covers)
    right = cp.boolvar(shape=2**d, name="right")
    terms = [cp.boolvar(shape=len(inside), name=f"class{label}") for label in (0, 1)]
    model = cp.Model(cp.sum(right * table.weights) >= least_right)
    for x in range(2**d):
        mine = np.flatnonzero(inside[:, x])
        own, other = terms[int(table.labels[x])], terms[1 - int(table.labels[x])]
        model += right[x].implies(cp.any(own[mine]))
        model += [right[x].implies(~term) for term in other[mine]]
    left = None if ends is None else ends - time.monotonic()
    if left is not None and left <= 0:
        return None
    if model.solve(solver="ortools", time_limit=left, num_workers=1):
        return True
    return False if model.cpm_status.exitstatus.name == "UNSATISFIABLE" else None


@dataclass(frozen=True, eq=False)
class _Table:
    """The values of a function as numbers of classes, and the weights of its arguments."""

    labels: Ints
    weights: Ints
    classes: int

    @classmethod
    def of(cls, f: Function, d: int, weights: npt.ArrayLike | None) -> _Table:
        integer_in("d", d, 1, MOST_BITS)
        answers = np.asarray(f(cube(d)))
        if answers.shape != (2**d,):
            raise DataError(f"f must map {2**d} rows to as many labels, got shape {answers.shape}")
        known, labels = np.unique(answers, return_inverse=True)
        if weights is None:
            given = np.ones(2**d, dtype=np.int64)
        else:
            given = np.asarray(weights)
            if given.shape != (2**d,) or given.dtype.kind not in "iu" or (given < 0).any():
                raise InvalidOption(f"weights must be {2**d} integers of at least 0")
            given = given.astype(np.int64)
        if not 0 < sum(map(int, given)) < 2**31:
            raise InvalidOption("weights must add up to a number above 0 and below 2**31")
        return cls(labels.astype(np.int64).reshape(-1), given, len(known))
