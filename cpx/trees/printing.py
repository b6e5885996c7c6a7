"""Tests of trees as text, with the numbers the library has."""

from __future__ import annotations

import numpy as np

__all__ = ["condition_text"]


def condition_text(name: str, threshold: float, holds: bool, strict: bool, cast: str) -> str:
    """Return ``name <= t``, or ``name < t'`` with the next number t' when it is strict.

    Examples
    --------
    >>> below = float(np.nextafter(np.float32(2.605), np.float32(-np.inf)))
    >>> condition_text("ash", below, True, strict=True, cast="float32")
    'ash < 2.605'
    >>> condition_text("ash", 755.0, False, strict=False, cast="float64")
    'ash > 755'
    """
    number = np.float32(threshold) if cast == "float32" else np.float64(threshold)
    if strict:
        number = np.nextafter(number, type(number)(np.inf))
    plain = number == 0 or 1e-4 <= abs(float(number)) < 1e16
    write = np.format_float_positional if plain else np.format_float_scientific
    signs = ("<", ">=") if strict else ("<=", ">")
    return f"{name} {signs[0 if holds else 1]} {write(number, trim='-')}"
