"""What plausible changes are made of: the values of a table, and how rare rows are in it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cpx.data.coding import Coding
from cpx.explainers.background import fitted_distribution
from cpx.models.sufficient_reason.changes import allowed, within
from cpx.models.sufficient_reason.methods.wanted_rows import Rarity
from cpx.trees import TreeModel

if TYPE_CHECKING:
    import pandas as pd

    from cpx.data.fitted.tree_mixture import TreeMixture

__all__ = ["SeenValues"]

_MOST_CUTS = 256
"""Cuts of a column between states of the mixture; of more, every so many is one."""

_MOST_GROUPS = 64
"""The same where each value of a column is worth something else to the model."""

_Fitted = tuple[Coding, "TreeMixture", NDArray[np.float64]]


class SeenValues:
    """The values of a table, and a mixture fitted to it, for changes of one row after the other.

    Of a sum of functions of one column each, as linear models are, columns of many values are cut
    into groups of neighbours. All values of a group are as likely under the mixture; so if a
    change with one of them gives another class, one with that of the greatest gain does.

    model: Which has the rows' columns.
    rows: The table, as numbers.
    """

    def __init__(self, model: TreeModel, rows: pd.DataFrame, seed: int) -> None:
        self.rows, self.seed = rows, seed
        self.sums = None if model.live is None else model.live.sums
        self.numbers = np.asarray(rows, dtype=np.float64)
        self.lacking = np.asarray(np.isnan(self.numbers).any(axis=0))
        self.values: list[NDArray[np.float64]] = [
            np.unique(column[~np.isnan(column)]) for column in self.numbers.T
        ]
        # Where no tree cuts columns, each value may be worth something else.
        self._by_value = self.sums is not None or not any(map(len, model.thresholds))
        most = _MOST_GROUPS if self._by_value else _MOST_CUTS
        self._cuts = [
            cuts[:: 1 + len(cuts) // most]
            for cuts in (map(_between, self.values) if self._by_value else model.thresholds)
        ]
        self._fitted: dict[Any, _Fitted] = {}

    @cached_property
    def _added(self) -> list[NDArray[np.float64]]:
        """What each value adds to the scores of a sum of functions."""
        assert self.sums is not None  # who calls asks for it
        found: list[NDArray[np.float64]] = self.sums.added(self.values)
        return found

    def table(
        self, model: TreeModel, x: Sequence[float], ranges: Mapping[int, Any]
    ) -> NDArray[np.float64]:
        """Return rows that have each value that a change of x may need, by column.

        ranges: As for :func:`~cpx.models.sufficient_reason.changes.restricted`.
        """
        own, kept = int(model.predict_index(np.array(x))[0]), []
        for a, values in enumerate(self.values):
            may = within(values, allowed(model.attributes[a], ranges.get(a)))
            if len(values) > len(self._cuts[a]) + 1 and self.sums is not None and may.any():
                may[may] = self._greatest(model, a, own, may)
            kept.append(values[may])
        found = np.tile(np.array(x, dtype=np.float64), (1 + max(map(len, kept)), 1))
        for a, values in enumerate(kept):
            found[: len(values), a] = values
            if self.lacking[a]:
                found[len(values) :, a] = np.nan
        return found

    def _greatest(
        self, model: TreeModel, a: int, own: int, may: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Say which of some values of a column have the greatest gain in their group.

        For some class in place of that of x.
        """
        added, group = self._added[a][may], np.searchsorted(self._cuts[a], self.values[a][may])
        if model.decision == "first":
            gains = np.delete(added - added[:, own, None], own, axis=1)
        else:
            gains = added if own == 0 else -added
        starts, kept = np.flatnonzero(np.diff(group, prepend=-1)), np.zeros(len(group), bool)
        for gain in gains.T:
            best = np.repeat(np.maximum.reduceat(gain, starts), np.diff([*starts, len(group)]))
            # Differences are rounded: of all with the greatest, each that adds something else.
            tied = np.flatnonzero(gain == best)
            parts = np.column_stack([group[tied], added[tied]])
            kept[tied[np.unique(parts, axis=0, return_index=True)[1]]] = True
        return kept

    def says_all(self, model: TreeModel, target: object) -> bool:
        """Whether what no row of :meth:`table` is, no row with values of the table is.

        One of several other classes must win over each: the greatest gain over one is not enough.
        """
        whole = all(len(v) <= len(c) + 1 for v, c in zip(self.values, self._cuts))
        return self.sums is None or whole or target is None or len(model.classes) == 2

    def rarity(self, model: TreeModel, x: Sequence[float], least: float) -> Rarity:
        """Return how rare rows may be: as rare as this share of the table, or as x.

        The mixture is over the states that the model tells apart and finer ones.
        """
        coding, mixture, known = self._mixture(model, x)
        row = np.array([x], dtype=np.float64)

        def likely(table: NDArray[np.float64]) -> NDArray[np.float64]:
            return mixture.log_likelihood(coding.codes(table))

        def states(a: int, pool: NDArray[np.float64]) -> NDArray[Any]:
            table = np.tile(row, (len(pool), 1))
            table[:, a] = pool
            return np.asarray(coding.codes(table)[:, a])

        limit = known[max(math.ceil(least * len(known)) - 1, 0)]
        return Rarity(likely, states, known, min(float(limit), float(likely(row)[0])))

    def _mixture(self, model: TreeModel, x: Sequence[float]) -> _Fitted:
        """Return the mixture over states of the table, and of x where it has others."""
        cuts, other = list(self._cuts), []
        for a, value in enumerate(x):
            if math.isnan(value):
                other += [(a, value)] * (not self.lacking[a])
            elif self._by_value and model.attributes[a].labels and value not in self.values[a]:
                other.append((a, value))
                cuts[a] = _between(np.union1d(self.values[a], value))
        key = str(other)
        if key not in self._fitted:
            coding = Coding.fit(
                self.rows,
                names=[attribute.name for attribute in model.attributes],
                cuts=cuts,
                cast=model.cast,
                also=np.array(x),
            )
            mixture, _ = fitted_distribution(
                "mixture", model, coding, self.rows, None, 1.0, self.seed
            )
            known = np.sort(mixture.log_likelihood(coding.codes(self.numbers)))
            self._fitted[key] = coding, mixture, known
        return self._fitted[key]


def _between(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return cuts half-way between increasing values."""
    low, high = values[:-1], values[1:]
    return np.minimum(low + (high - low) / 2, np.nextafter(high, -np.inf))
