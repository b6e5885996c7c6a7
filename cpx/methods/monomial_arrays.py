"""The plain arrays of a problem whose answer is one monomial, for heuristics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpx.models.base import form_of
from cpx.models.monomial.form import RatioMonomial, WeightedMonomial

if TYPE_CHECKING:
    from cpx.models.base import Problem

__all__ = ["MonomialForm", "allowed", "monomial_form"]

MonomialForm = WeightedMonomial | RatioMonomial


def monomial_form(problem: Problem) -> MonomialForm | None:
    """Return the plain arrays of a monomial problem; None for another one."""
    form = form_of(problem)
    return form if isinstance(form, MonomialForm) else None


def allowed(form: MonomialForm, chosen: tuple[int, ...]) -> list[int]:
    """Return the features that may be added to a set, increasing.

    Examples
    --------
    >>> import numpy as np
    >>> agreement, cost = np.ones((1, 4), dtype=bool), np.zeros(1, dtype=np.int64)
    >>> form = WeightedMonomial(agreement, cost, cost, k=3, forbidden=(3,),
    ...                         groups=np.array([0, 0, 1, 1]))
    >>> allowed(form, (1,))
    [2]
    """
    closed = {*chosen, *form.forbidden}
    free = [j for j in range(form.shape[1]) if j not in closed]
    if form.groups is None:
        return free
    groups = form.groups
    taken = {int(groups[j]) for j in chosen}
    return [j for j in free if int(groups[j]) not in taken]
