"""Anchors over attributes, with the settings of Wang et al."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.papers.anchor_package import AnchorsSettings, find_anchor

__all__ = ["anchor_of"]

_SETTINGS = AnchorsSettings(precision=0.95, tolerance=0.05, beam=5)
"""The paper gives precision, tolerance and beam; the rest are the package's defaults."""


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
    rng = np.random.default_rng(seed)

    def draw(present: list[int], m: int, label: bool) -> tuple[Any, Any]:
        rows = background[rng.integers(0, len(background), size=m)].copy()
        rows[:, present] = codes[present]
        return rows == codes, same(rows) if label else np.zeros(m, dtype=np.bool_)

    return find_anchor(draw, _SETTINGS, most, seed)
