"""Anchors, stopped at a number of calls of the classifier."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from benchmarks.papers.anchor_package import AnchorsSettings, find_anchor
from cpx.data.statistics import exact_lower
from cpx.models.monomial.methods.queries import fresh_generator

if TYPE_CHECKING:
    from cpx.data.oracle import Oracle

__all__ = ["capped_anchor"]

BoolArray = npt.NDArray[np.bool_]


def capped_anchor(
    oracle: Oracle,
    k: int,
    calls: int,
    seed: int,
    settings: AnchorsSettings,
    time_limit: float | None = None,
) -> tuple[tuple[int, ...], str]:
    """Return the features of an anchor, and what stopped the package, empty for nothing.

    Where the calls or the time are spent before the package is done, the answer is the rule
    with the highest lower limit of its precision among those that it had sampled.

    Parameters
    ----------
    oracle : Oracle
    k : int
        Maximum number of conditions.
    calls : int
        Rows that may be labelled.
    seed : int
    settings : AnchorsSettings
    time_limit : float, optional
        In seconds.
    """
    deadline = None if time_limit is None else monotonic() + time_limit
    draws = _Draws(oracle, calls, fresh_generator(seed), deadline)
    try:
        return find_anchor(draws.draw, settings, k, seed), ""
    except _Spent as spent:
        return draws.surest(settings.delta), str(spent)


class _Spent(Exception):
    """No calls are left, or no time."""


@dataclass
class _Draws:
    """The samples that the package asks for, all of them kept."""

    oracle: Oracle
    left: int
    rng: np.random.Generator
    deadline: float | None
    tried: dict[tuple[int, ...], list[tuple[BoolArray, BoolArray]]] = field(default_factory=dict)

    def draw(self, present: list[int], m: int, label: bool) -> tuple[BoolArray, BoolArray]:
        """Draw m samples of a rule, or refuse."""
        if label and m > self.left:
            raise _Spent("the calls were spent")
        if self.deadline is not None and monotonic() > self.deadline:
            raise _Spent("the time limit was reached")
        rows, agreement = self.oracle.draw(m, present, self.rng)
        if not label:
            return agreement, np.zeros(m, dtype=np.bool_)
        self.left -= m
        same = self.oracle.same(rows)
        self.tried.setdefault(tuple(sorted(present)), []).append((agreement, same))
        return agreement, same

    def surest(self, delta: float) -> tuple[int, ...]:
        """Return the sampled rule with the highest lower limit of its precision."""
        known = {
            rule: (np.vstack([a for a, _ in parts]), np.concatenate([s for _, s in parts]))
            for rule, parts in self.tried.items()
        }

        def low(rule: tuple[int, ...]) -> float:
            agreeing = covered = 0
            for given, (agreement, same) in known.items():
                # Samples of a shorter rule that the longer one covers are samples of that one.
                if set(given) <= set(rule):
                    inside = agreement[:, list(rule)].all(axis=1)
                    agreeing += int(same[inside].sum())
                    covered += int(inside.sum())
            return float(exact_lower(agreeing, covered, delta))

        return max(known, key=lambda rule: (low(rule), -len(rule), rule), default=())
