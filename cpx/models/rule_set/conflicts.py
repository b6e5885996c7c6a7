"""Pairs of rules that no good set has together, by cost splitting, and cliques of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cpx.models.rule_set.form import RuleSelection
from cpx.models.rule_set.search.multipliers import Relaxation

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

_MOST = 2**32
"""Pairs of rules times pairs of good and bad rows, which the time is proportional to: 0.4 s."""


def conflicts(form: RuleSelection, relaxation: Relaxation, most: int) -> Bools:
    """Return which of the rules are together in no set that costs at most so much, shape (R, R).

    relaxation: Of the form, with its last certificate.

    With rules r and s a good row pays at least the greater of what it pays in any case and its
    shares of the prices of both and of the costs of all bad rows of r or s; that is ``due`` in
    :mod:`cpx.models.rule_set.search.cost_splitting`. Shares without their last bits are integers,
    whose sums are exact in floats of 64 bits.
    """
    rules, paid = relaxation.rules, relaxation.paid()
    R, (G, B) = rules.size, (relaxation.good.size, relaxation.bad.size)
    found = np.zeros((R, R), dtype=np.bool_)
    if not G or R * R * G * B > _MOST:
        return found
    room = (most - paid.fixed) * paid.parts >> paid.shift
    tables = (paid.least, paid.own, paid.demand, paid.shares)
    least, own, due, shares = (table[..., :G].astype(np.float64) for table in tables)
    bad = form.covers[np.ix_(rules, relaxation.bad)]
    for r in range(R - 1):
        others, new = np.arange(r + 1, R), ~bad[r]
        # First without what both cost together, which takes less time.
        greater = np.maximum(due[r + 1 :], np.maximum(least, due[r])).sum(axis=1)
        open_ = others[greater <= room]
        both = bad[np.ix_(open_, new)] @ shares[new] + own[open_] + due[r]
        found[r, others[greater > room]] = True
        found[r, open_[np.maximum(least, both).sum(axis=1) > room]] = True
    return found | found.T


def cliques(conflict: Bools) -> list[Ints]:
    """Return sets of rules, all in conflict with each other, such that each pair is in one."""
    left, found = conflict.copy(), []
    degrees = conflict.sum(axis=1)
    while left.any():
        clique = [int(left.sum(axis=1).argmax())]
        able, more = conflict[clique[0]].copy(), left[clique[0]].astype(np.int64)
        while True:
            # The rule with most pairs that are in no set yet, then with most pairs at all.
            s = int(np.where(able & (more > 0), more * len(left) + degrees, -1).argmax())
            if not able[s] or more[s] <= 0:
                break
            clique.append(s)
            able &= conflict[s]
            more += left[s]
        found.append(np.sort(np.array(clique, dtype=np.int64)))
        left[np.ix_(clique, clique)] = False
    return found
