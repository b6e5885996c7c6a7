"""What unit propagation fixes of the clauses of a statement, from partial choices of features."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from cpx.modelling.statement import Statement

if TYPE_CHECKING:
    from cpx.backends.maxsat.wcnf import Compiled

Choice = Sequence[tuple[int, bool]]
"""Features in the order in which they are decided, and whether they are chosen."""

_TRIES = 10


@dataclass(frozen=True)
class Fixed:
    """What unit propagation fixes, what is decided included: means over the choices drawn.

    Attributes
    ----------
    soft : float or None
        Literals of soft clauses; None where all choices are refuted.
    variables : float or None
        Variables, auxiliary ones included.
    refuted : int
        Choices that it finds to have no solution; they are not in the means.
    """

    soft: float | None
    variables: float | None
    refuted: int = 0


class UnitPropagation:
    """The unit propagation of a SAT solver, nothing learned and nothing simplified.

    >>> with UnitPropagation([[1], [-1, 2], [-2, -3, 4]]) as propagation:
    ...     sorted(propagation.fixed([])), sorted(propagation.fixed([3])), propagation.fixed([-1])
    ([1, 2], [1, 2, 3, 4], None)
    """

    def __init__(self, clauses: Iterable[list[int]]) -> None:
        from pysat.solvers import Solver

        listed = list(clauses)
        # The solver does not tell what it has fixed before anything is decided, so it decides.
        self._units = [clause[0] for clause in listed if len(clause) == 1]
        self._solver = Solver("minisat22", bootstrap_with=[c for c in listed if len(c) > 1])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._solver.delete()

    def fixed(self, decided: Iterable[int]) -> set[int] | None:
        """Return the literals that are true then; None where they contradict a clause."""
        consistent, found = self._solver.propagate(assumptions=[*self._units, *decided])
        return set(found) if consistent else None


def feature_literals(statement: Statement, compiled: Compiled) -> list[int]:
    """Return the literals that say that a feature is chosen; none where that takes several."""
    if "X" not in statement.variables:
        return []
    n = len(list(statement.variables["X"]))
    values: dict[str, Any] = {name: [] for name in statement.variables}
    values["X"] = [1] * n
    literals = compiled.literals(values)
    return literals if len(literals) == n else []


def drawn_choices(
    clauses: Iterable[list[int]], features: Sequence[int], n: int, seed: int
) -> list[Choice]:
    """Return choices of all features, at most n, that propagation does not refute.

    They are decided in random order by a coin, except those that propagation has fixed.
    """
    rng = random.Random(seed)
    choices: list[Choice] = []
    with UnitPropagation(clauses) as propagation:
        for _ in range(_TRIES * n if features else 0):
            known: set[int] | None = propagation.fixed([])
            decided: list[int] = []
            for feature in rng.sample(features, len(features)):
                if known is None:
                    break
                if feature not in known and -feature not in known:
                    decided.append(feature if rng.random() < 0.5 else -feature)
                    known = propagation.fixed(decided)
            if known is None:
                continue
            order = rng.sample(range(len(features)), len(features))
            choices.append([(place, features[place] in known) for place in order])
            if len(choices) == n:
                break
    return choices


def fixed_by(
    compiled: Compiled, features: Sequence[int], choices: Sequence[Choice]
) -> dict[str, Fixed | None]:
    """Return what is fixed when no feature, half of them and all of them are decided.

    compiled: The clauses and soft clauses.
    features: See :func:`feature_literals`.
    choices: See :func:`drawn_choices`; with none, only what is fixed from the start.
    """
    parts: dict[str, Sequence[Choice]] = {
        "none": [[]],
        "half": [choice[: len(choice) // 2] for choice in choices],
        "all": choices,
    }
    with UnitPropagation(compiled.clauses) as propagation:
        return {name: _mean(compiled, features, propagation, part) for name, part in parts.items()}


def _mean(
    compiled: Compiled,
    features: Sequence[int],
    propagation: UnitPropagation,
    choices: Sequence[Choice],
) -> Fixed | None:
    soft, variables, known = 0, 0, 0
    for choice in choices:
        decided = [features[place] if chosen else -features[place] for place, chosen in choice]
        if (found := propagation.fixed(decided)) is None:
            continue
        known += 1
        variables += len(found)
        soft += sum(literal in found or -literal in found for literal in compiled.costs)
    if not choices:
        return None
    if not known:
        return Fixed(None, None, len(choices))
    return Fixed(soft / known, variables / known, len(choices) - known)
