"""What prices of samples prove about every set of rules."""

from __future__ import annotations

from fractions import Fraction

__all__ = ["hamming_bound"]


def hamming_bound(
    prices: Fraction, heaviest: Fraction, price: Fraction, most_rules: int | None
) -> Fraction:
    """Return a lower bound of the Hamming objective over all sets of rules.

    Let every sample i of the class have a price p_i, from 0 to its weight w_i. For a rule r let
    n_r be the weight it covers of other classes, and p(r) the prices it covers. For each rule,
    p(r) - n_r <= ``heaviest`` =: B. A set S of rules costs::

        cost(S) = sum of w_i over the i that S leaves uncovered  +  sum of (price + n_r) over S

    Proof of two bounds, of which the greater is returned, with P the sum of all p_i.

    (1) t * P for t = min(1, price / B). As t <= 1, each rule has t * p(r) <= t * n_r + t * B <=
    n_r + price. So cost(S) >= t * (prices of the uncovered) + t * sum of p(r) over S, and as every
    sample of the class is uncovered or in a rule of S, that is t * P or more.

    (2) P - K * max(0, B - price), for sets of at most K rules. In the same way, cost(S) >= P +
    sum over S of (price + n_r - p(r)), where each term is at least price - B.

    With B <= price both are P: no rule is worth its cost at these prices.

    Parameters
    ----------
    prices : Fraction
        Their sum P.
    heaviest : Fraction
        At least p(r) - n_r for each rule r.
    price : Fraction
        Of a rule, in units of weight.
    most_rules : int or None
        K; ``None`` when unknown.

    Examples
    --------
    >>> hamming_bound(Fraction(30), Fraction(20), Fraction(10), 1)
    Fraction(20, 1)
    >>> hamming_bound(Fraction(30), Fraction(11), Fraction(10), 1)
    Fraction(29, 1)
    """
    if heaviest <= price:
        return prices
    scaled = prices * price / heaviest
    if most_rules is None:
        return scaled
    return max(scaled, prices - most_rules * (heaviest - price))
