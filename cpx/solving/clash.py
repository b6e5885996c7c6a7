"""Which side constraints clash, where no answer satisfies all of them: a smallest such set."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations, count
from typing import TYPE_CHECKING, Any

from cpx.answers.result import Result, Status
from cpx.backends import backend as find_backend
from cpx.models.side_constraints.form import SideConstraints
from cpx.models.side_constraints.statement import stated_apart

if TYPE_CHECKING:
    from cpx.models.base import Problem

__all__ = ["smallest_clash", "with_clash"]

_SECONDS = 10.0
_ENGINE = "cpsat"

Contradicts = Callable[[frozenset[int]], bool]
"""Whether there is no answer with the side constraints of these numbers; may raise _TooLong."""


class _TooLong(Exception):
    """There is no time left."""


def with_clash(problem: Problem, result: Result, seconds: float | None) -> Result:
    """Return a result with the side constraints that clash, where they are why there is none.

    Parameters
    ----------
    problem : Problem
    result : Result
        Of a solve without a clash yet.
    seconds : float, optional
        What the search for them may take; at most 10 s.
    """
    side = problem.side_constraints
    if result.status is not Status.INFEASIBLE or not side:
        return result
    left = _SECONDS if seconds is None else min(seconds, _SECONDS)
    try:
        oracle = _oracle(problem, time.monotonic() + left)
        if oracle is None:
            return result.with_warnings(
                f"which side constraints clash is found by {_ENGINE}, which is not here"
            )
        found = smallest_clash(len(side), oracle)
    except _TooLong:
        return result.with_warnings("which side constraints clash was not found in time")
    if not found:
        return result.with_warnings("there is no solution without the side constraints either")
    return replace(result, clash=tuple(side.texts[i] for i in sorted(found)))


def smallest_clash(n: int, contradicts: Contradicts) -> frozenset[int]:
    """Return a smallest set of n constraints that contradicts, where all of them do.

    By implicit hitting sets (Ignatiev et al., Smallest MUS Extraction with Minimal Hitting Set
    Dualization, CP 2015): every set that contradicts has one constraint at least of those that
    a set without contradiction lacks, so a smallest set that meets all these, and contradicts,
    is a smallest one of all.

    Examples
    --------
    >>> sorted(smallest_clash(4, lambda some: {0, 1, 2} <= some or {1, 3} <= some))
    [1, 3]
    """
    every = frozenset(range(n))
    lacking: list[frozenset[int]] = []
    while True:
        tried = _smallest_meeting(every, lacking)
        if contradicts(tried):
            return tried
        # As large as it gets, so that what it lacks is small.
        for i in sorted(every - tried):
            if not contradicts(tried | {i}):
                tried |= {i}
        lacking.append(every - tried)


def _smallest_meeting(every: frozenset[int], sets: Sequence[frozenset[int]]) -> frozenset[int]:
    useful = sorted(frozenset().union(*sets))
    for size in count():
        for some in combinations(useful, size):
            chosen = frozenset(some)
            if all(chosen & one for one in sets):
                return chosen
    raise AssertionError("all of them meet all sets")


def _oracle(problem: Problem, end: float) -> Contradicts | None:
    """Return what decides; None where there is no engine for it."""
    if not problem.stated or not find_backend(_ENGINE).available():
        return None

    import cpmpy as cp

    statement, groups = stated_apart(
        replace_side(problem, SideConstraints()).model(), problem.side_constraints
    )
    wanted = cp.boolvar(shape=(len(groups),), name="wanted")
    model = cp.Model(statement.model.constraints)
    for literal, group in zip(wanted, groups, strict=True):
        model += [literal.implies(constraint) for constraint in group]
    solver = cp.SolverLookup.get("ortools", model)
    known: dict[frozenset[int], bool] = {}

    def contradicts(some: frozenset[int]) -> bool:
        if some not in known:
            left = end - time.monotonic()
            if left <= 0:
                raise _TooLong
            found = solver.solve(
                assumptions=[wanted[i] for i in sorted(some)],
                time_limit=left,
                num_workers=1,
            )
            if not found and solver.status().exitstatus.name != "UNSATISFIABLE":
                raise _TooLong
            known[some] = not found
        return known[some]

    return contradicts


def replace_side(problem: Any, side: SideConstraints) -> Any:
    """Return the problem with other side constraints."""
    return replace(problem, side_constraints=side)
