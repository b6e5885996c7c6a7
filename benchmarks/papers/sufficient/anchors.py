"""Anchors over attributes, by the package of its authors, with the settings of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["anchor_of", "installed"]

_PRECISION, _TOLERANCE, _BEAM = 0.95, 0.05, 5
_DELTA, _BATCH = 0.1, 100
"""The package's own defaults: the paper gives precision, tolerance and beam."""


def installed() -> bool:
    """Whether the package is there."""
    return find_spec("anchor") is not None


def anchor_of(
    codes: npt.NDArray[Any], background: npt.NDArray[Any], same: Any, seed: int, most: int
) -> tuple[int, ...]:
    """Return the attributes of an anchor.

    As in the package's front end for tables, a sample is a row of the background with the values
    of x written in.

    Parameters
    ----------
    codes : (A,) array of int
        The states of x.
    background : (n, A) array of int
    same : callable
        Says which rows of states get the class of x.
    seed : int
    most : int
        The greatest size.
    """
    from anchor.anchor_base import AnchorBaseBeam

    rng = np.random.default_rng(seed)

    def sample(present: Sequence[int], m: int, compute_labels: bool = True) -> tuple[Any, ...]:
        rows = background[rng.integers(0, len(background), size=m)].copy()
        rows[:, list(present)] = codes[list(present)]
        labels = same(rows).astype(np.int64) if compute_labels else np.zeros(m, dtype=np.int64)
        # The package keeps rows to show as examples; rows without columns are the cheapest.
        return np.empty((m, 0), dtype=np.bool_), rows == codes, labels

    # The package draws from NumPy's global state where it breaks ties.
    np.random.seed(seed)  # noqa: NPY002
    found = AnchorBaseBeam.anchor_beam(
        sample,
        delta=_DELTA,
        epsilon=_TOLERANCE,
        batch_size=_BATCH,
        desired_confidence=_PRECISION,
        beam_size=_BEAM,
        max_anchor_size=most,
    )
    return tuple(sorted(map(int, found["feature"])))
