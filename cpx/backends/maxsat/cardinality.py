"""Encodings of "at most k of these literals" as clauses, by the names that PySAT has for them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb
from typing import Any

from cpx.errors import InvalidOption, UnknownName

AT_MOST = ("pairwise", "sequential", "totalizer", "cardinality-network", "adder")
"""Each k + 1 literals; counters (C. Sinz, 2005); a tree of counters (O. Bailleux, Y. Boufkhad,
2003); merged sorting networks (R. Asin et al., 2011); a sum in binary (N. Een, N. Sorensson,
2006)."""

_MOST_CLAUSES = 1_000_000


def known_at_most(name: str | None) -> None:
    """Raise UnknownName unless an encoding has that name, or none is named."""
    if name is not None and name not in AT_MOST:
        raise UnknownName("encoding of at most k", name, AT_MOST)


def at_most_clauses(name: str, literals: list[int], bound: int, pool: Any) -> list[list[int]]:
    """Return clauses for "at most ``bound`` of the literals", 0 < bound < len(literals).

    name: One of :data:`AT_MOST`.
    pool: Where auxiliary variables are taken from.

    >>> from pysat.formula import IDPool
    >>> at_most_clauses("pairwise", [1, 2, 3], 1, IDPool(start_from=4))
    [[-1, -2], [-1, -3], [-2, -3]]

    Raises InvalidOption: Where pairwise clauses would be more than a million.
    """
    if name == "pairwise":
        return list(_each_too_many(literals, bound))
    from pysat.card import CardEnc, EncType
    from pysat.pb import EncType as Weighted
    from pysat.pb import PBEnc

    if name == "adder":
        weights = [1] * len(literals)
        formula = PBEnc.atmost(literals, weights, bound, top_id=pool.top, encoding=Weighted.adder)
    else:
        kinds = {
            "sequential": EncType.seqcounter,
            "totalizer": EncType.totalizer,
            "cardinality-network": EncType.cardnetwrk,
        }
        # A top id, not the pool itself: PySAT's own bookkeeping of pools is slow.
        formula = CardEnc.atmost(literals, bound, top_id=pool.top, encoding=kinds[name])
    pool.top = max(pool.top, formula.nv)
    return [list(clause) for clause in formula.clauses]


def _each_too_many(literals: list[int], bound: int) -> Iterator[list[int]]:
    """Yield a clause for each k + 1 literals, which are not all true."""
    if (clauses := comb(len(literals), bound + 1)) > _MOST_CLAUSES:
        raise InvalidOption(
            f"pairwise clauses for at most {bound} of {len(literals)} literals would be "
            f"{clauses:,}, more than {_MOST_CLAUSES:,}: take another encoding"
        )
    for chosen in combinations(literals, bound + 1):
        yield [-literal for literal in chosen]
