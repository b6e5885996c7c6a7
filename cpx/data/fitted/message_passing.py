"""Message passing along a forest of attributes: probabilities and draws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

ONE = 2**30
"""What a probability of 1 is in weights and tables: all of them are integers over it."""


class Upward(NamedTuple):
    """What is asked of attributes, and of those below them, summed up to the roots.

    below: In proportion to the probability, by its own state, of what is asked of the attribute
        and of those below it; not there where nothing is asked.
    logs: The logarithm of the probability of all that is asked.
    """

    below: dict[int, FloatArray]
    logs: FloatArray | float


@dataclass(frozen=True, eq=False)
class Forest:
    """A distribution in which each attribute depends on its parent alone.

    parents: -1 for none.
    tables: Of shape (number of states of the parent, or 1; number of states), over ``ONE``.
    """

    parents: Sequence[int]
    tables: Sequence[npt.NDArray[np.int64]]

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The attributes, parents before children."""
        return tuple(downward(self.parents))

    @cached_property
    def shares(self) -> tuple[FloatArray, ...]:
        """The tables as floats, which is exact."""
        return tuple(table / ONE for table in self.tables)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The attributes that depend on each attribute."""
        own: list[list[int]] = [[] for _ in self.parents]
        for a, parent in enumerate(self.parents):
            if parent >= 0:
                own[parent].append(a)
        return tuple(map(tuple, own))

    def upward(self, asked: Mapping[int, FloatArray]) -> Upward:
        """Sum the attributes out, children first.

        asked: For attributes that something is asked of, 1 for the states they may have.
        """
        below = dict(asked)
        total: Any = 0.0
        for a in reversed(self.order):
            if a not in below:
                continue
            message = below[a] @ self.shares[a].T
            # Products of hundreds of probabilities would be 0 in floats.
            top = message.max(axis=1)
            with np.errstate(divide="ignore"):  # an event without probability
                total = total + np.log(top)
            parent = self.parents[a]
            if parent >= 0:
                message = message / np.where(top > 0, top, 1.0)[:, None]
                below[parent] = message * below[parent] if parent in below else message
        return Upward(below, total)

    def exact(self, asked: Mapping[int, npt.NDArray[np.bool_]]) -> tuple[int, int]:
        """Return the probability of what is asked, as a numerator and a power of ``ONE``."""
        # Numerators over ONE**power[a]; an attribute that nothing is asked of sums to 1.
        below: dict[int, npt.NDArray[Any]] = {
            a: mask.astype(object) * 1 for a, mask in asked.items()
        }
        power = dict.fromkeys(below, 0)
        numerator, exponent = 1, 0
        for a in reversed(self.order):
            if a not in below:
                continue
            message = self.tables[a].astype(object) @ below[a]
            parent = self.parents[a]
            if parent < 0:
                numerator *= int(message[0])
                exponent += power[a] + 1
                continue
            below[parent] = message * below[parent] if parent in below else message
            power[parent] = power.get(parent, 0) + power[a] + 1
        return numerator, exponent

    def draw(
        self, m: int, below: Mapping[int, FloatArray], rng: np.random.Generator
    ) -> npt.NDArray[np.int32]:
        """Draw m rows, each attribute after its parent.

        ``below`` is what :meth:`upward` returned for one event, or empty.
        """
        result = np.zeros((m, len(self.parents)), dtype=np.int32)
        for a in self.order:
            table = self.shares[a] * below[a] if a in below else self.shares[a]
            if table.shape[1] == 1:
                continue
            limits = np.cumsum(table, axis=1)
            # Rounding must not go past the last state that has any probability.
            last = table.shape[1] - 1 - (table[:, ::-1] > 0).argmax(axis=1)
            u = rng.random(m)
            parent = self.parents[a]
            if parent < 0:
                place = np.searchsorted(limits[0], u * limits[0, -1], side="right")
                result[:, a] = np.minimum(place, last[0])
                continue
            above = result[:, parent]
            chosen = limits[above]
            place = (chosen <= (u * chosen[:, -1])[:, None]).sum(axis=1)
            result[:, a] = np.minimum(place, last[above])
        return result


def log_sum(logs: FloatArray) -> FloatArray:
    """Return log(sum(exp(row))) of each row; -inf for rows of -inf."""
    top = logs.max(axis=1)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(safe + np.log(np.exp(logs - safe[:, None]).sum(axis=1)))


def downward(parents: Sequence[int]) -> Iterator[int]:
    """Yield the attributes of a forest, parents before children; those on circles never."""
    children: dict[int, list[int]] = {}
    for a, parent in enumerate(parents):
        children.setdefault(parent, []).append(a)
    waiting = children.get(-1, [])[::-1]
    while waiting:
        a = waiting.pop()
        yield a
        waiting.extend(children.get(a, [])[::-1])
