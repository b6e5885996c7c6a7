"""Conformant naive Bayes: of all naive Bayes distributions with a given classifier, the likeliest.

A classifier whose score of the class c is ``b_c + sum_a g_ca(x_a)``, and whose probabilities are
the softmax of these, is the conditional probability of the class under many distributions:

    P(c, x) = exp(b_c + sum_a g_ca(x_a)) prod_a exp(u_a(x_a))

for any numbers u, but for a constant. Each of these is naive Bayes. The logarithm of the
likelihood of the rows is concave in u, and greatest where each state is as frequent under the
distribution as in the rows. With the u of all attributes but one given, those of this one follow:
that is iterative proportional fitting. Whenever it stops, the classifier is the one given.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from cpx.data.fitted.mixture_fit import fit_mixture, quantised
from cpx.data.fitted.tree_mixture import ONE, TreeMixture
from cpx.errors import DataError

FloatArray = npt.NDArray[np.float64]

_SWEEPS = 1000
_SETTLED = 1e-12
"""The logarithms of the classes' shares change by no more in the last sweep."""


def fit_conformant(
    codes: npt.ArrayLike,
    cardinalities: Sequence[int],
    base: npt.ArrayLike,
    terms: Sequence[npt.ArrayLike],
    *,
    smoothing: float = 1.0,
) -> tuple[TreeMixture, float]:
    """Fit the naive Bayes distribution that conforms to sums of scores.

    Parameters
    ----------
    codes : (n, A) array of int
        Rows, as :meth:`Coding.codes` returns them.
    cardinalities : sequence of A int
        Number of states of each attribute.
    base : (C,) array
        What each class has as a score before anything is known.
    terms : sequence of A arrays of shape (C, states)
        What each state of each attribute adds to the score of each class.
    smoothing : float
        As for :func:`fit_mixture`.

    Returns
    -------
    TreeMixture
        With one component for each class, whose attributes are independent.
    float
        Log-odds of two classes under it differ from those that are given by no more.

    Raises
    ------
    DataError
        When codes are no rows with these states, or terms are not a number for each class and
        state.

    References
    ----------
    P. Khosravi, Y. Liang, Y. Choi, G. Van den Broeck: What to Expect of Classifiers? Reasoning
    about Logistic Regression with Missing Features, IJCAI 2019.

    Examples
    --------
    >>> rows = [[0, 0], [0, 1], [1, 1], [1, 1]]
    >>> none = [0.0, 0.0]
    >>> fitted, off = fit_conformant(rows, [2, 2], [0, -1], [[none, [0, 2]], [none, [0, 0.5]]])
    >>> off < 1e-8
    True
    >>> odds = np.log(fitted.posterior([1, 1], [[True, True]])[0])
    >>> round(float(odds[1] - odds[0]), 6)
    1.5
    """
    start = np.asarray(base, dtype=np.float64)
    added = [np.asarray(term, dtype=np.float64) for term in terms]
    if start.ndim != 1 or [t.shape for t in added] != [(start.size, k) for k in cardinalities]:
        raise DataError("terms must be a number for each class and state of each attribute")
    if not np.isfinite(start).all() or not all(np.isfinite(term).all() for term in added):
        raise DataError("base and terms must be finite")
    marginal = fit_mixture(codes, cardinalities, structure="factorised", smoothing=smoothing)
    shares = [np.log(table[0] / ONE) for table in marginal.tables[0]]
    # log sum exp(g + u) of each class and attribute, u being the logarithms of the shares first.
    sums = np.stack([_summed(own + term, 1) for own, term in zip(shares, added)], axis=1)
    settled, joint = start, [own + term for own, term in zip(shares, added)]
    for _ in range(_SWEEPS):
        scores = start + sums.sum(axis=1)
        for a, term in enumerate(added):
            scores -= sums[:, a]
            joint[a] = shares[a] - _summed(scores[:, None] + term, 0) + term
            sums[:, a] = _summed(joint[a], 1)
            scores += sums[:, a]
        classes = scores - _summed(scores, 0)
        if np.abs(classes - settled).max() <= _SETTLED:
            break
        settled = classes
    tables = tuple(
        tuple(quantised(np.exp(own[c : c + 1] - sums[c, a])) for a, own in enumerate(joint))
        for c in range(start.size)
    )
    parents = np.full((start.size, len(added)), -1, dtype=np.int32)
    mixture = TreeMixture(quantised(np.exp(classes[None]))[0], parents, tables)
    return mixture, _off(mixture, start, added)


def _summed(logs: FloatArray, axis: int) -> FloatArray:
    """Return logarithms of sums."""
    return np.asarray(np.logaddexp.reduce(logs, axis=axis))


def _off(mixture: TreeMixture, base: FloatArray, added: Sequence[FloatArray]) -> float:
    """Return by how much log-odds of two classes differ from those given, at most."""
    off = 0.0
    for c, d in combinations(range(base.size), 2):
        weights = mixture.weights[d] / mixture.weights[c]
        gap, spread = float(np.log(weights) - base[d] + base[c]), 0.0
        for first, second, term in zip(mixture.tables[c], mixture.tables[d], added, strict=True):
            gaps = np.log(second[0] / first[0]) - term[d] + term[c]
            gap += float(gaps.max() + gaps.min()) / 2
            spread += float(gaps.max() - gaps.min()) / 2
        off = max(off, abs(gap) + spread)
    return off
