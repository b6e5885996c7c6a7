"""Parts of the search: the sets with some rules, and more of others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from cpx.backends.search.rule_sets.incumbent import Incumbent
    from cpx.backends.search.rule_sets.multipliers import Multipliers
    from cpx.models.rule_set.form import RuleSelection

__all__ = ["Part", "restrict"]

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Part:
    """The sets that have ``required``, and besides only some of ``rules``.

    Attributes
    ----------
    bound : int
        A lower bound on the cost of all of them.
    """

    required: tuple[int, ...]
    rules: Ints
    bound: int
    given: Multipliers | None = None  # shares to begin with, None for the whole problem


def restrict(form: RuleSelection, part: Part, known: Incumbent) -> Part | None:
    """Offer the required rules as a set; leave out rules of no use besides them.

    None if nothing is left to search: if the required rules break a limit, which larger sets do
    as well, or one of them is of no use, or no other rule is. A rule is of no use besides others
    if the good rows that it alone covers are worth no more than its price: without it, any set
    with these others is no worse, and smaller.
    """
    required = list(part.required)
    if not form.allows(required):
        return None
    known.offer(required)
    times = form.times_covered(required)
    saved = np.maximum(form.worth, 0)
    alone = form.covers[required] @ np.where(times == 1, saved, 0)
    free = np.array([r not in form.required for r in required], dtype=bool)
    if ((alone <= form.prices[required]) & free).any():
        return None
    rules = part.rules
    useful = form.covers[rules] @ np.where(times == 0, saved, 0) > form.prices[rules]
    if form.max_rules is not None:
        useful &= len(required) < form.max_rules
    if form.max_literals is not None:
        useful &= form.lengths[rules] <= form.max_literals - int(form.lengths[required].sum())
    if form.max_overlap is not None:
        left = form.max_overlap - form.overlap(required)
        useful &= form.covers[rules] @ np.where(times == 1, form.counted, 0) <= left
    if not useful.any():
        return None
    return replace(part, rules=rules[useful])
