"""Direct encoding of what each tree loses: one variable per value, exactly one true."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cpx.models.base import Statement, Values
from cpx.models.minimum_subset.encodings.common import Stated, ladders
from cpx.models.monomial.encodings.common import bools

if TYPE_CHECKING:
    from cpx.models.minimum_subset.form import LossForm

__all__ = ["direct"]


def direct(form: LossForm) -> Statement:
    """Direct encoding: a variable per tree and loss says that the tree loses exactly that.

    With the symbols of the order encoding and v_0 = 0, variables X_j, and W_qti: tree t is
    counted with the loss v_i by requirement q::

        minimise    sum_j weight_j X_j
        subject to  OR_{j in H_l} X_j                              where e_ql > s_q for a q
                    sum_i W_qti  =  1                              for each q and t
                    OR_{i' >= i} W_qti'  or  OR_{j in H_l} X_j     where e_ql = v_i
                    sum_{t, i} v_i W_qti  <=  s_q                  for each q

    A leaf that pays by several requirements has one variable R_l, as in the order encoding.

    Size: one variable more than the order encoding per tree and requirement, longer clauses,
    and a cardinality constraint instead of the chain of each tree.

    Source: the direct encoding of finite domains, as in Walsh, SAT v CSP (2000).
    """
    import cpmpy as cp

    stated = Stated(form)
    found, size = ladders(form, zero=True)
    W = bools(size, "W")
    for ladder, step, excluded in stated.charge(found):
        worse = range(ladder.first + step, ladder.first + len(ladder.levels))
        stated.clause([*(W[i] for i in worse), *excluded])
    terms: dict[int, list[tuple[int, Any]]] = {}
    for ladder in found:
        steps = [W[ladder.first + i] for i in range(len(ladder.levels))]
        stated.constraints.append(cp.sum(steps) == 1)
        pairs = zip(ladder.levels.tolist(), steps, strict=True)
        terms.setdefault(ladder.requirement, []).extend(pair for pair in pairs if pair[0])
    stated.limit(terms)

    def complete(chosen: Sequence[int]) -> Values:
        worst = stated.worst(found, chosen)
        levels = [ladder.levels == loss for ladder, loss in zip(found, worst, strict=True)]
        return {"W": np.concatenate(levels).astype(np.int64)} if size else {}

    return stated.finish({"W": W}, complete)
