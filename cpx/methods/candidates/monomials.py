"""Candidate rules that are optimal monomials around some samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from cpx.data.samples import Samples
from cpx.methods.candidates.literals import Literals
from cpx.models.monomial.k_monomial import KMonomial
from cpx.solving import solve
from cpx.support.validation import positive_integer, valid_seed

__all__ = ["monomials"]


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
        Greatest number of literals of a rule.
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
    labels = literals.labels(same)
    positive_integer("n", n)
    order = np.random.default_rng(valid_seed(seed)).permutation(np.flatnonzero(labels))
    covered = np.zeros(labels.size, dtype=bool)
    rules: dict[tuple[int, ...], None] = {}
    for _ in range(min(n, order.size)):
        i = int(order[np.argmin(covered[order])])
        order = order[order != i]
        agreement = literals.agreement(i)
        q = agreement.shape[1]
        problem = KMonomial(Samples(agreement, labels).merged(), k=min(k, q))
        found = solve(problem, "search", time_limit=time_limit).explanation
        features = () if found is None else found.features
        if features:
            rules[literals.true_of(i, features)] = None
            covered |= agreement[:, list(features)].all(axis=1)
    return tuple(rules)
