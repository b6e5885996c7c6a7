"""Anchors by the package of its authors, for the experiments that compare with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["AnchorsSettings", "find_anchor", "installed"]

BoolArray = npt.NDArray[np.bool_]

Draw = Callable[[list[int], int, bool], tuple[BoolArray, BoolArray]]
"""Draws m samples with some conditions: which conditions each meets, shape (m, n), and which
have the class of x; whether that is wanted is the last argument."""


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
    delta : float
        Probability of a mistake.
    batch : int
        Samples drawn at once.
    """

    precision: float = 0.95
    tolerance: float = 0.15
    beam: int = 4
    delta: float = 0.1
    batch: int = 100


def installed() -> bool:
    """Whether the package is there."""
    return find_spec("anchor") is not None


def find_anchor(draw: Draw, settings: AnchorsSettings, k: int, seed: int) -> tuple[int, ...]:
    """Return the conditions of an anchor of at most k, sorted.

    Parameters
    ----------
    draw : callable
    settings : AnchorsSettings
    k : int
    seed : int
        Of the ties that the package breaks; ``draw`` has its own.
    """
    from anchor.anchor_base import AnchorBaseBeam

    def sample(present: Sequence[int], m: int, compute_labels: bool = True) -> tuple[Any, ...]:
        agreement, same = draw([int(j) for j in present], m, compute_labels)
        # The package keeps rows to show as examples; rows without columns are the cheapest.
        return np.empty((m, 0), dtype=np.bool_), agreement, same.astype(np.int64)

    # The package draws from NumPy's global state where it breaks ties.
    np.random.seed(seed % 2**32)  # noqa: NPY002
    found = AnchorBaseBeam.anchor_beam(
        sample,
        delta=settings.delta,
        epsilon=settings.tolerance,
        batch_size=settings.batch,
        desired_confidence=settings.precision,
        beam_size=settings.beam,
        max_anchor_size=k,
    )
    return tuple(sorted(map(int, found["feature"])))
