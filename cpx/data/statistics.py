"""Sample sizes, confidence intervals, and the precision of a rule on fresh samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cpx.errors import InvalidOption, shown
from cpx.support.validation import integer_in, open_unit, positive_integer, valid_seed

if TYPE_CHECKING:
    from cpx.data.base import Distribution
    from cpx.data.oracle import Oracle

__all__ = [
    "PrecisionEstimate",
    "clopper_pearson",
    "estimate_precision",
    "precision_of",
    "rule_count",
    "sample_size",
    "uniform_deviation",
]


@dataclass(frozen=True)
class PrecisionEstimate:
    """Precision on samples that were not used to find the rule.

    ``agreeing`` of ``drawn`` samples of the distribution conditioned on the rule
    have the class of x; ``low`` and ``high`` are the exact (Clopper-Pearson)
    limits of the precision at the level ``confidence``.

    Where all rows of the distribution are at hand, it is the precision itself: ``drawn`` is
    the number of rows that the rule covers, ``low`` equals ``high``, and the confidence is 1.
    """

    agreeing: int
    drawn: int
    low: float
    high: float
    confidence: float = 0.95

    @property
    def value(self) -> float:
        """The observed share."""
        return self.agreeing / self.drawn

    @classmethod
    def known(cls, agreeing: int, covered: int) -> PrecisionEstimate:
        """Return the precision of a rule that covers so many of all rows there are.

        Examples
        --------
        >>> print(PrecisionEstimate.known(313, 318))
        0.984, exact: 313 of the 318 rows that it covers
        """
        share = agreeing / covered
        return cls(agreeing, covered, share, share, 1.0)

    @property
    def exact(self) -> bool:
        """Whether this is the precision itself, and no estimate."""
        return self.confidence == 1

    def __str__(self) -> str:
        if self.exact:
            told = f"{self.agreeing} of the {self.drawn} rows that it covers"
            return f"{self.value:.3f}, exact: {told}"
        return (
            f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}] "
            f"({self.confidence:.0%} interval, {self.drawn} fresh samples)"
        )


def rule_count(k: int, d: int) -> int:
    """Return how many monomials of at most k of d features there are.

    Parameters
    ----------
    k, d : int
        ``0 <= k <= d`` and ``d >= 1``.

    Raises
    ------
    InvalidOption
        Naming the argument that is out of range.

    Examples
    --------
    >>> rule_count(2, 4)  # the empty one, 4 of one feature, 6 of two
    11
    """
    d = positive_integer("d", d)
    size = integer_in("k", k, 0, d)
    return sum(math.comb(d, i) for i in range(size + 1))


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
    The paper counts d**k rules, which are at least as many as the rules of at most k
    conditions, unless k = 1 (or d = 1): there the empty rule makes one more, and it is
    counted here, so that the bound holds for all of them.

    References
    ----------
    Koriche, Lagniez, Mengel, Tran: Learning Model Agnostic Explanations via Constraint
    Programming (ECML PKDD 2024), Theorem 3.

    Examples
    --------
    >>> sample_size(k=5, d=90, epsilon=0.1, delta=0.05)
    5238
    """
    rules = max(k * math.log(positive_integer("d", d)), math.log(rule_count(k, d)))
    epsilon = open_unit("epsilon", epsilon)
    delta = open_unit("delta", delta)
    try:
        return math.ceil(2 / epsilon**2 * (rules + math.log(2 / delta)))
    except (OverflowError, ZeroDivisionError):
        raise InvalidOption(f"epsilon is too small, got {shown(epsilon)}") from None


def uniform_deviation(m: int, k: int, d: int, delta: float, shares: int = 1) -> float:
    """Return how far shares of samples are from the truth, for all short rules at once.

    Parameters
    ----------
    m : int
        Number of samples, drawn independently from the distribution D.
    k, d : int
        The rules are the monomials of at most k of d features.
    delta : float
        Failure probability, between 0 and 1.
    shares : int
        How many figures of every rule are meant at once, at least 1.

    Returns
    -------
    float
        h, such that with probability at least 1 - delta all the figures meant of all the
        rules are within the distance said below.

    Raises
    ------
    InvalidOption
        Naming the argument that is out of range.

    Notes
    -----
    Let N be the number of rules, c(S) the probability that a row of D is covered by S, p(S)
    the probability that a covered row has the class of x, L(S) the probability that S is
    wrong about a row, and ĉ, p̂, L̂ the same as shares of the m samples.

    *Loss and coverage.* L̂(S) and ĉ(S) are means of m independent indicators. Hoeffding's
    inequality says that either is further than h from its expectation with probability at
    most q = 2 exp(-2 m h²).

    *Precision.* Given that n > 0 samples are covered by S, p̂(S) is the mean of n independent
    indicators of expectation p(S). So it is further than s from p(S) with probability at
    most 2 exp(-2 n s²), which is q again for s = h sqrt(m / n) = h / sqrt(ĉ(S)). As this
    holds for every n, it holds without the condition.

    The union bound over N rules and the ``shares`` figures meant asks for
    ``shares * N * q <= delta``, which gives ::

        h = sqrt(ln(2 * shares * N / delta) / (2 * m))

    With m = ``sample_size(k, d, epsilon, delta / shares)``, h is at most epsilon / 2.

    What follows for the rule R that is best on the samples, whatever limits on the samples
    it had to meet, since the figures of all rules are close to the truth at once:

    - least loss: L(R) <= L̂(R) + h <= L̂(S) + h <= L(S) + 2h for all S that met the limits;
    - maximum precision among rules with ĉ >= c: p(R) >= p̂(R) - h / sqrt(ĉ(R)), and
      p(S) <= p̂(S) + h / sqrt(c) <= p̂(R) + h / sqrt(c) for all these S. They include every
      S with c(S) >= c + h;
    - maximum coverage among rules with p̂ >= p: c(R) >= c(S) - 2h for all these S, and
      p(R) >= p - h / sqrt(ĉ(R)).

    References
    ----------
    Hoeffding: Probability Inequalities for Sums of Bounded Random Variables, Journal of the
    American Statistical Association 58 (1963), Theorem 1. For the union bound over finite
    classes: Koriche et al. (ECML PKDD 2024), proof of Theorem 3.

    Examples
    --------
    >>> round(uniform_deviation(5238, k=5, d=90, delta=0.05), 4)  # sqrt(ln(2N/.05)/10476)
    0.0451
    """
    figures = positive_integer("shares", shares) * rule_count(k, d)
    delta = open_unit("delta", delta)
    # Logarithms are added: the number of rules may be beyond the range of a float.
    return math.sqrt((math.log(2 * figures) - math.log(delta)) / (2 * positive_integer("m", m)))


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
    hits = integer_in("successes", successes, 0, trials)
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
    cpx.answers.explanation.PrecisionEstimate

    Raises
    ------
    DataError
        When x does not fit D.
    NoMass
        When D gives z_S = x_S no mass.
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
    from cpx.data.oracle import Oracle

    return precision_of(Oracle(f, x, D), features, n, seed, confidence)


def precision_of(
    oracle: Oracle, features: Sequence[int], n: int, seed: int, confidence: float = 0.95
) -> PrecisionEstimate:
    """Return what :func:`estimate_precision` does, for a classifier, a row and a distribution."""
    n = positive_integer("n", n)
    open_unit("confidence", confidence)
    # The spawn key separates this stream from default_rng(seed).
    rng = np.random.default_rng(np.random.SeedSequence(valid_seed(seed), spawn_key=(1,)))
    batch = oracle.distribution.sample_given(n, oracle.x, features, rng)
    agreeing = int(np.count_nonzero(oracle.same(batch.rows)))
    low, high = clopper_pearson(agreeing, n, confidence)
    return PrecisionEstimate(agreeing, n, low, high, float(confidence))
