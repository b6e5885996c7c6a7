"""Shares as numbers to read, of which only 1 reads 1 and only 0 reads 0."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction


def share_text(share: Fraction | float, count: int = 3) -> str:
    """Return a share with ``count`` digits after the point, or more where it would read 0 or 1.

    >>> share_text(Fraction(2, 3)), share_text(Fraction(3999, 4000)), share_text(1e-5)
    ('0.667', '0.9998', '0.00001')
    >>> share_text(0), share_text(Fraction(1))
    ('0.000', '1.000')
    """
    exact, text = Fraction(share), f"{float(share):.{count}f}"
    while 0 < exact < 1 and Fraction(text).denominator == 1:
        count += 1
        text = f"{Decimal(exact.numerator) / exact.denominator:.{count}f}"
    return text


def percent(share: Fraction | float, count: int = 1) -> str:
    """Return a share as a percentage, with more digits where it would read 0 or 100.

    >>> percent(0.25), percent(Fraction(3999, 4000)), percent(1, 0)
    ('25.0 %', '99.98 %', '100 %')
    """
    text = f"{float(share):.{count}%}"
    while 0 < share < 1 and float(text[:-1]) in (0, 100):
        count += 1
        text = f"{Decimal(100) * Decimal(float(share)):.{count}f}%"
    return text.replace("%", " %")
