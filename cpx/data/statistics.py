"""Sample sizes, and confidence limits of proportions: of one, and of all rules at once."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cpx.errors import InvalidOption, shown
from cpx.support.validation import integer_in, open_unit, positive_integer

Floats = npt.NDArray[np.float64]


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


def exact_lower(hits: npt.ArrayLike, trials: npt.ArrayLike, tail: float) -> Floats:
    """Return limits that shares are above, each with probability at least 1 - tail.

    The limit is the share p for which ``hits`` or more of ``trials`` has the probability
    ``tail`` (Clopper, Pearson), and 0 where nothing was hit or tried.

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
