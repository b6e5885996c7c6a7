"""Presolve: an equivalent problem with fewer samples, equal ones merged, and fewer features.

Write U(S) for the samples that S excludes, the union of the sets E_j = {i: a_ij = 0} over j in
S. Every step below keeps, for each set it does not rule out, the value of the set.

Without limits a form's value is

    sum of cost_uncovered + sum of w_i over the covered i,   w_i = cost_covered - cost_uncovered,

so a sample with w_i > 0 ("bad") should be excluded, one with w_i < 0 ("good") covered, and the
value is a constant + covered bad weight + excluded good weight.

Limits count samples by their own weights: disagreeing ones are bad, agreeing ones good. Then
the costs must be in proportion to these weights within each class, w_i = scale * alpha * weight
for the bad and -scale * beta * weight for the good, as they are in all problems of the package;
the value is a constant + scale * (alpha * covered bad weight + beta * excluded good weight).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import gcd

import numpy as np
from numpy.typing import NDArray

from cpx.backends.search.remaining_constraints import NO_CONSTRAINTS, Remaining
from cpx.data.bits import packed_rows, row_hashes, surely_distinct, unpacked_row
from cpx.data.packed import Packed, pack, planes_of, take, unpacked
from cpx.errors import InvalidInstance
from cpx.modelling.side_constraints.form import propagated
from cpx.models.monomial.form import CoverageLimits, RatioMonomial, WeightedMonomial
from cpx.models.monomial.search.objective import FAR, Objective

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Reduced:
    """What is left to search.

    The value of a set S of the remaining features, chosen in addition to the fixed ones, is
    ``base + scale * cost``, and the objective says what it costs.

    bits: The samples as words, with bit slices of the weights, as :mod:`cpx.data.packed` has it:
        first the bad ones, then the good ones, in each part the heaviest first.
    bad_words: How many rows of ``bits`` are of bad samples.
    weights (rows,): Positive; without a common divisor where no limits count them.
    bad: Number of bad rows.
    features (n,): Original index of each column, increasing.
    groups (n,): At most one column of equal number may be chosen; the numbers are small.
    k: Maximum number of columns to choose, at most n.
    fixed: Required features, chosen in every solution.
    objective: What a set of columns costs, and the limits on what it covers.
    ideal: The value of the form if all good rows are covered and no bad one.
    uncovered: The value of the form if nothing is covered.
    remaining: Side constraints on the columns.
    """

    bits: Words
    bad_words: int
    weights: Ints
    bad: int
    features: Ints
    groups: Ints
    k: int
    fixed: tuple[int, ...]
    objective: Objective
    ideal: int
    scale: int
    uncovered: int
    remaining: Remaining

    @cached_property
    def agreement(self) -> Bools:
        """The rows as a table, shape (rows, n)."""
        of = self.bad, self.weights.size, self.features.size
        return unpacked(self.bits, self.bad_words, *of)

    @property
    def base(self) -> int:
        """The value of the form of cost 0."""
        return self.ideal - self.scale * self.objective.base

    def original(self, columns: Ints | list[int]) -> tuple[int, ...]:
        """Return the features of a set of columns, the fixed ones included, increasing."""
        chosen = (int(self.features[j]) for j in columns)
        return tuple(sorted({*self.fixed, *chosen}))

    def value(self, cost: int) -> int:
        """Return the value of the form of a cost."""
        return self.base + self.scale * int(cost)


def reduce(form: WeightedMonomial | RatioMonomial, every: bool = False) -> Reduced | None:
    """Fix, merge and drop what can be; None when no set satisfies the constraints.

    The smallest, lexicographically first of the optimal sets is among those that are left; with
    ``every``, all sets are but those with a feature that excludes nothing, and rows count in
    both classes as where what is covered is limited. The steps, each with its reason:

    required
        They are in every solution: the rows they exclude cost what they cost, their groups are
        used up, and k - |required| choices are left. No solution exists if one of them is
        forbidden, if two share a group, or if there are more than k.
    forbidden, and features of used groups
        In no solution: dropped.
    features that exclude nothing
        For rows still covered, E_j empty: S and S - {j} have the same value, and S - {j} is
        allowed and smaller. No smallest optimal set has j.
    duplicates, unless every set is asked for
        E_a = E_b, b < a, and every set stays allowed when its a is replaced by b (equal groups,
        or nothing else in the group of b). A set with both is as good without a; one with a
        only is as good with b instead, as small, and lexicographically earlier. a is dropped.
    equal rows
        Every S covers all of them or none: one row with the sum of their w_i. Good and bad
        cancel out, and a row with sum 0 never matters; but where what is covered is limited
        both count, and only equal rows of one class are merged.
    rows that no feature excludes, unless what is covered is limited
        Covered by every S: constant.

    With side constraints, features that they imply are required, and those that they exclude are
    forbidden. A feature that may be needed for the sake of one is not dropped, and one that may
    break one stands for no other.
    """
    if form.side:
        decided = propagated(form.side, form.required, form.forbidden)
        if decided is None:
            return None
        if decided != (frozenset(form.required), frozenset(form.forbidden)):
            required, forbidden = (tuple(sorted(some)) for some in decided)
            form = replace(form, required=required, forbidden=forbidden)
    fixed = tuple(sorted(form.required))
    columns = _free_columns(form)
    if columns is None:
        return None
    samples = sample_weights(form)
    packed = None
    if form.packed is not None and samples.limited and not (fixed or every):
        packed = form.packed()
    if packed is not None:
        rows = _of_packed(packed, form, columns, samples)
    else:
        rows = _of_table(form, columns, fixed, samples, every)
    bits, groups, columns, remaining = rows.bits, rows.groups, rows.columns, rows.remaining
    weights, bad = rows.weights, rows.bad
    if not every:
        kept = np.flatnonzero(_needed(bits, groups, remaining))
        if kept.size < columns.size:
            bits = take(bits, kept, columns.size, planes_of(weights))
            columns, groups = columns[kept], groups[kept]
            remaining = remaining.on(columns)
    objective = samples.objective(int(weights[:bad].sum()), int(weights[bad:].sum()))
    return Reduced(
        bits=bits,
        bad_words=rows.bad_words,
        weights=weights,
        bad=bad,
        features=columns,
        groups=groups,
        k=min(form.k - len(fixed), columns.size),
        fixed=fixed,
        objective=objective,
        ideal=rows.base - rows.scale * objective.beta * objective.good,
        scale=rows.scale,
        uncovered=samples.uncovered,
        remaining=remaining,
    )


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows that matter, and columns that exclude some: see :class:`Reduced`."""

    bits: Words
    bad_words: int
    weights: Ints
    bad: int
    columns: Ints
    groups: Ints
    base: int
    scale: int
    remaining: Remaining


def _of_packed(
    packed: Packed,
    form: WeightedMonomial | RatioMonomial,
    columns: Ints,
    samples: _SampleWeights,
) -> _Rows:
    """Take rows that are merged and packed already."""
    remaining = Remaining.of(form.side, columns, ()) if form.side else NO_CONSTRAINTS
    places = _excluding(packed.counts()[columns] < packed.weights.size, remaining)
    if places.size < columns.size:
        columns = columns[places]
        remaining = remaining.on(columns)
    return _Rows(
        take(packed.bits, columns, packed.d, packed.planes),
        packed.bad_words,
        packed.weights,
        packed.bad,
        columns,
        _numbered(form, columns),
        samples.uncovered,
        samples.scale,
        remaining,
    )


def _of_table(
    form: WeightedMonomial | RatioMonomial,
    columns: Ints,
    fixed: tuple[int, ...],
    samples: _SampleWeights,
    every: bool,
) -> _Rows:
    """Merge the rows that the required features leave, and pack them."""
    matters = samples.signed != 0
    if fixed:
        matters &= form.covered(fixed)
    chosen = np.flatnonzero(matters)
    signed = samples.signed[chosen]

    # The table is only looked at until it is known what remains, and then packed at once.
    words = packed_rows(form.agreement, rows=chosen, places=columns)
    remaining = Remaining.of(form.side, columns, fixed) if form.side else NO_CONSTRAINTS
    excludes = ~unpacked_row(np.bitwise_and.reduce(words), columns.size)
    kept_by = np.bitwise_count(words).sum(axis=1, dtype=np.int32)
    base, scale, n = samples.uncovered, samples.scale, columns.size
    if samples.limited or every:
        parts = [np.flatnonzero(signed > 0), np.flatnonzero(signed < 0)]
        merged = [merge_rows(words[part], signed[part]) for part in parts]
        rows = np.concatenate([part[at] for part, (at, _) in zip(parts, merged, strict=True)])
        signed = np.concatenate([sums for _, sums in merged])
    else:
        constant = kept_by == n
        base += int(signed[constant].sum())
        rows, signed = merge_rows(words, np.where(constant, 0, signed))
        scale = int(np.gcd.reduce(signed)) if signed.size else 1
        signed //= scale
    del words
    weights = np.abs(signed)
    # Rows that few features exclude come first among those of one weight.
    order = np.lexsort((-kept_by[rows], -weights, signed < 0))
    rows, weights, bad = rows[order], weights[order], int((signed > 0).sum())
    places = _excluding(excludes, remaining)
    if places.size < n:
        columns = columns[places]
        remaining = remaining.on(columns)
    bits, bad_words = pack(form.agreement, bad, weights, chosen[rows], columns)
    groups = _numbered(form, columns)
    return _Rows(bits, bad_words, weights, bad, columns, groups, base, scale, remaining)


def _excluding(excludes: Bools, remaining: Remaining) -> Ints:
    """Return the places of the columns that exclude something, or are needed all the same."""
    if remaining.linear:
        excludes = excludes | remaining.with_sign(positive=True)
    return np.flatnonzero(excludes)


def _numbered(form: WeightedMonomial | RatioMonomial, columns: Ints) -> Ints:
    """Return the group of each column as a small number."""
    if form.groups is None:
        return np.arange(columns.size)
    return np.unique(form.groups[columns], return_inverse=True)[1].astype(np.int64)


def _groups_of(form: WeightedMonomial | RatioMonomial) -> Ints:
    return np.arange(form.shape[1]) if form.groups is None else form.groups


def _free_columns(form: WeightedMonomial | RatioMonomial) -> Ints | None:
    """Return the features that may be added to the required ones; None if these clash."""
    required, groups = sorted(form.required), _groups_of(form)
    if not required and not form.forbidden and form.k > 0:
        return np.arange(groups.size)
    used = groups[required]
    if len(required) > form.k or not set(required).isdisjoint(form.forbidden):
        return None
    if np.unique(used).size < used.size:
        return None
    free = ~np.isin(groups, used) if required else np.ones(groups.size, dtype=np.bool_)
    free[[*required, *form.forbidden]] = False
    if len(required) == form.k:
        free[:] = False
    return np.flatnonzero(free)


def merge_rows(words: Words, net: Ints) -> tuple[Ints, Ints]:
    """Sum the weights of equal rows, given as words; rows whose sum is 0 are gone.

    Returns: One row of each kind, and the sum of its kind.

    >>> table = np.array([[1, 0], [1, 1], [1, 0], [0, 1], [0, 1]], dtype=bool)
    >>> rows, net = merge_rows(packed_rows(table), np.array([2, 1, 3, 4, -4]))
    >>> sorted(zip(table[rows].tolist(), net.tolist()))
    [([True, False], 5), ([True, True], 1)]
    """
    if not net.size:
        return np.zeros(0, dtype=np.int64), net
    if surely_distinct(words):
        rows = np.flatnonzero(net)
        return rows, net[rows]
    # Sorted by a hash, equal rows are neighbours (unless another row has the same hash and
    # comes between them: then they are not merged, which is no error).
    order = np.argsort(row_hashes(words), kind="stable")
    ordered = words[order]
    new = np.ones(net.size, dtype=np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    sums = np.add.reduceat(net[order], np.flatnonzero(new))
    matters = sums != 0
    return order[new][matters], sums[matters]


def _needed(bits: Words, groups: Ints, remaining: Remaining) -> Bools:
    """Return which columns no earlier one can replace, being equal."""
    first: dict[bytes, int] = {}
    columns = np.ascontiguousarray(bits[:, : groups.size].T)
    kinds = np.array([first.setdefault(column.tobytes(), j) for j, column in enumerate(columns)])
    needed = np.ones(groups.size, dtype=np.bool_)
    if len(first) == groups.size:
        return needed
    own, stands = np.zeros_like(needed), needed.copy()
    if remaining.linear:
        own = remaining.with_sign(positive=True)
        stands = ~remaining.with_sign(positive=False)
    alone = np.bincount(groups)[groups] == 1
    # Earlier columns of each kind: in which groups, and whether one is alone in its own.
    seen: set[tuple[int, int]] = set()
    for j, (kind, group) in enumerate(zip(kinds.tolist(), groups.tolist(), strict=True)):
        needed[j] = own[j] or not ((kind, group) in seen or (kind, -1) in seen)
        if stands[j]:
            seen.update([(kind, group), (kind, -1)] if alone[j] else [(kind, group)])
    return needed


@dataclass(frozen=True, eq=False)
class _SampleWeights:
    """Objective and limits of a form, by signed weights of its samples.

    signed (m,): Weights, those of good samples negative.
    uncovered: The value of the form if nothing is covered.
    alpha, beta, scale: See above.
    """

    signed: Ints
    uncovered: int
    limits: CoverageLimits | None = None
    alpha: int = 1
    beta: int = 1
    scale: int = 1

    @property
    def limited(self) -> bool:
        """Whether covered weight counts by itself."""
        return self.limits is not None

    def objective(self, bad: int, good: int) -> Objective:
        """Return the objective, given the weight of all bad and of all good samples."""
        objective = Objective(self.alpha, self.beta, bad, good)
        if self.limits is None:
            return objective
        most = FAR if self.limits.most is None else self.limits.most
        return replace(
            objective, least=self.limits.least, most=most, precision=self.limits.precision
        )


def sample_weights(form: WeightedMonomial | RatioMonomial) -> _SampleWeights:
    """Return what a form optimises; a ratio has limits only, and no value.

    Raises InvalidInstance: When costs and limits count the samples differently.
    """
    limits = form.limits
    if limits is None:
        # A ratio is always limited: something must be covered.
        assert not isinstance(form, RatioMonomial)
        return _SampleWeights(
            form.cost_covered - form.cost_uncovered, int(form.cost_uncovered.sum())
        )
    signed = np.where(limits.same, -limits.weights, limits.weights)
    if isinstance(form, RatioMonomial):
        return _SampleWeights(signed, 0, limits)
    net = form.cost_covered - form.cost_uncovered
    alpha = _rate(net, limits.weights, ~limits.same)
    beta = _rate(-net, limits.weights, limits.same)
    scale = max(1, gcd(alpha or 0, beta or 0))
    # Where one class is absent its rate is free.
    alpha, beta = (1 if rate is None else rate // scale for rate in (alpha, beta))
    if min(alpha, beta) < 0 and (alpha, beta) != (-1, 1):
        raise InvalidInstance(
            "with limits on coverage or precision, the search minimises loss or maximises"
            " coverage: covering an agreeing sample must not cost"
        )
    return _SampleWeights(signed, int(form.cost_uncovered.sum()), limits, alpha, beta, scale)


def _rate(net: Ints, weights: Ints, those: NDArray[np.bool_]) -> int | None:
    """Return what one unit of weight costs in a class; None when the class is empty."""
    if not those.any():
        return None
    net, weights = net[those], weights[those]
    rate = int(net[0]) // int(weights[0])
    if (net != rate * weights).any():
        raise InvalidInstance(
            "with limits on coverage or precision, the search needs costs in proportion to the"
            " weights that the limits count"
        )
    return rate
