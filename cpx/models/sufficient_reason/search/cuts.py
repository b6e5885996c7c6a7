"""Linear inequalities that sufficient reasons meet and a fractional set does not.

Where they come from, says :mod:`cpx.models.sufficient_reason.sufficiency.linear_cuts`; here are
the rows that they are made from: those that local search finds where the attributes with great
shares are kept, drawn ones, and mixtures of such that gave inequalities before. All of them go to
where the inequality of the row is missed by most.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cpx.models.sufficient_reason.sufficiency.oracle import SufficiencyOracle
from cpx.models.sufficient_reason.sufficiency.set_family import in_words

__all__ = ["UNIT", "Cuts", "Inequality", "bits_of", "scaled"]

UNIT = 1 << 20
"""The least sum of each inequality."""

_BITS = 42  # numbers of so many, times UNIT, fit into 64 bits
# Rows to begin with: of how many that were found they are mixed, how much of the second one they
# have, and how many are drawn instead.
_LAST, _MIXED, _DRAWN = 200, 0.3, 0.5

_INSIDE = 0.05  # the share of what a set leaves out, and what is short of 1 otherwise


@dataclass(frozen=True)
class Inequality:
    """Weights whose sum over a reason is ``UNIT`` at least, and where they come from.

    weights: From 0 to ``UNIT``.
    row: Positions of the row, -1 for a missing value; None for a set that was known before.
    rival: The class whose score is bounded.
    of_entries: What each tree weighs the attributes, see ``weigh``; None where the row is of
        another class, so that one of the attributes in which it differs from x is in the reason.
    """

    weights: NDArray[np.int64]
    row: NDArray[np.int64] | None = None
    rival: int = -1
    of_entries: NDArray[np.int64] | None = None


def scaled(weights: NDArray[np.int64], least: int) -> NDArray[np.int64]:
    """Return weights for a least sum of ``UNIT``, rounded up: they ask for no more than before.

    Of ``least`` and all weights, bits that do not fit into 64 times ``UNIT`` are rounded, too.
    """
    shift = max(least.bit_length() - _BITS, 0)
    up = -(-np.minimum(weights, least) >> shift)
    found: NDArray[np.int64] = np.minimum(-(-up * UNIT // (least >> shift)), UNIT)
    return found


class Cuts:
    """Finds inequalities.

    oracle: Of the row.
    """

    def __init__(self, oracle: SufficiencyOracle) -> None:
        self._oracle = oracle
        self._n, self._places = len(oracle.grid.used), len(oracle.feature)
        self._random = np.random.default_rng(0)
        # The last rows that gave inequalities, and their rivals.
        self._rows: deque[tuple[int, NDArray[np.int64]]] = deque(maxlen=_LAST)

    def violated(
        self, shares: NDArray[np.float64], levels: Sequence[float], starts: int, least: float
    ) -> Iterator[Inequality]:
        """Yield inequalities that shares of the attributes miss by more than ``least``.

        For each level and rival, the attributes whose share reaches the level are kept, and the
        others moved to where the rival gains most; brought back to x as far as it remains of
        another class, that row asks for a set. Then those that were kept are moved, too, and then
        each of them to where the inequality is missed by most. There go as many other rows as
        ``starts``, too, see :meth:`_begin`.
        """
        most = (1 - least) * UNIT
        seen = set()
        for level in levels:
            kept = shares >= level
            if (key := kept.tobytes()) in seen:
                continue
            seen.add(key)
            for rival in self._oracle.rivals:
                space = self._oracle.space(rival)
                space.point[:] = self._oracle.x
                for found in self._from_row(rival, kept, shares):
                    if found.weights @ shares < most:
                        yield found
        for _ in range(starts if self._rows else 0):
            rival = self._begin()
            self._oracle.space(rival).shares[:] = self._oracle.joined(shares)
            for found in self._weighed(rival):
                if found.weights @ shares < most:
                    yield found

    def _begin(self) -> int:
        """Take a row that local search did not find, and return the rival that it is for.

        Drawn rows reach what no other one does; what two rows have that gave inequalities before
        is as often near to one that is missed, and nearer.
        """
        one, other = self._random.integers(len(self._rows), size=2)
        rival, row = self._rows[one]
        space = self._oracle.space(rival)
        self._random.shuffle(space.order)
        drawn = self._random.random(self._n)
        if self._random.random() < _DRAWN:
            low, high, _ = space.whole.T
            # Where there are no positions, the last one is that of a missing value.
            space.point[:] = np.minimum(low + drawn * (high - low + 1), high)
        else:
            mixed = drawn < _MIXED if self._rows[other][0] == rival else np.zeros(self._n, bool)
            space.point[:] = np.where(mixed, self._rows[other][1], row)
        return rival

    def of_set(self, places: int) -> Inequality:
        """Return the inequality that asks for one of some places."""
        data = np.frombuffer(places.to_bytes(self._places // 8 + 1, "little"), dtype=np.uint8)
        return Inequality(
            UNIT * np.unpackbits(data, bitorder="little")[: self._places].astype(np.int64)
        )

    def of_counterexample(self, kept: NDArray[np.bool_]) -> list[Inequality]:
        """Return inequalities that a set misses, from the last counterexample of the oracle."""
        rival = self._oracle.rivals[0]
        space = self._oracle.space(rival)
        back = self._oracle.joined(kept & self._oracle.differing(space.point))
        space.point[back] = self._oracle.x[back]
        # Inside of the cube the program tells apart weights that are worth the same at the set.
        inside = _INSIDE + (1 - 2 * _INSIDE) * kept.astype(np.float64)
        found = self._from_row(rival, kept, inside)
        return [one for one in found if one.weights[kept].sum() < UNIT]

    def of_last(self) -> Inequality:
        """Return the inequality that the last counterexample of the oracle asks for."""
        return self._hit(self._oracle.rivals[0])

    def _hit(self, rival: int) -> Inequality:
        """Return what the row of a rival asks for: one of the places where it is not as x."""
        row = self._oracle.space(rival).point.copy()
        return Inequality(np.where(self._oracle.differing(row), UNIT, 0), row, rival)

    def _from_row(
        self, rival: int, kept: NDArray[np.bool_], shares: NDArray[np.float64]
    ) -> Iterator[Inequality]:
        """Yield what the row that local search finds asks for, as a set and with weights."""
        space = self._oracle.space(rival)
        space.shares[:] = self._oracle.joined(shares)
        self._random.shuffle(space.order)
        with self._oracle.holding(space, in_words(bits_of(kept), self._places)):
            if space.deepen() < space.enough:
                return
            row = space.point.copy()
            space.order[:] = np.argsort(-space.shares, kind="stable")
            space.restore()
        yield self._hit(rival)
        space.point[:] = row
        space.held[:] = in_words(bits_of(~self._oracle.joined(kept)), self._n)
        space.deepen()
        yield from self._weighed(rival)

    def _weighed(self, rival: int) -> Iterator[Inequality]:
        """Move the row to where its inequality is missed by most, and yield that."""
        space = self._oracle.space(rival)
        while space.ascend():
            self._oracle.look()
        least = space.weigh() - space.enough + 1
        if least <= 0:
            return
        weights, row = scaled(space.weights, least), space.point.copy()
        if not ((weights > 0) & (weights < UNIT)).any():
            # It asks for one of some places: a row that is as x elsewhere says so by itself.
            row = np.where(weights > 0, row, self._oracle.x)
            yield Inequality(self._oracle.spread(weights, row), row, rival)
        else:
            self._rows.append((rival, row))
            entries = space.of_entries.copy()
            yield Inequality(self._oracle.spread(weights, row), row, rival, entries)


def bits_of(places: NDArray[np.bool_]) -> int:
    """Return a set of places as the bits of an integer."""
    return int.from_bytes(np.packbits(places, bitorder="little").tobytes(), "little")
