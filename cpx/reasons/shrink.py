"""Subset-minimal sufficient reasons, and smallest changes, by deletion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cpx.reasons.oracle import Oracle

__all__ = ["shrunk_change", "shrunk_reason"]


def shrunk_reason(
    oracle: Oracle, reason: Iterable[int], order: Sequence[int]
) -> tuple[frozenset[int], list[frozenset[int]]]:
    """Drop attributes of a sufficient reason until none can be dropped.

    Several are dropped at once while that goes well: the number doubles after each success
    and is halved after each failure.

    Parameters
    ----------
    oracle : Oracle
    reason : iterable of int
        A sufficient reason; this is not checked.
    order : sequence of int
        The attributes that may be dropped, the first to be tried first.

    Returns
    -------
    frozenset of int
        A sufficient reason; without any one attribute of ``order`` it is none.
    list of frozenset
        Changes found on the way: sets of attributes of which a counterexample, in other cells
        than x there and nowhere else, is known.

    Raises
    ------
    Stopped
        See :meth:`Oracle.counterexample`.
    """
    kept = set(reason)
    waiting = [a for a in order if a in kept]
    changes = []
    chunk = 1
    while waiting:
        tried = waiting[:chunk]
        found = oracle.counterexample(kept.difference(tried))
        if found is None:
            kept.difference_update(tried)
            del waiting[:chunk]
            chunk *= 2
        elif len(tried) == 1:
            changes.append(oracle.difference(found))
            del waiting[0]
        else:
            chunk = max(len(tried) // 2, 1)
    return frozenset(kept), changes


def shrunk_change(
    oracle: Oracle, change: Iterable[int], order: Sequence[int], always: Iterable[int] = ()
) -> frozenset[int]:
    """Restore attributes of a change to x until none can be restored.

    Parameters
    ----------
    oracle : Oracle
    change : iterable of int
        A set of attributes in which some counterexample differs from x, and in no others.
    order : sequence of int
        The attributes that may be restored, the first to be tried first.
    always : iterable of int
        Attributes that may change in any case; they are not in the answer.

    Returns
    -------
    frozenset of int
        A change without which, less any one attribute of ``order``, the class stays.

    Raises
    ------
    Stopped
        See :meth:`Oracle.counterexample`.
    """
    others = frozenset(oracle.grid.used).difference(always)
    freed = set(change)
    needed: set[int] = set()
    for a in order:
        if a in freed and a not in needed:
            found = oracle.counterexample(others - freed | {a})
            if found is None:
                needed.add(a)
            else:
                freed.intersection_update(oracle.difference(found))
    return frozenset(freed)
