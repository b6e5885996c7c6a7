"""Side constraints of formulas: which terms clauses hold, and which sets of clauses are allowed.

A term is a set of features, and a formula holds it when some clause has one of these: as a row
that a clause is true of, it is held by the first clause and no more by the next. A *wanted* term
counts for some constraint, an *avoided* one against some. So a clause that another one takes the
place of, or that is left out, must have no wanted term that is missed then, and the other one no
avoided term that it has not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cpx.modelling.side_constraints.form import (
    LinearConstraint,
    SideConstraint,
    SideConstraints,
    propagated,
)
from cpx.models.kernel_rule.form import DNFForm

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms of the side constraints of a formula.

    having (d, n): Feature j is in term t.
    factors (constraints, n): What each term adds to each sum.
    least (constraints,): What the sums must be at least.
    """

    having: Bools
    factors: Ints
    least: Ints

    @classmethod
    def of(cls, form: DNFForm) -> Terms:
        """Return the terms of the constraints of a form."""
        d, rows = form.table.shape[1], form.side.linear
        named = [[(a, tuple(sorted({j % d for j in T}))) for a, T in row.terms] for row in rows]
        place = {T: t for t, T in enumerate(dict.fromkeys(T for some in named for _, T in some))}
        having = np.zeros((d, len(place)), dtype=np.bool_)
        for T, t in place.items():
            having[list(T), t] = True
        factors = np.zeros((len(rows), len(place)), dtype=np.int64)
        for c, some in enumerate(named):
            for a, T in some:
                factors[c, place[T]] += a
        return cls(having, factors, np.array([row.at_least for row in rows], dtype=np.int64))

    def __len__(self) -> int:
        return int(self.having.shape[1])

    @property
    def wanted(self) -> Bools:
        """Which terms count for some constraint, shape (n,)."""
        return np.asarray((self.factors > 0).any(axis=0))

    @property
    def avoided(self) -> Bools:
        """Which terms count against some constraint, shape (n,)."""
        return np.asarray((self.factors < 0).any(axis=0))

    def held(self, clauses: Iterable[Sequence[int]]) -> Bools:
        """Return the terms that clauses hold together, shape (n,)."""
        features = list({j for clause in clauses for j in clause})
        return np.asarray(self.having[features].any(axis=0))

    def allow(self, held: Bools) -> bool:
        """Whether a formula that holds some terms satisfies all constraints."""
        return bool((self.factors @ held >= self.least).all())

    def possible(self, terms: Bools, held: Bools, most: int) -> Bools:
        """Return which clauses an allowed formula may have, shape (k,).

        It holds some terms already, and has at most ``most`` of the clauses besides, one or more,
        whose terms are the lines of ``terms``.
        """
        if not self.least.size:
            return np.ones(len(terms), dtype=np.bool_)
        new = terms & ~held
        gains = np.maximum(self.factors, 0).T
        gained = new @ gains
        # One clause counts in full; the others add what they can, and take nothing.
        others = np.minimum(
            new.any(axis=0) @ gains - gained, (most - 1) * gained.max(axis=0, initial=0)
        )
        sums = self.factors @ held + new @ self.factors.T + others
        return np.asarray((sums >= self.least).all(axis=1))

    def left(self, others: Iterable[Sequence[int]]) -> SideConstraints:
        """Return what other clauses leave of the constraints, for the features of one clause."""
        held = self.held(others)
        rows = []
        for factors, least in zip(self.factors, self.least - self.factors @ held, strict=True):
            terms = [
                (int(factors[t]), tuple(np.flatnonzero(self.having[:, t]).tolist()))
                for t in np.flatnonzero((factors != 0) & ~held)
            ]
            rows.append(LinearConstraint(tuple(terms), int(least)))
        return SideConstraints((SideConstraint("", tuple(rows)),)) if rows else SideConstraints()


def within_side_constraints(form: DNFForm) -> tuple[DNFForm, Ints] | None:
    """Return the form over the features that the side constraints leave, and what these were.

    Those of wanted terms are the first. None where the constraints contradict each other.
    """
    d = form.table.shape[1]
    if not form.side:
        return form, np.arange(d)
    decided = propagated(form.side, (), ())
    if decided is None:
        return None
    free = np.setdiff1d(np.arange(d), [j % d for j in decided[1]])
    wanted = {j % d for j in form.side.wanted}
    if not free.size:  # a formula has a feature
        return None
    free = np.array(sorted(free.tolist(), key=lambda j: (j not in wanted, j)), dtype=np.int64)
    place = {j: x for x, j in enumerate(free.tolist())}
    slots = range(form.max_clauses)

    def renamed(T: tuple[int, ...]) -> tuple[int, ...]:
        there = sorted({place[j % d] for j in T if j % d in place})
        return tuple(t * free.size + x for t in slots for x in there)

    rows = []
    for row in form.side.linear:
        terms = tuple((factor, named) for factor, T in row.terms if (named := renamed(T)))
        rows.append(LinearConstraint(terms, row.at_least))
    side = SideConstraints((SideConstraint("", tuple(rows)),))
    return replace(form, table=form.table[:, free], side=side), free
