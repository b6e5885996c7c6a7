"""Bounds for the zero-one loss, where an error counts once, however many rules make it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from cpx.data.bits import packed_rows, row_hashes
from cpx.modelling.side_constraints.form import NO_SIDE_CONSTRAINTS, SideConstraints
from cpx.models.rule_set.methods.column_generation.generate import Generation
from cpx.models.rule_set.methods.column_generation.table import Features, Table

__all__ = ["by_number_of_rules", "least_of_all", "unavoidable"]

_MOST = 2**60
"""What the weights times the number of rules may add up to."""

_BEAMS = 0.3  # of the seconds of one number


def unavoidable(table: Table) -> int:
    """Return the weight of errors that every set of rules makes.

    Samples with the same literals are covered together: those of the class, or the others, are
    errors.

    >>> literals = np.array([[1, 0], [1, 0], [0, 1]], dtype=bool)
    >>> unavoidable(Table(literals, np.array([True, False, True]), np.array([3, 2, 1])))
    2
    """
    words = packed_rows(table.literals)
    _, place, times = np.unique(row_hashes(words), return_inverse=True, return_counts=True)
    # Rows of different hashes differ: only where hashes are equal, all words are compared.
    rows = np.flatnonzero(times[place] > 1)
    _, place = np.unique(words[rows], axis=0, return_inverse=True)
    weights = np.zeros((2, rows.size), dtype=np.int64)
    np.add.at(weights, (table.same[rows].astype(int), place), table.weights[rows])
    return int(weights.min(axis=0).sum())


def least_of_all(table: Table, price: Fraction) -> Fraction:
    """Return a lower bound of the zero-one objective: no rule, or one and the unavoidable errors.

    >>> literals = np.array([[1, 0], [1, 0], [0, 1]], dtype=bool)
    >>> table = Table(literals, np.array([True, False, True]), np.array([3, 2, 1]))
    >>> least_of_all(table, Fraction(1, 2))
    Fraction(5, 2)
    """
    own = int(table.weights[table.own].sum())
    return min(Fraction(own), unavoidable(table) + price)


def by_number_of_rules(
    table: Table,
    k: int,
    price: Fraction,
    best: Fraction,
    known: Iterable[Features],
    *,
    seed: int,
    threads: int,
    seconds: float,
    stop: Callable[[], bool],
    proved: Callable[[Fraction], None],
    side: SideConstraints = NO_SIDE_CONSTRAINTS,
    record: list[object] | None = None,
) -> None:
    """Tell lower bounds of the zero-one objective over all sets of rules, each better one.

    Let e be the weight of :func:`unavoidable` errors, and K any number of rules. A set of more
    than K rules costs e + (K + 1) * price or more. A set S of at most K rules covers no sample
    more than K times. Count errors on other classes once for each rule, as the Hamming loss
    does, but 1 / K of their weight: none counts more than once, so that the zero-one
    objective of S is no less. Column generation gives a bound b(K) of that. So every set
    costs at least::

        min( b(K),  e + (K + 1) * price )

    b(K) falls as K grows, the other term rises: K is bisected. Without a price there is no such
    bound.

    k: Maximum number of literals of a rule.
    price: Of a rule, in units of weight.
    best: The objective of a set that is known.
    known: Rules to begin with.
    stop: True ends it.
    proved: Told each better bound.
    side: On the literals of each rule.
    record: Takes the prices of each number of rules.
    """
    if not price:
        return
    least = unavoidable(table)
    known, end = tuple(known), time.monotonic() + seconds
    # Sets of more rules than ``high`` are no better than the best one.
    low, high = 0, max(0, math.ceil((best - least) / price) - 1)
    high = min(high, _MOST // max(1, int(table.weights.sum())))
    while low < high and not stop():
        K = (low + high + 1) // 2
        more = least + (K + 1) * price
        weights = np.where(table.same, K, 1) * table.weights
        generation = Generation(
            replace(table, weights=weights),
            k,
            K * price,
            partial(int, K),
            seed,
            threads,
            known,
            side=side,
        )
        generation.stop = partial(_reached, generation, K * more, stop)
        part = (end - time.monotonic()) / (high - low).bit_length()
        generation.by_beams(_BEAMS * part)
        generation.by_search((1 - _BEAMS) * part)
        if record is not None:
            record.append(generation.recorded(K))
        met = (generation.bound or Fraction(0)) / K
        proved(min(met, more))
        if met >= more:
            low = K
        else:
            high = K - 1


def _reached(generation: Generation, enough: Fraction, stop: Callable[[], bool]) -> bool:
    return stop() or (generation.bound is not None and generation.bound >= enough)
