"""Tails of the binomial distribution, by logarithms, and limits of shares that they give."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

_ROUNDING = 1e-6
"""What a logarithm may be off, and a limit that is found by bisection."""

_STEPS = 40


def log_chance(hits: int, trials: int, share: float) -> float:
    """Return the logarithm of the probability that so many or more of the trials are hits.

    >>> round(math.exp(log_chance(2, 3, 0.5)), 6)
    0.5
    """
    if hits <= 0 or share >= 1:
        return 0.0
    if share <= 0:
        return -math.inf
    k, factorials = np.arange(hits, trials + 1), _log_factorials(trials)
    ways = factorials[trials] - factorials[k] - factorials[trials - k]
    logs = ways + k * math.log(share) + (trials - k) * math.log1p(-share)
    most = float(logs.max())
    return most + math.log(float(np.exp(logs - most).sum()))


def is_below(share: float, hits: int, trials: int, log_tail: float) -> bool:
    """Whether a share is one that the true one is above, but for a chance of the tail."""
    return share <= 0 or log_chance(hits, trials, share) <= log_tail + _ROUNDING


def is_above(share: float, hits: int, trials: int, log_tail: float) -> bool:
    """Whether a share is one that the true one is below, but for a chance of the tail."""
    return is_below(1 - share, trials - hits, trials, log_tail)


def lower_limit(hits: int, trials: int, log_tail: float) -> float:
    """Return the greatest share that the true one is above, but for a chance of the tail.

    >>> round(lower_limit(900, 1000, math.log(0.025)), 4)
    0.8797
    """
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle, hits, trials, log_tail) else (low, middle)
    return low


@lru_cache(4)
def _log_factorials(n: int) -> NDArray[np.float64]:
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
