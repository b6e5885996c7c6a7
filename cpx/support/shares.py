"""Numbers to read: only 1 reads 1, only 0 reads 0, and a limit from above is rounded up."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any


class ExactFloat(float):
    """A share as a float that reads well, with the fraction that it stands for.

    Attributes
    ----------
    exact : Fraction

    Examples
    --------
    >>> share = ExactFloat(Fraction(2, 3))
    >>> share, share.exact, share > 0.66, f"{share:.1%}"
    (0.667, Fraction(2, 3), True, '66.7%')
    """

    exact: Fraction

    def __new__(cls, exact: Fraction | str) -> ExactFloat:
        """Return the float nearest to a fraction."""
        exact = Fraction(exact)
        share = super().__new__(cls, exact)
        share.exact = exact
        return share

    @classmethod
    def of(cls, part: int, whole: int) -> ExactFloat | None:
        """Return the share of a part; None of nothing."""
        return cls(Fraction(part, whole)) if whole else None

    def __repr__(self) -> str:
        return share_text(self)

    def __reduce__(self) -> Any:
        return ExactFloat, (self.exact,)


def share_text(share: Fraction | float, count: int = 3) -> str:
    """Return a share with ``count`` digits after the point, or more where it would read 0 or 1.

    >>> share_text(Fraction(2, 3)), share_text(Fraction(3999, 4000)), share_text(1e-5)
    ('0.667', '0.9998', '0.00001')
    >>> share_text(0), share_text(Fraction(1))
    ('0.000', '1.000')
    """
    exact = share.exact if isinstance(share, ExactFloat) else Fraction(share)
    text = f"{float(share):.{count}f}"
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


def significant(value: float, count: int = 4) -> str:
    """Return a number in ``count`` digits, or more where it would read as an integer and is none.

    >>> significant(2 / 3), significant(0.99998), significant(2.5e-7), significant(3.0)
    ('0.6667', '0.99998', '2.5e-07', '3')
    """
    text = f"{value:.{count}g}"
    while float(text).is_integer() and float(text) != value and count < 17:
        count += 1
        text = f"{value:.{count}g}"
    return text


def at_most(value: Fraction, count: int) -> str:
    """Return a number in ``count`` digits that is no less.

    >>> at_most(Fraction(41, 10**12), 1), at_most(Fraction(2, 3), 6), at_most(Fraction(1, 4), 6)
    ('5e-11', '0.666667', '0.25')
    """
    up = Context(prec=count, rounding=ROUND_CEILING)
    return f"{float(up.divide(Decimal(value.numerator), Decimal(value.denominator))):.{count}g}"
