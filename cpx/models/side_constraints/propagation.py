"""What side constraints decide: features that every answer must have, or cannot have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cpx.models.side_constraints.form import SideConstraints

__all__ = ["propagated"]


def propagated(
    side: SideConstraints, required: Iterable[int], forbidden: Iterable[int]
) -> tuple[frozenset[int], frozenset[int]] | None:
    """Return what is required and forbidden with all that follows; None where that clashes.

    A feature without which some constraint cannot hold is required, one with which it cannot
    is forbidden, until no more follows.

    Examples
    --------
    >>> from cpx.models.side_constraints.form import SideConstraints
    >>> from cpx.models.side_constraints.text import parsed
    >>> from cpx.models.side_constraints.vocabulary import Vocabulary
    >>> names = Vocabulary([("a", [0]), ("b", [1]), ("c", [2])])
    >>> texts = ("implies(a, b)", "not (b and c)")
    >>> side = SideConstraints(tuple(parsed(text, names) for text in texts))
    >>> [sorted(some) for some in propagated(side, [0], [])]
    [[0, 1], [2]]
    >>> propagated(side, [0, 2], []) is None
    True
    """
    chosen, excluded = set(required), set(forbidden)
    if not chosen.isdisjoint(excluded):
        return None
    rows = [(row, {j for _, T in row.terms for j in T}) for row in side.linear]
    # A constraint is looked at again when one of its features is decided.
    open_ = list(range(len(rows)))
    while open_:
        row, about = rows[open_.pop()]
        if not row.may_hold(chosen, excluded):
            return None
        new = set()
        for j in about - chosen - excluded:
            if not row.may_hold(chosen | {j}, excluded):
                excluded.add(j)
                new.add(j)
            elif not row.may_hold(chosen, excluded | {j}):
                chosen.add(j)
                new.add(j)
        if new:
            open_ += [i for i, (_, other) in enumerate(rows) if not new.isdisjoint(other)]
            open_ = list(dict.fromkeys(open_))
    return frozenset(chosen), frozenset(excluded)
