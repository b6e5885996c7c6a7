"""Boxes of feature sets, and the rules that show that no set of a box beats a goal.

A box holds the sets that consist of its chosen features R and one or more, at most r, of its
candidates. Whether R itself beats the goal is looked at before. For candidates p and q, c_p and
l_p are the sums of :mod:`~cpx.models.monomial.proof_goals` for R + p, and c_pq and l_pq for R + p
+ q. All of them come from one product of matrices. Excluded samples only grow, so c falls and l
rises with every feature that is added.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cpx.check.proofs.branching import Part, SideConstraints
from cpx.check.proofs.document import Refused
from cpx.models.monomial.proof_goals import FAR, Goal

__all__ = ["Box", "Features"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float32] | NDArray[np.float64]

# Pairs whose products with a third feature are formed at once.
_PAIRS = 1024


@dataclass(frozen=True)
class Features:
    """What is known of features wherever they are candidates, by their indices.

    group: At most one of each group may be chosen.
    alone: The feature is the only one of its group.
    rank: A fixed order, the same in all boxes.
    """

    group: Ints
    alone: Bools
    rank: Ints
    side: SideConstraints


class Box:
    """The sets of the chosen features and one to ``r`` of the candidates.

    candidates: Indices of features.
    agrees (candidates, samples): 1 where a sample agrees; of the samples that the chosen features
        cover, the bad first.
    bad: Number of bad samples.
    weights: Of the samples; sums of them are exact in this type.
    chosen: The features R.
    within: Entries of its tables, and of those of the boxes that it is in, but for the outermost.
    """

    def __init__(
        self,
        about: Features,
        candidates: Ints,
        agrees: Floats,
        bad: int,
        weights: Floats,
        r: int,
        goal: Goal,
        chosen: tuple[int, ...],
    ) -> None:
        self.about, self.candidates, self.r, self.goal = about, candidates, r, goal
        self.chosen, self.within = chosen, 0
        self._agrees, self._bad, self._weights = agrees, bad, weights
        self.c = int(weights[:bad].sum(dtype=np.float64))
        self.l = goal.good - int(weights[bad:].sum(dtype=np.float64))

    @property
    def entries(self) -> int:
        """Entries of the tables of the box: its samples and its pairs."""
        return self._agrees.size + self.candidates.size**2

    # ------------------------------------------------------------------ sums

    @cached_property
    def singles(self) -> tuple[Ints, Ints]:
        """c_p and l_p of all candidates."""
        bad, agrees, weights = self._bad, self._agrees, self._weights
        covered = (agrees[:, :bad] @ weights[:bad]).astype(np.int64)
        kept = (agrees[:, bad:] @ weights[bad:]).astype(np.int64)
        return covered, self.goal.good - kept

    @cached_property
    def pairs(self) -> tuple[Ints, Ints]:
        """c_pq and l_pq of all pairs; c_p and l_p on the diagonals."""
        bad, agrees, weights = self._bad, self._agrees, self._weights
        covered = (agrees[:, :bad] * weights[:bad]) @ agrees[:, :bad].T
        kept = (agrees[:, bad:] * weights[bad:]) @ agrees[:, bad:].T
        return covered.astype(np.int64), self.goal.good - kept.astype(np.int64)

    # ----------------------------------------------------------------- rules

    def refuse_chosen(self) -> None:
        """Refuse a box whose chosen features alone beat the goal."""
        beats = bool(self.goal.cost(self.c, self.l) < self.goal.target)
        if beats and self._allowed(np.zeros((1, 0), dtype=np.int64))[0]:
            raise Refused("a better rule has the required features alone")

    def part(self) -> Part:
        """Return the chosen features and the candidates as a part."""
        kept, out = np.zeros((2, self.about.group.size), dtype=np.bool_)
        kept[list(self.chosen)] = True
        out[:] = ~kept
        out[self.candidates] = False
        return Part(kept, out)

    def _allowed(self, places: Ints) -> Bools:
        """Return which sets keep the side constraints: R with the candidates of each row."""
        if not len(self.about.side):
            return np.ones(len(places), dtype=np.bool_)
        ours = np.tile(np.array(self.chosen, dtype=np.int64), (len(places), 1))
        return self.about.side.kept_by(np.hstack([ours, self.candidates[places]]))

    def refuse_singles(self) -> None:
        """Refuse a box where one more feature beats the goal."""
        if self.r and self.candidates.size:
            beats = np.flatnonzero(self.goal.cost(*self.singles) < self.goal.target)
            beats = beats[self._allowed(beats[:, None])]
            if beats.size:
                at = self.candidates[beats[0]]
                raise Refused(f"a better rule ends with the feature {at}")

    def least(self, goal: Goal) -> int:
        """Return a lower bound on the cost of all sets of the box, and of R itself.

        Proof. What is lost stays lost. A union weighs at most the sum of its parts: r features
        remove at most the r largest of the removals c - c_p from the bad weight c.
        """
        low, lost = self.sums()
        return int(goal.low(np.int64(low), np.int64(self.c), np.int64(lost)))

    def sums(self) -> tuple[int, int]:
        """Return lower bounds on c and l of the sets of the box."""
        largest = np.sort(self.c - self.singles[0])[::-1][: self.r]
        return max(0, self.c - sum(largest.tolist())), self.l

    def useful(self) -> Bools:
        """Return which pairs a set that beats the goal may have, as a symmetric matrix.

        A pair is not needed, and a set that has it costs enough,

        - if both are of one group: no allowed set has both;
        - if c_pq = c_p, so that q removes nothing after p, there is no upper limit of what is
          covered, and no side constraint. Proof. Without q a set that has both covers the same
          bad weight and no less good weight: it is allowed, costs no more, and is smaller. So by
          induction on the size it costs enough;
        - if one of them is :meth:`_replaced`;
        - if the pair fails :meth:`tightened`.
        """
        if self.r < 2:
            return np.zeros((self.candidates.size, self.candidates.size), dtype=np.bool_)
        c, _ = self.pairs
        out = self._better_pairs() if self.r == 2 else np.ones(c.shape, dtype=np.bool_)
        group = self.about.group[self.candidates]
        out &= group[:, None] != group
        if self.goal.most is None and not len(self.about.side):
            idle = c == c.diagonal()[:, None]
            out &= ~(idle | idle.T)
        replaced = self._replaced()
        out &= ~(replaced | replaced[:, None])
        return self.tightened(out)

    def _better_pairs(self) -> Bools:
        """Return which pairs make R a set that is allowed and beats the goal."""
        out = self.goal.cost(*self.pairs) < self.goal.target
        if len(self.about.side):
            places = np.argwhere(out)
            out[tuple(places.T)] = self._allowed(places)
        return out

    def _replaced(self) -> Bools:
        """Return which candidates another one replaces in every set, where nothing is limited.

        Side constraints are limits, too.

        Candidate b replaces a if it comes earlier in the fixed order, excludes every bad sample
        here that a excludes (c_ab = c_b), and no good sample that a does not (l_ab = l_a), and
        is alone in its group or in that of a. Proof. A set with a and, instead of it, b costs no
        more with it and has no more features; the sum of its ranks is less. By induction on the
        size and the sum of the ranks it costs enough.
        """
        if self.goal.limited or len(self.about.side):
            return np.zeros(self.candidates.size, dtype=np.bool_)
        c, l = self.pairs
        about, at = self.about, self.candidates
        better = (c == c.diagonal()) & (l == l.diagonal()[:, None])
        better &= about.rank[at] < about.rank[at][:, None]
        better &= about.alone[at] | (about.group[at] == about.group[at][:, None])
        return np.asarray(better.any(axis=1))

    def tightened(self, useful: Bools, rounds: int = FAR) -> Bools:
        """Return which pairs are left when the others are in no set that beats the goal.

        Proof. Let a set that beats the goal add p, q and at most r - 2 more; all its pairs are
        useful. After p, its other features remove at most d_q and the r - 2 largest of the
        removals d_s = c_p - c_ps over the useful pairs p, s, and at most the r - 1 largest. So
        c' >= c_p - min(d_q + D_(r-2), D_(r-1)), and the same after q. With c' <= c_pq and
        l' >= l_pq, :meth:`Goal.low` bounds its cost. Pairs whose bound reaches the target are not
        useful, and the sums are taken anew, up to ``rounds`` times. Where 64 bits may not hold the
        sums, all pairs are left.
        """
        if self.r < 3 or self.r * self.c >= FAR:
            return useful
        c, l = self.pairs
        alone = c.diagonal()[:, None]
        removed = alone - c
        while rounds > 0 and useful.any():
            less, full = _largest(np.where(useful, removed, 0), self.r - 1)
            c_low = np.maximum(alone - np.minimum(removed + less, full), 0)
            c_low = np.maximum(c_low, c_low.T)
            left = useful & (self.goal.low(c_low, c, l) < self.goal.target)
            if (left == useful).all():
                break
            useful, rounds = left, rounds - 1
        return useful

    def refuse_sets(self, useful: Bools) -> None:
        """Refuse a box of at most four more features where one of its sets beats the goal.

        With four, a set that beats the goal and has more than one of them has a useful pair, so
        it is in the box of the first of its features in any order: a box of three more.
        """
        if self.r > 4:
            raise Refused(f"{self.r} more features are too many to be counted")
        if self.r < 4:
            self._refuse_triples(useful)
            return
        while useful.any():
            at = self.first(useful)
            child = self.child(at, useful[at])
            child.refuse_singles()
            child.refuse_sets(child.useful())
            useful = self.without(at, useful)

    def first(self, useful: Bools) -> int:
        """Return the place of the candidate of a useful pair that leaves the least bad weight."""
        live = np.flatnonzero(useful.any(axis=1))
        return int(live[np.argmin(self.singles[0][live])])

    def _refuse_triples(self, useful: Bools) -> None:
        """Refuse a box of at most three more features where one of its sets beats the goal.

        The useful pairs are counted, and all sets of three candidates whose pairs are useful.
        """
        if self.r > 1 and (useful & self._better_pairs()).any():
            raise Refused("a better rule has two more features")
        if self.r < 3:
            return
        linked = np.flatnonzero(useful.sum(axis=1) > 1)
        useful = useful[np.ix_(linked, linked)]
        agrees, bad, signed = self._agrees[linked], self._bad, self._weights.copy()
        signed[bad:] *= -1
        p, q = np.nonzero(np.triu(useful))
        for start in range(0, p.size, _PAIRS):
            one, two = p[start : start + _PAIRS], q[start : start + _PAIRS]
            # The third comes before both: p < q, and p does not fall.
            third = agrees[: one[-1]]
            both = agrees[one] * agrees[two] * signed
            if self.goal.limited:
                covered = both[:, :bad] @ third[:, :bad].T
                kept = -(both[:, bad:] @ third[:, bad:].T)
                # In integers: what the chosen features lose may be too much for this type.
                lost = self.goal.good - kept.astype(np.int64)
                beats = self.goal.cost(covered, lost) < self.goal.target
            else:
                # Both classes cost their weight.
                beats = both @ third.T < self.goal.target - self.goal.good
            if beats.any():
                at, s = np.nonzero(beats)
                ours = (s < one[at]) & useful[one[at], s] & useful[two[at], s]
                sets = np.stack([one[at][ours], two[at][ours], s[ours]], axis=1)
                if self._allowed(linked[sets]).any():
                    raise Refused("a better rule has three more features")

    def without(self, at: int, useful: Bools) -> Bools:
        """Return the useful pairs of the sets without a candidate, tightened once."""
        left = useful.copy()
        left[at] = left[:, at] = False
        return self.tightened(left, rounds=1)

    def child(self, at: int, candidates: Bools) -> Box:
        """Return the box of one more chosen feature, with some of the candidates."""
        rows = self._agrees[at] > 0
        child = Box(
            self.about,
            self.candidates[candidates],
            self._agrees[candidates][:, rows],
            int(np.count_nonzero(rows[: self._bad])),
            self._weights[rows],
            self.r - 1,
            self.goal,
            (*self.chosen, int(self.candidates[at])),
        )
        child.within = self.within + child.entries
        return child


def _largest(removed: Ints, n: int) -> tuple[Ints, Ints]:
    """Return the sums of the n - 1 and of the n largest numbers of each row, as columns."""
    width = removed.shape[1]
    if n < width:
        removed = np.partition(removed, width - n, axis=1)[:, width - n :]
    full = removed.sum(axis=1, keepdims=True)
    if n > width:
        return full, full
    return full - removed.min(axis=1, keepdims=True), full
