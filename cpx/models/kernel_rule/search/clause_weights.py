"""Kernels: weights of clauses under Lagrange multipliers, and the steps that improve these."""

from __future__ import annotations

from cpx.compiled.kernel import Bools, Floats, Ints, Ints2, Singles, Singles2, kernel
from cpx.models.kernel_rule.search.rows import Cover


@kernel
def weigh(
    cover: Cover, among: Ints, rest: Floats, shares: Singles2, values: Floats, gaining: Bools
) -> None:
    """Fill in what each of some clauses is worth.

    The value of a clause is the sum over its positive rows i of ``rest[i]`` less ``shares[i, n]``
    of its negative rows n, where that is positive; ``gaining`` says of each entry of
    ``cover.inside`` whether it is.
    """


@kernel
def weigh_exactly(
    cover: Cover, among: Ints, rest: Ints, shares: Ints2, values: Ints, gaining: Bools
) -> None:
    """Fill in what each of some clauses is worth, in integers; see :func:`weigh`."""


@kernel
def spread(
    cover: Cover, gaining: Bools, chosen: Ints, parts: Floats, used: Floats, paid: Singles2
) -> None:
    """Add up which rows some clauses, chosen in part, gain, and at whose expense.

    ``used[i]`` grows by the part of each clause that gains row i, and so does ``paid[i, n]`` for
    each negative row n of it.
    """


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


@kernel
def descend(at: Floats, slope: Floats, first: Floats, second: Floats, factors: Floats) -> None:
    """Make a step of Adam; the moments are those of Kingma and Ba, not corrected.

    ``factors`` are the rate and what the root of the second moment is multiplied by.
    """
