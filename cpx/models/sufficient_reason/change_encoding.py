"""The statement of a lightest change: a cell of each column, a leaf of each tree, the scores."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.modelling.statement import Constraints, Encoding, Statement, Values
from cpx.models.monomial.encodings.common import bools, cost
from cpx.models.sufficient_reason.form import ChangeForm, Leaves, class_of_leaves
from cpx.trees import MISSING

__all__ = ["CHANGE_ENCODINGS", "bits_of_scores", "options_of"]

Margin = tuple[list[int], int]
"""Integers y of the leaves and a number k: the sum of y over the reached leaves is at least k."""


def leaf(form: ChangeForm) -> Statement:
    r"""State which cells and leaves the changed row is in: columns that change have other cells.

    X_a says that attribute a changes, Z_{a,c} that it is in cell c, Y_{t,l} that the row reaches
    leaf l of tree t, W_r that it gets the wanted class r. C_{l,a} are the cells of a that the path
    to l allows, x_a is the cell of x, F what may not change::

        minimise sum_a w_a X_a
        sum_c Z_{a,c} = 1                            each tested attribute a      (i)
        X_a or Z_{a,x_a}                             each tested attribute a      (ii)
        not Y_{t,l} or OR_{c in C_{l,a}} Z_{a,c}     each test a before a leaf    (iii)
        sum_l Y_{t,l} = 1                            each tree t                  (iv)
        OR_r W_r                                                                  (v)
        W_r -> sum_{t,l} y_{t,l} Y_{t,l} >= k        each rival of r              (vi)
        not X_a                                      a in F                       (vii)

    In (vi), y are by how much a leaf adds more to r than to the rival, as exact integers. Of one
    tree only the leaves of wanted classes have a Y, and there is no W. Sizes: a variable and a
    clause for each cell, leaf and test before a leaf.

    It is the model of A. Parmentier and T. Vidal, *Optimal counterfactual explanations in tree
    ensembles*, ICML 2021, over the cells between thresholds.
    """
    return _Stated(form).statement()


CHANGE_ENCODINGS: tuple[Encoding[ChangeForm], ...] = (Encoding("leaf", leaf),)


def options_of(form: ChangeForm) -> list[tuple[int, list[int]]]:
    """Return the tested attributes, each with the cells it can be in; -1 is a missing value."""
    model, own = form.model, form.model.cells(np.array(form.x)).tolist()
    found = []
    for a in model.used:
        cells = {*np.flatnonzero(model.possible[a]).tolist(), own[a]}
        cells |= {MISSING} if model.attributes[a].missing else set()
        found.append((a, [own[a]] if a in form.frozen else sorted(cells)))
    return found


def margins(form: ChangeForm, wanted: int, leaves: Leaves) -> list[Margin]:
    """Return what must hold of the reached leaves for a class, against each rival."""
    exact, decision = form.model.exact, form.model.decision
    base = exact.base_values

    def score(s: int) -> list[int]:
        columns: list[NDArray[Any]] = []
        for tree, values in zip(form.model.trees, exact.leaf_values):
            none = np.zeros(len(values), dtype=object)
            columns.append(values[:, tree.outputs.index(s)] if s in tree.outputs else none)
        return [int(v) for v in leaves.of_tree(columns)]

    if decision == "first":
        own, found = score(wanted), []
        for rival in range(len(base)):
            if rival != wanted:
                more = [a - b for a, b in zip(own, score(rival))]
                least = (1 if rival < wanted else 0) - (base[wanted] - base[rival])
                found.append(_reduced(more, least))
        return found
    sign = 1 if wanted == 1 else -1
    strict = (decision == "positive") == (wanted == 1)
    return [_reduced([sign * v for v in score(0)], int(strict) - sign * base[0])]


def _reduced(values: list[int], least: int) -> Margin:
    common = gcd(*values) or 1
    return [v // common for v in values], -(-least // common)


def bits_of_scores(form: ChangeForm) -> int:
    """Return how many bits the sums of a statement have; 0 of one tree, which needs none."""
    if len(form.model.trees) == 1:
        return 0
    leaves = Leaves(form.model, form.model.cells(np.array(form.x)))
    every = [part for r in form.wanted for part in margins(form, r, leaves)]
    sums = [sum(map(abs, values)) + abs(least) for values, least in every]
    return max(sums, default=0).bit_length()


class _Stated:
    """A statement in the making."""

    def __init__(self, form: ChangeForm) -> None:
        self.form, model = form, form.model
        self.own = model.cells(np.array(form.x)).tolist()
        self.options = options_of(form)
        self.leaves = Leaves(model, model.cells(np.array(form.x)))
        self.single = len(model.trees) == 1
        if self.single:
            reached = np.isin(self.leaves.of_tree([class_of_leaves(model)]), form.wanted)
            self.leaves = self.leaves.only(reached)
        self.start = np.cumsum([0, *(len(cells) for _, cells in self.options)]).tolist()
        self.X = bools(max(1, model.n_attributes), "X")
        self.Z, self.Y = bools(self.start[-1], "Z"), bools(len(self.leaves.tree), "Y")
        self.W = bools(0 if self.single else len(form.wanted), "W")
        self.constraints = Constraints()

    def _either(self, line: str, literals: Sequence[Any]) -> None:
        from cpx.modelling.literals import any_of

        if not literals:
            literals = [self.X[0], ~self.X[0]]
            self.constraints.under(line, literals)  # what is impossible
            return
        one = literals[0] if len(literals) == 1 else any_of(literals)
        self.constraints.under(line, [one])

    def statement(self) -> Statement:
        """Return it."""
        import cpmpy as cp

        form, add = self.form, self.constraints.under
        for (a, cells), first in zip(self.options, self.start):
            some = [self.Z[first + i] for i in range(len(cells))]
            add("sum_c Z_{a,c} = 1", [cp.sum(some) == 1])
            self._either("X_a or Z_{a,x_a}", [self.X[a], some[cells.index(self.own[a])]])
        self._paths()
        ends = np.searchsorted(self.leaves.tree, np.arange(len(form.model.trees) + 1)).tolist()
        for a, b in pairwise(ends):
            some = [self.Y[i] for i in range(a, b)]
            if not some:
                self._either("sum_l Y_{t,l} = 1", [])
            else:
                add("sum_l Y_{t,l} = 1", [cp.sum(some) == 1])
        if len(self.W):
            self._either("OR_r W_r", list(self.W))
            for w, r in zip(self.W, form.wanted):
                for values, least in margins(form, r, self.leaves):
                    told = [(v, y) for v, y in zip(values, self.Y) if v]
                    self._margin(w, told, least)
        frozen = (~self.X[a] for a in form.frozen)
        add("not X_a, a in F", frozen)
        weights = np.array(form.weights or (0,), dtype=np.int64)
        named = {"X": self.X, "Z": self.Z, "Y": self.Y, "W": self.W}
        return Statement(
            model=cp.Model(self.constraints, minimize=cost(self.X, (weights, self.X))),
            variables={name: array for name, array in named.items() if len(array)},
            complete=self._complete,
            lines=self.constraints.lines,
            means={"Z": self._cell, "Y": self._leaf, "W": self._class},
        )

    def _paths(self) -> None:
        for (a, cells), first in zip(self.options, self.start):
            values = np.array([c for c in cells if c != MISSING], dtype=np.int64)
            inside = self.leaves.boxes.of(a, values) if len(values) else None
            place = {c: first + i for i, c in enumerate(cells)}
            for i, y in enumerate(self.Y):
                some = [] if inside is None else values[inside[i]].tolist()
                some += [MISSING] if MISSING in place and self.leaves.boxes.missing[i, a] else []
                if len(some) < len(cells):
                    literals = [~y, *(self.Z[place[c]] for c in some)]
                    self._either("not Y_{t,l} or OR_{c in C_{l,a}} Z_{a,c}", literals)

    def _margin(self, w: Any, told: list[tuple[int, Any]], least: int) -> None:
        from cpmpy.expressions.core import Operator

        line = "W_r -> sum_{t,l} y_{t,l} Y_{t,l} >= k"
        if not told:
            if least > 0:
                self._either(line, [~w])
            return
        total = Operator("wsum", [[v for v, _ in told], [y for _, y in told]])
        self.constraints.under(line, [w.implies(total >= least)])

    def _complete(self, chosen: Sequence[int]) -> Values:
        """Return the values of all variables for a set of columns that gives a wanted class."""
        from cpx.models.sufficient_reason.methods.smallest_change import contrastive

        form, n = self.form, self.form.model.n_attributes
        found = {"X": np.zeros(len(self.X), dtype=np.int64)}
        found["X"][list(chosen)] = 1
        kept = [a for a in range(n) if a not in chosen]
        change = contrastive(form.model, form.x, must_keep=kept, targets=form.wanted)
        cells = np.array(self.own if change.cells is None else change.cells, dtype=np.int32)
        found["Z"] = np.concatenate(
            [[], *(np.array(some) == cells[a] for a, some in self.options)]
        ).astype(np.int64)
        found["Y"] = self.leaves.boxes.holding(cells).astype(np.int64)
        label = int(form.model.decide(form.model.totals_of(cells[None, :]))[0])
        found["W"] = np.array([r == label for r in form.wanted], dtype=np.int64)[: len(self.W)]
        return {name: values for name, values in found.items() if len(values)}

    def _cell(self, at: int) -> str:
        place = int(np.searchsorted(self.start, at, side="right")) - 1
        a, cells = self.options[place]
        cell = cells[at - self.start[place]]
        name = self.form.model.attributes[a].name
        return (
            f"{name} is missing"
            if cell == MISSING
            else str(self.form.model.between(a, cell, cell, float("nan")))
        )

    def _leaf(self, at: int) -> str:
        return f"tree {self.leaves.tree[at]}, leaf {self.leaves.leaf[at]}"

    def _class(self, at: int) -> str:
        return f"class {self.form.model.classes[self.form.wanted[at]]}"
