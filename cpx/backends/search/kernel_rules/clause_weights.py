"""Kernels: weights of clauses under Lagrange multipliers, and the steps that improve these."""

from __future__ import annotations

import math
from typing import Any

from cpx.backends.search.kernel_rules.rows import Cover
from cpx.compiled.kernel import Bools, Floats, Ints, Ints2, Singles, Singles2, kernel, subroutine


@kernel
def weigh(
    cover: Cover, among: Ints, rest: Floats, shares: Singles2, values: Floats, gaining: Bools
) -> None:
    """Fill in what each of some clauses is worth; see :func:`_weigh`."""
    _weigh(cover, among, rest, shares, values, gaining)


@kernel
def weigh_exactly(
    cover: Cover, among: Ints, rest: Ints, shares: Ints2, values: Ints, gaining: Bools
) -> None:
    """Fill in what each of some clauses is worth, in integers; see :func:`_weigh`."""
    _weigh(cover, among, rest, shares, values, gaining)


@subroutine
def _weigh(cover: Cover, among: Ints, rest: Any, shares: Any, values: Any, gaining: Bools) -> None:
    """Fill in what each of some clauses is worth.

    The value of a clause is the sum over its positive rows i of ``rest[i]`` less ``shares[i, n]``
    of its negative rows n, where that is positive; ``gaining`` says of each entry of
    ``cover.inside`` whether it is.
    """
    for e in range(among.size):
        c = among[e]
        total = rest[0] - rest[0]
        for a in range(cover.inside_ends[c], cover.inside_ends[c + 1]):
            i = cover.inside[a]
            left = rest[i]
            for b in range(cover.outside_ends[c], cover.outside_ends[c + 1]):
                left -= shares[i, cover.outside[b]]
                if left <= 0:
                    break
            gaining[a] = left > 0
            if left > 0:
                total += left
        values[c] = total


@kernel
def spread(
    cover: Cover, gaining: Bools, chosen: Ints, parts: Floats, used: Floats, paid: Singles2
) -> None:
    """Add up which rows some clauses, chosen in part, gain, and at whose expense.

    ``used[i]`` grows by the part of each clause that gains row i, and so does ``paid[i, n]`` for
    each negative row n of it.
    """
    for e in range(chosen.size):
        c = chosen[e]
        for a in range(cover.inside_ends[c], cover.inside_ends[c + 1]):
            if gaining[a]:
                i = cover.inside[a]
                used[i] += parts[e]
                for b in range(cover.outside_ends[c], cover.outside_ends[c + 1]):
                    paid[i, cover.outside[b]] += parts[e]


@kernel
def shift(
    shares: Singles2,
    costs: Singles,
    paid: Singles2,
    hits: Singles,
    sums: Singles,
    first: Singles2,
    second: Singles2,
    factors: Singles,
) -> None:
    """Move shares to the rows that are charged for more, column by column.

    The logarithms of the shares make a step of Adam, as in :func:`descend`; then each column adds
    up to its cost again. ``hits[n]`` becomes the mean of ``paid[:, n]``, each row counting by
    its share: the part in which negative row n is paid for. ``sums`` is room for as many.
    """
    p, q = shares.shape
    hits[:] = 0
    for i in range(p):
        for n in range(q):
            hits[n] += shares[i, n] * paid[i, n]
    for n in range(q):
        hits[n] /= costs[n]
    # Where paid for more than the mean, a greater share lowers the bound.
    for i in range(p):
        for n in range(q):
            slope = shares[i, n] * (hits[n] - paid[i, n])
            first[i, n] = factors[2] * first[i, n] + factors[3] * slope
            second[i, n] = factors[4] * second[i, n] + factors[5] * slope * slope
            move = factors[0] * first[i, n] / (math.sqrt(second[i, n]) * factors[1] + factors[6])
            # The exponential of -move, nearly: |move| is a few times the rate.
            grown = factors[7] - move * factors[8]
            grown *= grown
            grown *= grown
            grown *= grown
            grown *= grown
            shares[i, n] = max(shares[i, n] * grown, factors[9])
    sums[:] = 0
    for i in range(p):
        for n in range(q):
            sums[n] += shares[i, n]
    for n in range(q):
        sums[n] = costs[n] / sums[n]
    for i in range(p):
        for n in range(q):
            shares[i, n] *= sums[n]


@kernel
def descend(at: Floats, slope: Floats, first: Floats, second: Floats, factors: Floats) -> None:
    """Make a step of Adam; the moments are those of Kingma and Ba, not corrected.

    ``factors`` are the rate and what the root of the second moment is multiplied by.
    """
    for k in range(at.size):
        first[k] = 0.9 * first[k] + 0.1 * slope[k]
        second[k] = 0.99 * second[k] + 0.01 * slope[k] * slope[k]
        at[k] -= factors[0] * first[k] / (math.sqrt(second[k]) * factors[1] + 1e-7)
