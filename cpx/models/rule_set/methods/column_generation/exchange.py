"""Local search on the training errors, over all rules: add, drop, exchange."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from cpx.models.rule_set.methods.column_generation.descent import Descent
from cpx.models.rule_set.methods.column_generation.pricing import beam_pricing
from cpx.models.rule_set.methods.column_generation.table import Features, Table

__all__ = ["descend", "exchanged", "hamming", "price_path", "quick_set", "zero_one"]

_SEEDS, _WIDTH = 12, 3
# Where the rules are only for comparing prices: worse by 1 to 2 %, in half the time.
_FEW_SEEDS = 6
_KICKS = 8
_CAUTION = 2  # times the weight of an error on another class, in rules to start from

Bools = NDArray[np.bool_]


def quick_set(
    table: Table, k: int, price: Fraction, rng: Generator, stop: Callable[[], bool]
) -> list[Features]:
    """Return a set of rules by local search: a rule that beams find even where it is stopped.

    A rule that is not worth its price is left out only if it is not stopped.
    """
    weights = table.signed_weights(table.weights[table.own].astype(np.float64))
    seeds = rng.choice(table.own, min(_SEEDS, len(table.own)), replace=False)
    rules = beam_pricing(table, weights, seeds, k, _WIDTH) if len(seeds) else []
    return descend(table, rules[:1], k, price, rng, stop)


def exchanged(
    table: Table,
    chosen: Sequence[Features],
    k: int,
    price: Fraction,
    rng: Generator,
    stop: Callable[[], bool],
) -> list[Features]:
    """Return a set of rules of no greater zero-one loss plus price, after local search.

    It descends from the set; then, eight times without success, from the best set without one of
    its rules. Ends when ``stop`` says so, if not before.
    """
    descent = Descent(table, k, _SEEDS)
    best = descent.run(chosen, price, rng, stop)
    value, failed = zero_one(table, best, price), 0
    while best and failed < _KICKS and not stop():
        dropped = int(rng.integers(len(best)))
        again = descent.run(best[:dropped] + best[dropped + 1 :], price, rng, stop)
        failed += 1
        if (met := zero_one(table, again, price)) < value:
            best, value, failed = again, met, 0
    return best


def descend(
    table: Table,
    chosen: Sequence[Features],
    k: int,
    price: Fraction,
    rng: Generator,
    stop: Callable[[], bool],
) -> list[Features]:
    """Return the set after a
    :class:`~cpx.models.rule_set.methods.column_generation.descent.Descent`.
    """
    return Descent(table, k, _SEEDS).run(chosen, price, rng, stop)


def zero_one(table: Table, rules: Sequence[Features], price: Fraction) -> Fraction:
    """Return the zero-one loss of a set of rules, plus their price."""
    wrong = table.any_covers(rules) != table.same
    return int(table.weights[wrong].sum()) + price * len(rules)


def hamming(table: Table, rules: Sequence[Features], price: Fraction) -> Fraction:
    """Return the Hamming loss of a set of rules, plus their price."""
    covers = [table.covered(rule) for rule in rules]
    missed = table.same & ~np.logical_or.reduce([~np.ones_like(table.same), *covers])
    errors = int(table.weights[missed].sum()) + sum(map(table.paid, covers))
    return errors + price * len(rules)


def price_path(
    table: Table,
    k: int,
    prices: Iterable[Fraction],
    rng: Generator,
    stop: Callable[[], bool] = lambda: False,
) -> list[list[Features]]:
    """Return a set of rules for each price, a local optimum of the zero-one loss plus prices.

    Each search starts from the set of the price before, so that prices are best given from the
    highest to the lowest: rules are added as they become cheaper. As such steps seldom lead from
    few rules to more precise ones, each price is also searched from rules for which errors on
    other classes weigh twice. Nothing is proved. For finding a price that is enough, and quick.

    k: Maximum number of literals of a rule.
    prices: Of a rule, in units of weight.
    stop: True ends the search; the sets left are those found by then.

    >>> import numpy as np
    >>> literals = np.array([[1, 0, 0]] * 8 + [[0, 1, 0]] * 3 + [[0, 0, 1]] * 9, dtype=bool)
    >>> table = Table(literals, literals[:, :2].any(axis=1), np.ones(20, dtype=np.int64))
    >>> price_path(table, 1, [Fraction(9), Fraction(5), Fraction(1)], np.random.default_rng(0))
    [[], [(0,)], [(0,), (1,)]]
    """
    careful = table.weighed(np.where(table.same, 1, _CAUTION) * table.weights)
    best: list[Features] = []
    precise: list[Features] = []
    after: list[Features] = []
    sets: list[list[Features]] = []
    near, far = (Descent(one, k, _FEW_SEEDS) for one in (careful, table))
    for price in prices:
        before, precise = precise, near.run(precise, price, rng, stop, settled=True)
        same = precise == before
        after = far.run(after if same else precise, price, rng, stop, settled=same)
        best = far.run(best, price, rng, stop, settled=True)
        best = min(best, after, key=partial(zero_one, table, price=price))
        sets.append(best)
    return sets
