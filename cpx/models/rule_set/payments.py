"""What each good row pays at least, as linear constraints over rules and rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cpx.models.rule_set.form import RuleSelection
from cpx.models.rule_set.search.multipliers import Relaxation

Ints = NDArray[np.int64]

_UNIT = 2**13
"""What a row pays at least, in the integers of its constraint, but for what is rounded down."""


class Payment(NamedTuple):
    """``least U_i + sum of c[r] X_r + sum of b[j] C_j >= least``.

    row: i, the good row.
    least: What it pays at least, when it is missed as well.
    rules, c: Rules that cover it, and its shares of their prices.
    bad, b: Bad rows, and its shares of their costs.
    """

    row: int
    least: int
    rules: Ints
    c: Ints
    bad: Ints
    b: Ints


def payments(form: RuleSelection, relaxation: Relaxation) -> list[Payment]:
    """Return what good rows pay at least by cost splitting, where that is anything.

    relaxation: Of the form, with its last certificate.

    See :mod:`cpx.models.rule_set.search.cost_splitting` for the shares and the proof: a row that
    is missed pays its weight, and one that rule r covers its shares of the price of r and of the
    costs of all bad rows of r. Each constraint has integers of its own. Shares are rounded down,
    and what is paid at least is the least by the rounded shares; so any shares make a valid
    constraint.
    """
    if not relaxation.good.size:
        return []
    rules, paid = relaxation.rules, relaxation.paid()
    weights = form.weights[relaxation.good] * paid.parts >> paid.shift
    covers = form.covers[np.ix_(rules, relaxation.good)]
    bad = form.covers[np.ix_(rules, relaxation.bad)].astype(np.int64)
    found = []
    for i, row in enumerate(relaxation.good.tolist()):
        c = np.where(covers[:, i], paid.own[:, i], 0).astype(np.int64)
        b = paid.shares[:, i].astype(np.int64)
        by = _UNIT / max(1, _least(c, b, covers[:, i], bad, int(weights[i])))
        c, b = ((by * share).astype(np.int64) for share in (c, b))
        least = _least(c, b, covers[:, i], bad, int(by * weights[i]))
        if least > 0:
            there, costing = np.flatnonzero(c), np.flatnonzero(b)
            found.append(
                Payment(
                    row,
                    least,
                    rules[there],
                    np.minimum(c[there], least),
                    relaxation.bad[costing],
                    np.minimum(b[costing], least),
                )
            )
    return found


def _least(c: Ints, b: Ints, covering: NDArray[np.bool_], bad: Ints, weight: int) -> int:
    """Return the least of what a row pays when it is missed, and for a rule that covers it."""
    return min(weight, int((c + bad @ b)[covering].min(initial=weight)))
