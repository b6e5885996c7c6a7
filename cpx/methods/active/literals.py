"""Conditions on one attribute that column generation makes rules of."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from cpx.methods.active.attributes import Numbers
from cpx.methods.active.histograms import histogram
from cpx.methods.active.state import Evidence

__all__ = ["literals"]

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

_CUTS = 16
"""Thresholds of a continuous attribute, about."""


def literals(evidence: Evidence) -> list[BoolArray]:
    """Return conditions: thresholds, single values, and lists by their share of positives.

    A continuous attribute gets thresholds at quantiles of the instances and at even steps over
    its cells, each from both sides. A categorical one gets each value, and the lists of values
    with the least share of positive instances: of all lists, these separate best where the
    attribute stands alone. Each comes with its opposite.

    Parameters
    ----------
    evidence : Evidence

    Returns
    -------
    list of masks
        Rules of one condition, without doubles.
    """
    domain = evidence.domain
    counts = histogram(evidence.cells, np.ones(evidence.size), domain.n_cells)
    positive = histogram(evidence.cells, evidence.labels, domain.n_cells)
    share = float(evidence.labels.mean())
    found: dict[bytes, BoolArray] = {}
    for a, attribute in enumerate(domain.attributes):
        span = domain.span(a)
        # The last cell is no value that a condition could name.
        seen, own = counts[span][:-1], positive[span][:-1]
        if isinstance(attribute, Numbers):
            parts = _thresholds(seen)
        else:
            parts = _lists((own + share) / (seen + 1))
        for part in parts:
            for side in (part, ~part):
                if side.any() and not side.all():
                    mask = domain.everything()
                    mask[span] = np.append(side, False)
                    found[mask.tobytes()] = mask
    return list(found.values())


def _thresholds(counts: FloatArray) -> Iterator[BoolArray]:
    """Yield the cells below some cuts."""
    k, half = len(counts), _CUTS // 2
    even = np.linspace(0, k, half + 2)[1:-1].round()
    shares = np.cumsum(counts) / max(1.0, counts.sum())
    by_rows = np.searchsorted(shares, np.linspace(0, 1, half + 2)[1:-1]) + 1
    for cut in sorted({*even.astype(int).tolist(), *by_rows.tolist()}):
        yield np.arange(k) < cut


def _lists(shares: FloatArray) -> Iterator[BoolArray]:
    """Yield single values, and those of the least shares.

    Examples
    --------
    >>> [part.astype(int).tolist() for part in _lists(np.array([0.5, 0.1, 0.3]))]
    [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]]
    """
    k, order = len(shares), np.argsort(shares, kind="stable")
    for value in range(k):
        yield np.arange(k) == value
    for n in range(1, k):
        yield np.isin(np.arange(k), order[:n])
