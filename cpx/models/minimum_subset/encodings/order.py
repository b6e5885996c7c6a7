"""Order encoding of what each tree loses: the default for smallest sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cpx.models.base import Statement, Values
from cpx.models.minimum_subset.encodings.common import Stated, ladders
from cpx.models.monomial.encodings.common import bools

if TYPE_CHECKING:
    from cpx.models.minimum_subset.form import LossForm

__all__ = ["order"]


def order(form: LossForm) -> Statement:
    """Order encoding: a variable per tree and loss says that the tree may lose that much.

    For a leaf l, H_l are the features that exclude it and e_ql its loss by requirement q.
    Of tree t, let 0 < v_1 < v_2 < ... be the losses by q up to the slack s_q.
    Variables: X_j, feature j is chosen; B_qti, tree t may lose v_i or more by q::

        minimise    sum_j weight_j X_j
        subject to  OR_{j in H_l} X_j                 where e_ql > s_q for a q
                    B_qti  or  OR_{j in H_l} X_j      where e_ql = v_i of its tree t
                    B_qti  ->  B_qt(i-1)
                    sum_{t, i} (v_i - v_(i-1)) B_qti  <=  s_q      for each q

    Only one direction is stated: a B_qti that is true without need costs slack. A leaf that
    pays by several requirements has one variable R_l, "may be reached", with
    R_l or OR_{j in H_l} X_j, and R_l -> B_qti for each of them.

    With one tree every leaf of another class must be excluded, and what is left is a minimum
    hitting set. With votes not B_t is the selector of Audemard et al.: tree t is among those
    whose vote S implies.

    Size: n variables and one per tree and different loss by each requirement; a clause per
    leaf, a binary one per variable B, and one linear constraint per requirement.

    Source: for votes, Audemard et al., On the Explanatory Power of Boolean Decision Trees and
    Random Forests (2022, partial MaxSAT for majoritary reasons); for sums of leaves, the
    worst leaves of Audemard et al., Computing Abductive Explanations for Boosted Trees (2023);
    order encoding of integers: Tamura et al., Compiling Finite Linear CSP into SAT (2009).
    """
    stated = Stated(form)
    found, size = ladders(form, zero=False)
    B = bools(size, "B")
    for ladder, step, excluded in stated.charge(found):
        stated.clause([B[ladder.first + step], *excluded])
    terms: dict[int, list[tuple[int, Any]]] = {}
    for ladder in found:
        steps = np.diff(ladder.levels, prepend=0).tolist()
        for i, more in enumerate(steps):
            b = B[ladder.first + i]
            if i:
                stated.constraints.append(b.implies(B[ladder.first + i - 1]))
            terms.setdefault(ladder.requirement, []).append((more, b))
    stated.limit(terms)

    def complete(chosen: Sequence[int]) -> Values:
        worst = stated.worst(found, chosen)
        levels = [ladder.levels <= loss for ladder, loss in zip(found, worst, strict=True)]
        return {"B": np.concatenate(levels).astype(np.int64)} if size else {}

    return stated.finish({"B": B}, complete)
