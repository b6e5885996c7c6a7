"""Proofs about single rules on samples: least loss, negative-only loss, coverage, precision.

A proof is a tree of boxes (:mod:`~cpx.models.monomial.proof_boxes`), one line for each, a box
before its parts:

- ``bounded``: no pair of candidates is useful;
- ``counted``: at most four features may be added, and all sets are counted;
- ``split f g h``: the box of the sets with f, then of those with g and without f, and so on,
  follow in this order; no useful pair is left without these features;
- ``breaks i``: side constraint i of the instance holds for no set of the box;
- ``open``: its bound is that of the claim only, see :meth:`Box.least`.

Why this proves the claim: suppose that some set beats the goal, and take the one with the fewest
features, the least sum of ranks among these. It is the root's R, or in the root's box. In each
split box it has at most one candidate, and is looked at there, or two, which make a useful pair,
so that it is in the part of the first feature that is split. A leaf has no such set.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.check.proofs.branching import SideConstraints
from cpx.check.proofs.document import (
    Claim,
    Document,
    Refused,
    Undecided,
    refuse_unknown,
    whole_numbers,
)
from cpx.models.monomial.judge import KINDS, Monomial, read
from cpx.models.monomial.proof_boxes import Box, Features
from cpx.models.monomial.proof_goals import FAR, Goal

__all__ = [
    "DEEPEST",
    "KINDS",
    "MINIMISED",
    "MOST_ENTRIES",
    "NAME",
    "Question",
    "check",
    "check_box",
    "distinct",
    "root_box",
]

NAME = "monomial"
"""The kind of proof."""

MINIMISED = ("k-monomial", "negative-only")
_INSTANCE = {"samples", "labels", "weights", "features", "groups", "unseen", "where"}
_PARAMETERS = {"k", "required", "forbidden", "one_per_group"}
_PARAMETERS |= {"min_coverage", "max_coverage", "min_precision"}

DEEPEST = 200
"""Boxes in each other, at most."""
MOST_ENTRIES = 2**27
"""Of the tables of boxes in each other, but the root: they take up to two gigabytes."""


def check(instance: Mapping[str, Any], document: Document) -> None:
    """Refuse a proof that does not prove its claim about an instance."""
    question = Question(instance, document.goal)
    root, claimed = question.root, question.claimed(document.claim)
    if root is not None:
        root.refuse_chosen()
        check_box(root, document, claimed)
    document.end()


def check_box(box: Box, document: Document, claimed: Goal, depth: int = 0) -> None:
    """Refuse the next lines where they do not prove that no set of a box beats its goal."""
    rule, *features = document.line()
    with document.named():
        if features and rule not in ("split", "breaks"):
            raise Refused(f"{rule[:20]!r} stands alone")
        if rule == "open":
            if box.least(claimed) < claimed.target:
                raise Refused("the box is open, and its bound is below the claim")
            return
        if rule == "breaks":
            box.about.side.refuse_kept(features, box.part())
            return
        box.refuse_singles()
        useful = box.useful()
        if rule == "counted":
            if box.r > 3:
                _refuse_large(box)
            box.refuse_sets(useful)
        elif rule == "split":
            _check_parts(box, useful, whole_numbers(features), document, claimed, depth + 1)
        elif rule != "bounded":
            raise Refused(f"no rule is called {rule[:20]!r}")
        elif useful.any():
            raise Refused("the box is not bounded by the goal")


def _refuse_large(box: Box) -> None:
    """Refuse a box that has parts where the tables would take too much memory."""
    if box.within > MOST_ENTRIES:
        raise Refused(f"the tables of boxes in each other have more than {MOST_ENTRIES} entries")


def _check_parts(
    box: Box,
    useful: NDArray[np.bool_],
    features: list[int],
    document: Document,
    claimed: Goal,
    depth: int,
) -> None:
    if depth > DEEPEST:
        raise Refused(f"more than {DEEPEST} boxes in each other")
    _refuse_large(box)
    places = {int(feature): at for at, feature in enumerate(box.candidates)}
    for feature in features:
        at = places.pop(feature, None)
        if at is None:
            raise Refused(f"the feature {feature} is no candidate, or was split before")
        check_box(box.child(at, useful[at]), document, claimed, depth)
        if useful.any():
            useful = box.without(at, useful)
    if useful.any():
        p, q = box.candidates[np.argwhere(useful)[0]]
        raise Refused(f"no part has the features {p} and {q}")


class Question:
    """A problem of monomials with the goal that a proof has.

    instance: A saved instance.
    Raises Refused: Where the claim has another type than the objective, or the instance something
        that no proof knows of.
    """

    def __init__(self, instance: Mapping[str, Any], goal: Claim) -> None:
        refuse_unknown(instance, _INSTANCE, _PARAMETERS)
        self.kind: str = instance["problem"]
        self.data: Monomial = read(instance)
        weights, same = self.data.weights, self.data.same
        self.good, self.total = int(weights[same].sum()), int(weights.sum())
        self.paid = 0
        self.goal, self.side = goal, SideConstraints(instance)
        self._sought, self._groups = self._sums(goal), self._read_groups()
        self.candidates = self._candidates()

    def claimed(self, claim: Claim) -> Goal:
        """Return a claim in the terms of the root's goal, which must imply it."""
        bound, goal = claim.bound, self.goal.bound
        if bound is None or goal is None:
            implied = bound is goal
        else:
            implied = bound <= goal if self.kind in MINIMISED else bound >= goal
        if not implied:
            raise Refused("header: the claim does not follow from the goal")
        sums = self._sums(claim)
        if sums.limited or self.root is None or bound is None:
            return sums
        return replace(self.root.goal, target=sums.target - self.paid)

    def _sums(self, claim: Claim) -> Goal:
        """Return what a claim says of sums of weights."""
        bound, good, data = claim.bound, self.good, self.data
        rational = self.kind == "max-precision"
        if bound is not None and isinstance(bound, Fraction) != rational:
            raise Refused(f"header: {bound} is no value of the objective of {self.kind}")
        alpha, beta, target = 1, 1, FAR
        if bound is not None and self.kind == "max-coverage":
            alpha, target = -1, good - int(bound)
        elif bound is not None and rational:
            alpha, beta = bound.numerator, bound.denominator - bound.numerator
            if not 0 <= alpha <= bound.denominator:
                raise Refused(f"header: {bound} is no precision")
            target = beta * good
        elif bound is not None:
            beta, target = int(self.kind == "k-monomial"), int(bound)
        least, most, share = 0, None, data.min_precision or Fraction(0)
        if data.min_coverage is not None:
            least = math.ceil(data.min_coverage * self.total)
        if data.covers_something:
            least = max(least, 1)
        if data.max_coverage is not None and data.max_coverage < 1:
            most = math.floor(data.max_coverage * self.total)
        gamma = share.numerator
        delta = share.denominator - gamma if gamma else 0
        largest = max(abs(alpha) + beta, gamma + delta)
        if largest * self.total >= FAR or abs(target) > FAR:
            raise Undecided("numbers are too large for the checker")
        return Goal(alpha, beta, good, target, least, most, gamma, delta)

    def _read_groups(self) -> NDArray[np.int64]:
        """Return the group of each feature, of which one may be chosen."""
        if self.data.groups is None:
            return np.arange(self.data.agrees.shape[1])
        return np.unique(self.data.groups, return_inverse=True)[1]

    def _candidates(self) -> NDArray[np.int64] | None:
        """Return what may be chosen beside the required features; None where these clash."""
        data, required = self.data, sorted(self.data.required)
        used = self._groups[required]
        clash = len(required) > data.k or data.required & data.forbidden
        if clash or np.unique(used).size < used.size:
            return None
        free = ~np.isin(self._groups, used)
        free[[*required, *data.forbidden]] = False
        return np.flatnonzero(free)

    @cached_property
    def root(self) -> Box | None:
        """The box of all sets beyond the required features; None where these clash."""
        if self.candidates is None:
            return None
        data, required = self.data, sorted(self.data.required)
        rows = np.asarray(data.agrees[:, required].all(axis=1))
        weights, same = data.weights[rows], data.same[rows]
        box, self.paid = root_box(
            data.agrees[rows],
            np.where(same, 0, weights),
            np.where(same, weights, 0),
            self.candidates,
            self._groups,
            data.k - len(required),
            self._sought,
            tuple(required),
            self.side,
        )
        return box


def root_box(
    table: NDArray[np.bool_],
    bad: NDArray[np.int64],
    good: NDArray[np.int64],
    candidates: NDArray[np.int64],
    groups: NDArray[np.int64],
    r: int,
    goal: Goal,
    chosen: tuple[int, ...] = (),
    side: SideConstraints | None = None,
) -> tuple[Box, int]:
    """Return the box of the sets of up to r candidates, and what every set pays besides.

    Equal samples are one, with the sums of their weights. Where nothing limits what is covered, of
    equal samples that cost b where they are covered and g where they are not, every set pays the
    less: the rest is of one class, and costs its weight.
    """
    d, paid = table.shape[1], 0
    lost = goal.good - int(good.sum())
    table, bad, good = _merged(table[:, candidates], bad, good)
    if not goal.limited:
        bad, good = goal.alpha * bad, goal.beta * good
        less = np.minimum(bad, good)
        bad, good = bad - less, good - less
        paid = int(less.sum()) + goal.beta * lost
        target = FAR if goal.target == FAR else goal.target - paid
        goal = Goal(1, 1, int(good.sum()), target)
    kept = np.concatenate([np.flatnonzero(bad), np.flatnonzero(good)])
    both = np.concatenate([bad[bad > 0], good[good > 0]])
    total = int(both.sum())
    if total >= 2**53:
        raise Undecided("weights are too large for the checker")
    exact: Any = np.float32 if total < 2**24 else np.float64
    # Features that exclude much bad and little good weight come first.
    rank = np.zeros(d, dtype=np.int64)
    order = np.argsort((bad - good) @ table, kind="stable")
    rank[candidates[order]] = np.arange(order.size)
    alone = np.bincount(groups[candidates], minlength=d)[groups] == 1
    box = Box(
        Features(groups, alone, rank, side or SideConstraints({})),
        candidates,
        np.ascontiguousarray(table[kept].T, dtype=exact),
        int(np.count_nonzero(bad)),
        both.astype(exact),
        min(r, candidates.size),
        goal,
        chosen,
    )
    return box, paid


def _merged(
    table: NDArray[np.bool_], bad: NDArray[np.int64], good: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
    """Return the different rows, and the sums of the weights of those that are equal."""
    first, of = distinct(np.packbits(table, axis=1))
    sums = np.zeros((2, first.size), dtype=np.int64)
    np.add.at(sums[0], of, bad)
    np.add.at(sums[1], of, good)
    return table[first], sums[0], sums[1]


def distinct(packed: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first of each kind of equal rows of bits, and the place of that of each row."""
    width = max(8, packed.shape[1])
    packed = np.ascontiguousarray(np.pad(packed, ((0, 0), (0, width - packed.shape[1]))))
    # Numbers of 64 bits are sorted some times as fast as bytes are.
    keys = packed.view(np.uint64 if width == 8 else f"V{width}")[:, 0]
    _, first, of = np.unique(keys, return_index=True, return_inverse=True)
    return first, of
