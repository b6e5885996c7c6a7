"""Plausible changes of networks: rows of the values of a table, listed for columns that change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.models.sufficient_reason.changes import allowed, within
from cpx.models.sufficient_reason.methods.wanted_rows import Rarity, WantedRows
from cpx.models.sufficient_reason.networks.live import LiveNetwork, classes_of
from cpx.models.sufficient_reason.networks.network import Network

__all__ = ["PlausibleRows"]

Floats = NDArray[np.float64]


class PlausibleRows(WantedRows):
    """Rows of values of a table that a network gives a wanted class, and that are not too rare.

    network, live: The network, and what its transformers make of rows.
    x: The row.
    targets: Indices of the classes that are wanted.
    rarity: How rare they may be.
    pools: The values of each column in the table.
    ranges: What columns may change to, by number; others to any value of the table.
    look: Called now and then; may raise what ends the search.
    """

    def __init__(
        self,
        network: Network,
        live: LiveNetwork,
        x: Sequence[float],
        targets: Sequence[int],
        rarity: Rarity,
        pools: Sequence[Floats],
        ranges: Mapping[int, Any],
        look: Callable[[], None],
    ) -> None:
        self.network, self.live, self.x = network, live, np.array(x, dtype=np.float64)
        self.targets, self.rarity, self._look = [*targets], rarity, look
        self._pools = [
            pool[within(pool, allowed(own, ranges.get(a))) & (pool != self.x[a])]
            for a, (own, pool) in enumerate(zip(network.attributes, pools, strict=True))
        ]

    def within_pools(self, table: Floats) -> Floats:
        """Return a table with the values of x in place of those that columns may not change to."""
        fine = [np.isin(table[:, a], pool) for a, pool in enumerate(self._pools)]
        return np.where(np.array(fine).T, table, self.x)

    def point(self, row: Floats) -> Floats:
        """Return what a row gives to the network."""
        return np.asarray(self.live.inputs(row[None, :])[0])

    def _have_class(self, rows: Floats) -> NDArray[np.bool_]:
        if not len(rows):
            return np.zeros(0, dtype=np.bool_)
        return np.isin(classes_of(self.network, self.live.inputs(rows)), self.targets)

    def _options(self, columns: Sequence[int]) -> list[list[Floats]]:
        """Return the values of each column, those near x first: each one may count."""
        return [[*self._near_first(a).reshape(-1, 1)] for a in columns]
