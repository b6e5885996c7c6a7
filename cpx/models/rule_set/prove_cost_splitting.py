"""Cost splitting for proofs about sets of rules, by the dual ascent of the search.

They are rounded to few digits, which loses little: what they prove is counted by the checker's
own sums.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cpx.models.rule_set.proof_cheaper_sets import Rows
from cpx.models.rule_set.proof_check import DIGITS, MOST_SHARED
from cpx.models.rule_set.proof_cost_splitting import LARGEST, Shares
from cpx.models.rule_set.proof_nodes import Node

__all__ = ["rounds"]

_ROUNDS, _STEPS = 2, 32
_LITTLE = 1e-30
_DIGITS = np.frombuffer(DIGITS.encode("ascii"), dtype=np.uint8)


def rounds(node: Node, goal: int, times: int) -> Iterator[tuple[str, Node | None]]:
    """Yield lines of better and better shares, and what each leaves of a node, if anything."""
    from cpx.models.rule_set.form import RuleSelection
    from cpx.models.rule_set.search.multipliers import Relaxation

    free = np.flatnonzero(node.free)
    good, bad, prices = node.rows(free)
    n = good.costs.size
    every = int(good.costs.sum() + bad.costs.sum() + prices.sum())
    unit = (LARGEST - 1) // max(1, every)
    if min(unit, n, free.size) == 0 or max(n, free.size) * (n + bad.costs.size) > MOST_SHARED:
        return
    none = np.zeros(0, dtype=np.int64)
    form = RuleSelection(
        np.concatenate([good.covers, bad.covers]).T.copy(),
        np.concatenate([good.costs, -bad.costs]),
        prices,
        *(0, (), (), none, none),
    )
    left, start = np.arange(free.size), None
    for _ in range(times * _ROUNDS):
        relaxation = Relaxation(form, (), left, start)
        relaxation.climb(_STEPS)
        relaxation.certify()
        start, exact = relaxation.multipliers(), relaxation.exact
        asked = np.zeros(n, dtype=np.int64)
        size = relaxation.good.size
        asked[relaxation.good] = exact.least.reshape(-1)[:size] * (unit / relaxation.parts)
        parts = np.zeros((bad.costs.size, n), dtype=np.int64)
        if relaxation.bad.size and size:
            table = start.of_bad.shares.transpose(1, 0, 2)
            of_each = table.reshape(len(table), -1)[:, :size]
            part = of_each * (len(DIGITS) - 1) / np.maximum(of_each.max(axis=1), _LITTLE)[:, None]
            parts[np.ix_(relaxation.bad - n, relaxation.good)] = np.round(part)
        good_left, bad_left = (Rows(some.covers[:, left], some.costs) for some in (good, bad))
        shares = Shares(good_left, bad_left, prices[left], unit, asked, parts)
        rest = node.left_by(shares, goal)
        words = _DIGITS[parts].tobytes().decode("ascii")
        rows = [words[at : at + n] for at in range(0, len(words), n)]
        yield " ".join(["shares", *map(str, [unit, *asked.tolist()]), *rows]), rest
        if rest is None or not rest.free.any():
            return
        left, node = np.flatnonzero(rest.free[free]), rest
