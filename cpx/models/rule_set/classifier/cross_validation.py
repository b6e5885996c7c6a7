"""The price of a rule, its length, its class and the weights of errors, by cross-validation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.models.rule_set.classifier.model_selection import Choice, Validated
from cpx.models.rule_set.methods.column_generation.table import Table
from cpx.support.validation import valid_seed

__all__ = ["FALLBACK", "LENGTHS", "chosen_price"]

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

FALLBACK = Fraction(1, 100)
"""The penalty where none can be validated, and of rules that imitate a black box."""

LENGTHS = 3, 6
"""Of rules, to choose from where none is given."""

_USUAL = Fraction(1, 50)  # the penalty that is chosen where no other one is clearly better

_PENALTIES = tuple(
    Fraction(share) for share in ("0.08", "0.04", "0.02", "0.01", "0.005", "0.0025")
)
_LEAST_ROWS = Fraction(3, 4)  # that a rule must save for each condition it may have
_FOLDS = 5
_MOST_TIMES, _ENOUGH = 2, 800  # how often the rows are divided: until so many were held out
_MOST_WORK = 3 * 10**8  # of searches, some tenths of a second: as long as a fit
_MOST_ROWS = 4000  # that are looked at
_EVIDENCE = 2  # standard errors by which others must be better than what is usual


def chosen_price(
    literals: BoolArray,
    classes: Mapping[Any, BoolArray],
    weights: IntArray,
    lengths: Sequence[int],
    *,
    seed: int,
    stop: Callable[[], bool],
    confidence: Callable[[BoolArray], IntArray] | None = None,
) -> Choice:
    """Choose the price, the length and the class of rules by cross-validation on paths of prices.

    Usual are rules of the first length for the more frequent class, at the price that is next to
    0.02. Others are taken where they are to be expected to be more accurate by more than two
    standard errors of the difference, once all rows are held out: the most accurate of them. Of
    what is right on the same rows as the one that would be taken, the fewest rules are.

    The rows are divided into five folds, once where there are 800, else twice. One fold after the
    other is held out; rules for all prices are learned from the others by local search
    (:func:`~cpx.models.rule_set.methods.column_generation.exchange.price_path`), for each length
    and class. After each fold is given up what is not likely to be taken. It ends when nothing but
    the usual is left, and with the fold in which the searches have looked at 300 million blocks of
    eight words, which takes some tenths of a second.

    literals: Of each row.
    classes: The classes that rules may describe, one or both of two, with the rows that are of
        them.
    weights: What an error on each row weighs.
    lengths: Maximum numbers of conditions of a rule to choose from, the usual one first.
    stop: True ends it, and what is taken is chosen by the folds held out by then.
    confidence: Returns for some rows, given as an array of bool, their self-confidence among
        these. With it, rules are learned from rows that weigh by it as well, and that is usual.
        Not for more than 4000 rows.
    Returns: A penalty of 0.01 where there are fewer than five rows of a class, or too few rows for
        any rule to be worth its price, or where the time is over before a fold was held out.
    """
    rng = np.random.default_rng(valid_seed(seed))
    if len(weights) > _MOST_ROWS:
        part = np.sort(rng.choice(len(weights), _MOST_ROWS, replace=False))
        classes = {label: same[part] for label, same in classes.items()}
        literals, weights = literals[part], weights[part]
    first, same = next(iter(classes.items()))
    paths: list[_Path] = []
    if min(same.sum(), (~same).sum()) >= _FOLDS:
        frequent = sorted(classes, key=lambda label: -int(weights[classes[label]].sum()))
        paths = [
            _Path(label, classes[label], k, confident)
            for confident in ([False] if confidence is None else [True, False])
            for k in lengths
            for label in frequent
        ]
        paths = [path for path in paths if path.penalties]
    table, which = _merged(literals, same)
    live, cut = paths, False
    for turn in range(_FOLDS * min(_MOST_TIMES, -(-_ENOUGH // len(same))) if paths else 0):
        if cut := stop():
            break
        if turn % _FOLDS == 0:
            folds = _folds(same, rng)
        out = folds == turn % _FOLDS
        seen = {False: np.where(out, 0, weights)}
        if confidence is not None and any(path.confident for path in live):
            seen[True] = seen[False].copy()
            seen[True][~out] *= confidence(~out)
        for path in live:
            if stop():
                break
            path.hold_out(table, which, weights, seen[path.confident], out, seed, stop)
        if cut := stop():
            break
        live = _contenders(live, weights)
        if table.beams.work > _MOST_WORK or sum(len(path.open) for path in live) == 1:
            break
    live = [path for path in live if path.looked_at]
    if not live:
        return Choice(first, FALLBACK, lengths[0], (), finished=not cut)
    taken = _taken(live, weights)
    validated = [one for path in paths for one in path.validated(weights)]
    validated.sort(key=lambda one: (-one.penalty, one.k))
    positive, penalty, k, confident = taken.asked
    return Choice(positive, penalty, k, tuple(validated), confident, not cut)


def _folds(same: BoolArray, rng: np.random.Generator) -> IntArray:
    """Return a fold for each row, with equal shares of both classes."""
    fold = np.empty(len(same), dtype=np.int64)
    for rows in (np.flatnonzero(same), np.flatnonzero(~same)):
        fold[rng.permutation(rows)] = np.arange(len(rows)) % _FOLDS
    return fold


class _Path:
    """Rules for one class, of one length, at all prices, on rows held out.

    penalties: The prices, the highest first.
    open: Which of them may yet be taken. Lower prices than these are not tried any more.
    sizes, accuracies: At each price, the number of rules and their accuracy for each fold held
        out.
    right, times: How often a row was held out, and how often the rules were right about it.
    """

    def __init__(self, positive: Any, same: BoolArray, k: int, confident: bool) -> None:
        self.positive, self.same, self.k, self.confident = positive, same, k, confident
        self.penalties = [p for p in _PENALTIES if p * len(same) >= k * _LEAST_ROWS]
        self.open = list(range(len(self.penalties)))
        self.sizes: list[list[int]] = [[] for _ in self.penalties]
        self.accuracies: list[list[float]] = [[] for _ in self.penalties]
        self.right: IntArray = np.zeros((len(self.penalties), len(same)), dtype=np.int64)
        self.times = np.zeros_like(self.right)

    def hold_out(
        self,
        table: Table,
        which: IntArray,
        weights: IntArray,
        seen: IntArray,
        out: BoolArray,
        seed: int,
        stop: Callable[[], bool],
    ) -> None:
        """Hold out some rows, and learn from the others, with the weights that these have there.

        What is stopped on the way is forgotten.

        table, which: The rows, of which equal ones are one, and which of these each row is.
        """
        from cpx.models.rule_set.methods.column_generation.exchange import price_path

        same = np.empty_like(table.same)
        same[which] = self.same
        total = np.bincount(which, seen, minlength=len(same)).astype(np.int64)
        table = table.weighed(total, same)
        prices = [penalty * int(seen.sum()) for penalty in self.penalties[: self.open[-1] + 1]]
        sets = price_path(table, self.k, prices, np.random.default_rng(seed), stop)
        if stop():
            return
        for i, rules in enumerate(sets):
            right = (table.any_covers(rules) == same)[which[out]]
            self.sizes[i].append(len(rules))
            self.accuracies[i].append(float(np.average(right, weights=weights[out])))
            self.right[i, out] += right
            self.times[i] += out

    @property
    def usual(self) -> int:
        """Which of the prices is next to the usual one."""
        return min(
            range(len(self.penalties)), key=lambda i: abs(math.log(self.penalties[i] / _USUAL))
        )

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
                found.append(Validated(self.positive, *one, self.confident))
        return found


def _merged(literals: BoolArray, same: BoolArray) -> tuple[Table, IntArray]:
    """Return a table in which rows that are equal are one, and which of them each row is."""
    bits = np.packbits(np.column_stack([literals, same]), axis=1)
    _, first, which = np.unique(bits, axis=0, return_index=True, return_inverse=True)
    return Table(literals[first], same[first], np.ones(len(first), dtype=np.int64)), which


def _contenders(paths: Sequence[_Path], weights: IntArray) -> list[_Path]:
    """Return the paths of which something may yet be taken, and close their other prices.

    The first path is the usual one, and keeps its usual price. Nothing is said of those not
    looked at.
    """
    first = paths[0]
    if not first.looked_at:
        return list(paths)
    usual = first.shares[first.usual]
    told = [path for path in paths if path.looked_at]
    best = max(
        ((float(np.mean(path.accuracies[i])), path, i) for path in told for i in path.open),
        key=lambda one: one[0],
    )
    top = best[1].shares[best[2]]

    def may_win(rules: float, row: Floats) -> bool:
        if np.array_equal(row, usual, equal_nan=True):
            return rules < float(np.mean(first.sizes[first.usual]))
        ahead, margin = _outlook(row, usual, weights)
        behind, slack = _outlook(top, row, weights)
        return ahead > _EVIDENCE - margin and behind <= slack

    for path in told:
        shares = path.shares
        path.open = [
            i
            for i in path.open
            if (path is first and i == path.usual)
            or may_win(float(np.mean(path.sizes[i])), shares[i])
        ]
    return [path for path in paths if path.open]


def _taken(paths: Sequence[_Path], weights: IntArray) -> Validated:
    """Return the usual, or what is better by more than chance may do.

    The first path is the usual one.
    """
    told = {path: list(zip(path.validated(weights), path.shares, strict=False)) for path in paths}
    usual = told[paths[0]][paths[0].usual]
    others = [told[path][i] for path in paths for i in path.open if i < len(told[path])]
    clear = [pair for pair in others if _outlook(pair[1], usual[1], weights)[0] > _EVIDENCE]
    best = max(clear, key=lambda pair: pair[0].accuracy, default=usual)
    alike = [pair for pair in others if np.array_equal(pair[1], best[1], equal_nan=True)]
    return min([best, *alike], key=lambda pair: (pair[0].rules, -pair[0].penalty, pair[0].k))[0]


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
