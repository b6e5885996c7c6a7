"""Boolean kernels: how many formulas of some form are true of two rows of bits at once."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cpx.errors import InvalidOption
from cpx.models.kernel_rule.boolean_kernels.base import BooleanKernel
from cpx.support.validation import positive_integer


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
class _OfArity(BooleanKernel):
    """A kernel of formulas with exactly ``arity`` variables."""

    arity: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "arity", positive_integer("arity", self.arity))

    def check_width(self, d: int) -> None:
        """Raise InvalidOption when ``arity`` is above d."""
        _refuse_wide("arity", self.arity, d)


@dataclass(frozen=True)
class MonotoneConjunctiveKernel(_OfArity):
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

    def count(self, d: int, x: int, z: int, both: int) -> int:
        """Return the conjunctions of variables that are one in both rows."""
        return math.comb(both, self.arity)


@dataclass(frozen=True)
class MonotoneDisjunctiveKernel(_OfArity):
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
