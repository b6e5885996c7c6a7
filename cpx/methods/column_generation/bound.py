"""What prices of samples prove about every set of rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Priced", "hamming_bound"]


@dataclass(frozen=True)
class Priced:
    """What is known of all rules at some prices of the samples of the class.

    Attributes
    ----------
    total : Fraction
        P, the sum of the prices p_i, each from 0 to the weight w_i of its sample.
    worthiest : Fraction
        B, at least p(r) - n_r for each rule r: the prices it covers less the weight it covers of
        other classes.
    """

    total: Fraction
    worthiest: Fraction


def hamming_bound(
    known: Sequence[Priced], price: Fraction, alone: Fraction, most_rules: int
) -> Fraction:
    """Return a lower bound of the Hamming objective over all sets of rules.

    A set S of s rules costs::

        cost(S) = sum of w_i over the i that S leaves uncovered  +  sum of (price + n_r) over S

    Each sample of the class is uncovered or in a rule of S, and p_i <= w_i. So the first sum is
    P - (sum of p(r) over S) or more, and as p(r) - n_r <= B::

        cost(S)  >=  P + sum of (price + n_r - p(r)) over S  >=  P + s * (price - B)

    That holds for each of the known prices, and for prices of 0, where P = B = 0; without rules
    the cost is ``alone``. The bound is the least over s of the greatest of these. Prices of a
    large sum at which some rules are worth more than they cost, B > price, bound sets of few
    rules; prices with B <= price bound sets of many. Both together prove more than either does:
    as much as the best of their means.

    Parameters
    ----------
    known : sequence of Priced
    price : Fraction
        Of a rule, in units of weight, at least 0.
    alone : Fraction
        The weight of all samples of the class.
    most_rules : int
        No set of more rules is of interest.

    Examples
    --------
    >>> many, few = Priced(Fraction(30), Fraction(15)), Priced(Fraction(20), Fraction(8))
    >>> [hamming_bound([many], Fraction(10), Fraction(50), most) for most in (1, 5)]
    [Fraction(25, 1), Fraction(20, 1)]
    >>> hamming_bound([few], Fraction(10), Fraction(50), 5)
    Fraction(22, 1)
    >>> hamming_bound([many, few], Fraction(10), Fraction(50), 5)
    Fraction(24, 1)
    """
    every = [Priced(Fraction(0), Fraction(0)), *known]

    def least(rules: int) -> Fraction:
        return max(each.total + rules * (price - each.worthiest) for each in every)

    # The greatest of lines is convex.
    low, high = 1, most_rules
    while low < high:
        middle = (low + high) // 2
        if least(middle) <= least(middle + 1):
            high = middle
        else:
            low = middle + 1
    return min(alone, least(low)) if most_rules else alone
