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
_MOST_STEPS = 8000  # of searches, so that choosing does not take several times as long as a fit
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
        Standard error of the accuracy, over the rows held out.
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
    times. One fold after the other is held out; rules for all prices are learned from the others
    by local search (:func:`~cpx.methods.column_generation.exchange.price_path`), for each length
    and class. The most accurate of the shortest rules are taken, of equals the fewest; longer
    rules only where they are to be expected to be better by more than two standard errors of the
    difference, once all rows are held out. After each fold is given up what is not likely to be
    taken. It ends when one is left, and with the fold in which the searches have taken 8000
    steps: a fit at a fixed price is seldom five times as quick.

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
        True ends it, and what is taken is chosen by the folds held out by then.

    Returns
    -------
    Choice
        A penalty of 0.01 where there are fewer than five rows of a class, or too few rows for any
        rule to be worth its price, or where the time is over before a fold was held out.
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
    live, steps = paths, _Steps(stop)
    for turn in range(_FOLDS * min(_MOST_TIMES, -(-_ENOUGH // len(same))) if paths else 0):
        if turn % _FOLDS == 0:
            folds = _folds(same, rng)
        for path in live:
            if not _hopeless(path.k, live, weights):
                path.hold_out(literals, weights, folds == turn % _FOLDS, seed, steps)
        if stop():
            break
        live = _contenders(live, weights)
        tried = [path for path in live if not _hopeless(path.k, live, weights)]
        if steps.taken > _MOST_STEPS or sum(len(path.open) for path in tried) == 1:
            break
    live = [path for path in live if path.looked_at]
    if not live:
        return Choice(first, FALLBACK, lengths[0], ())
    taken = _taken(live, weights)
    validated = [one for path in paths for one in path.validated(weights)]
    validated.sort(key=lambda one: (-one.penalty, one.k))
    return Choice(taken.positive, taken.penalty, taken.k, tuple(validated))


def _folds(same: BoolArray, rng: np.random.Generator) -> IntArray:
    """Return a fold for each row, with equal shares of both classes."""
    fold = np.empty(len(same), dtype=np.int64)
    for rows in (np.flatnonzero(same), np.flatnonzero(~same)):
        fold[rng.permutation(rows)] = np.arange(len(rows)) % _FOLDS
    return fold


class _Steps:
    """Whether to stop, and how often that was asked: at each step of a search."""

    def __init__(self, stop: Callable[[], bool]) -> None:
        self._stop, self.taken = stop, 0

    def __call__(self) -> bool:
        self.taken += 1
        return self._stop()


class _Path:
    """Rules for one class, of one length, at all prices, on rows held out.

    Attributes
    ----------
    penalties : list of Fraction
        The prices, the highest first.
    open : list of int
        Which of them may yet be taken. Lower prices than these are not tried any more.
    sizes, accuracies : list of list
        At each price, the number of rules and their accuracy for each fold held out.
    right, times : (prices, n) array of int
        How often a row was held out, and how often the rules were right about it.
    """

    def __init__(self, positive: Any, same: BoolArray, k: int) -> None:
        self.positive, self.same, self.k = positive, same, k
        self.penalties = [p for p in _PENALTIES if p * len(same) >= k * _LEAST_ROWS]
        self.open = list(range(len(self.penalties)))
        self.sizes: list[list[int]] = [[] for _ in self.penalties]
        self.accuracies: list[list[float]] = [[] for _ in self.penalties]
        self.right: IntArray = np.zeros((len(self.penalties), len(same)), dtype=np.int64)
        self.times = np.zeros_like(self.right)

    def hold_out(
        self,
        literals: BoolArray,
        weights: IntArray,
        out: BoolArray,
        seed: int,
        stop: Callable[[], bool],
    ) -> None:
        """Hold out some rows; what is stopped on the way is forgotten."""
        from cpx.methods.column_generation.exchange import price_path

        table = _merged(literals[~out], self.same[~out], weights[~out])
        total = int(table.weights.sum())
        prices = [penalty * total for penalty in self.penalties[: self.open[-1] + 1]]
        sets = price_path(table, self.k, prices, np.random.default_rng(seed), stop)
        if stop():
            return
        rest = Table(literals[out], self.same[out], weights[out])
        for i, rules in enumerate(sets):
            right = _right(rest, rules)
            self.sizes[i].append(len(rules))
            self.accuracies[i].append(float(np.average(right, weights=weights[out])))
            self.right[i, out] += right
            self.times[i] += out

    @property
    def looked_at(self) -> bool:
        """Whether anything was held out."""
        return bool(self.sizes[0])

    @property
    def shares(self) -> Floats:
        """How often rules were right about a row, NaN if it was not held out: (prices, n)."""
        shares: Floats = np.full(self.right.shape, np.nan)
        np.divide(self.right, self.times, out=shares, where=self.times > 0)
        return shares

    def validated(self, weights: IntArray) -> list[Validated]:
        """Return what was found at each price that was tried."""
        found = []
        for i, sizes in enumerate(self.sizes):
            if sizes:
                rules, accuracy = float(np.mean(sizes)), float(np.mean(self.accuracies[i]))
                # Dividing the same rows again makes the mean steadier, and adds no rows.
                seen = self.times[i] > 0
                spread = weights[seen] * (self.shares[i, seen] - accuracy)
                error = float(np.linalg.norm(spread)) / int(weights[seen].sum())
                one = self.penalties[i], self.k, rules, accuracy, error
                found.append(Validated(self.positive, *one))
        return found


def _merged(literals: BoolArray, same: BoolArray, weights: IntArray) -> Table:
    """Return a table in which rows that are equal are one."""
    bits = np.packbits(np.column_stack([literals, same]), axis=1)
    _, first, which = np.unique(bits, axis=0, return_index=True, return_inverse=True)
    total = np.zeros(len(first), dtype=np.int64)
    np.add.at(total, which, weights)
    return Table(literals[first], same[first], total)


def _right(table: Table, rules: Sequence[Features]) -> BoolArray:
    """Say which rows get the right class."""
    covered = np.zeros(len(table.same), dtype=bool)
    for rule in rules:
        covered |= table.covered(rule)
    return np.asarray(covered == table.same)


def _hopeless(k: int, paths: Sequence[_Path], weights: IntArray) -> bool:
    """Say whether shorter rules are so good that no longer ones can be enough better."""
    return any(
        _outlook(np.ones(len(row)), row, weights)[0] <= _EVIDENCE
        for path in paths
        if path.k < k and path.looked_at
        for row in path.shares[path.open]
    )


def _contenders(paths: Sequence[_Path], weights: IntArray) -> list[_Path]:
    """Return the paths of which something may yet be taken, and close their other prices.

    Nothing is said of those not looked at.
    """
    best: dict[int, tuple[float, Floats]] = {}
    for path in paths:
        for i in path.open if path.looked_at else ():
            one = float(np.mean(path.accuracies[i]))
            if one > best.get(path.k, (-1.0, None))[0]:
                best[path.k] = one, path.shares[i]

    def may_win(k: int, row: Floats) -> bool:
        behind, margin = _outlook(best[k][1], row, weights)
        if behind > margin:
            return False
        for other in best.keys() - {k}:
            ahead, margin = _outlook(row, best[other][1], weights)
            if ahead <= (_EVIDENCE if other < k else -_EVIDENCE) - margin:
                return False
        return True

    for path in paths:
        if path.looked_at:
            shares = path.shares
            path.open = [i for i in path.open if may_win(path.k, shares[i])]
    return [path for path in paths if path.open]


def _taken(paths: Sequence[_Path], weights: IntArray) -> Validated:
    """Return the best, where longer rules have to be better than what chance may do."""
    found = []
    for path in paths:
        told = list(zip(path.validated(weights), path.shares, strict=False))
        found += [told[i] for i in path.open if i < len(told)]
    taken: tuple[Validated, Floats] | None = None
    for k in sorted({one.k for one, _ in found}):
        mine = [pair for pair in found if pair[0].k == k]
        best = max(mine, key=lambda pair: (pair[0].accuracy, -pair[0].rules, pair[0].penalty))
        if taken is None or _outlook(best[1], taken[1], weights)[0] > _EVIDENCE:
            taken = best
    assert taken is not None
    return taken[0]


def _lead(one: Floats, other: Floats, weights: IntArray) -> tuple[float, float]:
    """Return by how many standard errors one is right more often, and the share of rows.

    Every row that was held out of both is compared with itself, so that what is hard for all
    rules does not count.
    """
    both = ~np.isnan(one + other)
    gains = ((one - other) * weights)[both]
    total, spread = float(gains.sum()), float(gains.std()) * math.sqrt(len(gains))
    lead = total / spread if spread else math.copysign(math.inf, total) if total else 0.0
    return lead, len(gains) / len(both)


def _outlook(one: Floats, other: Floats, weights: IntArray) -> tuple[float, float]:
    """Return the lead to expect once all rows are held out, and by how much it may change.

    That is by the standard error of the rows that are left, and by one more.
    """
    lead, share = _lead(one, other, weights)
    return lead / math.sqrt(share), 1 + math.sqrt(1 / share - 1)
