"""Linear inequalities that sufficient reasons meet and a fractional set does not.

Where they come from, says :mod:`cpx.trees.sufficiency.linear_cuts`; here are the rows that they
are made from: those that local search finds where the attributes with great shares are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from cpx.trees.sufficiency.oracle import SufficiencyOracle
from cpx.trees.sufficiency.set_family import in_words
from cpx.trees.sufficiency.workspace import Workspace

__all__ = ["UNIT", "Cuts"]

UNIT = 1 << 20
"""The least sum of each inequality."""


class Cuts:
    """Inequalities: weights, integers from 0 to ``UNIT``, whose sum over a reason is ``UNIT``.

    Parameters
    ----------
    oracle : SufficiencyOracle
        Of the row.
    """

    def __init__(self, oracle: SufficiencyOracle) -> None:
        self._oracle = oracle
        self._n = len(oracle.grid.used)
        self._random = np.random.default_rng(0)

    def violated(
        self, shares: NDArray[np.float64], levels: Sequence[float], least: float
    ) -> Iterator[NDArray[np.int64]]:
        """Yield inequalities that shares of the attributes miss by more than ``least``.

        For each level and rival, the attributes whose share reaches the level are kept, and the
        others moved to where the rival gains most. Then those that were kept are moved, too: that
        tells what each of them is worth. Then the row is brought back to x as far as it remains
        of another class, those with great shares first.
        """
        seen = set()
        for level in levels:
            kept = shares >= level
            if (key := kept.tobytes()) in seen:
                continue
            seen.add(key)
            for rival in self._oracle.rivals:
                space = self._oracle.space(rival)
                space.point[:] = self._oracle.x
                for weights in self._from_row(space, kept, shares):
                    if weights @ shares < (1 - least) * UNIT:
                        yield weights

    def of_set(self, places: int) -> NDArray[np.int64]:
        """Return the inequality that asks for one of some places."""
        data = np.frombuffer(places.to_bytes(self._n // 8 + 1, "little"), dtype=np.uint8)
        return UNIT * np.unpackbits(data, bitorder="little")[: self._n].astype(np.int64)

    def of_counterexample(self, kept: NDArray[np.bool_], change: int) -> list[NDArray[np.int64]]:
        """Return inequalities that a set misses, after the oracle found a change of others."""
        space = self._oracle.space(self._oracle.rivals[0])
        space.point[kept] = self._oracle.x[kept]
        found = self._from_row(space, kept, kept.astype(np.float64))
        missed = [weights for weights in found if weights[kept].sum() < UNIT]
        return [self.of_set(change), *missed]

    def _from_row(
        self, space: Workspace, kept: NDArray[np.bool_], shares: NDArray[np.float64]
    ) -> Iterator[NDArray[np.int64]]:
        space.shares[:] = shares
        self._random.shuffle(space.order)
        total = self._deepen(space, kept)
        row = space.point.copy()
        yield from self._weighed(space)
        self._deepen(space, ~kept)
        yield from self._weighed(space)
        if total < space.enough:
            return
        space.point[:] = row
        space.order[:] = np.argsort(-shares, kind="stable")
        space.restore()
        yield np.where(space.point != self._oracle.x, UNIT, 0)
        same = space.point == self._oracle.x
        self._deepen(space, same)
        yield from self._weighed(space)
        self._deepen(space, ~same)
        yield from self._weighed(space)

    def _deepen(self, space: Workspace, held: NDArray[np.bool_]) -> int:
        """Move what is not held to where the rival gains most; return what it gets."""
        bits = int.from_bytes(np.packbits(held, bitorder="little").tobytes(), "little")
        space.held[:] = in_words(bits, self._n)
        return int(space.deepen())

    def _weighed(self, space: Workspace) -> Iterator[NDArray[np.int64]]:
        """Yield the inequality of the point, if it says anything."""
        least = space.weigh() - space.enough + 1
        if least > 0:
            # Rounded up: what is asked for is not more than before.
            yield np.array([min(UNIT, -(-w * UNIT // least)) for w in space.weights.tolist()])
