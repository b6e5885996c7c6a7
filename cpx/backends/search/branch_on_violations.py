"""Branch and bound on violated side constraints, for engines that require and forbid alone.

A node requires some features and forbids others. The engine solves it without the side
constraints, which is a relaxation: no solution of the node is better. An answer that keeps them
closes the node; one that breaks a constraint is excluded by branching on the features that this
constraint is about, and what a node decides is propagated through all constraints first. The node
with the best bound comes next, so that this bound is one on the whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from cpx.answers.result import Termination
from cpx.backends.base import Outcome
from cpx.backends.progress import InnerProgress, Progress
from cpx.backends.search.best_first import BestFirst
from cpx.modelling.base import Problem
from cpx.modelling.side_constraints.form import LinearConstraint, SideConstraints, propagated
from cpx.options import SolveOptions

Engine = Callable[["Problem", "SolveOptions", Progress], Outcome]


@dataclass(frozen=True)
class _Node:
    required: frozenset[int]
    forbidden: frozenset[int]
    cost: Any
    """Of the answer that was branched on, negative where more is better."""


class _NodeProgress(InnerProgress):
    """The progress of a node, which passes its bounds on."""

    def __init__(
        self, problem: Problem, options: SolveOptions, whole: Progress, note: Callable[[Any], None]
    ) -> None:
        super().__init__(problem, options, whole)
        self._note = note

    def bound(self, value: Any) -> None:
        """Report a bound on the node."""
        super().bound(value)
        if self.best_bound is not None:
            self._note(self.best_bound)


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
    solved, ties, last = 0, True, Outcome(True, Termination.COMPLETED, "")

    def beaten(node: _Node) -> bool:
        if progress.objective is None:
            return False
        known = sign * progress.objective
        # Of equally good solutions one may be preferred.
        return bool(node.cost > known or (node.cost == known and not ties))

    def prove(bound: Any) -> None:
        # A solution that is known is no worse than the bound on the whole.
        known = bound if progress.objective is None else sign * progress.objective
        progress.bound(sign * min(bound, known))

    def expand(node: _Node, note: Callable[[Any], None]) -> list[_Node]:
        nonlocal solved, ties, last
        decided = propagated(side, node.required, node.forbidden)
        if decided is None:
            return []
        required, forbidden = decided
        part = replace(free, required=tuple(sorted(required)), forbidden=tuple(sorted(forbidden)))
        own = _NodeProgress(part, inner, progress, lambda bound: note(sign * bound))
        outcome = engine(part, inner, own)
        solved, last = solved + 1, replace(outcome, sizes=outcome.sizes or last.sizes)
        ties = ties and (outcome.best_of_ties or own.explanation is None)
        if own.explanation is None or own.objective is None:
            return []
        cost, chosen = sign * own.objective, frozenset(own.explanation.features)
        return [
            _Node(required | more, forbidden | less, cost)
            for more, less in branches(side, chosen, required, forbidden)
        ]

    tree = BestFirst(expand, lambda node: (node.cost,), beaten, prove, lambda: not last.proved)
    done = tree.search(_Node(frozenset(free.required), frozenset(free.forbidden), -math.inf))
    message = f"{solved} nodes of side constraints"
    if not done:
        message += f", the last: {last.raw_status}"
        return replace(last, raw_status=message, claimed=progress.objective)
    if progress.objective is not None:
        progress.bound(progress.objective)
    ended = Termination.COMPLETED
    return Outcome(True, ended, message, progress.objective, last.sizes, best_of_ties=ties)


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
