"""Conformant naive Bayes: of all naive Bayes distributions with a given classifier, the likeliest.

A classifier of two classes whose log-odds are ``base + sum_a g_a(x_a)`` is the conditional
probability of the class under many naive Bayes distributions, namely those with

    P(x_a | 1) = P(x_a | 0) exp(g_a(x_a)) / Z_a,    log P(1) / P(0) = base + sum_a log Z_a.

Where the likelihood of the rows is greatest, ``P(0) P(x_a | 0) + P(1) P(x_a | 1)`` is the share of
the state x_a in the rows: so says Lagrange's condition. With P(1) given, that is one equation for
each Z_a, with one root; and what is left is one equation for P(1), with one root.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cpx.data.fitted.mixture_fit import fit_mixture, quantised
from cpx.data.fitted.tree_mixture import ONE, TreeMixture
from cpx.errors import DataError

FloatArray = npt.NDArray[np.float64]

_HALVES = 70


def fit_conformant(
    codes: npt.ArrayLike,
    cardinalities: Sequence[int],
    base: float,
    terms: Sequence[npt.ArrayLike],
    *,
    smoothing: float = 1.0,
) -> tuple[TreeMixture, float]:
    """Fit the naive Bayes distribution that conforms to a sum of log-odds.

    Parameters
    ----------
    codes : (n, A) array of int
        Rows, as :meth:`Coding.codes` returns them.
    cardinalities : sequence of A int
        Number of states of each attribute.
    base : float
    terms : sequence of A arrays
        What each state of each attribute adds to the log-odds of the second class.
    smoothing : float
        As for :func:`fit_mixture`.

    Returns
    -------
    TreeMixture
        With one component for each class, whose attributes are independent.
    float
        Log-odds of the class under it differ from those that are given by no more.

    Raises
    ------
    DataError
        When codes are no rows with these states, or terms are not one number for each state.

    References
    ----------
    P. Khosravi, Y. Liang, Y. Choi, G. Van den Broeck: What to Expect of Classifiers? Reasoning
    about Logistic Regression with Missing Features, IJCAI 2019.

    Examples
    --------
    >>> rows = [[0, 0], [0, 1], [1, 1], [1, 1]]
    >>> fitted, off = fit_conformant(rows, [2, 2], -1.0, [[0.0, 2.0], [0.0, 0.5]])
    >>> off < 1e-8
    True
    >>> odds = np.log(fitted.posterior([1, 1], [[True, True]])[0])
    >>> round(float(odds[1] - odds[0]), 6)
    1.5
    """
    added = [np.asarray(term, dtype=np.float64) for term in terms]
    if [term.shape for term in added] != [(k,) for k in cardinalities]:
        raise DataError("terms must be a number for each state of each attribute")
    if not np.isfinite(base) or not all(np.isfinite(term).all() for term in added):
        raise DataError("base and terms must be finite")
    marginal = fit_mixture(codes, cardinalities, structure="factorised", smoothing=smoothing)
    widest = max(cardinalities)
    shares, gains = np.zeros((len(added), widest)), np.zeros((len(added), widest))
    for a, term in enumerate(added):
        shares[a, : term.size] = marginal.tables[0][a][0] / ONE
        gains[a] = np.pad(term, (0, widest - term.size), mode="edge")  # of states with no share
    low, high = base + gains.min(axis=1).sum(), base + gains.max(axis=1).sum()
    for _ in range(_HALVES):
        odds = (low + high) / 2
        ratios = _log_ratios(shares, gains, odds)
        if odds < base + ratios.sum():
            low = odds
        else:
            high = odds
    weights = np.exp(-np.logaddexp(0, [[odds, -odds]]))
    both = _first_class(shares, gains, ratios, odds)
    both = np.stack([both, both * np.exp(gains - ratios[:, None])])
    tables = tuple(
        tuple(
            quantised(part[a, None, :k] / part[a, :k].sum()) for a, k in enumerate(cardinalities)
        )
        for part in both
    )
    parents = np.full((2, len(added)), -1, dtype=np.int32)
    mixture = TreeMixture(quantised(weights)[0], parents, tables)
    return mixture, _off(mixture, base, added)


def _log_ratios(shares: FloatArray, gains: FloatArray, odds: float) -> FloatArray:
    """Return log Z of each attribute, for the log-odds of the classes.

    The sum of P(x_a | 0), which must be 1, grows with Z.
    """
    low, high = gains.min(axis=1), gains.max(axis=1)
    for _ in range(_HALVES):
        middle = (low + high) / 2
        less = _first_class(shares, gains, middle, odds).sum(axis=1) < 1
        low, high = np.where(less, middle, low), np.where(less, high, middle)
    return np.asarray((low + high) / 2)


def _first_class(
    shares: FloatArray, gains: FloatArray, ratios: FloatArray, odds: float
) -> FloatArray:
    """Return P(x_a | 0) of each attribute and state, by log Z and the log-odds of the classes."""
    zero, one = -np.logaddexp(0, odds), -np.logaddexp(0, -odds)
    return np.asarray(shares * np.exp(-np.logaddexp(zero, one + gains - ratios[:, None])))


def _off(mixture: TreeMixture, base: float, added: Sequence[FloatArray]) -> float:
    """Return by how much log-odds under the mixture differ from those given, at most."""
    gaps = [float(np.diff(np.log(mixture.weights))[0]) - base]
    spread = 0.0
    for first, second, term in zip(*mixture.tables, added, strict=True):
        gap = np.log(second[0]) - np.log(first[0]) - term
        middle = float(gap.max() + gap.min()) / 2
        gaps.append(middle)
        spread += float(gap.max()) - middle
    return spread + abs(sum(gaps))
