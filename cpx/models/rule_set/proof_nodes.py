"""Nodes of proofs about sets of rules: some rules are chosen, others left out, others free.

What the sets of a node cost at least is told by whole numbers that a proof gives, and where few
may cost less than a limit, by going through these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.check.proofs.branching import Part, SideConstraints
from cpx.check.proofs.document import Refused, Undecided, refuse_unknown
from cpx.models.monomial.proof_check import distinct
from cpx.models.rule_set.judge import Selection
from cpx.models.rule_set.proof_cheaper_sets import MOST_ENTRIES, Rows, TooMany, cheaper_sets, exact
from cpx.models.rule_set.proof_cost_splitting import Shares

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

_INSTANCE = {"samples", "labels", "weights", "features", "groups", "where"}
_PARAMETERS = {"rules", "penalty", "loss", "max_rules", "max_literals", "max_overlap", "required"}
_PARAMETERS |= {"forbidden", "class_weights", "lengths"}

_LARGEST = 2**62
# Rules that are compared with all others at once.
_BLOCK = 256


class Table:
    """What a proof needs of an instance.

    covers (samples, rules): One row for all samples of one class that the same rules cover, the
        first of them.
    rows: Index of that sample.
    costs: What an error on these samples costs, in units of the objective.
    weights: What they weigh, which is what their overlap counts.
    good: Samples of the class: an error where none of the chosen rules covers them.
    price: Of a rule, in units of the objective.
    wanted: Rules without which a side constraint may be broken.
    most, room: Costs of all samples with that of a rule; and numbers up to which sums fit 64 bits.
    """

    def __init__(self, instance: Mapping[str, Any]) -> None:
        refuse_unknown(instance, _INSTANCE, _PARAMETERS)
        self.data = data = Selection(instance)
        self.side = SideConstraints(instance)
        self.count = data.count()
        columns = [data.cover(r) for r in range(self.count)]
        covers = np.array(columns, dtype=np.bool_).reshape(self.count, -1).T
        first, of = distinct(np.packbits(np.column_stack([covers, data.same]), axis=1))
        scale = data.price.denominator
        if (int(data.errors.sum()) + data.price * self.count) * scale * 2 >= _LARGEST:
            raise Undecided("numbers are too large for the checker")
        costs, weights = np.zeros((2, first.size), dtype=np.int64)
        np.add.at(costs, of, data.errors * scale)
        np.add.at(weights, of, data.weights)
        order = np.argsort(first)
        self.rows, self.costs, self.covers = first[order], costs[order], covers[first[order]]
        self.weights = weights[order]
        self.good = data.same[self.rows]
        self.price = int(data.price * scale)
        self.wanted = self.side.named(self.count, 1)
        self.lengths = np.array([data.length(r) for r in range(self.count)], dtype=np.int64)
        self.most = int(self.costs.sum()) + self.price
        self.room = _LARGEST // (int(self.lengths.sum()) + self.count + 1)
        self.limits = {
            name: instance["parameters"].get(name) for name in ("max_rules", "max_literals")
        }


@dataclass(frozen=True)
class Multipliers:
    """Whole numbers in units of 1/``unit`` that bound the sets of a node.

    rules, literals: Price of the limits on the number of rules, and of literals.
    good (samples,): What the rules share of an error on each good sample.
    bad (n, 3): Place of a bad sample, rule, and what of an error there the rule pays.
    """

    unit: int
    rules: int
    literals: int
    good: Ints
    bad: Ints


@dataclass(frozen=True)
class Node:
    """The sets that have all ``chosen`` rules and otherwise only ``free`` ones."""

    table: Table
    chosen: tuple[int, ...]
    free: Bools
    shares: Shares | None = None

    def value(self) -> int:
        """Return the objective of the chosen rules."""
        return self.table.data.objective(list(self.chosen))

    def over(self) -> bool:
        """Whether the chosen rules break a limit; limits only get tighter with more rules."""
        return bool(self.table.data.over(list(self.chosen)))

    def sets(self) -> Part:
        """Return the sets of the node as a part: of rules in place of features."""
        kept = np.isin(np.arange(self.free.size), self.chosen)
        return Part(kept, ~(kept | self.free))

    def part(self, rule: int, chosen: bool) -> Node:
        """Return the sets with, or without, a free rule."""
        free = self.free.copy()
        free[rule] = False
        return Node(self.table, (*self.chosen, rule) if chosen else self.chosen, free)

    def uncovered(self) -> Bools:
        """Return which samples no chosen rule covers."""
        return np.asarray(~self.table.covers[:, list(self.chosen)].any(axis=1))

    def exact(self, limit: int) -> bool:
        """Whether numbers are so small that floats can count the sets below a limit."""
        return exact(self.table.most, limit, self.table.count)

    def counted(self, limit: int, entries: int) -> bool:
        """Whether no allowed set of the node costs less than a limit.

        TooMany is raised where that takes more than so many entries.
        """
        table = self.table
        entries -= int(self.free.sum()) * table.rows.size
        if not self.exact(limit) or entries < 0:
            raise TooMany
        rules = self._standing(self.uncovered())
        good, bad, prices = self.rows(rules)
        most, possible = table.limits["max_rules"], self._possible(rules, limit)
        cheaper = cheaper_sets(
            good,
            bad,
            prices,
            self._paid(),
            limit,
            most=rules.size if most is None else min(rules.size, most - len(self.chosen)),
            wanted=table.wanted[rules],
            possible=possible,
            entries=entries,
            fewer=None if self.shares is None else self._fewer(rules),
        )
        return all(
            table.data.broken([*self.chosen, *rules[one].tolist()])
            for sets in cheaper
            for one in sets[possible(sets, np.zeros((len(sets), rules.size), dtype=np.bool_))]
        )

    def rows(self, rules: Ints) -> tuple[Rows, Rows, Ints]:
        """Return the good and the bad samples that are left, and what some rules cost.

        With Hamming loss rules pay for bad samples, whatever others do.
        """
        table, left, hamming = self.table, self.uncovered(), self.table.data.hamming
        prices = np.full(rules.size, table.price)
        if hamming:
            prices += table.costs[~table.good] @ table.covers[np.ix_(~table.good, rules)]
        good, bad = (
            Rows(table.covers[np.ix_(of, rules)], table.costs[of])
            for of in (left & table.good, left & ~table.good & (not hamming))
        )
        return good, bad, prices

    def left_by(self, shares: Shares, limit: int) -> Node | None:
        """Return what shares of the free rules leave of the sets below a limit; None for none."""
        stay = shares.leave_out(limit - self._paid())
        if stay is None:
            return None
        free = self.free.copy()
        free[free] = stay
        return Node(self.table, self.chosen, free, shares)

    def _standing(self, left: Bools) -> Ints:
        """Return the free rules that no other one stands for; ``left`` are uncovered samples.

        Proof. Let q cover the good samples of r that are left, and no bad one that r does not.
        A set with r costs no more with q in its place, and without r if it has q. It keeps the
        limits if q has no more literals, where these are limited, and covers no sample at all
        that r does not, where the overlap is; it keeps side constraints if r is not wanted and q
        in no term of a factor below 0. Of rules that could stand for each other the first does.
        """
        table, rules = self.table, np.flatnonzero(self.free)
        limits, covers = table.data.parameters, table.covers[:, rules].astype(np.float32)
        of_good, of_bad = left & table.good, ~table.good & (left | table.data.hamming)
        if limits.get("max_overlap") is not None:
            of_bad[:] = True
        lengths = table.lengths[rules] * (limits.get("max_literals") is not None)
        wanted, hindering = table.wanted[rules], table.side.named(table.count, -1)[rules]

        def stand(q: slice, r: slice) -> Bools:
            lost = (1 - covers[of_good, q]).T @ covers[of_good, r]
            more = covers[of_bad, q].T @ (1 - covers[of_bad, r])
            fit = ~wanted[r] & ~hindering[q, None] & (lengths[q, None] <= lengths[r])
            return np.asarray(fit & (lost == 0) & (more == 0))

        out, every = np.ones(rules.size, dtype=np.bool_), slice(None)
        for at in range(0, rules.size, _BLOCK):
            r = slice(at, at + _BLOCK)
            first = rules[:, None] < rules[r]
            out[r] = ~(stand(every, r) & (first | ~stand(r, every).T)).any(axis=0)
        return rules[out]

    def _possible(self, rules: Ints, limit: int) -> Callable[[Ints, Bools], Bools]:
        """Return what says whether there may be an allowed set, of some rules with any of others.

        Limits never get looser with more rules; nor do sets below a limit that shares rule out.
        """
        table, limits = self.table, self.table.data.parameters
        literals, overlap = limits.get("max_literals"), limits.get("max_overlap")
        covers, limit = table.covers.T.astype(float), limit - self._paid()

        def possible(sets: Ints, others: Bools) -> Bools:
            kept = np.zeros((len(sets), table.count), dtype=np.bool_)
            kept[:, list(self.chosen)] = True
            np.put_along_axis(kept, rules[sets], values=True, axis=1)
            some = kept.copy()
            some[:, rules] |= others
            out = table.side.possible(kept, some)
            if literals is not None:
                out &= kept @ table.lengths <= literals
            if overlap is not None:
                out &= (kept @ covers > 1) @ table.weights <= overlap
            if self.shares is not None:
                out &= ~self.shares.reached(kept[:, self.free], limit)
            return out

        return possible

    def _fewer(self, rules: Ints) -> Callable[[Ints, Bools], Bools]:
        """Return what says which of other rules leave the overlap within its limit."""
        table, most = self.table, self.table.data.parameters.get("max_overlap")
        covers, weights = table.covers.astype(float), table.weights.astype(float)

        def fewer(sets: Ints, others: Bools) -> Bools:
            if most is None:
                return others
            kept = np.zeros((len(sets), table.count))
            kept[:, list(self.chosen)] = 1
            np.put_along_axis(kept, rules[sets], values=1, axis=1)
            times = kept @ covers.T
            overlap = ((times > 1) @ weights)[:, None] + ((times == 1) * weights) @ covers[
                :, rules
            ]
            return np.asarray(others & (overlap <= most))

        return fewer

    def bound(self, by: Multipliers) -> int:
        """Return a lower bound on the objective of all sets of the node.

        Proof. A set adds some free rules. A good sample that none of the chosen rules covers
        costs its w if no added rule covers it, at least y (1 - the number that do) for any y from
        0 to w. A bad one costs w if some added rule covers it, at least the sum over these of any
        z >= 0 that add up to w at most; with Hamming loss, w for each. A limit adds nothing
        positive, times a price that is not negative. All told, each added rule costs a fixed
        amount, and at least the negative ones are saved.
        """
        table, unit, limits = self.table, by.unit, self.table.limits
        if unit < 1 or max(unit * table.most, by.rules, by.literals) > table.room:
            raise Undecided("the unit is 0, or numbers are too large for the checker")
        open_good = self.uncovered() & table.good
        costs = table.costs * unit
        if (by.good < 0).any() or (by.good > np.where(open_good, costs, 0)).any():
            raise Refused("a multiplier of a good sample is not from 0 to its cost")
        added = np.full(table.count, table.price * unit, dtype=np.int64)
        added -= by.good @ table.covers
        total = int(by.good.sum()) + self._paid() * unit
        for price, name, lengths in (
            (by.rules, "max_rules", np.ones_like(table.lengths)),
            (by.literals, "max_literals", table.lengths),
        ):
            most = limits[name]
            if price and most is None:
                raise Refused(f"there is no {name}")
            if price:
                added += price * lengths
                total -= price * (most - int(lengths[list(self.chosen)].sum()))
        if table.data.hamming:
            if by.bad.size:
                raise Refused("with Hamming loss bad samples have no multipliers")
            added += costs[~table.good] @ table.covers[~table.good]
        else:
            sample, rule, paid = by.bad.T
            allowed = table.covers[sample, rule] & (self.uncovered() & ~table.good)[sample]
            if not allowed.all() or (paid < 0).any():
                raise Refused("a multiplier is of no bad sample that its rule covers")
            sums = np.zeros(table.rows.size, dtype=np.int64)
            np.add.at(sums, sample, paid)
            # Many for one sample may be more than 64 bits hold.
            if sum(paid.tolist()) >= _LARGEST or (sums > costs).any():
                raise Refused("the multipliers of a bad sample are more than its cost")
            np.add.at(added, rule, paid)
        total += int(np.minimum(added[self.free], 0).sum())
        return -(-total // unit)

    def _paid(self) -> int:
        """Return what the chosen rules cost every set: their price, and the bad samples."""
        table, chosen = self.table, list(self.chosen)
        times = table.covers[:, chosen].sum(axis=1)
        if not table.data.hamming:
            times = np.minimum(times, 1)
        return table.price * len(chosen) + int((table.costs * times)[~table.good].sum())


def root_of(table: Table) -> Node | None:
    """Return the node of all sets; None where the required rules break a limit."""
    parameters = table.data.parameters
    required = sorted(parameters.get("required", ()))
    if table.data.over(required):
        return None
    free = np.ones(table.count, dtype=np.bool_)
    free[[*required, *parameters.get("forbidden", ())]] = False
    return Node(table, tuple(required), free)


def check_counted(node: Node, limit: int) -> None:
    """Refuse that no allowed set of a node costs less than a limit, unless it is so."""
    try:
        if not node.counted(limit, MOST_ENTRIES):
            raise Refused("a set costs less")
    except TooMany:
        told = "there are too many sets, or numbers are too large, for the checker to count"
        raise Undecided(told) from None
