"""Sets of rules for one price of a rule after another, by local search alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

from numpy.random import Generator

from cpx.methods.column_generation.exchange import descend
from cpx.methods.column_generation.table import Features, Table

__all__ = ["price_path"]


def price_path(
    table: Table,
    k: int,
    prices: Iterable[Fraction],
    rng: Generator,
    stop: Callable[[], bool] = lambda: False,
) -> list[list[Features]]:
    """Return a set of rules for each price, a local optimum of the zero-one loss plus prices.

    Each search starts from the set of the price before, so that prices are best given from the
    highest to the lowest: rules are added as they become cheaper. Nothing is proved. For finding
    a price that is enough, and quick.

    Parameters
    ----------
    table : Table
    k : int
        Maximum number of literals of a rule.
    prices : iterable of Fraction
        Of a rule, in units of weight.
    rng : Generator
    stop : callable
        True ends the search; the sets left are those found by then.

    Examples
    --------
    >>> import numpy as np
    >>> literals = np.array([[1, 0, 0]] * 8 + [[0, 1, 0]] * 3 + [[0, 0, 1]] * 9, dtype=bool)
    >>> table = Table(literals, literals[:, :2].any(axis=1), np.ones(20, dtype=np.int64))
    >>> price_path(table, 1, [Fraction(9), Fraction(5), Fraction(1)], np.random.default_rng(0))
    [[], [(0,)], [(0,), (1,)]]
    """
    sets: list[list[Features]] = []
    for price in prices:
        sets.append(descend(table, sets[-1] if sets else [], k, price, rng, stop))
    return sets
