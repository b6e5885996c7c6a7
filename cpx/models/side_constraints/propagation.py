"""What side constraints decide: features that every answer must have, or cannot have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cpx.models.side_constraints.form import LinearConstraint, SideConstraints

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
        decided = _decided(rows[open_.pop()][0], chosen, excluded)
        if decided is None:
            return None
        asked, refused = decided
        chosen |= asked
        excluded |= refused
        if new := asked | refused:
            open_ += [i for i, (_, about) in enumerate(rows) if not new.isdisjoint(about)]
            open_ = list(dict.fromkeys(open_))
    if not chosen.isdisjoint(excluded):
        return None
    return frozenset(chosen), frozenset(excluded)


def _decided(
    row: LinearConstraint, chosen: set[int], excluded: set[int]
) -> tuple[set[int], set[int]] | None:
    """Return what a constraint requires and forbids besides; None where it cannot hold.

    The sum may be ``spare`` less than the most it can be. A feature that takes more when it is
    chosen is forbidden, one that takes more when it is not is required.
    """
    most, with_it, without_it = 0, dict[int, int](), dict[int, int]()
    for factor, any_of in row.terms:
        holds = any(j in chosen for j in any_of)
        left = [j for j in any_of if j not in excluded]
        if factor > 0 and left:
            most += factor
            if not holds and len(left) == 1:
                without_it[left[0]] = without_it.get(left[0], 0) + factor
        elif factor < 0 and holds:
            most += factor
        elif factor < 0:
            for j in left:
                with_it[j] = with_it.get(j, 0) - factor
    spare = most - row.at_least
    if spare < 0:
        return None
    asked = {j for j, loss in without_it.items() if loss > spare}
    return asked, {j for j, loss in with_it.items() if loss > spare}
