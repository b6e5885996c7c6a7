"""The price of a rule and its length, chosen by accuracy on rows held out of learning."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cpx.answers.values import plural
from cpx.methods.column_generation.table import Features, Table
from cpx.support.validation import valid_seed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Choice", "Validated", "chosen_price"]

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]

FALLBACK = Fraction(1, 100)
"""The penalty where none can be validated, and of rules that imitate a black box."""

LENGTHS = 4, 2, 6
"""Of rules, to choose from where none is given; the first is taken where nothing is validated."""

_PENALTIES = tuple(
    Fraction(share) for share in ("0.08", "0.04", "0.02", "0.01", "0.005", "0.0025")
)
_LEAST_ROWS = 4  # that a rule must save to be worth its price
_FOLDS, _TIMES = 5, 4  # how the rows are divided, and how often
_MOST_ROWS = 4000


@dataclass(frozen=True)
class Validated:
    """How rules of one price and length did on rows that they were not learned from.

    Attributes
    ----------
    penalty : Fraction
        Price of a rule, as a share of the rows.
    k : int
        Most conditions of a rule.
    rules : float
        Number of rules, in the mean of the folds.
    accuracy : float
        Share of the rows held out that get the right class; with ``class_weights``, of what an
        error on them would weigh.
    error : float
        Standard error of the accuracy, from the differences between folds.
    """

    penalty: Fraction
    k: int
    rules: float
    accuracy: float
    error: float


@dataclass(frozen=True)
class Choice:
    """The penalty and k that were chosen, and all that were validated.

    Attributes
    ----------
    penalty : Fraction
    k : int
    validated : tuple of Validated
        The highest price first; empty where nothing could be validated and the penalty is 0.01.
    """

    penalty: Fraction
    k: int
    validated: tuple[Validated, ...]

    @property
    def chosen(self) -> Validated | None:
        """What was validated of the penalty and k chosen."""
        wanted = self.penalty, self.k
        return next((one for one in self.validated if (one.penalty, one.k) == wanted), None)

    def __str__(self) -> str:
        share, one = f"{float(self.penalty):g}", self.chosen
        if one is None:
            return f"{share}, not chosen: too few rows, or no time, to hold some out"
        return (
            f"{share} and at most {plural(self.k, 'condition')}, chosen: accuracy "
            f"{one.accuracy:.3f} on rows held out"
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw accuracy on rows held out against the number of rules, a line for each k.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; those of a new figure of pyplot when not given.

        Returns
        -------
        matplotlib axes
        """
        from cpx.answers.plots import require_matplotlib

        require_matplotlib()
        if ax is None:
            from matplotlib import pyplot as plt

            _, ax = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
        for k in sorted({one.k for one in self.validated}):
            mine = sorted((one for one in self.validated if one.k == k), key=lambda one: one.rules)
            ax.errorbar(
                [one.rules for one in mine],
                [one.accuracy for one in mine],
                [one.error for one in mine],
                marker="o",
                capsize=3,
                label=f"at most {plural(k, 'condition')}",
            )
        if (one := self.chosen) is not None:
            ax.plot(one.rules, one.accuracy, "o", ms=14, mfc="none", mec="black", label="chosen")
        ax.set_xlabel("rules")
        ax.set_ylabel("accuracy on rows held out")
        ax.legend()
        return ax


def chosen_price(
    literals: BoolArray,
    same: BoolArray,
    weights: IntArray,
    lengths: Sequence[int],
    *,
    seed: int,
    stop: Callable[[], bool],
) -> Choice:
    """Choose the penalty and the length of rules by cross-validation on paths of prices.

    The rows are divided into five folds, four times. Each is held out once; rules for all prices
    are learned from the others by local search
    (:func:`~cpx.methods.column_generation.exchange.price_path`), for each length. The highest
    price, then the fewest conditions, are taken whose accuracy is within half a standard error of
    the best.

    Parameters
    ----------
    literals : (n, d) array of bool
        Of each row.
    same : (n,) array of bool
        Which rows are of the class.
    weights : (n,) array of int
        What an error on each row weighs.
    lengths : sequence of int
        Maximum numbers of conditions of a rule to choose from. The first is that of the choice
        where nothing can be validated.
    seed : int
    stop : callable
        True ends it: what was not validated on five folds by then is not chosen.

    Returns
    -------
    Choice
        A penalty of 0.01 where there are fewer than five rows of a class, or too few rows for any
        rule to be worth its price, or where the time is over before the first length is validated
        on five folds.
    """
    rng = np.random.default_rng(valid_seed(seed))
    if len(same) > _MOST_ROWS:
        part = np.sort(rng.choice(len(same), _MOST_ROWS, replace=False))
        literals, same, weights = literals[part], same[part], weights[part]
    divided = [_folds(same, rng) for _ in range(_TIMES)]
    penalties = [p for p in _PENALTIES if p * len(same) >= _LEAST_ROWS]
    validated: list[Validated] = []
    if penalties and min(same.sum(), (~same).sum()) >= _FOLDS:
        found: dict[int, list[list[tuple[int, float]]]] = {k: [] for k in lengths}
        for folds, k in product(divided, lengths):
            held_out = [
                _on_fold(literals, same, weights, k, penalties, folds == fold, seed, stop)
                for fold in range(_FOLDS)
            ]
            if stop():
                break
            found[k] += held_out
        for k in lengths:
            if found[k]:
                validated += _validated(penalties, k, found[k])
    if not validated:
        return Choice(FALLBACK, lengths[0], ())
    best = max(validated, key=lambda one: one.accuracy)
    validated.sort(key=lambda one: (-one.penalty, one.k))
    taken = next(one for one in validated if one.accuracy >= best.accuracy - best.error / 2)
    return Choice(taken.penalty, taken.k, tuple(validated))


def _folds(same: BoolArray, rng: np.random.Generator) -> IntArray:
    """Return a fold for each row, with equal shares of both classes."""
    fold = np.empty(len(same), dtype=np.int64)
    for rows in (np.flatnonzero(same), np.flatnonzero(~same)):
        fold[rng.permutation(rows)] = np.arange(len(rows)) % _FOLDS
    return fold


def _on_fold(
    literals: BoolArray,
    same: BoolArray,
    weights: IntArray,
    k: int,
    penalties: Sequence[Fraction],
    out: BoolArray,
    seed: int,
    stop: Callable[[], bool],
) -> list[tuple[int, float]]:
    """Return, for each penalty, the number of rules and their accuracy on the rows held out."""
    from cpx.methods.column_generation.exchange import price_path

    table = Table(literals[~out], same[~out], weights[~out])
    total = int(table.weights.sum())
    prices = [penalty * total for penalty in penalties]
    sets = price_path(table, k, prices, np.random.default_rng(seed), stop)
    rest = Table(literals[out], same[out], weights[out])
    return [(len(rules), _accuracy(rest, rules)) for rules in sets]


def _accuracy(table: Table, rules: Sequence[Features]) -> float:
    covered = np.zeros(len(table.same), dtype=bool)
    for rule in rules:
        covered |= table.covered(rule)
    return float(table.weights[covered == table.same].sum() / table.weights.sum())


def _validated(
    penalties: Sequence[Fraction], k: int, found: Sequence[Sequence[tuple[int, float]]]
) -> list[Validated]:
    rules, accuracy = np.moveaxis(np.array(found), -1, 0)
    # Dividing the same rows again makes the mean steadier, and tells nothing new of other rows.
    errors = accuracy.std(axis=0, ddof=1) / math.sqrt(_FOLDS)
    means = zip(penalties, rules.mean(axis=0), accuracy.mean(axis=0), errors, strict=True)
    return [Validated(p, k, float(r), float(a), float(e)) for p, r, a, e in means]
