"""Proofs about single rules on samples: which boxes are split, and by which features.

The prover is handed the value to prove, so it looks for no rule; it knows no other rules than
the checker's, and asks these of each box. A feature that leaves the least bad weight is split
first: what comes after it has less to remove.

Where the value is trusted, since it is that of the exact search, the boxes of few features to go
are not looked at: their sets are counted by the checker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.check.proofs.document import Claim
from cpx.models.monomial.proof_boxes import Box
from cpx.models.monomial.proof_check import DEEPEST, MINIMISED, MOST_ENTRIES, Question
from cpx.models.monomial.proof_goals import FAR

__all__ = ["close", "prove"]

# Features that may still be added when all sets are counted, and when the prover counts them too:
# with one more it asks in between whether the time is up.
_COUNTED, _LOOKED_AT = 4, 3


def prove(
    instance: Mapping[str, Any], goal: Claim, over: Callable[[], bool], trusted: bool = False
) -> tuple[Claim | None, list[str]]:
    """Return what was proved and the lines: the goal, or what the boxes left open allow.

    Where they allow nothing the claim is None. Refused is raised where the goal is wrong; if it is
    ``trusted``, only where that is met on the way.
    """
    question = Question(instance, goal)
    if question.candidates is None:
        return goal, []
    if trusted and (lines := _unseen(question, question.candidates)) is not None:
        return goal, lines
    root = question.root
    assert root is not None
    lines, left_open = close(root, over, trusted=trusted)
    return _weakest(question, left_open), lines


def _unseen(question: Question, candidates: NDArray[np.int64]) -> list[str] | None:
    """Return the lines that count all sets of few features; None where boxes have to be made."""
    data, n = question.data, candidates.size
    r = min(data.k - len(data.required), n)
    if r > _COUNTED + 1 or len(question.side) or 2 * n * (n + len(data.agrees)) > MOST_ENTRIES:
        return None
    if r <= _COUNTED:
        return ["counted"]
    bad = ~data.same & data.agrees[:, sorted(data.required)].all(axis=1)
    return _counted(candidates, data.weights[bad] @ data.agrees[np.ix_(bad, candidates)])


def _counted(features: NDArray[np.int64], covered: NDArray[np.int64]) -> list[str]:
    """Return the lines for a box of which all sets with some features are counted.

    First come the features that leave the least bad weight.
    """
    ordered = features[np.argsort(covered, kind="stable")].tolist()
    return [" ".join(["split", *map(str, ordered)]), *["counted"] * features.size]


def close(
    root: Box, over: Callable[[], bool], empty: bool = True, trusted: bool = False
) -> tuple[list[str], list[Box]]:
    """Return the lines that close a box, and the boxes that are left open for want of time.

    The set without a candidate is looked at if ``empty``.
    """
    if empty:
        root.refuse_chosen()
    search = _Search(over, trusted)
    search.close(root, 0)
    return search.lines, search.left_open


def _weakest(question: Question, boxes: Iterable[Box]) -> Claim | None:
    """Return the strongest claim that the goal and some boxes left open allow."""
    bound = question.goal.bound
    for box in boxes:
        if bound is None:
            return None
        least = _bound(question, box)
        bound = min(bound, least) if question.kind in MINIMISED else max(bound, least)
    return Claim(bound)


def _bound(question: Question, box: Box) -> int | Fraction:
    """Return a bound on the objective of all sets of a box, by its :meth:`Box.least`."""
    if question.kind == "max-precision":
        # At least c bad and at most so much good weight is covered.
        c, lost = box.sums()
        good = question.good - lost
        return Fraction(good, max(good + c, box.goal.least, 1))
    least = box.least(box.goal)
    if question.kind == "max-coverage":
        return 0 if least == FAR else question.good - least
    return int(question.goal.bound or 0) if least == FAR else least + question.paid


class _Search:
    """Depth-first closing of boxes, with the lines for those that are done."""

    def __init__(self, over: Callable[[], bool], trusted: bool) -> None:
        self.lines: list[str] = []
        self.left_open: list[Box] = []
        self._over, self._trusted = over, trusted
        self._counted = _COUNTED if trusted else min(_COUNTED, _LOOKED_AT)

    def close(self, box: Box, depth: int) -> None:
        """Write the lines for a box."""
        if self._over():
            self._leave(box)
            return
        if len(side := box.about.side) and (broken := side.which(box.part())) is not None:
            self.lines.append(f"breaks {broken}")
            return
        large = box.within > MOST_ENTRIES
        counted = min(self._counted, _LOOKED_AT) if large else self._counted
        if self._trusted and box.r <= counted:
            self.lines.append("counted")
            return
        box.refuse_singles()
        useful = box.useful()
        if not useful.any():
            self.lines.append("bounded")
            return
        if box.r <= counted:
            box.refuse_sets(useful)
            self.lines.append("counted")
            return
        if large or depth >= DEEPEST:
            self._leave(box)
            return
        # Of parts that are not made, only what their tables take at most is known.
        counts = self._trusted and box.within + 2 * box.entries <= MOST_ENTRIES
        if counts and box.r == self._counted + 1:
            live = np.flatnonzero(useful.any(axis=1))
            self.lines += _counted(box.candidates[live], box.singles[0][live])
            return
        place, features = len(self.lines), []
        self.lines.append("")
        while useful.any():
            at = box.first(useful)
            features.append(str(box.candidates[at]))
            if counts and box.r == self._counted + 2 and not self._over():
                others = np.flatnonzero(useful[at])
                self.lines += _counted(box.candidates[others], box.pairs[0][at, others])
            else:
                self.close(box.child(at, useful[at]), depth + 1)
            useful = box.without(at, useful)
        self.lines[place] = " ".join(["split", *features])

    def _leave(self, box: Box) -> None:
        self.left_open.append(box)
        self.lines.append("open")
