"""The price of a rule, its length and its class, chosen by accuracy on rows held out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

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
Floats = npt.NDArray[np.float64]

FALLBACK = Fraction(1, 100)
"""The penalty where none can be validated, and of rules that imitate a black box."""

LENGTHS = 4, 2, 6
"""Of rules, to choose from where none is given; the first is taken where nothing is validated."""

_PENALTIES = tuple(
    Fraction(share) for share in ("0.08", "0.04", "0.02", "0.01", "0.005", "0.0025")
)
_LEAST_ROWS = Fraction(3, 4)  # that a rule must save for each condition it may have
_FOLDS = 5
_MOST_TIMES, _ENOUGH = 4, 800  # how often the rows are divided: until so many were held out
_EVIDENCE = 2  # standard errors by which longer rules must be better
_MOST_ROWS = 4000


@dataclass(frozen=True)
class Validated:
    """How rules of one price, length and class did on rows that they were not learned from.

    Attributes
    ----------
    positive : label
        Class that the rules describe.
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

    positive: Any
    penalty: Fraction
    k: int
    rules: float
    accuracy: float
    error: float


@dataclass(frozen=True)
class Choice:
    """The class, penalty and k that were chosen, and all that were validated.

    Attributes
    ----------
    positive : label
    penalty : Fraction
    k : int
    validated : tuple of Validated
        The highest price first; empty where nothing could be validated and the penalty is 0.01.
    """

    positive: Any
    penalty: Fraction
    k: int
    validated: tuple[Validated, ...]

    @property
    def chosen(self) -> Validated | None:
        """What was validated of the class, penalty and k chosen."""
        wanted = self.positive, self.penalty, self.k
        return next(
            (one for one in self.validated if (one.positive, one.penalty, one.k) == wanted), None
        )

    def __str__(self) -> str:
        share, one = f"{float(self.penalty):g}", self.chosen
        if one is None:
            return f"{share}, not chosen: too few rows, or no time, to hold some out"
        return (
            f"{share} and at most {plural(self.k, 'condition')}, chosen: accuracy "
            f"{one.accuracy:.3f} on rows held out"
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw accuracy on rows held out against the number of rules.

        There is a line for each k, and for each class where it was chosen.

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
        lines: dict[tuple[Any, int], list[Validated]] = {}
        for one in sorted(self.validated, key=lambda one: (one.k, one.rules)):
            lines.setdefault((one.positive, one.k), []).append(one)
        several = len({positive for positive, _ in lines}) > 1
        for (positive, k), mine in lines.items():
            ax.errorbar(
                [one.rules for one in mine],
                [one.accuracy for one in mine],
                [one.error for one in mine],
                marker="o",
                capsize=3,
                label=f"at most {plural(k, 'condition')}" + several * f", for {positive}",
            )
        if (chosen := self.chosen) is not None:
            ax.plot(
                chosen.rules, chosen.accuracy, "o", ms=14, mfc="none", mec="black", label="chosen"
            )
        ax.set_xlabel("rules")
        ax.set_ylabel("accuracy on rows held out")
        ax.legend()
        return ax


def chosen_price(
    literals: BoolArray,
    classes: Mapping[Any, BoolArray],
    weights: IntArray,
    lengths: Sequence[int],
    *,
    seed: int,
    stop: Callable[[], bool],
) -> Choice:
    """Choose the price, the length and the class of rules by cross-validation on paths of prices.

    The rows are divided into five folds: once where there are 800, else more often, up to four
    times. Each fold is held out once; rules for all prices are learned from the others by local
    search (:func:`~cpx.methods.column_generation.exchange.price_path`), for each length and
    class. The most accurate of the shortest rules are taken, of equals the fewest; longer rules
    only where they are better by more than two standard errors of the difference. What cannot be
    better by that, or is behind by a standard error more after a division, is given up.

    Parameters
    ----------
    literals : (n, d) array of bool
        Of each row.
    classes : mapping of label to (n,) array of bool
        The classes that rules may describe, one or both of two, with the rows that are of them.
    weights : (n,) array of int
        What an error on each row weighs.
    lengths : sequence of int
        Maximum numbers of conditions of a rule to choose from. The first length and class are
        those of the choice where nothing can be validated.
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
    if len(weights) > _MOST_ROWS:
        part = np.sort(rng.choice(len(weights), _MOST_ROWS, replace=False))
        classes = {label: same[part] for label, same in classes.items()}
        literals, weights = literals[part], weights[part]
    first, same = next(iter(classes.items()))
    paths: list[_Path] = []
    if min(same.sum(), (~same).sum()) >= _FOLDS:
        paths = [_Path(label, classes[label], k) for k in sorted(lengths) for label in classes]
        paths = [path for path in paths if path.penalties]
    live = paths
    for _ in range(min(_MOST_TIMES, -(-_ENOUGH // len(same))) if paths else 0):
        folds = _folds(same, rng)
        for path in live:
            if not _hopeless(path.k, paths, weights):
                path.hold_out(literals, weights, folds, seed, stop)
        if stop():
            break
        live = _contenders([path for path in live if path.sizes], weights)
    validated = [one for path in paths for one in path.validated]
    if not validated:
        return Choice(first, FALLBACK, lengths[0], ())
    taken = _taken([path for path in live if path.sizes], weights)
    validated.sort(key=lambda one: (-one.penalty, one.k))
    return Choice(taken.positive, taken.penalty, taken.k, tuple(validated))


def _folds(same: BoolArray, rng: np.random.Generator) -> IntArray:
    """Return a fold for each row, with equal shares of both classes."""
    fold = np.empty(len(same), dtype=np.int64)
    for rows in (np.flatnonzero(same), np.flatnonzero(~same)):
        fold[rng.permutation(rows)] = np.arange(len(rows)) % _FOLDS
    return fold


class _Path:
    """Rules for one class, of one length, at all prices, on rows held out.

    Attributes
    ----------
    penalties : list of Fraction
        The prices, the highest first.
    sizes, accuracies : list of list
        For each fold held out, the number of rules and their accuracy at each price.
    right : (prices, n) array of int
        How often rules without a row were right about it.
    """

    def __init__(self, positive: Any, same: BoolArray, k: int) -> None:
        self.positive, self.same, self.k = positive, same, k
        self.penalties = [p for p in _PENALTIES if p * len(same) >= k * _LEAST_ROWS]
        self.sizes: list[list[int]] = []
        self.accuracies: list[list[float]] = []
        self.right: IntArray = np.zeros((len(self.penalties), len(same)), dtype=np.int64)

    def hold_out(
        self,
        literals: BoolArray,
        weights: IntArray,
        folds: IntArray,
        seed: int,
        stop: Callable[[], bool],
    ) -> None:
        """Hold out each fold once; what is stopped on the way is forgotten."""
        from cpx.methods.column_generation.exchange import price_path

        sizes, accuracies, right = [], [], np.zeros_like(self.right)
        for fold in range(_FOLDS):
            out = folds == fold
            table = Table(literals[~out], self.same[~out], weights[~out])
            prices = [penalty * int(table.weights.sum()) for penalty in self.penalties]
            sets = price_path(table, self.k, prices, np.random.default_rng(seed), stop)
            if stop():
                return
            rest = Table(literals[out], self.same[out], weights[out])
            right[:, out] = [_right(rest, rules) for rules in sets]
            sizes.append([len(rules) for rules in sets])
            accuracies.append(np.average(right[:, out], axis=1, weights=weights[out]).tolist())
        self.sizes += sizes
        self.accuracies += accuracies
        self.right += right

    @property
    def shares(self) -> Floats:
        """The share of the divisions that were right about a row, shape (prices, n)."""
        return self.right * _FOLDS / len(self.sizes)

    @property
    def validated(self) -> list[Validated]:
        """What was found at each price, nothing where no division was held out."""
        if not self.accuracies:
            return []
        # Dividing the same rows again makes the mean steadier, and tells nothing new of others.
        errors = np.std(self.accuracies, axis=0, ddof=1) / math.sqrt(_FOLDS)
        sizes, means = np.mean(self.sizes, axis=0), np.mean(self.accuracies, axis=0)
        figures = zip(self.penalties, sizes.tolist(), means.tolist(), errors.tolist(), strict=True)
        return [Validated(self.positive, p, self.k, r, a, e) for p, r, a, e in figures]


def _right(table: Table, rules: Sequence[Features]) -> BoolArray:
    """Say which rows get the right class."""
    covered = np.zeros(len(table.same), dtype=bool)
    for rule in rules:
        covered |= table.covered(rule)
    return np.asarray(covered == table.same)


def _hopeless(k: int, paths: Sequence[_Path], weights: IntArray) -> bool:
    """Say whether shorter rules are so good that no longer ones can be enough better."""
    return any(
        _lead(np.ones(len(row)), row, weights) <= _EVIDENCE
        for path in paths
        if path.k < k and path.sizes
        for row in path.shares
    )


def _contenders(paths: Sequence[_Path], weights: IntArray) -> list[_Path]:
    """Return the paths of which something may yet be taken, after as many divisions each."""
    best: dict[int, Floats] = {}
    for path in paths:
        for row in path.shares:
            if row @ weights > best.get(path.k, np.full(len(row), -1.0)) @ weights:
                best[path.k] = row

    def may_win(k: int, row: Floats) -> bool:
        return _lead(best[k], row, weights) <= 1 and all(
            _lead(row, best[other], weights) > (_EVIDENCE if other < k else -_EVIDENCE) - 1
            for other in best
            if other != k
        )

    return [path for path in paths if any(may_win(path.k, row) for row in path.shares)]


def _taken(paths: Sequence[_Path], weights: IntArray) -> Validated:
    """Return the best, where longer rules have to be better than what chance may do."""
    found = [
        (one, row) for path in paths for one, row in zip(path.validated, path.shares, strict=True)
    ]
    taken: tuple[Validated, Floats] | None = None
    for k in sorted({one.k for one, _ in found}):
        mine = [pair for pair in found if pair[0].k == k]
        best = max(mine, key=lambda pair: (pair[0].accuracy, -pair[0].rules, pair[0].penalty))
        if taken is None or _lead(best[1], taken[1], weights) > _EVIDENCE:
            taken = best
    assert taken is not None
    return taken[0]


def _lead(one: Floats, other: Floats, weights: IntArray) -> float:
    """Return by how many standard errors one is right more often than another.

    Every row is compared with itself, so that what is hard for all rules does not count.
    """
    gains = (one - other) * weights
    total, spread = float(gains.sum()), float(gains.std()) * math.sqrt(len(gains))
    return total / spread if spread else math.copysign(math.inf, total) if total else 0.0
