"""Candidate rules that are optimal monomials around some samples: of least loss, or anchors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.data.samples import Samples
from cpx.models.monomial.precision_coverage import MaxCoverage
from cpx.models.monomial.weighted import KMonomial
from cpx.models.rule_set.methods.candidates.literals import Literals
from cpx.solving import solve
from cpx.support.validation import Share, positive_integer, valid_seed


def monomials(
    literals: Literals,
    same: Any,
    *,
    k: int = 4,
    n: int = 50,
    seed: int = 0,
    time_limit: float | None = 1.0,
) -> tuple[tuple[int, ...], ...]:
    """Return, for some samples of the class, the rule of least loss that covers them.

    Parameters
    ----------
    literals : Literals
    same : array of bool, shape (m,)
        Which samples are of the class; both kinds must occur.
    k : int
        Maximum number of literals of a rule.
    n : int
        How many samples are drawn, each once.
    seed : int
        Of the draw.
    time_limit : float or None
        Seconds for each rule; the best one found counts, proved or not.

    Returns
    -------
    tuple of tuples of int
        The rules as literals, each once; the empty rule is left out.

    Notes
    -----
    Around sample x, the literals are those that are true of x: a rule is a k-monomial
    (:class:`cpx.KMonomial`), searched for exactly. Samples that a rule found before covers are
    passed over as long as others are left.

    Examples
    --------
    >>> features = np.array([[1, 1], [1, 0], [0, 1], [0, 0]], dtype=bool)
    >>> literals = Literals(features, ("a", "not a", "b", "not b"))
    >>> monomials(literals, [1, 0, 0, 1], k=2)
    ((0, 2), (1, 3))
    """
    order = _drawn(literals, same, n, seed)
    covered = np.zeros(len(literals.features), dtype=bool)
    rules: dict[tuple[int, ...], None] = {}
    for _ in range(min(n, order.size)):
        i = int(order[np.argmin(covered[order])])
        order = order[order != i]
        samples = _around(literals, same, i)
        problem = KMonomial(samples, k=min(k, samples.agreement.shape[1]))
        found = solve(problem, "search", time_limit=time_limit).explanation
        if found is not None and found.features:
            rules[literals.true_of(i, found.features)] = None
            covered |= literals.agreement(i)[:, list(found.features)].all(axis=1)
    return tuple(rules)


def anchors(
    literals: Literals,
    same: Any,
    *,
    k: int = 4,
    min_precision: Share = "19/20",
    n: int = 50,
    seed: int = 0,
    time_limit: float | None = 10.0,
) -> tuple[tuple[int, ...], ...]:
    """Return, for some samples of the class, the widest precise rule that covers them.

    Parameters
    ----------
    literals, same, k, n, seed, time_limit
        As for :func:`monomials`.
    min_precision : Fraction, int, float or str
        Least share of the class in what a rule covers.

    Returns
    -------
    tuple of tuples of int
        The rules as literals, each once. A sample that no precise rule of k literals covers has
        none.

    Notes
    -----
    This is :class:`cpx.MaxCoverage` around each sample, searched for exactly: what Anchors of
    Ribeiro et al. (AAAI 2018) ask for, of samples in place of a distribution.

    Examples
    --------
    >>> features = np.array([[1, 1], [1, 0], [0, 1], [0, 0]], dtype=bool)
    >>> literals = Literals(features, ("a", "not a", "b", "not b"))
    >>> sorted(anchors(literals, [1, 1, 1, 0], k=2))
    [(0,), (2,)]
    """
    rules: dict[tuple[int, ...], None] = {}
    for i in _drawn(literals, same, n, seed)[:n].tolist():
        samples = _around(literals, same, i)
        size = min(k, samples.agreement.shape[1])
        problem = MaxCoverage(samples, k=size, min_precision=min_precision)
        found = solve(problem, "search", time_limit=time_limit).explanation
        if found is not None:
            rules[literals.true_of(i, found.features)] = None
    return tuple(rules)


def _drawn(literals: Literals, same: Any, n: int, seed: int) -> NDArray[np.intp]:
    """Return the samples of the class in random order."""
    labels = literals.labels(same)
    positive_integer("n", n)
    return np.random.default_rng(valid_seed(seed)).permutation(np.flatnonzero(labels))


def _around(literals: Literals, same: Any, i: int) -> Samples:
    """Return the samples by their agreement with sample i."""
    return Samples(literals.agreement(i), literals.labels(same)).merged()
