"""Limits of shares that hold for all rules at once: exact binomial, and others to compare with."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cpx.support.validation import open_unit, positive_integer

__all__ = ["UniformLimits", "bernstein_lower", "chernoff_lower", "exact_lower", "exact_upper"]

Floats = npt.NDArray[np.float64]


def exact_lower(hits: npt.ArrayLike, trials: npt.ArrayLike, tail: float) -> Floats:
    """Return limits that shares are above, each with probability at least 1 - tail.

    The limit is the share p for which ``hits`` or more of ``trials`` has the probability
    ``tail`` (Clopper, Pearson), and 0 where nothing was hit or tried.

    Examples
    --------
    >>> exact_lower(100, 100, 0.05)  # 0.05 ** (1 / 100)
    array(0.97048695)
    """
    from scipy.special import betaincinv

    a, n = np.asarray(hits, dtype=float), np.asarray(trials, dtype=float)
    if tail <= 0:
        return np.zeros(np.broadcast(a, n).shape)
    with np.errstate(invalid="ignore"):
        limits = betaincinv(np.maximum(a, 0.5), n - a + 1, tail)
    return np.asarray(np.where(a > 0, limits, 0.0))


def exact_upper(hits: npt.ArrayLike, trials: npt.ArrayLike, tail: float) -> Floats:
    """Return limits that shares are below, each with probability at least 1 - tail.

    Examples
    --------
    >>> exact_upper([0, 5], [100, 5], 0.05)
    array([0.02951305, 1.        ])
    """
    misses = np.asarray(trials, dtype=float) - np.asarray(hits, dtype=float)
    return np.asarray(1 - exact_lower(misses, trials, tail))


def chernoff_lower(hits: int, trials: int, tail: float) -> float:
    """Return Chernoff's limit: the least p with trials * kl(hits / trials, p) <= ln(1 / tail).

    It is never above :func:`exact_lower`, and has a form that one can reason with.

    Examples
    --------
    >>> round(chernoff_lower(100, 100, 0.05), 8), round(chernoff_lower(90, 100, 0.05), 4)
    (0.97048695, 0.8112)
    """
    if hits == 0 or trials == 0:
        return 0.0
    share, wanted = hits / trials, -math.log(tail) / trials
    low, high = 0.0, share
    for _ in range(200):
        middle = (low + high) / 2
        if middle <= 0 or _divergence(share, middle) > wanted:
            low = middle
        else:
            high = middle
    return low


def _divergence(p: float, q: float) -> float:
    """Return the relative entropy of two coins."""
    wrong = 0.0 if p == 1 else (1 - p) * math.log((1 - p) / (1 - q))
    return p * math.log(p / q) + wrong


def bernstein_lower(hits: int, trials: int, tail: float) -> float:
    """Return the empirical Bernstein limit of Maurer and Pontil (COLT 2009), Theorem 4.

    Examples
    --------
    >>> round(bernstein_lower(90, 100, 0.05), 4)
    0.7312
    """
    if trials < 2:
        return 0.0
    share, log = hits / trials, math.log(2 / tail)
    variance = share * (1 - share) * trials / (trials - 1)
    return share - math.sqrt(2 * variance * log / trials) - 7 * log / (3 * (trials - 1))


@dataclass(frozen=True)
class UniformLimits:
    """One-sided exact limits of several figures of all rules, that hold at once.

    Parameters
    ----------
    rules : int
        How many rules there are.
    delta : float
        The probability that one of the limits does not hold is at most this.
    figures : int
        How many one-sided limits of each rule are meant.

    Notes
    -----
    Given how many samples a rule covers, how many of them agree is binomial, so each limit of
    the precision fails with probability at most the tail ``delta / (rules * figures)``,
    whatever that number is; so does each limit of the coverage. The sum is delta. The page on
    guarantees has the proof.

    Examples
    --------
    >>> limits = UniformLimits(rules=46_936_000, delta=0.05)
    >>> round(limits.lower(1000, 1000), 4), round(limits.upper(900, 1000), 4)
    (0.9785, 0.9486)
    """

    rules: int
    delta: float
    figures: int = 3

    def __post_init__(self) -> None:
        positive_integer("rules", self.rules)
        positive_integer("figures", self.figures)
        open_unit("delta", self.delta)

    @property
    def tail(self) -> float:
        """Failure probability of each limit; 0 where it is too small for a float."""
        # Logarithms are added: the number of rules may be beyond the range of a float.
        return math.exp(math.log(self.delta) - math.log(self.figures) - math.log(self.rules))

    def lower(self, hits: int, trials: int) -> float:
        """Return what the share is above."""
        return float(exact_lower(hits, trials, self.tail))

    def upper(self, hits: int, trials: int) -> float:
        """Return what the share is below."""
        return float(exact_upper(hits, trials, self.tail))
