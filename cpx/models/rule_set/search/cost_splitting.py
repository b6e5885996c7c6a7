"""A lower bound by cost splitting: what each row pays at least, in exact integers.

Let S be a set of rules without limits. It pays the price of each of its rules, w_j for each bad
row j it covers, and w_i for each good row i it misses. Divide each cost into shares of the good
rows, which are not negative:

    sum over i of b(i, j)  <=  w_j            for each bad row j,
    sum over i of c(i, r)  <=  price of r,    c(i, r) = 0 where r does not cover i,

so that ``demand(i, r) = c(i, r) + sum of b(i, j) over the bad rows j of r`` is what row i is asked
to pay for rule r. Then, with ``least(i) = min(w_i, min of demand(i, r) over the r that cover i)``,

    cost(S)  >=  sum over i of  [w_i if S misses i]  + sum of c(i, r) over r in S
                                                     + sum of b(i, j) over the j that S covers
             >=  sum over i of  least(i):

a row that S misses pays w_i; one that a rule r in S covers pays demand(i, r) at least, because no
share is negative and S covers what r covers. Unlike the linear relaxation of the usual statement,
in which a row may be covered by a little of each of many rules that share the cost of their bad
rows, each row here pays for one rule in full; the shares of the best such bound are nearly always
within some hundredths of the optimum.

With a rule r in S, row i pays at least demand(i, r) if r covers i. Otherwise it pays for what r
covers, the sum d(i, r) of b(i, j) over the bad rows of r, and at least least(i), so at least the
greater of both. Without r, it pays the least over the other rules. Both are bounds as well:

    cost(S) >= sum of (demand(i, r) if r covers i else max(least(i), d(i, r)))   if r is in S,
    cost(S) >= sum of (the second least if r is the least of i else least(i))   if r is not in S.

More generally, row i pays ``due(i)`` for a set S at least, the sum of c(i, r) over its rules and
of b(i, j) over the bad rows they cover, and so at least the greater of least(i) and due(i). With
another rule r, due(i) is at least c(i, r) more, and at least demand(i, r). That is the bound of
each node of the search, and of its rules.

Rules whose first bound is too high are in no set that is wanted, and those whose second bound is
too high are in all of them. Limits only leave fewer sets. Costs are counted in parts of a unit,
so that the shares, rounded down, are integers and so is all that is proved.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cpx.compiled.kernel import Floats, Ints, Ints2, Ints3, Shorts3, kernel
from cpx.models.rule_set.search.dual_ascent import Ascent, Terms

_FINEST, _ROOM = 30, 60


class Exact(NamedTuple):
    """The costs in parts of a unit, their shares, and what they prove; K blocks of W good rows."""

    good: Ints2  # shape (K, W)
    costs: Ints  # shape (B,)
    prices: Ints  # shape (R,)
    shares: Ints2  # b in one block, shape (B, W)
    short: Shorts3  # b without the last bits, shape (K, B, W)
    rule_shares: Ints3  # c, shape (K, R, W)
    covered: Ints3  # d, shape (K, R, W)
    least: Ints2  # shape (K, W)
    second: Ints  # scratch, shape (W,)
    who: Ints  # scratch: the rule that asks for the least, -1 for none, shape (W,)
    within: Ints  # the bound of the sets with rule r, shape (R,)
    without: Ints  # the bound of the sets without rule r, shape (R,)
    left: Ints  # scratch: of costs, then of prices, shape (B + R,)
    by: Floats  # scratch, likewise
    shift: Ints  # the bits that are cut off, shape (1,)


def new_exact(good: Ints, costs: Ints, prices: Ints, parts: int, shift: int) -> Exact:
    """Return costs in parts of a unit, with room for their shares."""
    (K, W), B, R = good.shape, costs.size, prices.size

    def table(*shape: int) -> Ints:
        return np.zeros(shape, dtype=np.int64)

    return Exact(
        good * parts,
        costs * parts,
        prices * parts,
        table(B, W),
        np.zeros((K, B, W), dtype=np.int32),
        table(K, R, W),
        table(K, R, W),
        table(K, W),
        table(W),
        table(W),
        table(R),
        table(R),
        table(B + R),
        np.zeros(B + R),
        np.array([shift]),
    )


def parts_of(total: int) -> int:
    """Return into how many parts a unit may be divided where all costs add up to a total.

    >>> parts_of(1000) == 2**30, parts_of(2**50) == 2**9, parts_of(2**61)
    (True, True, 1)
    """
    return 1 << min(_FINEST, max(0, _ROOM - total.bit_length()))


@kernel
def certify(terms: Terms, state: Ascent, exact: Exact) -> int:
    """Round the shares of an ascent; return the bound in parts, and note those of the rules."""
