"""Encodings of minimum subsets: the order encoding, which is the default, and the direct one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cpx.modelling.statement import Constraints, Statement, Values
from cpx.models.monomial.encodings.common import bools, cost
from cpx.models.sufficient_reason.minimum_subset.form import LossForm


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

    zero: Whether "loses nothing" is a step as well.
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
        self.constraints = Constraints()
        self.constraints.under("X_j, j required", (self.X[j] for j in form.required))
        self.constraints.under("not X_j, j forbidden", (~self.X[j] for j in form.forbidden))
        if not form.n_features:
            self.constraints.under("there is no feature", [~self.X[0]])
        for leaf in np.flatnonzero(form.must_exclude).tolist():
            self.clause(f"OR_{{j in H_l}} X_j; leaf {leaf}", self.excluding(leaf))
        if any(slack < 0 for slack in form.slacks):
            self.clause("the slack is below 0", [])

    def excluding(self, leaf: int) -> list[Any]:
        """Return the features that exclude a leaf."""
        return list(self.features[self.form.excludes[leaf]])

    def clause(self, line: str, literals: Sequence[Any]) -> None:
        """Ask for one of the literals; of no literals, for what is impossible."""
        from cpx.modelling.literals import any_of

        if not literals:
            self.constraints.under(line, [self.X[0], ~self.X[0]])
        elif len(literals) == 1:
            self.constraints.under(line, literals)
        else:
            self.constraints.under(line, [any_of(literals)])

    def charge(self, found: Sequence[Ladder]) -> Iterator[tuple[Ladder, int, int, list[Any]]]:
        """Yield ladder, leaf, step and literals of "it is excluded" for each leaf that pays.

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
            self.clause("R_l or OR_{j in H_l} X_j", [r, *self.excluding(leaf)])
        for ladder in found:
            for leaf, step in zip(ladder.leaves.tolist(), ladder.step.tolist()):
                r = reached.get(leaf)
                yield ladder, leaf, step, self.excluding(leaf) if r is None else [~r]

    def limit(self, line: str, terms: dict[int, list[tuple[int, Any]]]) -> None:
        """Ask that the terms of each requirement, ``weight * variable``, keep its slack."""
        import cpmpy as cp
        from cpmpy.expressions.core import Operator

        for q, pairs in terms.items():
            weights, literals = [w for w, _ in pairs], [v for _, v in pairs]
            plain = all(w == 1 for w in weights)
            total = cp.sum(literals) if plain else Operator("wsum", [weights, literals])
            self.constraints.under(line, [total <= self.form.slacks[q]])

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
            # On reasons of 24 rows that took CP-SAT 0.1 s, where without six were open after 5 s.
            relaxed=True,
            lines=self.constraints.lines,
            means={"R": lambda at: f"leaf {shared[at]}"},
        )


def order(form: LossForm) -> Statement:
    """Order encoding: a variable per tree and loss says that the tree may lose that much.

    For a leaf l, H_l are the features that exclude it and e_ql its loss by requirement q.
    Of tree t, let 0 < v_1 < v_2 < ... be the losses by q up to the slack s_q.
    Variables: X_j, feature j is chosen; B_qti, tree t may lose v_i or more by q::

        minimise    sum_j weight_j X_j
        subject to  OR_{j in H_l} X_j                 where e_ql > s_q for a q
                    B_qti  or  OR_{j in H_l} X_j      where e_ql = v_i of its tree t
                    B_qti  ->  B_qt(i-1)
                    sum_{t, i} (v_i - v_(i-1)) B_qti  <=  s_q      for each q

    Only one direction is stated: a B_qti that is true without need costs slack. A leaf that
    pays by several requirements has one variable R_l, "may be reached", with
    R_l or OR_{j in H_l} X_j, and R_l -> B_qti for each of them.

    With one tree every leaf of another class must be excluded, and what is left is a minimum
    hitting set. With votes not B_t is the selector of Audemard et al.: tree t is among those
    whose vote S implies.

    Size: n variables and one per tree and different loss by each requirement; a clause per
    leaf, a binary one per variable B, and one linear constraint per requirement.

    Source: for votes, Audemard et al., On the Explanatory Power of Boolean Decision Trees and
    Random Forests (2022, partial MaxSAT for majoritary reasons); for sums of leaves, the
    worst leaves of Audemard et al., Computing Abductive Explanations for Boosted Trees (2023);
    order encoding of integers: Tamura et al., Compiling Finite Linear CSP into SAT (2009).
    """
    stated = Stated(form)
    found, size = ladders(form, zero=False)
    B = bools(size, "B")
    for ladder, leaf, step, excluded in stated.charge(found):
        line = f"B_qti or OR_{{j in H_l}} X_j; leaf {leaf}"
        stated.clause(line, [B[ladder.first + step], *excluded])
    terms: dict[int, list[tuple[int, Any]]] = {}
    for ladder in found:
        steps = np.diff(ladder.levels, prepend=0).tolist()
        for i, more in enumerate(steps):
            b = B[ladder.first + i]
            if i:
                lower = B[ladder.first + i - 1]
                stated.constraints.under("B_qti -> B_qt(i-1)", [b.implies(lower)])
            terms.setdefault(ladder.requirement, []).append((more, b))
    stated.limit("sum_ti (v_i - v_(i-1)) B_qti <= s_q", terms)

    def complete(chosen: Sequence[int]) -> Values:
        worst = stated.worst(found, chosen)
        levels = [ladder.levels <= loss for ladder, loss in zip(found, worst, strict=True)]
        return {"B": np.concatenate(levels).astype(np.int64)} if size else {}

    return stated.finish({"B": B}, complete)


def direct(form: LossForm) -> Statement:
    """Direct encoding: a variable per tree and loss says that the tree loses exactly that.

    With the symbols of the order encoding and v_0 = 0, variables X_j, and W_qti: tree t is
    counted with the loss v_i by requirement q::

        minimise    sum_j weight_j X_j
        subject to  OR_{j in H_l} X_j                              where e_ql > s_q for a q
                    sum_i W_qti  =  1                              for each q and t
                    OR_{i' >= i} W_qti'  or  OR_{j in H_l} X_j     where e_ql = v_i
                    sum_{t, i} v_i W_qti  <=  s_q                  for each q

    A leaf that pays by several requirements has one variable R_l, as in the order encoding.

    Size: one variable more than the order encoding per tree and requirement, longer clauses,
    and a cardinality constraint instead of the chain of each tree.

    Source: the direct encoding of finite domains, as in Walsh, SAT v CSP (2000).
    """
    import cpmpy as cp

    stated = Stated(form)
    found, size = ladders(form, zero=True)
    W = bools(size, "W")
    for ladder, leaf, step, excluded in stated.charge(found):
        worse = range(ladder.first + step, ladder.first + len(ladder.levels))
        line = f"OR_{{i' >= i}} W_qti' or OR_{{j in H_l}} X_j; leaf {leaf}"
        stated.clause(line, [*(W[i] for i in worse), *excluded])
    terms: dict[int, list[tuple[int, Any]]] = {}
    for ladder in found:
        steps = [W[ladder.first + i] for i in range(len(ladder.levels))]
        stated.constraints.under("sum_i W_qti = 1", [cp.sum(steps) == 1])
        pairs = zip(ladder.levels.tolist(), steps, strict=True)
        terms.setdefault(ladder.requirement, []).extend(pair for pair in pairs if pair[0])
    stated.limit("sum_ti v_i W_qti <= s_q", terms)

    def complete(chosen: Sequence[int]) -> Values:
        worst = stated.worst(found, chosen)
        levels = [ladder.levels == loss for ladder, loss in zip(found, worst, strict=True)]
        return {"W": np.concatenate(levels).astype(np.int64)} if size else {}

    return stated.finish({"W": W}, complete)
