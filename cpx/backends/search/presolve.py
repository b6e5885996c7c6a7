"""Presolve: the same question about fewer and lighter samples and fewer features.

Write U(S) for the samples that S excludes, the union of the sets E_j = {i: a_ij = 0} over j in
S. The value of S is then

    sum of cost_uncovered + sum of w_i over the covered i,   w_i = cost_covered - cost_uncovered,

so a sample with w_i > 0 ("bad") should be excluded, one with w_i < 0 ("good") covered, and the
value is a constant + covered bad weight + excluded good weight. Every step below keeps, for
each set it does not rule out, the value of the set.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from cpx.models.monomial import WeightedMonomial

__all__ = ["Reduced", "merge_rows", "reduce"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Reduced:
    """What is left to search.

    The value of a set S of the remaining features, chosen beside the fixed ones, is
    ``base + scale * (weight of the covered bad + weight of the excluded good)``.

    Attributes
    ----------
    agreement : ndarray of bool, shape (rows, n)
        First the bad rows, then the good ones; in each part the heaviest first, then those
        that few features exclude.
    weights : ndarray of int64, shape (rows,)
        Positive, without a common divisor.
    bad : int
        Number of bad rows.
    features : ndarray of int64, shape (n,)
        Original index of each column, increasing.
    groups : ndarray of int64, shape (n,)
        At most one column of equal number may be chosen.
    k : int
        Greatest number of columns to choose, at most n.
    fixed : tuple of int
        Required features, chosen in every solution.
    """

    agreement: Bools
    weights: Ints
    bad: int
    features: Ints
    groups: Ints
    k: int
    fixed: tuple[int, ...]
    base: int
    scale: int

    def original(self, columns: Ints | list[int]) -> tuple[int, ...]:
        """Return the features of a set of columns, the fixed ones included, increasing."""
        chosen = (int(self.features[j]) for j in columns)
        return tuple(sorted({*self.fixed, *chosen}))

    def value(self, cost: int) -> int:
        """Return the problem's objective of a cost (covered bad + excluded good)."""
        return self.base + self.scale * int(cost)


def reduce(form: WeightedMonomial) -> Reduced | None:
    """Fix, merge and drop what can be; None when no set satisfies the constraints.

    The smallest, lexicographically first of the optimal sets is among those that are left. The
    steps, each with its reason:

    required
        They are in every solution: the rows they exclude cost what they cost, their groups are
        used up, and k - |required| choices are left. No solution exists if one of them is
        forbidden, if two share a group, or if there are more than k; otherwise the set of
        required features is itself a solution.
    forbidden, and features of used groups
        In no solution: dropped.
    features that exclude nothing
        For rows still covered, E_j empty: S and S - {j} have the same value, and S - {j} is
        allowed and smaller. No smallest optimal set has j.
    duplicates
        E_a = E_b, b < a, and every set stays allowed when its a is replaced by b (equal groups,
        or nothing else in the group of b). A set with both is as good without a; one with a
        only is as good with b instead, as small, and lexicographically earlier. a is dropped.
    dominated features
        b < a excludes all bad rows that a excludes and only good rows that a excludes, and b
        may replace a as above. With b instead of a (or without a beside b) a set is no worse,
        as small, and lexicographically earlier. a is dropped. (Where b > a some optimal set
        lacks a as well, but not always the first one.)
    equal rows
        Every S covers all of them or none: one row with the sum of their w_i. Good and bad
        cancel out; a row with sum 0 never matters.
    rows that no feature excludes
        Covered by every S: constant.
    """
    required, forbidden = set(form.required), set(form.forbidden)
    if len(required) > form.k or required & forbidden:
        return None
    groups = np.arange(form.shape[1]) if form.groups is None else form.groups
    used = {int(groups[j]) for j in required}
    if len(used) < len(required):
        return None

    columns = np.array(
        [
            j
            for j in range(form.shape[1])
            if j not in required and j not in forbidden and int(groups[j]) not in used
        ],
        dtype=np.int64,
    )
    k = form.k - len(required)
    if k == 0:
        columns = columns[:0]
    net = form.cost_covered - form.cost_uncovered
    base = int(form.cost_uncovered.sum())
    matters = net != 0
    if required:
        matters &= form.covered(sorted(required))
    agreement, rows = form.agreement, np.flatnonzero(matters)
    if rows.size < form.shape[0] or columns.size < form.shape[1]:
        agreement = agreement[np.ix_(rows, columns)]
    net = net[rows]

    # The table is only looked at until it is known what remains, and then copied once.
    constant = agreement.all(axis=1)
    base += int(net[constant].sum())
    excluding = np.flatnonzero(~agreement.all(axis=0))
    rows, net = merge_rows(agreement, np.where(constant, 0, net))

    # A covered bad row costs w more than an excluded one, an excluded good row -w more than a
    # covered one: with all bad rows excluded and all good ones covered the value is the base.
    base += int(net[net < 0].sum())
    weights = np.abs(net)
    scale = int(np.gcd.reduce(weights)) if weights.size else 1
    weights //= scale
    order = np.lexsort((-np.count_nonzero(agreement, axis=1)[rows], -weights, net < 0))
    rows, weights = rows[order], weights[order]
    bad = int((net > 0).sum())
    agreement = agreement[np.ix_(rows, excluding)]
    columns = columns[excluding]

    kept = _undominated(agreement, bad, groups[columns])
    if not kept.all():
        agreement, columns = agreement[:, kept], columns[kept]
    return Reduced(
        agreement=agreement,
        weights=weights,
        bad=bad,
        features=columns,
        groups=np.unique(groups[columns], return_inverse=True)[1].astype(np.int64),
        k=min(k, columns.size),
        fixed=tuple(sorted(required)),
        base=base,
        scale=scale,
    )


def merge_rows(agreement: Bools, net: Ints) -> tuple[Ints, Ints]:
    """Sum the weights of equal rows; rows whose sum is 0 are gone.

    Returns
    -------
    (ndarray of int, ndarray of int)
        One row of each kind, and the sum of its kind.

    Examples
    --------
    >>> table = np.array([[1, 0], [1, 1], [1, 0], [0, 1], [0, 1]], dtype=bool)
    >>> rows, net = merge_rows(table, np.array([2, 1, 3, 4, -4]))
    >>> sorted(zip(table[rows].tolist(), net.tolist()))
    [([True, False], 5), ([True, True], 1)]
    """
    if not net.size:
        return np.zeros(0, dtype=np.int64), net
    packed = np.packbits(agreement, axis=1)
    packed = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))
    words = np.ascontiguousarray(packed).view(np.uint64)
    # Sorted by a hash, equal rows are neighbours (unless another row has the same hash and
    # comes between them: then they are not merged, which is no error).
    factors = np.random.default_rng(0).integers(0, 2**63, words.shape[1], dtype=np.uint64)
    mixed = words ^ (words >> np.uint64(29))
    order = np.argsort((mixed * (2 * factors + 1)).sum(axis=1), kind="stable")
    ordered = words[order]
    new = np.ones(net.size, dtype=np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    sums = np.add.reduceat(net[order], np.flatnonzero(new))
    matters = sums != 0
    return order[new][matters], sums[matters]


def _undominated(agreement: Bools, bad: int, groups: Ints) -> Bools:
    """Return which columns the smallest, lexicographically first optimal set may have."""
    from cpx.backends.search.bits import dominance, pack

    n = groups.size
    kept = np.ones(n, dtype=np.bool_)
    if n == 0:
        return kept
    bits, bad_words = pack(agreement, bad)
    above = np.zeros((n, n), dtype=np.bool_)
    dominance(bits, n, bad_words, above)
    _, group, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    replaces = (group[:, None] == group[None, :]) | (sizes[group] == 1)[None, :]
    # [a, b] with b < a: the part below the diagonal.
    return np.asarray(~np.tril(above & replaces, -1).any(axis=1))
