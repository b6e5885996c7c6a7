"""What Theorem 1 of Blanc, Lange and Tan chooses, and how often certificates are found."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from cpx.data.statistics import clopper_pearson
from cpx.data.uniform import Distribution
from cpx.errors import InvalidOption, shown
from cpx.methods.certificates.domain import domain_of
from cpx.methods.certificates.find import certificate
from cpx.support.validation import finite_number, open_unit, positive_integer, valid_seed

__all__ = ["SuccessRate", "TheoremParameters", "success_rate", "theorem_parameters"]


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
    '3.4e+71'
    """
    h = open_unit("epsilon", epsilon) * open_unit("delta", delta) / 2
    if (complexity is None) == (tree_depth is None):
        raise InvalidOption("give complexity or tree_depth, one of the two")
    if complexity is not None:
        D = _from_one("complexity", complexity) ** 2 / h**9
    else:
        D = _from_one("tree_depth", tree_depth)
    k = (D / h) ** 3
    return TheoremParameters(D, k, 1 / k, h / D)


def _from_one(name: str, value: Any) -> float:
    number = finite_number(name, value)
    if number < 1:
        raise InvalidOption(f"{name} must be at least 1, got {shown(value)}")
    return number


@dataclass(frozen=True)
class SuccessRate:
    """How often a certificate is found over instances drawn, and how large it is.

    Attributes
    ----------
    sizes : tuple of int or None
        Of the certificate of each instance; ``None`` where none was found.
    low, high : float
        Clopper and Pearson's 95 % interval of the share of instances with one.
    complexity : float
        Mean size, all d features where none was found. A certificate that is found is no smaller
        than the smallest, so in expectation this is at least C(f, epsilon).
    error : float
        Standard error of the mean.
    """

    sizes: tuple[int | None, ...]
    low: float
    high: float
    complexity: float
    error: float

    @property
    def value(self) -> float:
        """Share of the instances for which one was found."""
        return sum(size is not None for size in self.sizes) / len(self.sizes)

    def __str__(self) -> str:
        return (
            f"found for {self.value:.3f} [{self.low:.3f}, {self.high:.3f}] of "
            f"{len(self.sizes)} instances; C(f) at most {self.complexity:.2f} +- {self.error:.2f}"
        )


def success_rate(
    f: Any,
    rows: int | Distribution,
    depth: int,
    *,
    m: int = 100,
    most: int | None = None,
    epsilon: float = 0.05,
    delta: float = 0.05,
    noise: float = 0.1,
    pairs: int = 5000,
    seed: int = 0,
) -> SuccessRate:
    """Estimate for which share of instances :func:`certificate` finds one, and C(f, epsilon).

    Parameters
    ----------
    f : callable
    rows : int, Uniform or Product
        What f is asked about and instances are drawn from: d fair bits, or a distribution.
    depth : int
        Maximum number of features of the path.
    m : int
        Instances, at least 2.
    most, epsilon, delta, noise, pairs, seed
        As for :func:`certificate`.

    Examples
    --------
    >>> print(success_rate(lambda z: z[:, 1] & z[:, 3], 6, depth=4, m=40))
    found for 1.000 [0.912, 1.000] of 40 instances; C(f) at most 1.25 +- 0.07
    """
    domain = domain_of(rows)
    if positive_integer("m", m) < 2:
        raise InvalidOption(f"m must be at least 2, got {m}")
    rng = np.random.default_rng(np.random.SeedSequence(valid_seed(seed), spawn_key=(3,)))
    drawn = domain.draw(m, {}, rng)
    sizes: list[int | None] = []
    for i in range(m):
        x = drawn.iloc[[i]] if hasattr(drawn, "iloc") else drawn[i]
        found = certificate(
            f,
            x,
            depth,
            most=most,
            rows=rows,
            epsilon=epsilon,
            delta=delta,
            noise=noise,
            pairs=pairs,
            seed=seed,
        )
        sizes.append(None if found is None else len(found.features))
    low, high = clopper_pearson(m - sizes.count(None), m, 0.95)
    known = np.array([domain.d if size is None else size for size in sizes], dtype=float)
    error = float(known.std(ddof=1)) / math.sqrt(m)
    return SuccessRate(tuple(sizes), low, high, float(known.mean()), error)
