"""Noise sensitivity of a function of bits, and noise stabilising scores of its features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.data.base import Distribution
from cpx.errors import InvalidOption
from cpx.models.certificate.methods.input_spaces import (
    Domain,
    Restriction,
    checked_restriction,
    domain_of,
)
from cpx.support.validation import open_unit, positive_integer

__all__ = ["BitFunction", "noise_sensitivity", "stabilising_scores"]

BoolArray = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

BitFunction = Callable[[Any], npt.NDArray[Any]]
"""f: m rows to m values, true or false; rows of fair bits are an (m, d) array of 0 and 1."""


def noise_sensitivity(
    f: BitFunction,
    d: int | Distribution | Domain,
    noise: float,
    pairs: int,
    rng: np.random.Generator,
    fixed: Restriction | None = None,
) -> float:
    """Estimate the noise sensitivity of f, or of a restriction of it.

    The probability that f changes between a z and a z' in which every attribute of z, or
    every bit, is drawn anew with probability ``noise``.

    Parameters
    ----------
    f : callable
        Maps m rows to m truth values; called once. Fair bits are an (m, d) int8 array.
    d : int, Uniform, Product or a fitted distribution
        What z is drawn from: so many fair bits, or a distribution; of a fitted one, attributes
        that are drawn anew are so given the others.
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
    d: int | Distribution | Domain,
    noise: float,
    pairs: int,
    rng: np.random.Generator,
    fixed: Restriction | None = None,
) -> npt.NDArray[np.float64]:
    """Estimate the noise stabilising scores of all features at once.

    The score of feature i is the noise sensitivity of f, less that of f with feature i fixed
    to a random bit: what knowing feature i does to stabilise f. The bit is as likely as it is
    in the rows, and the rest of its attribute varies on.

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
    The same pairs serve all features: 2 * ``pairs`` queries instead of 2 * ``pairs`` * (d + 1).
    In the rows with z_i = b, the attribute of i is drawn anew given b, so that a pair with
    z_i = z'_i = b whose attribute was drawn anew is more likely there than here by the factor
    1 / Pr[z_i = b]; where it was not drawn anew, it is as likely, and one with z_i != z'_i does
    not occur. So the noise sensitivity of the fixed function is E[f(z) != f(z')] with these
    weights. Of fair bits, the mean weight of a pair with z_i = z'_i is 1 / (1 - p / 2), which
    is what it gets.

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
    changed, weights = _noisy_pairs(f, d, noise, pairs, rng, held)
    scores: Floats = changed.mean() - changed.astype(np.float64) @ weights / pairs
    scores[list(held)] = 0.0
    return scores


def truth(f: BitFunction, rows: Any) -> BoolArray:
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
    rows: int | Distribution | Domain,
    noise: float,
    pairs: int,
    rng: np.random.Generator,
    fixed: Restriction,
) -> tuple[BoolArray, Floats]:
    """Return of each pair whether f changes, and what it weighs for each feature."""
    domain, pairs = domain_of(rows), positive_integer("pairs", pairs)
    rate, held = open_unit("noise", noise), checked_restriction(fixed, domain.d)
    drawn, weights = domain.noisy_pairs(pairs, rate, held, rng)
    values = truth(f, drawn)
    return values[:pairs] != values[pairs:], weights
