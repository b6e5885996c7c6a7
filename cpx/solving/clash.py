"""A smallest unsatisfiable subset of the side constraints, where no answer satisfies them all."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any

from cpx.answers.result import Result, Status
from cpx.backends import backend as find_backend
from cpx.backends.base import require
from cpx.errors import CpxError
from cpx.modelling.base import Problem
from cpx.modelling.encodings import stated_in
from cpx.modelling.side_constraints.statement import stated_apart

_SECONDS = 10.0
_ENGINE = "cpsat"

Satisfied = Callable[[frozenset[int]], frozenset[int] | None]
"""The side constraints that some answer satisfies, these among them; None where there is none."""


class _TooLong(Exception):
    """There is no time left."""


def with_clash(problem: Problem, result: Result, seconds: float | None) -> Result:
    """Return a result with the side constraints that clash, where they are why there is none.

    result: Of a solve of a problem with side constraints, without a clash yet.
    seconds: What the search for them may take; at most 10 s.
    """
    side = problem.side_constraints
    # What has no text was written by nobody: it excludes answers that are known.
    if result.status is not Status.INFEASIBLE or not all(side.texts):
        return result
    end = time.monotonic() + (_SECONDS if seconds is None else min(seconds, _SECONDS))
    try:
        if problem._unstated and not hasattr(problem, "of_literals"):
            stated_in(problem)  # says why there is no statement
        require(find_backend(_ENGINE))
        found = smallest_clash(len(side), _oracle(problem, end), end)
    except CpxError as error:
        return result.with_warnings(f"which side constraints clash was not looked for: {error}")
    except _TooLong:
        return result.with_warnings("which side constraints clash was not found in time")
    if not found:
        return result.with_warnings("there is no solution without the side constraints either")
    return replace(result, clash=tuple(side.texts[i] for i in sorted(found)))


def smallest_clash(n: int, satisfied: Satisfied, end: float = inf) -> frozenset[int]:
    """Return a smallest unsatisfiable subset of n constraints, all of which are unsatisfiable.

    By implicit hitting sets (Ignatiev et al., Smallest MUS Extraction with Minimal Hitting Set
    Dualization, CP 2015): every unsatisfiable subset has one constraint at least of those that
    a satisfiable one lacks, so a smallest set that meets all these, and is unsatisfiable, is a
    smallest one of all.

    end: When to give up, by :func:`time.monotonic`.

    >>> def satisfied(some):
    ...     return None if {0, 1, 2} <= some or {1, 3} <= some else some
    >>> sorted(smallest_clash(4, satisfied))
    [1, 3]
    """
    import cpmpy as cp

    every = frozenset(range(n))
    meets = cp.boolvar(shape=(n,), name="meets")
    solver = cp.SolverLookup.get("ortools", cp.Model(minimize=cp.sum(meets)))
    while True:
        if not _solved(solver, end):
            raise AssertionError("all of them meet all sets")
        tried = frozenset(i for i in range(n) if meets[i].value())
        kept = satisfied(tried)
        if kept is None:
            return tried
        # As large as it gets, so that what it lacks is small.
        for i in sorted(every - kept):
            if i not in kept:
                kept = satisfied(kept | {i}) or kept
        solver += cp.any([meets[i] for i in sorted(every - kept)])


def _oracle(problem: Any, end: float) -> Satisfied:
    """Return what decides by CP-SAT on the statement."""
    import cpmpy as cp

    if not problem._unstated:
        side, free = problem.side_constraints, replace(problem, side_constraints=())
    else:
        free, side = problem.of_literals
    # Other encodings may have left out what a constraint asks for.
    whole = next(encoding.name for encoding in free.encodings if encoding.every_solution)
    statement, groups = stated_apart(free.model(whole), side)
    X, wanted = statement.variables["X"], cp.boolvar(shape=(len(groups),), name="wanted")
    model = cp.Model(statement.model.constraints)
    for literal, group in zip(wanted, groups, strict=True):
        model += [literal.implies(constraint) for constraint in group]
    solver = cp.SolverLookup.get("ortools", model)

    def satisfied(some: frozenset[int]) -> frozenset[int] | None:
        if not _solved(solver, end, assumptions=[wanted[i] for i in sorted(some)]):
            return None
        chosen = {j for j, literal in enumerate(X) if literal.value()}
        return frozenset(
            i for i, one in enumerate(side) if all(row.holds(chosen) for row in one.means)
        )

    return satisfied


def _solved(solver: Any, end: float, **arguments: Any) -> bool:
    """Whether there is a solution; raise _TooLong where that is not decided in time."""
    left = end - time.monotonic()
    if left <= 0:
        raise _TooLong
    limit = {} if left == inf else {"time_limit": left}
    # CP-SAT's own handler would leave none behind: the next Ctrl-C would kill the program.
    solver.solve(num_workers=1, catch_sigint_signal=False, **limit, **arguments)
    status = solver.status().exitstatus.name
    if status not in ("OPTIMAL", "FEASIBLE", "UNSATISFIABLE"):
        raise _TooLong
    return bool(status != "UNSATISFIABLE")
