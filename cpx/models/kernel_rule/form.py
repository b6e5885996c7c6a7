"""Monotone formulas in disjunctive normal form, and problems to choose one, as plain arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cpx.data.bits import Bits
from cpx.errors import InvalidInstance, shown
from cpx.modelling.side_constraints.form import NO_SIDE_CONSTRAINTS, SideConstraints
from cpx.models.rule_set.form import RuleSelection
from cpx.models.rule_set.learning import conjunctions, how_many
from cpx.support.validation import integer

DNF = tuple[tuple[int, ...], ...]
"""The clauses, each with its features; both in increasing order, each once."""


def canonical(clauses: Iterable[Iterable[int]]) -> DNF:
    """Return clauses in order, without the same one twice.

    >>> canonical([[2, 1], [0], [1, 2]])
    ((0,), (1, 2))
    """
    return tuple(sorted({tuple(sorted({int(j) for j in clause})) for clause in clauses}))


def read_dnf(name: str, value: object, d: int) -> DNF:
    """Return a formula over d features that someone gave; clauses must not be empty.

    Raises InvalidInstance: Naming what is no list of lists of indices.
    """
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInstance(f"{name} must be a list of clauses, got {shown(value)}")
    clauses = []
    for clause in value:
        if isinstance(clause, str) or not isinstance(clause, Iterable):
            raise InvalidInstance(
                f"{name}: a clause must be a list of features, got {shown(clause)}"
            )
        features = list(clause)
        if not features or any(integer(j) is None or not 0 <= j < d for j in features):
            raise InvalidInstance(
                f"{name}: a clause has indices from 0 to {d - 1}, got {features}"
            )
        clauses.append(features)
    if not clauses:
        raise InvalidInstance(f"{name} must have a clause")
    return canonical(clauses)


def true_of(clauses: Iterable[Sequence[int]], table: Bits) -> Bits:
    """Return of which rows of a table a formula is true, shape (n,).

    >>> true_of(((0, 1), (2,)), np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1]], dtype=bool)).tolist()
    [True, False, True]
    """
    found = np.zeros(len(table), dtype=np.bool_)
    for clause in clauses:
        found |= table[:, list(clause)].all(axis=1)
    return found


@dataclass(frozen=True, eq=False)
class DNFForm:
    """Maximise the weight of the samples that a formula is true of.

    The formula is a disjunction of 1 to ``max_clauses`` conjunctions of 1 to ``max_literals``
    features. The features j of its clause t are, as indices of a solution, ``t d + j``, below
    ``max_clauses * d``.

    table: shape (m, d)
    weights (m,): Of either sign; their absolute values add up to less than 2**53.
    side: Further constraints, of which each term has a feature in all clauses or in none.
    """

    table: NDArray[np.bool_]
    weights: NDArray[np.int64]
    max_clauses: int
    max_literals: int
    side: SideConstraints = NO_SIDE_CONSTRAINTS

    @property
    def greatest(self) -> int:
        """The sum of the positive weights, which no formula exceeds."""
        return int(self.weights[self.weights > 0].sum())

    def clauses(self, features: Iterable[int]) -> DNF:
        """Return the clauses of a solution, in increasing order, each once."""
        d = self.table.shape[1]
        slots: dict[int, list[int]] = {}
        for feature in features:
            slots.setdefault(feature // d, []).append(feature % d)
        return canonical(slots.values())

    def features(self, clauses: Sequence[Sequence[int]]) -> list[int]:
        """Return the solution with these clauses, in their order."""
        d = self.table.shape[1]
        return [t * d + j for t, clause in enumerate(clauses) for j in clause]

    def covered(self, clauses: Iterable[Sequence[int]]) -> NDArray[np.bool_]:
        """Return which samples the formula is true of, shape (m,)."""
        return true_of(clauses, self.table)

    def value(self, clauses: Iterable[Sequence[int]]) -> int:
        """Return the weight of the samples that the formula is true of."""
        return int(self.weights[self.covered(clauses)].sum())

    def allows(self, clauses: Sequence[Sequence[int]]) -> bool:
        """Whether the formula has no more and no larger clauses than it may have."""
        if not 1 <= len(clauses) <= self.max_clauses:
            return False
        if not all(1 <= len(clause) <= self.max_literals for clause in clauses):
            return False
        return not self.side or self.side.allow(self.features(clauses))

    @property
    def n_clauses(self) -> int:
        """How many clauses there are."""
        return how_many(self.table.shape[1], self.max_literals) - 1

    def selection(self) -> RuleSelection:
        """Return the choice of clauses as one of rules, of which r is ``conjunction(r, d)``.

        A set costs what its formula lacks of :attr:`greatest`. The rule without features is
        forbidden; that there is a rule is left to be asked for. Samples without weight are
        left out.

        >>> form = DNFForm(np.eye(2, dtype=bool), np.array([3, -1]), 2, 1)
        >>> choice = form.selection()
        >>> [choice.cost(rules) for rules in ([1], [2], [1, 2])]
        [0, 4, 1]
        """
        d, counted = self.table.shape[1], np.flatnonzero(self.weights)
        rules = list(conjunctions(d, self.max_literals))
        samples = self.table[counted]
        having: list[list[int]] = [[] for _ in range(d)]
        for r, rule in enumerate(rules):
            for j in rule:
                having[j].append(r)

        def with_one_of(indices: Iterable[int]) -> tuple[int, ...]:
            return tuple(sorted({r for j in indices for r in having[j % d]}))

        side = SideConstraints(
            replace(
                one,
                means=tuple(
                    replace(row, terms=tuple((a, with_one_of(T)) for a, T in row.terms))
                    for row in one.means
                ),
            )
            for one in self.side
        )
        nothing = np.zeros(len(rules), dtype=np.int64)
        return RuleSelection(
            np.array([samples[:, list(rule)].all(axis=1) for rule in rules]),
            self.weights[counted],
            prices=nothing,
            offset=0,
            required=(),
            forbidden=(0,),
            lengths=nothing,
            counted=np.zeros(counted.size, dtype=np.int64),
            max_rules=min(self.max_clauses, len(rules)),
            side=side,
        )
