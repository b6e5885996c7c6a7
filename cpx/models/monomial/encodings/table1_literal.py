"""Table 1 of Koriche et al. exactly as printed: a trap, kept for study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpx.models.base import Statement
from cpx.models.monomial.encodings.channelling import table1
from cpx.models.monomial.encodings.limits import refuse_limits

if TYPE_CHECKING:
    from cpx.models.monomial.form import WeightedMonomial

__all__ = ["table1_literal"]


def table1_literal(form: WeightedMonomial) -> Statement:
    """Table 1 as printed, sum X_j <= K: its value is *not* the loss; for study only.

    The variables and constraints of
    :func:`~cpx.models.monomial.encodings.channelling.channelling`, but for (iv)::

        sum_j X_j <= K        with K free in 0..k

    A solver may take K greater than the size of S. Then no sample meets K chosen features,
    so none counts as covered, whatever S is, and the objective falls to the weight of the
    agreeing samples. Where few samples agree that beats every real monomial, and S is
    arbitrary.

    Every solution of the faithful statement (K = size of S) is one of this statement with the
    same value, so this is a relaxation: its bound is a valid bound on the loss, its optimum
    is not attained. Results therefore recompute the loss of S and carry a warning. Limits on
    coverage and precision are refused: what counts as covered here is not what S covers.

    Source: F. Koriche, J.-M. Lagniez, S. Mengel, C. Tran: Learning Model Agnostic
    Explanations via Constraint Programming, Table 1 (iv) as printed.
    """
    refuse_limits(form.limits, "table1-literal")
    return table1(form, exact_size=False)
