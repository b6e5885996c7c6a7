"""Anchors by the package of its authors, stopped at a number of calls of the classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cpx.data.intervals import exact_lower
from cpx.methods.queries import fresh_generator

if TYPE_CHECKING:
    from cpx.data.oracle import Oracle

__all__ = ["AnchorsSettings", "capped_anchor"]

BoolArray = npt.NDArray[np.bool_]

_DELTA, _BATCH = 0.1, 100
"""The package's own defaults, which no setting of the paper replaces."""


@dataclass(frozen=True)
class AnchorsSettings:
    """What the package is told; by default its own defaults.

    Attributes
    ----------
    precision : float
        That an anchor is to have.
    tolerance : float
        By how much the best candidates may be missed.
    beam : int
        Candidates kept at each size.
    """

    precision: float = 0.95
    tolerance: float = 0.15
    beam: int = 4


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
    from anchor.anchor_base import AnchorBaseBeam

    deadline = None if time_limit is None else monotonic() + time_limit
    drawn = _Draws(oracle, calls, fresh_generator(seed), deadline)
    # The package draws from NumPy's global state where it breaks ties.
    np.random.seed(seed % 2**32)  # noqa: NPY002
    try:
        found = AnchorBaseBeam.anchor_beam(
            drawn.sample,
            delta=_DELTA,
            epsilon=settings.tolerance,
            batch_size=_BATCH,
            desired_confidence=settings.precision,
            beam_size=settings.beam,
            max_anchor_size=k,
        )
    except _Spent as spent:
        return drawn.surest(), str(spent)
    return tuple(sorted(map(int, found["feature"]))), ""


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

    def sample(
        self, present: Sequence[int], m: int, compute_labels: bool = True
    ) -> tuple[BoolArray, BoolArray, npt.NDArray[np.int64]]:
        """Draw m samples of a rule; as the package calls it."""
        if compute_labels and m > self.left:
            raise _Spent("the calls were spent")
        if self.deadline is not None and monotonic() > self.deadline:
            raise _Spent("the time limit was reached")
        rows, agreement = self.oracle.draw(m, list(present), self.rng)
        same = np.zeros(m, dtype=np.int64)
        if compute_labels:
            self.left -= m
            told = self.oracle.same(rows)
            self.tried.setdefault(tuple(sorted(present)), []).append((agreement, told))
            same = told.astype(np.int64)
        # The package keeps rows to show as examples; rows without columns are the cheapest.
        return np.empty((m, 0), dtype=np.bool_), agreement, same

    def surest(self) -> tuple[int, ...]:
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
            return float(exact_lower(agreeing, covered, _DELTA))

        return max(known, key=lambda rule: (low(rule), -len(rule), rule), default=())
