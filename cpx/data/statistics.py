"""How many samples are enough, and how precise a rule is on fresh ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cpx.data.scalars import integer, open_unit, positive_integer, valid_seed
from cpx.errors import InvalidOption
from cpx.explanation import PrecisionEstimate

if TYPE_CHECKING:
    from cpx.data.distributions import Distribution

__all__ = ["clopper_pearson", "estimate_precision", "sample_size"]


def sample_size(k: int, d: int, epsilon: float, delta: float) -> int:
    """Return how many samples make the best k-monomial nearly best in truth.

    With ``m >= (2 / epsilon**2) * (k ln d + ln(2 / delta))`` samples, the loss of the
    monomial that is optimal on the samples is within epsilon of the least possible loss,
    with probability at least 1 - delta.

    Parameters
    ----------
    k : int
        Size of the monomials, from 0 to d.
    d : int
        Number of features, at least 1.
    epsilon, delta : float
        Tolerance and failure probability, both between 0 and 1.

    Returns
    -------
    int
        The least such m.

    Raises
    ------
    InvalidOption
        Naming the argument that is out of range.

    Notes
    -----
    The paper counts d**k rules. With k = 1, or d = 1, the empty rule is one more: there the
    bound holds for rules of exactly k conditions.

    References
    ----------
    Koriche, Lagniez, Mengel, Tran: Learning Model Agnostic Explanations via Constraint
    Programming (ECML PKDD 2024), Theorem 3.

    Examples
    --------
    >>> sample_size(k=5, d=90, epsilon=0.1, delta=0.05)
    5238
    """
    d = positive_integer("d", d)
    size = integer(k)
    if size is None or not 0 <= size <= d:
        raise InvalidOption(f"k must be an integer from 0 to d = {d}, got {k!r}")
    epsilon = open_unit("epsilon", epsilon)
    delta = open_unit("delta", delta)
    return math.ceil(2 / epsilon**2 * (size * math.log(d) + math.log(2 / delta)))


def clopper_pearson(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact (Clopper-Pearson) confidence limits of a proportion.

    Parameters
    ----------
    successes, trials : int
        ``0 <= successes <= trials`` and ``trials >= 1``.
    confidence : float
        Level of the two-sided interval, between 0 and 1.

    Returns
    -------
    (float, float)
        Lower and upper limit.

    Raises
    ------
    InvalidOption
        Naming the argument that is out of range.

    References
    ----------
    Clopper, Pearson: The use of confidence or fiducial limits illustrated in the case of
    the binomial, Biometrika 26 (1934).

    Examples
    --------
    >>> low, high = clopper_pearson(95, 100)
    >>> round(low, 4), round(high, 4)
    (0.8872, 0.9836)
    """
    trials = positive_integer("trials", trials)
    hits = integer(successes)
    if hits is None or not 0 <= hits <= trials:
        raise InvalidOption(f"successes must be an integer from 0 to {trials}, got {successes!r}")
    tail = (1 - open_unit("confidence", confidence)) / 2
    # Quantiles of the beta distribution; scipy.special has them without the start-up time
    # of scipy.stats.
    from scipy.special import betaincinv

    low = 0.0 if hits == 0 else float(betaincinv(hits, trials - hits + 1, tail))
    high = 1.0 if hits == trials else float(betaincinv(hits + 1, trials - hits, 1 - tail))
    return low, high


def estimate_precision(
    f: Any,
    x: Any,
    D: Distribution,
    features: Sequence[int],
    n: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> PrecisionEstimate:
    """Estimate the precision of a monomial on fresh samples.

    Draws n samples of D conditioned on z_S = x_S and counts those with the class of x.

    Parameters
    ----------
    f : object with ``predict``, or callable
        The classifier.
    x : one row
        The explained instance.
    D : Distribution
        The distribution of the statement.
    features : sequence of int
        The monomial S; empty for the precision of always predicting the class of x.
    n : int
        Number of fresh samples.
    seed : int
        Non-negative. The stream is not the one of ``Samples.draw`` with the same seed, so
        the samples are independent of those the rule was found on.
    confidence : float
        Level of the Clopper-Pearson interval.

    Returns
    -------
    cpx.explanation.PrecisionEstimate

    Raises
    ------
    DataError
        When x does not fit D, or D gives z_S = x_S no mass.
    ClassifierError
        When f raises or does not answer with one label per row.
    InvalidOption
        When another argument is out of range.

    Examples
    --------
    >>> from cpx.data import Uniform
    >>> conjunction = lambda z: z[:, 0] & z[:, 1]
    >>> print(estimate_precision(conjunction, [1, 1, 0], Uniform(3), [0, 1], n=100))
    1.000 [0.964, 1.000] (95% interval, 100 fresh samples)
    """
    from cpx.data.classifiers import labels

    n = positive_integer("n", n)
    open_unit("confidence", confidence)
    # The spawn key separates this stream from default_rng(seed).
    rng = np.random.default_rng(np.random.SeedSequence(valid_seed(seed), spawn_key=(1,)))
    target = labels(f, D.row(x))[0]
    batch = D.sample_given(n, x, features, rng)
    agreeing = int(np.count_nonzero(labels(f, batch.rows) == target))
    low, high = clopper_pearson(agreeing, n, confidence)
    return PrecisionEstimate(agreeing, n, low, high, float(confidence))
