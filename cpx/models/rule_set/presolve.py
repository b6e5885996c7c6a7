"""Presolve of the selection of rules: candidates that an optimal set never needs are dropped."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cpx.models.rule_set.form import RuleSelection

Bools = NDArray[np.bool_]

_BLOCK = 256
"""Rules compared with all others at once: memory stays below a few hundred MB."""


@dataclass(frozen=True, eq=False)
class Presolved:
    """Which rules are left, and what stands for the others.

    form: The problem with merged rows; the rules that were dropped cover nothing in it.
    kept: Rules that are left, increasing; the required ones are among them.
    rounds: Of each round, the rules that stand for dominated ones, and the rules it left.
    """

    form: RuleSelection
    kept: tuple[int, ...]
    rounds: tuple[tuple[dict[int, int], frozenset[int]], ...]

    def translate(self, chosen: Iterable[int]) -> tuple[int, ...]:
        """Return a set of kept rules that costs no more, and is allowed if ``chosen`` is."""
        found = set(chosen)
        for instead, kept in self.rounds:
            found = {instead.get(r, r) for r in found} & kept
        return tuple(sorted(found))


def presolved(form: RuleSelection) -> Presolved:
    """Return what :func:`presolve` leaves of a problem, and remember it with the form."""
    # In the form itself: what is left may be that form, which a table by forms would keep alive.
    remembered = vars(form)
    if "_presolved" not in remembered:
        remembered["_presolved"] = presolve(form)
    found: Presolved = remembered["_presolved"]
    return found


def presolve(form: RuleSelection) -> Presolved:
    r"""Drop rules such that some optimal set, if any set is allowed, has none of them.

    Let c_r be the price of rule r, and let P(r) be the weight of the (merged) rows of positive
    weight that r covers and no required rule covers. Required rules always stay, forbidden ones
    go. Of the others:

    *Worthless*: P(r) <= c_r. Let S contain r. Without r, a row can lose its cover only if r
    covers it and no required rule does, so S - r misses at most P(r) more, covers no row more,
    and saves c_r: its cost is not greater. Every limit is on something that does not rise when
    a rule is removed, so S - r is allowed if S is.

    *Dominated*: another rule q covers all rows of positive weight that r covers and no row of
    negative weight that r does not cover, apart from rows of required rules, and c_q <= c_r. Let
    S contain r. If q is in S, S - r covers the same rows of positive weight, no row of negative
    weight more, and is allowed as above. If not, take S - r + q: the same holds, the price is
    not greater, and there are as many rules. Where literals are limited, q must have no more of
    them than r. Where the overlap is limited, q must cover no row at all that r does not cover:
    then no row is covered by more rules than before. Rules that dominate each other, such as
    duplicates, are told apart by their literals, then by their numbers: the first stays.

    Side constraints: a rule whose presence may satisfy one stays, and one whose presence may
    break one stands for no other. So S - r, and S - r + q, satisfy what S does.

    The steps apply in this order, and dominance only among rules that the first left. A rule
    that stands for others is replaced with them when it is dominated itself; dominance is
    transitive, and so is the order of ties, so that the last in each chain stays. Without the
    rules that went, more rows are covered by the same rules: they are merged, and the steps
    apply again, until no rule goes.

    Parameters
    ----------
    form : RuleSelection

    Returns
    -------
    Presolved
        Its ``translate`` is the proof as a function.
    """
    left, kept = form.merged, frozenset(range(form.shape[0]))
    rounds: list[tuple[dict[int, int], frozenset[int]]] = []
    while True:
        instead, rest = _round(left)
        if rest == kept:
            return Presolved(left, tuple(sorted(kept)), tuple(rounds))
        rounds.append((instead, rest))
        kept = rest
        there = np.isin(np.arange(form.shape[0]), list(kept))
        left = replace(left, covers=left.covers & there[:, None]).merged


def _round(merged: RuleSelection) -> tuple[dict[int, int], frozenset[int]]:
    """Return the rules that stand for dominated ones, and the rules that are left."""
    required = list(merged.required)
    open_rows = np.asarray(~merged.covers[required].any(axis=0))
    saved = np.where(open_rows, np.maximum(merged.weights, 0), 0)
    useful = merged.covers @ saved > merged.prices
    useful[sorted(merged.side.wanted)] = True
    useful[list(merged.forbidden)] = False
    useful[required] = False
    free = np.flatnonzero(useful)
    instead = _dominated(merged, free, open_rows)
    return instead, frozenset(int(r) for r in free if int(r) not in instead) | {*required}


def _dominated(form: RuleSelection, free: NDArray[np.intp], open_rows: Bools) -> dict[int, int]:
    """Return for each dominated rule the one that stands for it."""
    if not free.size:
        return {}
    # Of rules that dominate each other the first in this order stays.
    order = sorted(free.tolist(), key=lambda r: (int(form.lengths[r]), r))
    covers = form.covers[order]
    good = covers[:, open_rows & (form.weights > 0)]
    limited = form.max_overlap is not None
    bad = covers if limited else covers[:, open_rows & (form.weights < 0)]
    lengths, prices = form.lengths[order], form.prices[order]
    strict = form.max_literals is not None
    # stands[q, r]: q may stand for r. Counts of rows are exact in these floats.
    n = len(order)
    best = np.full(n, -1)
    good32, bad32 = good.astype(np.float32), bad.astype(np.float32)
    goods, bads = good32.sum(axis=1), bad32.sum(axis=1)
    places = np.arange(n)
    stands = np.zeros((n, n), dtype=bool)
    for start in range(0, n, _BLOCK):
        block = slice(start, min(n, start + _BLOCK))
        stands[block] = good32[block] @ good32.T == goods[None, :]
        stands[block] &= bad32[block] @ bad32.T == bads[block, None]
        stands[block] &= prices[block, None] <= prices[None, :]
        if strict:
            stands[block] &= lengths[block, None] <= lengths[None, :]
    kept = np.isin(order, sorted(form.side.wanted))
    stands &= ~kept[None, :] & ~np.isin(order, sorted(form.side.avoided))[:, None]
    stands &= ~stands.T | (places[:, None] < places[None, :])
    for r in range(n):
        others = np.flatnonzero(stands[:, r])
        if others.size:
            best[r] = others[0]
    instead = {}
    for r in range(n):
        last = r
        while best[last] >= 0:
            last = int(best[last])
        if last != r:
            instead[int(order[r])] = int(order[last])
    return instead
