"""Noise sensitivity of a function of bits, and noise stabilising scores of its features."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.errors import InvalidOption, shown
from cpx.support.validation import integer, open_unit, positive_integer

__all__ = ["BitFunction", "Restriction", "noise_sensitivity", "stabilising_scores"]

Bits = npt.NDArray[np.int8]
BoolArray = npt.NDArray[np.bool_]

BitFunction = Callable[[Bits], npt.NDArray[Any]]
"""f: an (m, d) array of 0 and 1 to m values, true or false."""

Restriction = Mapping[int, int]
"""Features with the bit they are fixed to; empty for f itself."""


def noise_sensitivity(
    f: BitFunction,
    d: int,
    noise: float,
    pairs: int,
    rng: np.random.Generator,
    fixed: Restriction | None = None,
) -> float:
    """Estimate the noise sensitivity of f, or of a restriction of it.

    The probability that f changes between a uniform z and a z' in which every bit of z is
    drawn anew with probability ``noise``.

    Parameters
    ----------
    f : callable
        Maps an (m, d) int8 array of 0 and 1 to m truth values; called once.
    d : int
        Number of features.
    noise : float
        Rate p, between 0 and 1.
    pairs : int
        Pairs (z, z') drawn; f is asked about twice as many rows.
    rng : numpy.random.Generator
    fixed : mapping of int to {0, 1}, optional
        Features held at a bit in both z and z'.

    Returns
    -------
    float
        An unbiased estimate, with a standard error of at most ``0.5 / sqrt(pairs)``.

    Raises
    ------
    InvalidOption
        Naming the argument that is out of range.

    References
    ----------
    Blanc, Lange, Tan (NeurIPS 2021), Definition 6.

    Examples
    --------
    Of one bit, p / 2; of a constant, 0.

    >>> rng = np.random.default_rng(0)
    >>> round(noise_sensitivity(lambda z: z[:, 0], 3, 0.2, 20000, rng), 2)
    0.1
    >>> noise_sensitivity(lambda z: z[:, 0], 3, 0.2, 20000, rng, fixed={0: 1})
    0.0
    """
    changed, _ = _noisy_pairs(f, d, noise, pairs, rng, fixed or {})
    return float(changed.mean())


def stabilising_scores(
    f: BitFunction,
    d: int,
    noise: float,
    pairs: int,
    rng: np.random.Generator,
    fixed: Restriction | None = None,
) -> npt.NDArray[np.float64]:
    """Estimate the noise stabilising scores of all features at once.

    The score of feature i is the noise sensitivity of f, less that of f with feature i fixed
    to a random bit: what knowing feature i does to stabilise f.

    Parameters
    ----------
    f, d, noise, pairs, rng, fixed
        As for :func:`noise_sensitivity`.

    Returns
    -------
    ndarray of float, shape (d,)
        Unbiased estimates; 0 for the fixed features.

    Notes
    -----
    Given z_i = z'_i, the pair is a noisy pair of f with feature i fixed to the fair bit z_i,
    and z_i = z'_i has the probability 1 - p / 2. So the noise sensitivity of the fixed
    function is E[f(z) != f(z') and z_i = z'_i] / (1 - p / 2), and the same pairs serve all
    features: 2 * ``pairs`` queries instead of 2 * ``pairs`` * (d + 1).

    References
    ----------
    Blanc, Lange, Tan (NeurIPS 2021), Definition 7.

    Examples
    --------
    The parity of two bits out of four; of each of them, the score is (1 - p) p / 2.

    >>> scores = stabilising_scores(lambda z: z[:, 1] ^ z[:, 3], 4, 0.4, 20000,
    ...                             np.random.default_rng(0))
    >>> [abs(round(float(score), 2)) for score in scores]
    [0.0, 0.12, 0.0, 0.12]
    """
    held = fixed or {}
    changed, kept = _noisy_pairs(f, d, noise, pairs, rng, held)
    with_feature = changed.astype(np.float64) @ kept / (pairs * (1 - noise / 2))
    scores: npt.NDArray[np.float64] = changed.mean() - with_feature
    scores[list(held)] = 0.0
    return scores


def checked_restriction(fixed: Restriction, d: int) -> dict[int, int]:
    """Return a restriction sorted by feature, or raise InvalidOption."""
    for j, bit in fixed.items():
        number, value = integer(j), int(bit) if bit in (0, 1) else None
        if number is None or not 0 <= number < d or value is None:
            raise InvalidOption(
                f"a restriction maps features from 0 to {d - 1} to 0 or 1, got "
                f"{shown(j)}: {shown(bit)}"
            )
    return {int(j): int(fixed[j]) for j in sorted(fixed)}


def restricted_bits(m: int, d: int, fixed: Restriction, rng: np.random.Generator) -> Bits:
    """Draw m uniform rows with the fixed features at their bits, shape (m, d)."""
    rows = rng.integers(0, 2, size=(m, d), dtype=np.int8)
    for j, bit in fixed.items():
        rows[:, j] = bit
    return rows


def truth(f: BitFunction, rows: Bits) -> BoolArray:
    """Return the values of f as a Boolean array of shape (m,), or raise InvalidOption."""
    answer = np.asarray(f(rows))
    if answer.shape != (len(rows),) or not np.isin(answer, (0, 1)).all():
        raise InvalidOption(
            f"f must answer {len(rows)} rows with as many values 0 or 1, got {answer.dtype} of "
            f"shape {answer.shape}; of more than two classes take lambda z: f(z) == label"
        )
    return answer.astype(np.bool_)


def _noisy_pairs(
    f: BitFunction,
    d: int,
    noise: float,
    pairs: int,
    rng: np.random.Generator,
    fixed: Restriction,
) -> tuple[BoolArray, BoolArray]:
    """Return of each pair whether f changes, and which bits do not."""
    d, pairs = positive_integer("d", d), positive_integer("pairs", pairs)
    rate, held = open_unit("noise", noise), checked_restriction(fixed, d)
    first = restricted_bits(pairs, d, held, rng)
    anew = restricted_bits(pairs, d, held, rng)
    second = np.where(rng.random((pairs, d)) < rate, anew, first)
    values = truth(f, np.concatenate([first, second]))
    return values[:pairs] != values[pairs:], first == second
