"""Candidate rules that are anchors of some samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cpx.data.samples import Samples
from cpx.methods.candidates.literals import Literals
from cpx.models.monomial.max_coverage import MaxCoverage
from cpx.solving import solve
from cpx.support.validation import positive_integer, valid_seed

if TYPE_CHECKING:
    from cpx.support.validation import Share

__all__ = ["anchors"]


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
    literals : Literals
    same : array of bool, shape (m,)
        Which samples are of the class; both kinds must occur.
    k : int
        Greatest number of literals of a rule.
    min_precision : Fraction, int, float or str
        Least share of the class in what a rule covers.
    n : int
        How many samples are drawn, each once.
    seed : int
        Of the draw.
    time_limit : float or None
        Seconds for each rule; the widest one found counts, proved or not.

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
    labels = literals.labels(same)
    positive_integer("n", n)
    order = np.random.default_rng(valid_seed(seed)).permutation(np.flatnonzero(labels))
    rules: dict[tuple[int, ...], None] = {}
    for i in map(int, order[:n]):
        agreement = literals.agreement(i)
        samples = Samples(agreement, labels).merged()
        size = min(k, agreement.shape[1])
        problem = MaxCoverage(samples, k=size, min_precision=min_precision)
        found = solve(problem, "search", time_limit=time_limit).explanation
        if found is not None:
            rules[literals.true_of(i, found.features)] = None
    return tuple(rules)
