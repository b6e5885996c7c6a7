"""The exact weight of a rule in a support vector machine with a Boolean kernel."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cpx.data.bits import Bits, bit_table
from cpx.errors import InvalidInstance, shown
from cpx.models.kernel_rule.boolean_kernels.base import BooleanKernel, quotient
from cpx.models.kernel_rule.boolean_kernels.kernels import BoundedDNFKernel
from cpx.models.kernel_rule.form import read_dnf, true_of
from cpx.models.kernel_rule.problem import KernelRule
from cpx.support.validation import positive_fraction

_DIGITS = 7
"""Digits of the greatest weight of a problem, unless a unit is given."""


@dataclass(frozen=True, eq=False)
class KernelMachine:
    """The support vectors of a machine with a Boolean kernel; :func:`read_svc` makes it.

    Attributes
    ----------
    rows : ndarray of bool, shape (s, d)
        The support vectors.
    weights : tuple of Fraction, length s
        ``y_i alpha_i`` of each, positive for the class ``positive``. Floats are fractions, so
        they are exact, unless the norms of a normalised kernel differ: then each is divided by
        its norm, relative to the least one, and rounded to a float again.
    kernel : BooleanKernel
    positive : object
        The class that rules are for.
    """

    rows: Bits
    weights: tuple[Fraction, ...]
    kernel: BooleanKernel
    positive: Any

    @property
    def greatest(self) -> Fraction:
        """No rule weighs more: the sum of the positive weights."""
        return sum((w for w in self.weights if w > 0), Fraction(0))

    def weight(self, rule: Iterable[Iterable[int]]) -> Fraction:
        """Return the weight of a rule [1]_, eq. 2: of the support vectors it is true of, exact.

        Parameters
        ----------
        rule : iterable of iterable of int
            The clauses, each with its features.

        Raises
        ------
        InvalidInstance
            For anything else.

        References
        ----------
        .. [1] M. Polato, F. Aiolli: Boolean kernels for interpretable kernel machines, ESANN
           2018, section 4.
        """
        chosen = true_of(read_dnf("rule", rule, self.rows.shape[1]), self.rows)
        return sum((self.weights[i] for i in np.flatnonzero(chosen)), Fraction(0))

    def problem(
        self,
        max_clauses: int | None = None,
        max_literals: int | None = None,
        *,
        unit: Fraction | str | int | None = None,
        features: Sequence[str] = (),
        name: str = "",
    ) -> KernelRule:
        """State the problem to find the rule of maximum weight.

        Parameters
        ----------
        max_clauses, max_literals : int, optional
            Default: those of a :class:`~cpx.models.kernel_rule.boolean_kernels.BoundedDNFKernel`.
        unit : Fraction, str or int, optional
            What weights are rounded to multiples of, because engines count in integers.
            Default: the power of ten that leaves the greatest weight seven digits.
        features : sequence of str
            What each feature means.
        name : str
            Name of the instance.

        Returns
        -------
        KernelRule

        Raises
        ------
        InvalidInstance
            Naming the argument that is wrong.
        """
        if isinstance(self.kernel, BoundedDNFKernel):
            max_clauses = self.kernel.max_clauses if max_clauses is None else max_clauses
            max_literals = self.kernel.max_literals if max_literals is None else max_literals
        elif max_clauses is None or max_literals is None:
            which = type(self.kernel).__name__
            raise InvalidInstance(f"max_clauses and max_literals must be given for a {which}")
        size = self._unit() if unit is None else positive_fraction("unit", unit)
        return KernelRule(
            self.rows,
            tuple(round(weight / size) for weight in self.weights),
            max_clauses,
            max_literals,
            unit=size,
            features=tuple(features),
            name=name,
            context={"class": str(self.positive), "kernel": repr(self.kernel)},
        )

    def rounding(self, unit: Fraction) -> Fraction:
        """Return by how much the weight of a rule can be above its value in a problem."""
        errors = (weight - round(weight / unit) * unit for weight in self.weights)
        return sum((error for error in errors if error > 0), Fraction(0))

    def _unit(self) -> Fraction:
        most = max(abs(weight) for weight in self.weights)
        return Fraction(10) ** (math.floor(math.log10(most)) + 1 - _DIGITS)


def read_svc(
    svc: Any, X: ArrayLike, kernel: BooleanKernel | None = None, positive: Any = None
) -> KernelMachine:
    """Read a fitted ``sklearn.svm.SVC`` of two classes.

    Parameters
    ----------
    svc : SVC
        Fitted with a Boolean kernel, or with ``kernel="precomputed"``.
    X : array of 0 and 1, shape (n, d)
        The rows it was fitted to; scikit-learn does not keep them.
    kernel : BooleanKernel, optional
        The kernel of the precomputed values.
    positive : label, optional
        The class that rules are for; the second one by default.

    Raises
    ------
    InvalidInstance
        When it is not fitted, has another kernel or not two classes, or was fitted to other
        rows; DataError when X is no table of 0 and 1.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> X, y = [[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 1]], [1, 1, 0, 0]
    >>> machine = read_svc(SVC(kernel=BoundedDNFKernel(2, 2), C=1e6).fit(X, y), X)
    >>> machine.weight([[0]]) == machine.greatest, machine.weight([[1], [2]]) < machine.greatest
    (True, True)
    """
    table = bit_table("X", X)
    kernel = _kernel_of(svc, kernel)
    classes, coefficients = svc.classes_, np.asarray(svc.dual_coef_)
    if len(classes) != 2:
        raise InvalidInstance(f"svc must have two classes, it has {len(classes)}")
    if svc.shape_fit_[0] != len(table):
        raise InvalidInstance(
            f"X must be the {svc.shape_fit_[0]} rows of the fit, got {len(table)}"
        )
    if positive is None:
        positive = classes[1]
    elif positive not in classes.tolist():
        raise InvalidInstance(f"positive must be one of {classes.tolist()}, got {shown(positive)}")
    sign = 1 if positive == classes[1] else -1
    rows = table[svc.support_]
    norms = kernel.norm(rows)
    # No formula is true of a row without a norm, whatever its coefficient.
    kept = [i for i, norm in enumerate(norms) if norm]
    if not kept:
        raise InvalidInstance("svc has no support vector that any formula is true of")
    least = min(norms[i] for i in kept)
    weights = [sign * float(coefficients[0, i]) for i in kept]
    if kernel.normalise:
        scales = {norm: quotient(least, least, norm) for norm in {norms[i] for i in kept}}
        weights = [w * scales[norms[i]] for w, i in zip(weights, kept, strict=True)]
    return KernelMachine(rows[kept], tuple(map(Fraction, weights)), kernel, positive)


def _kernel_of(svc: Any, given: BooleanKernel | None) -> BooleanKernel:
    used = getattr(svc, "kernel", None)
    if used is None:
        raise InvalidInstance(f"svc must be an sklearn.svm.SVC, got {type(svc).__name__}")
    if given is not None and not isinstance(given, BooleanKernel):
        raise InvalidInstance(f"kernel must be a Boolean kernel, got {shown(given)}")
    if not hasattr(svc, "dual_coef_"):
        raise InvalidInstance("svc is not fitted: call fit first")
    if isinstance(used, BooleanKernel):
        if given not in (None, used):
            raise InvalidInstance(f"kernel is {shown(given)}, and svc has {shown(used)}")
        return used
    if isinstance(used, str) and used == "precomputed":
        if given is None:
            raise InvalidInstance("kernel must be given: svc has precomputed values")
        return given
    raise InvalidInstance(f"svc must have a Boolean kernel, it has {shown(used)}")
