"""How well a distribution fits rows that it has not seen, beside independent attributes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.data.fitted.distribution import StateDistribution
from cpx.data.fitted.mixture_fit import fit_mixture

_SHARE, _MOST = 0.2, 1000
"""Of the rows so large a part is kept aside, and no more rows than so many."""

_FITTED = 5000
"""The others are no more than so many, for a fit that takes no longer than the first one."""


@dataclass(frozen=True)
class HeldOut:
    """The mean natural logarithm of the probability of rows that are kept aside.

    mean: Under the distribution.
    gain: By how much that is more than under independent attributes.
    rows: Their number.
    """

    mean: float
    gain: float
    rows: int


def kept_aside(n: int, seed: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the places of rows that are kept aside, and of some others that are fitted to.

    >>> [part.tolist() for part in kept_aside(10, 0)]
    [[4, 6], [2, 7, 3, 5, 9, 0, 8, 1]]
    """
    order = np.random.default_rng(seed).permutation(n)
    aside, others = np.split(order, [min(_MOST, round(_SHARE * n))])
    return aside, others[:_FITTED]


def held_out(
    codes: npt.NDArray[Any],
    cardinalities: Sequence[int],
    fit: Callable[[npt.NDArray[np.int64]], StateDistribution],
    smoothing: float = 1.0,
    seed: int = 0,
) -> HeldOut | None:
    """Measure a distribution on rows that it was not fitted to; None for fewer than ten rows.

    codes: Of all rows.
    fit: Returns the distribution fitted to the rows of some places; or one that is given.
    smoothing: Of independent attributes.
    seed: Of what is kept aside.

    >>> rows = np.repeat([[0, 0], [1, 1]], 50, axis=0)
    >>> found = held_out(rows, [2, 2], lambda some: fit_mixture(rows[some], [2, 2],
    ...                                                         structure="chow-liu"))
    >>> round(found.mean, 2), round(found.gain, 2), found.rows
    (-0.7, 0.69, 20)
    """
    if len(codes) < 10:
        return None
    aside, others = kept_aside(len(codes), seed)
    alone = fit_mixture(codes[others], cardinalities, structure="factorised", smoothing=smoothing)
    rows = codes[aside]
    own = fit(others).log_likelihood(rows)
    return HeldOut(float(own.mean()), float((own - alone.log_likelihood(rows)).mean()), len(rows))
