"""A sum of functions of one column each as tree models: a staircase per column, over its values.

What is said of values of a column is true of all numbers between them, where the difference of
any two scores is monotone from each value to the next: it is greatest and least at values then.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.data.targets import Prediction
from cpx.errors import DataError, shortened, shown
from cpx.trees.attribute import Attribute
from cpx.trees.form import TreeModel
from cpx.trees.front import NOT_TAKEN, Front
from cpx.trees.linear import Sum
from cpx.trees.live import LiveModel
from cpx.trees.regressors import LiveNumbers
from cpx.trees.transformers import MONOTONE
from cpx.trees.tree import REFUSED, RIGHT, Tree

MOST_VALUES = 64
"""Values of a column that a model for one row has, beside the least, the greatest and its own."""

MOST_BASE = 1024
"""The same of a model for no row, such as one for expectations."""


@dataclass(frozen=True, eq=False)
class ColumnSums:
    """A sum of functions of one column each, of which tree models over some values are made.

    given: What is said of the columns.
    numbers: The values of columns of numbers, increasing.
    """

    total: Sum
    front: Front
    given: tuple[Attribute, ...]
    numbers: tuple[NDArray[np.float64], ...]
    classes: tuple[Any, ...]
    named: bool

    def covering(self, model: TreeModel, rows: NDArray[np.float64]) -> TreeModel:
        """Return a model over few values of each column and all of some rows.

        model: One of these, with names, and with columns that may be missing, for the new one.
        """
        found = self.over(np.atleast_2d(rows))
        pairs = zip(found.attributes, model.attributes, strict=True)
        both = [
            own
            if own.labels and new.kind == "boolean"  # called false and true
            else replace(own, kind=new.kind, values=new.values, labels=new.labels)
            for new, own in pairs
        ]
        return replace(found.with_attributes(both), named=model.named)

    def over(self, rows: NDArray[np.float64] | None) -> TreeModel:
        """Return the model over values of columns: the first, or few and those of some rows."""
        pools = [self._pool(c, rows) for c in range(self.front.width)]
        base = [sum(map(Fraction, start), Fraction(0)) for start in self.total.starts]
        start = [float(v) for v in base]
        rest = [float(v - Fraction(w)) for v, w in zip(base, start)]
        trees, attributes, thresholds = [], [], []
        for c, (steps, gone) in enumerate(zip(self.added(pools), self._gone)):
            used = bool(steps.any()) or bool(gone is not None and gone.any())
            attributes.append(self._attribute(c, pools[c], gone is not None))
            between = rows is not None and attributes[-1].kind == "real" and self.is_ranged(c)
            cuts = _cuts(pools[c], between) if used else np.zeros(0)
            thresholds.append(cuts)
            if used:
                cells = np.searchsorted(cuts, pools[c])
                trees.append(_staircase(c, cells.tolist(), len(cuts), steps, gone))
        if any(rest) or not trees:
            trees.append(_staircase(0, [0], 0, np.array([rest]), None))
        return TreeModel(
            attributes=tuple(attributes),
            classes=self.classes,
            trees=tuple(trees),
            thresholds=tuple(thresholds),
            rule="sum",
            decision=self.total.decision,
            base=tuple(start),
            source=f"sklearn {type(self.total.model).__name__}",
            named=self.named,
            live=self._live(),
            prediction=None if self.total.target is None else Prediction(self.total.target, 1),
        )

    def _live(self) -> LiveModel:
        total = self.total
        about: dict[str, Any] = {"front": self.front, "sums": self}
        if total.target is None:
            return LiveModel(total.model, total.classes, total.link, **about)
        return LiveNumbers(total.model, total.classes, total.link, target=total.target, **about)

    # ------------------------------------------------------------------ values

    def _pool(self, c: int, rows: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return values of a column, increasing."""
        stated, listed = self.given[c], self.front.listed(c)
        more = np.zeros(0) if rows is None else rows[~np.isnan(rows[:, c]), c]
        if listed is not None:
            return np.unique(np.append(listed, more))
        own = self._known[c]
        if stated.kind == "boolean" or stated.values is not None:
            return own
        low, high = stated.interval
        more = more[(low <= more) & (more <= high)]
        if self.is_ranged(c):
            ends = [*own[:1], *own[-1:], *more]
            own = _thinned(own, MOST_VALUES if rows is not None else MOST_BASE)
            turns = [v for v in self._turns(c) if min(ends) <= v <= max(ends)] if ends else []
            more = np.append(more, turns)
        return np.unique(np.append(own, more) + 0.0)

    def is_ranged(self, c: int) -> bool:
        """Whether what is true of neighbouring values of a column is true of numbers between."""
        own = [self.front.features[i] for i in self.front.made_of[c]]
        numbers = [f for f in own if f.change != "MissingIndicator"]
        if self.front.categories(c) is not None or self.total.codes or len(numbers) > 1:
            return False
        changed = [f.change for f in numbers if f.change]
        if self.total.turns is not None and changed:
            return False
        known = *MONOTONE, "a weight"
        return all(name in known or name.startswith("FunctionTransformer") for name in changed)

    @cached_property
    def _known(self) -> list[NDArray[np.float64]]:
        """The values of columns of numbers, without those between others that are worth the same.

        Of those that rise or fall all the way, all.
        """
        found = []
        for c, (own, steps) in enumerate(zip(self.numbers, self.added(self.numbers))):
            kept = np.ones(len(own), dtype=np.bool_)
            if not self.is_ranged(c):
                same = (steps[1:] == steps[:-1]).all(axis=1)
                kept[1:-1] = ~(same[:-1] & same[1:])
            found.append(own[kept])
        return found

    def _turns(self, c: int) -> Sequence[float]:
        if self.total.turns is None or not self.front.made_of[c]:
            return ()
        return self.total.turns(self.front.made_of[c][0])

    def told(self, names: Sequence[str]) -> str:
        """Say which numbers columns of these names may have."""
        listed = [
            name
            for c, name in enumerate(names)
            if len(self.numbers[c]) > 2 and self.front.made_of[c] and not self.is_ranged(c)
        ]
        text = "numbers may be anything from the least to the greatest of X and x"
        return text + f"; of {', '.join(listed)} those of X and x" * bool(listed)

    def _attribute(self, c: int, pool: NDArray[np.float64], missing: bool) -> Attribute:
        stated, labels = self.given[c], self.front.labels(c)
        may = stated.missing or (missing and c in self.front.walk.imputed)
        if not self.front.made_of[c]:
            return replace(stated, missing=True)  # nothing reads it
        if labels is not None:
            known = self.front.listed(c)
            own = Attribute(stated.name, "categorical", values=known, labels=labels, missing=may)
            for value in pool.tolist():
                own = own.knowing(value)
            return own
        if stated.kind == "boolean" or pool.tolist() == [0.0, 1.0]:
            return Attribute(stated.name, "boolean", missing=may)
        return Attribute(stated.name, values=tuple(pool.tolist()), missing=may)

    # ------------------------------------------------------- what values add

    def added(self, pools: Sequence[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
        """Return what values of each column add to the scores, shape (values, scores)."""
        rows = np.tile(self.front.reference, (max(map(len, pools), default=0), 1))
        for c, pool in enumerate(pools):
            rows[: len(pool), c] = pool
        try:
            made = self.front.made(rows)
        except NOT_TAKEN as error:
            raise DataError(f"a value of the rows is not taken: {shortened(error)}") from error
        found = []
        for c, pool in enumerate(pools):
            steps = self._sum(c, made[: len(pool)])
            if not (fine := np.isfinite(steps).all(axis=1)).all():
                name = shown(self.front.title(c))
                raise DataError(f"{name} is {pool[~fine][0]:g}, which the model does not take")
            found.append(steps)
        return found

    @cached_property
    def _gone(self) -> list[NDArray[np.float64] | None]:
        """What a missing value of each column adds to the scores, None where it is not taken."""
        found: list[NDArray[np.float64] | None] = []
        for c, own in enumerate(self.front.made_of):
            row = self.front.reference.copy()
            row[c] = np.nan
            try:
                added = self._sum(c, self.front.made(row[None]))[0]
            except NOT_TAKEN:
                added = np.array([np.nan])
            found.append(added if own and np.isfinite(added).all() else None)
        return found

    def _sum(self, c: int, made: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what a column adds to the scores, shape (rows, scores), rounded once."""
        with np.errstate(all="ignore"):
            parts = [self.total.terms(i, made[:, i]) for i in self.front.made_of[c]]
        if len(parts) < 2:
            return parts[0] if parts else np.zeros((len(made), len(self.total.starts)))
        stacked = np.stack(parts)
        if (np.count_nonzero(stacked, axis=0) < 2).all() or not np.isfinite(stacked).all():
            return np.asarray(stacked.sum(axis=0))
        return np.apply_along_axis(math.fsum, 0, stacked)


def _thinned(values: NDArray[np.float64], most: int) -> NDArray[np.float64]:
    """Return at most so many of increasing values, the first and the last among them."""
    if len(values) <= most:
        return values
    return values[np.unique(np.linspace(0, len(values) - 1, most).round().astype(np.int64))]


def _cuts(values: NDArray[np.float64], between: bool) -> NDArray[np.float64]:
    """Return thresholds between values: half-way, or both ends of what lies between two of them.

    The latter say of what is known of values what it is worth of numbers between: nothing of
    those up to the next one.
    """
    low, high = values[:-1], values[1:]
    below = np.nextafter(high, -np.inf)
    return (
        np.unique(np.concatenate([low, below]))
        if between
        else np.minimum(low + (high - low) / 2, below)
    )


def _staircase(
    c: int,
    cells: Sequence[int],
    size: int,
    steps: NDArray[np.float64],
    gone: NDArray[np.float64] | None,
) -> Tree:
    """Return the balanced tree of a column with these leaves from the least value on.

    cells: Of the values; there are so many thresholds.
    gone: The leaf of a missing value.
    """
    attribute: list[int] = []
    split: list[int] = []

    def grow(first: int, end: int) -> None:
        if end - first == 1:
            attribute.append(-1)
            split.append(0)
            return
        middle = (first + end) // 2
        attribute.append(c)
        split.append(cells[middle - 1])
        grow(first, middle)
        grow(middle, end)

    if gone is not None:
        attribute.append(c)
        split.append(size)  # all values go left, a missing one goes right
    grow(0, len(steps))
    values = steps
    if gone is not None:
        attribute.append(-1)
        split.append(0)
        values = np.vstack([steps, gone])
    missing = np.full(len(attribute), REFUSED if gone is None else RIGHT)
    outputs = tuple(range(values.shape[1]))
    return Tree(np.array(attribute), np.array(split), missing, values, outputs)
