"""Branch and bound on violated side constraints, for engines that require and forbid alone.

A node requires some features and forbids others. The engine solves it without the side
constraints, which is a relaxation: no solution of the node is better. An answer that keeps them
closes the node; one that breaks a constraint is excluded by branching on the features that this
constraint is about, and what a node decides is propagated through all constraints first. The node
with the best bound comes next, so that this bound is one on the whole.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from cpx.answers.result import Termination
from cpx.answers.values import Value
from cpx.backends.base import Outcome
from cpx.backends.progress import InnerProgress, Progress
from cpx.modelling.base import Problem
from cpx.modelling.side_constraints.form import LinearConstraint, SideConstraints, propagated
from cpx.options import SolveOptions

Engine = Callable[["Problem", "SolveOptions", Progress], Outcome]


@dataclass(frozen=True)
class _Node:
    required: frozenset[int]
    forbidden: frozenset[int]
    bound: Value | None
    """Of the node that it comes from; None at the root."""


class _NodeProgress(InnerProgress):
    """The progress of a node; with what the other nodes allow, its bound is one on the whole."""

    def __init__(
        self, problem: Problem, options: SolveOptions, whole: Progress, others: Value | None
    ) -> None:
        super().__init__(problem, options, whole)
        self._others = others

    def bound(self, value: Any) -> None:
        """Report a bound on the node, and what follows for the whole."""
        super().bound(value)
        mine = self.best_bound
        if mine is not None:
            others = self._others
            if others is not None and self.is_better(others, mine):
                mine = others
            # A solution that is known is no worse than the bound on the whole.
            known = self._whole.objective
            if known is not None and self.is_better(known, mine):
                mine = known
            self._whole.bound(mine)


def branch_on_violations(
    problem: Any,
    options: SolveOptions,
    progress: Progress,
    engine: Engine,
) -> Outcome:
    """Solve a problem with side constraints by an engine that knows none.

    problem: With the parameters ``required`` and ``forbidden``; or with its ``selection``, which
        is the same one without side constraints and has these.
    engine: Solves a problem, exactly: takes it, the options and a progress.
    """
    side: SideConstraints = problem.side_constraints
    sign = 1 if problem.sense == "min" else -1
    free = getattr(problem, "selection", None) or replace(problem, side_constraints=())
    inner = replace(options, hint=None, gap=None)
    numbers, solved = count(), 0
    root = _Node(frozenset(free.required), frozenset(free.forbidden), None)
    nodes: list[tuple[Value, int, _Node]] = [(0, next(numbers), root)]
    sizes: Any = {}
    ties = True
    while nodes:
        _, _, node = heapq.heappop(nodes)
        others = nodes[0][2].bound if nodes else None
        known = progress.objective
        if node.bound is not None and known is not None:
            slack = sign * (node.bound - known)
            # Of as good solutions one may be preferred.
            if slack > 0 or (slack == 0 and not ties):
                continue
        decided = propagated(side, node.required, node.forbidden)
        if decided is None:
            continue
        required, forbidden = decided
        part = replace(free, required=tuple(sorted(required)), forbidden=tuple(sorted(forbidden)))
        own = _NodeProgress(part, inner, progress, others)
        outcome = engine(part, inner, own)
        solved, sizes = solved + 1, outcome.sizes or sizes
        ties = ties and (outcome.best_of_ties or own.explanation is None)
        message = f"{solved} nodes of side constraints, the last: {outcome.raw_status}"
        if not outcome.proved:
            return replace(outcome, raw_status=message, claimed=progress.objective, sizes=sizes)
        if own.explanation is None or own.objective is None:
            continue
        chosen = frozenset(own.explanation.features)
        for more, less in branches(side, chosen, required, forbidden):
            child = _Node(required | more, forbidden | less, own.objective)
            heapq.heappush(nodes, (sign * own.objective, next(numbers), child))
    message = f"{solved} nodes of side constraints"
    if progress.objective is not None:
        progress.bound(progress.objective)
    return Outcome(
        True,
        Termination.COMPLETED,
        message,
        claimed=progress.objective,
        sizes=sizes,
        best_of_ties=ties,
    )


def branches(
    side: SideConstraints,
    chosen: frozenset[int],
    required: frozenset[int],
    forbidden: frozenset[int],
) -> list[tuple[frozenset[int], frozenset[int]]]:
    """Return what to require and forbid in each branch; nothing where no constraint is broken.

    Of the features whose choice could be another one to the good of a broken constraint, the
    i-th branch changes the i-th, and keeps those before it: together they have all solutions
    of the node, and none has this one.
    """
    open_: list[list[int]] = []
    for row in side.linear:
        if not row.holds(chosen):
            open_.append(_changeable(row, chosen, required | forbidden))
    if not open_:
        return []
    found, more, less = [], frozenset[int](), frozenset[int]()
    for j in min(open_, key=len):
        if j in chosen:
            found.append((more, less | {j}))
            more |= {j}
        else:
            found.append((more | {j}, less))
            less |= {j}
    return found


def _changeable(
    row: LinearConstraint, chosen: frozenset[int], decided: frozenset[int]
) -> list[int]:
    """Return the features that are not decided, and of which a change may raise the sum."""
    found: dict[int, None] = {}
    for factor, any_of in row.terms:
        there = chosen.intersection(any_of)
        if factor < 0:
            found |= dict.fromkeys(j for j in any_of if j in there and j not in decided)
        elif not there:
            found |= dict.fromkeys(j for j in any_of if j not in decided)
    return list(found)
