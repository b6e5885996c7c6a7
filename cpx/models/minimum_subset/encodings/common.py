"""What the encodings of smallest sets share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cpx.models.base import Statement, Values
from cpx.models.monomial.encodings.common import bools, cost

if TYPE_CHECKING:
    from cpx.models.minimum_subset.form import LossForm

__all__ = ["Ladder", "Stated", "ladders"]


class Ladder(NamedTuple):
    """The losses one tree can have by one requirement, as steps ``levels[0] < levels[1] ..``.

    ``first`` is the place of its first variable among those of all ladders, ``step[i]`` the
    step that ``leaves[i]`` loses.
    """

    requirement: int
    first: int
    levels: NDArray[np.int64]
    leaves: NDArray[np.int64]
    step: NDArray[np.int64]


def ladders(form: LossForm, zero: bool) -> tuple[list[Ladder], int]:
    """Return the ladders of all requirements and trees, and how many steps they have.

    Parameters
    ----------
    form : LossForm
    zero : bool
        Whether "loses nothing" is a step as well.
    """
    found, first = [], 0
    for q, groups in enumerate(form.groups):
        for leaves in groups:
            losses = form.losses[q, leaves]
            levels = np.unique(np.append(losses, 0) if zero else losses)
            found.append(Ladder(q, first, levels, leaves, np.searchsorted(levels, losses)))
            first += len(levels)
    return found, first


class Stated:
    """A statement in the making: the features, and the clauses all encodings have."""

    def __init__(self, form: LossForm) -> None:
        self.form = form
        # CPMpy has no model without variables, so there is one feature at least.
        self.X = bools(max(1, form.n_features), "X")
        self.features = np.array(list(self.X), dtype=object)[: form.n_features]
        self.constraints: list[Any] = [self.X[j] for j in form.required]
        self.constraints += [~self.X[j] for j in form.forbidden]
        if not form.n_features:
            self.constraints.append(~self.X[0])
        for leaf in np.flatnonzero(form.must_exclude).tolist():
            self.clause(self.excluding(leaf))
        if any(slack < 0 for slack in form.slacks):
            self.clause([])

    def excluding(self, leaf: int) -> list[Any]:
        """Return the features that exclude a leaf."""
        return list(self.features[self.form.excludes[leaf]])

    def clause(self, literals: Sequence[Any]) -> None:
        """Ask for one of the literals; of no literals, for what is impossible."""
        from cpmpy.expressions.core import Operator

        if not literals:
            self.constraints += [self.X[0], ~self.X[0]]
        elif len(literals) == 1:
            self.constraints.append(literals[0])
        else:
            self.constraints.append(Operator("or", list(literals)))

    def charge(self, found: Sequence[Ladder]) -> Iterator[tuple[Ladder, int, list[Any]]]:
        """Yield ladder, step and literals of "the leaf is excluded" for each leaf that pays.

        A leaf that pays by several requirements gets a variable of its own, R_l: it is reached.
        """
        times = np.zeros(len(self.form.tree), dtype=np.int64)
        for ladder in found:
            times[ladder.leaves] += 1
        shared = np.flatnonzero(times > 1)
        self.R = bools(shared.size, "R")
        self.shared = shared
        reached = dict(zip(shared.tolist(), self.R))
        for leaf, r in reached.items():
            self.clause([r, *self.excluding(leaf)])
        for ladder in found:
            for leaf, step in zip(ladder.leaves.tolist(), ladder.step.tolist()):
                r = reached.get(leaf)
                yield ladder, step, self.excluding(leaf) if r is None else [~r]

    def limit(self, terms: dict[int, list[tuple[int, Any]]]) -> None:
        """Ask that the terms of each requirement, ``weight * variable``, keep its slack."""
        import cpmpy as cp
        from cpmpy.expressions.core import Operator

        for q, pairs in terms.items():
            weights, literals = [w for w, _ in pairs], [v for _, v in pairs]
            plain = all(w == 1 for w in weights)
            total = cp.sum(literals) if plain else Operator("wsum", [weights, literals])
            self.constraints.append(total <= self.form.slacks[q])

    def worst(self, found: Sequence[Ladder], chosen: Sequence[int]) -> list[int]:
        """Return for each ladder what its tree loses when these features are chosen."""
        excluded = self.form.excluded(chosen)
        return [
            int(
                self.form.losses[ladder.requirement, ladder.leaves][~excluded[ladder.leaves]].max(
                    initial=0
                )
            )
            for ladder in found
        ]

    def finish(self, others: dict[str, Any], complete: Any) -> Statement:
        """Return the statement with the variables of the ladders and those shared by all."""
        import cpmpy as cp

        form, shared = self.form, self.shared

        def values(chosen: Sequence[int]) -> Values:
            found = {"X": np.zeros(len(self.X), dtype=np.int64)}
            found["X"][list(chosen)] = 1
            if len(self.R):
                found["R"] = (~form.excluded(chosen)[shared]).astype(np.int64)
            return {**found, **complete(chosen)}

        variables = {"X": self.X, "R": self.R, **others}
        weights = form.weights if form.n_features else np.zeros(1, dtype=np.int64)
        return Statement(
            model=cp.Model(self.constraints, minimize=cost(self.X, (weights, self.X))),
            variables={name: array for name, array in variables.items() if len(array)},
            complete=values,
        )
