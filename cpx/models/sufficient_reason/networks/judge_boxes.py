"""Whether a linear lead of a network's scores holds in a whole box: bounds, and smaller parts."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_LOST = 1e-11
"""What floats lose at most of a sum of sizes: some 10 sums of 500 terms, 2**-53 each."""

_TOGETHER, _STEPS, _WAITING = 64, 14, 20_000
"""Parts bounded at a time, steps that improve multipliers, parts that may wait."""


@dataclass(frozen=True)
class Parts:
    """What inputs may be.

    x: The row.
    columns: Of each column its inputs, and two ends of one input or a list of points.
    """

    x: Sequence[float]
    columns: Sequence[tuple[list[int], Any]]


@dataclass
class _Part:
    """Part of a box: its ends, which points of listed columns are in it, signs of neurons."""

    low: Floats
    high: Floats
    among: list[NDArray[np.bool_]]
    signs: list[NDArray[np.int8]]
    bound: float = -np.inf


def always_leads(
    layers: Sequence[tuple[Floats, Floats]],
    relu: bool,
    parts: Parts,
    lead: Sequence[float],
    leads: Callable[[Sequence[float]], bool],
    until: float,
) -> bool | None:
    """Say whether the lead is kept by all rows; None when the time is up, or it cannot be told.

    leads: Says so of one row, exactly.
    until: On the clock of ``time.monotonic``.
    """
    bounds = _Bounds(layers, relu, parts, np.array(lead))
    waiting = [bounds.whole()]
    while waiting:
        if time.monotonic() > until or len(waiting) > _WAITING:
            return None
        waiting.sort(key=lambda part: part.bound, reverse=True)
        now, waiting = waiting[-_TOGETHER:], waiting[:-_TOGETHER]
        for part in now:
            bound, at, split = bounds.of(part)
            if bound > 0:
                continue
            if bounds.lead_at(at) <= bounds.slack and not leads(at.tolist()):
                return False
            part.bound = bound
            smaller = bounds.split(part, split, at)
            if smaller is None:
                # A single row, of which the exact scores tell.
                if not leads(at.tolist()):
                    return False
                continue
            waiting += smaller
    return True


class _Bounds:
    """Bounds the lead in parts of the box."""

    def __init__(
        self,
        layers: Sequence[tuple[Floats, Floats]],
        relu: bool,
        parts: Parts,
        lead: Floats,
    ) -> None:
        self.hidden = [*layers[:-1]]
        self.last = lead @ layers[-1][0], float(lead @ layers[-1][1])
        self.layers, self.lead, self.relu = layers, lead, relu
        self.low, self.high = np.array(parts.x), np.array(parts.x)
        self.lists: list[tuple[list[int], Floats]] = []
        for own, may in parts.columns:
            if isinstance(may, tuple):
                self.low[own], self.high[own] = may
            elif len(may) > 1:
                points = np.array(may)
                self.low[own], self.high[own] = points.min(axis=0), points.max(axis=0)
                self.lists.append((own, points))
        self.listed = np.zeros(len(self.low), dtype=np.bool_)
        for own, _ in self.lists:
            self.listed[own] = True
        size = np.maximum(np.abs(self.low), np.abs(self.high))
        self.sizes = []
        for weights, biases in self.hidden:
            size = np.abs(weights) @ size + np.abs(biases)
            self.sizes.append(size)
            size = 2 * size
        known = np.abs(lead) @ np.abs(layers[-1][0]) @ size + np.abs(lead) @ np.abs(layers[-1][1])
        self.slack = _LOST * float(known) + 1e-200
        # How much a neuron may count, whatever the signs behind it.
        worth, self.worth = np.abs(self.last[0]), list[Floats]()
        for weights, _ in reversed(self.hidden):
            self.worth.insert(0, worth)
            worth = worth @ np.abs(weights)

    def whole(self) -> _Part:
        among = [np.ones(len(points), dtype=np.bool_) for _, points in self.lists]
        signs = [np.zeros(len(biases), dtype=np.int8) for _, biases in self.hidden]
        return _Part(self.low, self.high, among, signs)

    def lead_at(self, inputs: Floats) -> float:
        values = inputs
        for weights, biases in self.hidden:
            values = weights @ values + biases
            values = np.maximum(values, 0) if self.relu else values
        return float(self.last[0] @ values + self.last[1])

    def _least(self, part: _Part, weights: Floats) -> tuple[Floats, Floats]:
        """Return the least values in a part of functions, shape (m, inputs), and where."""
        at = np.where(weights >= 0, part.low, part.high)
        for (own, points), among in zip(self.lists, part.among):
            some = points[among]
            at[:, own] = some[(weights[:, own] @ some.T).argmin(axis=1)]
        return (weights * at).sum(axis=1), at

    def of(self, part: _Part) -> tuple[float, Floats, tuple[int, int] | None]:
        """Bound the lead in a part: a number below it, a row where it may be least, a neuron.

        That neuron, by layer and place, is the one whose sign should be known; None for none.
        """
        count = len(self.low)
        below, above = (np.eye(count), np.zeros(count)), (np.eye(count), np.zeros(count))
        cuts, losses = list[tuple[Floats, Floats]](), list[Floats]()
        best, split = 10 * self.slack, None  # what counts less, floats do not tell
        for k, (weights, biases) in enumerate(self.hidden):
            below, above = _through(weights, biases, below, above)
            lost = _LOST * self.sizes[k]
            low = self._least(part, below[0])[0] + below[1] - lost
            high = above[1] - self._least(part, -above[0])[0] + lost
            if not self.relu:
                continue
            sign = part.signs[k]
            fixed = np.flatnonzero(sign)
            if ((sign > 0) & (high < 0)).any() or ((sign < 0) & (low > 0)).any():
                return np.inf, part.low, None
            # On this part some function is at least 0: that above a sum that is, or its opposite.
            up = (sign[fixed] > 0)[:, None]
            cuts.append(
                (
                    np.where(up, above[0][fixed], -below[0][fixed]),
                    np.where(up[:, 0], above[1][fixed], -below[1][fixed]),
                )
            )
            losses.append(lost[fixed])
            low = np.where(sign > 0, np.maximum(low, 0), low)
            high = np.where(sign < 0, np.minimum(high, 0), high)
            open_ = (low < 0) & (high > 0)
            gap = np.where(open_, -low * high / np.where(open_, high - low, 1), 0) * self.worth[k]
            if len(gap) and gap.max() > best:
                best, split = float(gap.max()), (k, int(gap.argmax()))
            steep = np.where(open_, high / np.where(open_, high - low, 1), low >= 0)
            flat = np.where(open_, high > -low, low >= 0).astype(np.float64)
            shift = np.where(open_, -steep * low, 0.0)
            below = flat[:, None] * below[0], flat * below[1]
            above = steep[:, None] * above[0], steep * above[1] + shift
        below, _ = _through(self.last[0][None], np.array([self.last[1]]), below, above)
        bound, at = self._with_cuts(part, below[0][0], float(below[1][0]), cuts, losses)
        return bound - self.slack, at, split

    def _with_cuts(
        self,
        part: _Part,
        weights: Floats,
        constant: float,
        cuts: list[tuple[Floats, Floats]],
        losses: list[Floats],
    ) -> tuple[float, Floats]:
        """Bound a function where others are at least 0: less multiples of these, it is no more."""
        (found,), (at,) = self._least(part, weights[None])
        best, where = float(found) + constant, at
        if not sum(len(c) for _, c in cuts):
            return best, where
        rows = np.vstack([r for r, _ in cuts])
        constants = np.concatenate([c for _, c in cuts])
        lost = np.concatenate(losses)
        prices, moving = np.zeros(len(rows)), np.zeros(len(rows))
        unit = np.abs(weights).mean() / (np.abs(rows).mean(axis=1) + 1e-300)
        for step in range(_STEPS):
            short = -(rows @ at + constants)
            scale = np.abs(short * unit).max() + 1e-300
            moving = 0.6 * moving + short * unit / scale
            prices = np.maximum(prices + 0.4 / (1 + 0.3 * step) * unit * moving, 0)
            (found,), (at,) = self._least(part, (weights - prices @ rows)[None])
            value = float(found) + constant - float(prices @ (constants + lost))
            value -= _LOST * float(prices @ (np.abs(rows) @ self._most + np.abs(constants)))
            if value > best:
                best = value
            if self.lead_at(at) < self.lead_at(where):
                where = at
            if best > self.slack:
                break
        return best, where

    @property
    def _most(self) -> Floats:
        return np.asarray(np.maximum(np.abs(self.low), np.abs(self.high)))

    def split(self, part: _Part, neuron: tuple[int, int] | None, at: Floats) -> list[_Part] | None:
        """Return smaller parts: a sign known, a column cut; None where it is one row."""
        if neuron is not None:
            out = []
            for sign in (1, -1):
                signs = [one.copy() for one in part.signs]
                signs[neuron[0]][neuron[1]] = sign
                out.append(_Part(part.low, part.high, part.among, signs, part.bound))
            return out
        for k, among in enumerate(part.among):
            if among.sum() > 1:
                first = np.zeros(len(among), dtype=np.bool_)
                first[np.flatnonzero(among)[: int(among.sum()) // 2]] = True
                return [
                    _Part(
                        part.low,
                        part.high,
                        [own if i != k else half for i, own in enumerate(part.among)],
                        part.signs,
                        part.bound,
                    )
                    for half in (among & first, among & ~first)
                ]
        wide = np.where(self.listed, 0, part.high - part.low)
        wide = wide * (1e-12 + (self.worth[0] @ np.abs(self.hidden[0][0]) if self.hidden else 1))
        i = int(wide.argmax())
        middle = part.low[i] + (part.high[i] - part.low[i]) / 2
        if not part.low[i] < middle < part.high[i]:
            return None
        low, high = part.low.copy(), part.high.copy()
        low[i] = high[i] = middle
        return [
            _Part(part.low, high, part.among, part.signs, part.bound),
            _Part(low, part.high, part.among, part.signs, part.bound),
        ]


def _through(
    weights: Floats,
    biases: Floats,
    below: tuple[Floats, Floats],
    above: tuple[Floats, Floats],
) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """Return functions below and above the sums of a layer."""
    more, less = np.maximum(weights, 0), np.minimum(weights, 0)
    return (
        (more @ below[0] + less @ above[0], more @ below[1] + less @ above[1] + biases),
        (more @ above[0] + less @ below[0], more @ above[1] + less @ below[1] + biases),
    )
