"""One subproblem: bound by cost splitting, fixing of rules, bitset search, and branching."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cpx.backends.search.branch_on_violations import branches
from cpx.backends.search.work_sharing import TaskPool
from cpx.modelling.side_constraints.form import NO_SIDE_CONSTRAINTS
from cpx.models.rule_set.form import RuleSelection
from cpx.models.rule_set.search.bitset_search import WORK, BitsetSearch
from cpx.models.rule_set.search.multipliers import Relaxation
from cpx.models.rule_set.search.open_nodes import Incumbent, Subproblem, restrict
from cpx.models.rule_set.search.parallel import ParallelSearch
from cpx.models.rule_set.search.rows import Paid

Ints = NDArray[np.int64]
Offer = Callable[[tuple[int, ...] | None], tuple[int, int]]

_FAR = 2**62

_ROUNDS, _STEPS = 4, 32
"""Rounds of so many steps of ascent for the whole problem."""

_STEPS_BELOW = 20
"""Steps of ascent for a part, from the shares of the one it is a part of."""

_AIM, _NEAR = 0.5, 0.3
"""The share of the gap between bound and best cost below which sets are looked for first, until
what is left of the gap is such a share of it."""

_ADDED = 2**29
"""Numbers that the ascent adds up while a search does ``WORK``, a quarter of the time it takes."""

_TRIAL, _MOST_PARTS = 8, 4
"""After such a part of ``WORK`` the best set without side constraints is looked for, with as much
work, and branched on where it breaks one that few changes would mend."""

_LEAST_WORK = 8
"""How often a search with shares does ``WORK`` before it gives up, if not more."""

_MOST_SHARES = 2**25
"""Pairs of good and bad rows up to which shares are kept: about 1 GB."""

_MANY_SHARES = 2**17
"""Pairs from which on threads do a step of ascent together: a millisecond."""


class SubproblemSearch:
    """The search of one part.

    form: The problem, with merged rows.
    pool: Threads that have nothing to do.
    stop: Called often; True ends the search.
    note: Called with each bound on the cost of all sets of the part.
    """

    def __init__(
        self,
        form: RuleSelection,
        incumbent: Incumbent,
        pool: TaskPool,
        stop: Callable[[], bool],
        note: Callable[[int], None],
    ) -> None:
        self.form, self.incumbent, self.stop, self.note = form, incumbent, stop, note
        self.pool = pool
        self.nodes, self.shared = 0, False

    def explore(self, part: Subproblem) -> list[Subproblem]:
        """Search a part; return parts of it that are left to search.

        Nothing that is returned means anything when ``stop`` said so.
        """
        whole = part.start is None
        left = restrict(self.form, part, self.incumbent)
        if left is None:
            return []
        pairs, effort = self._sizes(left)
        if pairs > _MOST_SHARES:
            while not self.stop():
                if self._search(left, None, _FAR):
                    break
            return []
        if whole:
            search = self._begin(left, None)
            if self.form.side:
                if self._go_on(search, WORK // _TRIAL):
                    return []
                parts = self._part_by_violation(left)
                if parts is not None:
                    return parts
            if self._go_on(search, WORK * max(1, effort)):
                return []
        self.shared = True
        for _ in range(_ROUNDS if whole else 1):
            relaxation = Relaxation(self.form, left.required, left.rules, left.start)
            many = relaxation.good.size * relaxation.bad.size > _MANY_SHARES
            do = self.pool.share if many else None
            relaxation.climb(_STEPS if whole else _STEPS_BELOW, do, self.stop)
            if self.stop():
                return []
            narrowed = self._narrow(
                left, relaxation, WORK * max(_LEAST_WORK, effort) if whole else 0
            )
            if narrowed is None:
                return []
            left = narrowed
            relaxation = Relaxation(self.form, left.required, left.rules, left.start)
            bound, within, without = relaxation.certify()
            if self._search(left, relaxation.paid(), WORK * max(_LEAST_WORK, effort)):
                return []
        return self._split(left, bound, within, without)

    def _sizes(self, part: Subproblem) -> tuple[int, int]:
        """Return how many pairs have shares, and how often to do ``WORK`` before their ascent."""
        left = self.form.times_covered(part.required) == 0
        covers = self.form.covers[part.rules] & left
        there = covers.any(axis=0)
        good = int((there & (self.form.weights > 0)).sum())
        bad = covers[:, self.form.weights < 0]
        added = int(bad.sum()) * good
        return good * int(bad.any(axis=0).sum()), _STEPS * added // _ADDED

    def _narrow(self, part: Subproblem, relaxation: Relaxation, work: int) -> Subproblem | None:
        """Leave out rules, and require rules, that the bound says something about."""
        bound, within, without = relaxation.certify()
        part = replace(part, bound=max(part.bound, bound), start=relaxation.multipliers())
        if work:
            part = self._aim(part, relaxation.paid(), within, work)
        self.note(part.bound)
        size = len(part.required)
        if self.incumbent.beaten(part.bound, size):
            return None
        out = np.array([self.incumbent.beaten(bound, size + 1) for bound in within.tolist()])
        needed = np.array([self.incumbent.beaten(bound, size) for bound in without.tolist()])
        required = (*part.required, *part.rules[needed].tolist())
        part = replace(part, required=required, rules=part.rules[~out & ~needed])
        return restrict(self.form, part, self.incumbent)

    def _aim(self, part: Subproblem, paid: Paid, within: Ints, work: int) -> Subproblem:
        """Search for sets between the bound and the best cost; return the part with its bound.

        The lower the cost that is asked for, the fewer rules are left. Where there is no such
        set, the bound is above that cost; where there is one, it is the best known.
        """
        begun = part.bound
        while self.incumbent.cost - part.bound > _NEAR * (self.incumbent.cost - begun):
            if self.stop():
                break
            target = part.bound + int(_AIM * (self.incumbent.cost - part.bound))
            near = np.flatnonzero(within <= target)
            below = target, _FAR

            def offer(
                found: tuple[int, ...] | None, below: tuple[int, int] = below
            ) -> tuple[int, int]:
                return min(self.incumbent.offer(found), below)

            some = replace(part, rules=part.rules[near])
            search = BitsetSearch(self.form, some.required, some.rules, paid.of(near), below)
            done = self._go_on(self._parallel(search, offer, lambda bound: None), work)
            if not done or self.incumbent.cost <= target:
                break
            part = replace(part, bound=target + 1)
        return part

    def _search(self, part: Subproblem, paid: Paid | None, work: int) -> bool:
        """Search a part to its end, which is returned, or until work was done."""
        return self._go_on(self._begin(part, paid), work)

    def _begin(self, part: Subproblem, paid: Paid | None) -> ParallelSearch:
        known, offer = self.incumbent.key[:2], self.incumbent.offer
        search = BitsetSearch(self.form, part.required, part.rules, paid, known)
        return self._parallel(search, offer, self.note)

    def _parallel(
        self, search: BitsetSearch, offer: Offer, note: Callable[[int], None]
    ) -> ParallelSearch:
        self.nodes += search.nodes
        return ParallelSearch(search, self.pool, self.stop, offer, note)

    def _go_on(self, search: ParallelSearch, work: int) -> bool:
        before = search.nodes
        done = search.run(work)
        self.nodes += search.nodes - before
        search.note(search.bound())
        return done

    def _part_by_violation(self, part: Subproblem) -> list[Subproblem] | None:
        """Search a part without side constraints; return parts that do not have its best set.

        They have all sets that keep the constraints and may be better than the best one that is
        known. None if the search came to no end, or if there are many of them.
        """
        side, met = self.form.side, [self.incumbent.key]

        def offer(found: tuple[int, ...] | None) -> tuple[int, int]:
            if found is not None:
                rules = tuple(sorted(found))
                met.append((self.form.cost(rules), len(rules), rules))
                if side.allow(rules):
                    self.incumbent.offer(rules)
            return min(min(met)[:2], self.incumbent.offer(None))

        free = replace(self.form, side=NO_SIDE_CONSTRAINTS)
        known = offer(part.required)
        search = BitsetSearch(free, part.required, part.rules, None, known)
        if not self._go_on(self._parallel(search, offer, self.note), WORK // _TRIAL):
            return None
        cost, _, best = min(met)
        if self.incumbent.key <= min(met):
            return []
        required, rules = frozenset(part.required), frozenset(part.rules.tolist())
        forbidden = frozenset(range(self.form.shape[0])) - required - rules
        changes = branches(side, frozenset(best), required, forbidden)
        if len(changes) > _MOST_PARTS:
            return None
        return [
            replace(
                part,
                required=(*part.required, *sorted(more)),
                rules=np.array(sorted(rules - more - less), dtype=np.int64),
                bound=max(part.bound, cost),
            )
            for more, less in changes
        ]

    def _split(
        self, part: Subproblem, bound: int, within: Ints, without: Ints
    ) -> list[Subproblem]:
        """Return the sets with, and those without the rule whose bounds are highest together."""
        gains = [(within - bound).astype(float), (without - bound).astype(float)]
        at = int((gains[0] * gains[1]).argmax())
        rule, rest = int(part.rules[at]), np.delete(part.rules, at)
        low = max(part.bound, bound)
        return [
            replace(
                part,
                required=(*part.required, rule),
                rules=rest,
                bound=max(low, int(within[at])),
            ),
            replace(part, rules=rest, bound=max(low, int(without[at]))),
        ]
