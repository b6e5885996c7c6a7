"""The parameters that Theorem 1 of Blanc, Lange and Tan chooses, and the pairs they need."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from cpx.errors import InvalidOption, shown
from cpx.support.validation import finite_number, open_unit, positive_integer


@dataclass(frozen=True)
class TheoremParameters:
    """A tree that is close enough to f for certificates of most instances.

    Attributes
    ----------
    tree_depth : float
        D: depth of the shallowest tree that differs from f on a share of epsilon * delta / 2.
    depth : float
        k of the tree that is walked down.
    eta : float
        How far from the best the score of a queried feature may be.
    noise : float
        Noise rate p.
    """

    tree_depth: float
    depth: float
    eta: float
    noise: float


def theorem_parameters(
    *,
    complexity: float | None = None,
    tree_depth: float | None = None,
    epsilon: float = 0.05,
    delta: float = 0.05,
) -> TheoremParameters:
    """Return what Theorem 1 chooses, with 1 for each constant that the paper does not give.

    With h = epsilon * delta / 2, Lemma 2.1 needs a tree that differs from f on a share of at most
    h. Theorem 3 finds one for k = (D / h)^3, eta = 1 / k and p = h / D, and Corollary 3.1 bounds
    D by C(f)^2 / h^9.

    Parameters
    ----------
    complexity : float, optional
        C(f), the mean size of the smallest certificate of error 0; from 1.
    tree_depth : float, optional
        D, where it is known; from 1. One of the two is given.
    epsilon, delta : float
        Between 0 and 1.

    Examples
    --------
    Polynomial is not small, not even for the parity of two bits, which is a tree of depth 2:

    >>> chosen = theorem_parameters(tree_depth=2, epsilon=0.1, delta=0.1)
    >>> f"{chosen.depth:.1e} {chosen.eta:.1e} {chosen.noise:.1e}"
    '6.4e+07 1.6e-08 2.5e-03'
    >>> f"{theorem_parameters(complexity=2, epsilon=0.1, delta=0.1).depth:.1e}"
    '6.9e+70'
    """
    h = open_unit("epsilon", epsilon) * open_unit("delta", delta) / 2
    if (complexity is None) == (tree_depth is None):
        raise InvalidOption("give complexity or tree_depth, one of the two")
    try:
        if complexity is not None:
            D = _from_one("complexity", complexity) ** 2 / h**9
        else:
            D = _from_one("tree_depth", tree_depth)
        k = (D / h) ** 3
        if math.isinf(k):  # of a quotient: powers raise
            raise OverflowError
    except ArithmeticError:
        raise InvalidOption(
            "the depth of the theorem is beyond what a float holds: take greater epsilon and "
            "delta, or a smaller complexity or tree_depth"
        ) from None
    return TheoremParameters(D, k, 1 / k, h / D)


def _from_one(name: str, value: Any) -> float:
    number = finite_number(name, value)
    if number < 1:
        raise InvalidOption(f"{name} must be at least 1, got {shown(value)}")
    return number


def pairs_for(eta: float, d: int, *, noise: float = 0.1, delta: float = 0.05) -> int:
    """Return how many noisy pairs of d fair bits choose a feature within eta of the best score.

    The estimate of a score is a mean of numbers between ``-(p/2) / (1 - p/2)`` and 1. By
    Hoeffding's inequality and the union bound, so many pairs have all d of them within eta / 2,
    with probability at least 1 - delta.

    Parameters
    ----------
    eta : float
        Between 0 and 1: that of Definition 9.
    d : int
        Number of features.
    noise : float
        Noise rate p.
    delta : float
        Between 0 and 1, of one node.

    Examples
    --------
    >>> pairs_for(0.1, 30), pairs_for(0.01, 30)
    (1572, 157121)
    """
    width = 1 / (1 - open_unit("noise", noise) / 2)
    tail = open_unit("delta", delta) / (2 * positive_integer("d", d))
    try:
        return math.ceil(2 * (width / open_unit("eta", eta)) ** 2 * math.log(1 / tail))
    except ArithmeticError:
        raise InvalidOption(
            f"eta is too small, got {eta}: the number of pairs is beyond what a float holds"
        ) from None
