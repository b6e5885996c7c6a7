"""Proofs about rules of kernel machines: one clause by boxes, several by branch and bound.

Where the checker cannot look at all clauses, several are bounded by prices of rows. The
multipliers are those of the exact search, rounded until the checker's numbers are small. What the
search has recorded of its nodes is looked at again; multipliers are improved where that proves too
little, or nothing is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.check.proofs.branching import Part
from cpx.check.proofs.document import Claim, Refused, Undecided
from cpx.models.kernel_rule.proof_check import Clauses
from cpx.models.kernel_rule.proof_formulas import Formulas, Node
from cpx.models.kernel_rule.prove_row_prices import by_boxes, by_prices
from cpx.models.kernel_rule.search.dual import Dual
from cpx.models.kernel_rule.search.record import Record, RecordedSearch
from cpx.models.kernel_rule.search.restriction import (
    Multipliers,
    NamedMultipliers,
    Restriction,
)

__all__ = ["prove"]

Ints = NDArray[np.int64]

_BITS = 14
"""Of multipliers, as parts of the gain or the cost of a row."""
# Steps at the root and below it, how far they move at first and at last, and the same of how much
# less than the best clauses those may be worth that are chosen in part; as the search has them.
_STEPS, _RATES, _WIDTHS = (300, 60), ((0.5, 0.01), (0.3, 0.02)), ((3e-3, 1e-5), (3e-4, 1e-5))
_LOOK, _ACTIVE_BELOW = 10, 1000
# What is left of the clauses for a line that leaves the others out, and where the search did.
_FEW, _LESS = 0.3, 0.9
# The logit of no price, and no share, for steps to begin with.
_FREE, _TINY = -20.0, 1e-12


def prove(
    instance: Mapping[str, Any],
    goal: Claim,
    over: Callable[[], bool],
    record: Sequence[object] = (),
) -> tuple[Claim | None, list[str]]:
    """Return what was proved and the lines: the goal, or the bound that the parts reached.

    Where there are too many clauses to look at them all, or too little time, prices of rows may
    prove a better bound. Refused is raised where a formula that is met is worth more than the
    goal. The record is that of the exact search, if there is one.
    """
    clauses = Clauses(instance)
    if not isinstance(goal.bound, int):
        raise Refused("every formula is a solution")
    gains = np.maximum(clauses.weights, 0)
    if clauses.most == 1:
        lines = _by_boxes(clauses, gains * 0, goal.bound, over)
        return (goal, lines) if lines else (None, [])
    greatest, found = int(gains.sum()), list[tuple[int, list[str]]]()
    if goal.bound < greatest:
        with suppress(Undecided):
            search = _Search(Formulas(instance, goal.bound), goal.bound, over, record)
            search.close()
            found.append((search.reached, search.lines))
        if not found or found[0][0] > goal.bound:
            found.append(by_prices(clauses, goal.bound, over))
    if not found or min(found)[0] > greatest:
        # No clause is worth anything at these prices: the proof is a line or two.
        lines = _by_boxes(clauses, gains, 0, lambda: False)
        found.append((max(goal.bound, greatest), lines))
    reached, lines = min(found)
    return Claim(reached), lines


def _by_boxes(clauses: Clauses, prices: Ints, worth: int, over: Callable[[], bool]) -> list[str]:
    none = np.zeros(prices.size, dtype=np.bool_)
    return by_boxes(clauses, Part(none, none), Fraction(1), prices, worth, over)


@dataclass(frozen=True, eq=False)
class _Open:
    """A node, multipliers to begin with, what is recorded of it, and how much of that was used.

    Its clauses and rows are among those of the restriction.
    """

    node: Node
    within: Restriction
    known: NamedMultipliers | None = None
    record: Record | None = None
    used: int = 0


class _Search:
    """Depth-first branch and bound, with the lines for the nodes that are done."""

    def __init__(
        self,
        formulas: Formulas,
        goal: int,
        over: Callable[[], bool],
        record: Sequence[object] = (),
    ) -> None:
        self.lines, self.reached = ["clauses"], goal
        self._formulas, self._over = formulas, over
        self._beats = (goal + 1) * formulas.scale
        self._whole = Restriction.whole(
            formulas.inside, formulas.outside, formulas.gains, formulas.costs
        )
        self._recorded: Record | None = None
        self._places: tuple[Ints, Ints] | None = None
        for search in record:
            assert isinstance(search, RecordedSearch)
            self._recorded, rows = search.root, search.rows
            inside, outside = formulas.tables
            self._places = _places(rows.inside, inside), _places(rows.outside, outside)

    def close(self) -> None:
        """Write the lines for all formulas."""
        left = [_Open(self._formulas.root(), self._whole, None, self._recorded)]
        while left:
            one = left.pop()
            if one.node.left > 1 and one.node.allowed.any():
                left += reversed(self._opened(one))
                continue
            reached = one.node.alone()
            if reached is not None and reached >= self._beats:
                raise Refused("a formula is worth more")
            self.lines.append("alone")

    def _opened(self, one: _Open) -> list[_Open]:
        """Write a line or more; return what is left of a node."""
        node, known, record = one.node, one.known, one.record
        if not node.live[0].size:
            if node.value >= self._beats:
                raise Refused("a formula is worth more")
            self.lines.append(f"shares {_BITS}")
            return []
        part = _part(node, one.within)
        again = [] if record is None else record.multipliers[one.used :]
        if record is not None and not record.parts and len(again) > 1 and not one.used:
            # The last ones may close the node without the lines for the others.
            numbers, bound, _ = self._repeated(node, part, again[-1])
            if bound < self._beats:
                self._write("shares", numbers)
                return []
        for used, recorded in enumerate(again, one.used + 1):
            numbers, bound, after = self._repeated(node, part, recorded)
            if self._ended(numbers, bound):
                return []
            if after.allowed.sum() < _LESS * node.allowed.sum():
                self._write("shares", numbers)
                return [_Open(after, part, self._renamed(recorded), record, used)]
        if again:
            known = self._renamed(again[-1])
        if record is None or not record.parts:
            return self._improved(node, part, known)
        return self._split_as(node, part, known, record)

    def _repeated(
        self, node: Node, part: Restriction, recorded: NamedMultipliers
    ) -> tuple[Ints, int, Node]:
        return self._rounded(node, part, _fitted(self._renamed(recorded), node))

    def _write(self, rule: str, numbers: Ints) -> None:
        self.lines.append(f"{rule} {_BITS}{_written(numbers)}")

    def _ended(self, numbers: Ints, bound: int) -> bool:
        """Write the last line of a node, where it is done or the time is up."""
        if bound < self._beats:
            self._write("shares", numbers)
        elif self._over():
            self._write("open", numbers)
            self.reached = max(self.reached, bound // self._formulas.scale)
        else:
            return False
        return True

    def _split_as(
        self, node: Node, part: Restriction, known: NamedMultipliers | None, record: Record
    ) -> list[_Open]:
        """Split a node as the search did; what it left out already is not split off."""
        _, without = record.parts
        if record.row is None:
            found = self._place(record.clause)
            if not node.allowed[found].any():
                return [_Open(node, part, known, without)]
            parts = self._by_clause(node, int(found[0]))
        else:
            assert self._places is not None
            other = int(self._places[1][record.row])
            if other not in node.live[1]:
                return [_Open(node, part, known, without)]
            parts = self._by_row(node, other)
        return [_Open(half, part, known, of) for half, of in zip(parts, record.parts, strict=True)]

    def _place(self, clause: tuple[int, ...]) -> Ints:
        """Return the place of a clause, by its name or else by its rows."""
        of = self._formulas
        padded = [-1] * (of.clauses.shape[1] - len(clause)) + [*clause]
        found = np.flatnonzero((of.clauses == padded).all(axis=1))
        return found if found.size else of.places(list(clause))

    def _improved(
        self, node: Node, part: Restriction, known: NamedMultipliers | None
    ) -> list[_Open]:
        """Take steps until a node is done, or they lead no further."""
        root = known is None
        if known is None:
            start = Multipliers.in_proportion(part.gains, part.costs.size)
            dual = Dual(part, node.left, start)
        else:
            dual = Dual(part, node.left, _fitted(known, node), _ACTIVE_BELOW)
        steps = _STEPS[not root]
        rates = np.geomspace(*_RATES[not root], steps)
        widths = np.geomspace(*_WIDTHS[not root], steps)
        for step in range(steps + 1):
            last = step == steps or self._over()
            if last or step % _LOOK == 0:
                done = node.value + dual.look() < self._beats
                few = dual.needed(self._beats - 1 - node.value).mean() < _FEW
                if done or few or last:
                    numbers, bound, after = self._rounded(node, part, dual.multipliers)
                    if self._ended(numbers, bound):
                        return []
                    dropped = int((node.allowed & ~after.allowed).sum())
                    if dropped and (last or after.allowed.sum() < _FEW * node.allowed.sum()):
                        self._write("shares", numbers)
                        if not last or not after.allowed.any():
                            lasting = (part.rows, part.others, dual.lasting)
                            return [_Open(after, part, lasting)]
                        node = after
                    if last:
                        break
            dual.step(float(rates[step]), float(widths[step]))
        lasting = (part.rows, part.others, dual.lasting)
        return [_Open(half, part, lasting) for half in self._split(node, dual)]

    def _renamed(self, known: NamedMultipliers) -> NamedMultipliers:
        """Return multipliers of the search, of rows as they are called here."""
        assert self._places is not None
        return self._places[0][known[0]], self._places[1][known[1]], known[2]

    def _rounded(
        self, node: Node, part: Restriction, known: Multipliers
    ) -> tuple[Ints, int, Node]:
        """Return the numbers of a line, which are rounded multipliers, the bound, what is left."""
        portions = np.round((1 << _BITS) / (1 + np.exp(-known.prices))).astype(np.int64)
        shares = known.shares.T.astype(np.float64)
        shares *= (1 << _BITS) / shares.sum(axis=1, keepdims=True)
        whole = np.round(shares, out=shares).astype(np.int64)
        rest, paid = node.charged(_BITS, portions, whole)
        # As the checker does, only faster: it tries all rows of all clauses.
        values = part.weighed(rest, np.ascontiguousarray(paid.T))
        bound, values, beyond = node.total(rest, values)
        idle = np.flatnonzero(node.allowed)[values + beyond < self._beats]
        return np.concatenate([portions, whole.reshape(-1)]), bound, node.without(idle)

    def _split(self, node: Node, dual: Dual) -> tuple[Node, Node]:
        """Split by the row of negative weight most in doubt, or else by a clause."""
        part = dual.part
        hits = np.clip(dual.hits, 0, 1)
        doubt = part.costs * np.minimum(hits, 1 - hits)
        gap = node.value + dual.bound - self._beats
        stake = min(gap, int(dual.values[dual.order[: dual.most]].min()))
        live = np.isin(part.others, node.live[1])
        doubt[~live] = 0
        if doubt.max(initial=0) > 0.2 * stake and doubt.max(initial=0) > 0:
            return self._by_row(node, int(part.others[doubt.argmax()]))
        # The clause of the greatest value that is left.
        best = part.numbers[np.argsort(-dual.values, kind="stable")]
        return self._by_clause(node, int(best[node.allowed[best]][0]))

    def _by_row(self, node: Node, other: int) -> tuple[Node, Node]:
        self.lines.append(f"row {self._formulas.others[other]}")
        return node.by_row(other)

    def _by_clause(self, node: Node, clause: int) -> tuple[Node, Node]:
        names = self._formulas.clauses[clause]
        self.lines.append(" ".join(["clause", *map(str, names[names >= 0].tolist())]))
        return node.by_clause(clause)


def _part(node: Node, within: Restriction) -> Restriction:
    """Return the clauses of a node, and its rows that count, from a restriction that has them."""
    inside, outside = (np.zeros(n, dtype=np.bool_) for n in (node.rows.size, node.others.size))
    inside[node.live[0]], outside[node.live[1]] = True, True
    clauses = node.allowed[within.numbers]
    return within.only(clauses, inside[within.rows], outside[within.others])


def _places(rows: NDArray[np.bool_], among: NDArray[np.bool_]) -> Ints:
    """Return where different rows are among the same ones."""
    place = {row.tobytes(): at for at, row in enumerate(among)}
    return np.array([place[row.tobytes()] for row in rows], dtype=np.int64)


def _fitted(known: NamedMultipliers, node: Node) -> Multipliers:
    """Return multipliers for the rows of a node that count.

    A row that is not known is one that only clauses are true of which the search left out: it
    gets no price, and next to no share.
    """
    rows, others, multipliers = known
    live, paid = node.live
    inside = np.full(node.rows.size, -1)
    outside = np.full(node.others.size, -1)
    inside[rows], outside[others] = np.arange(rows.size), np.arange(others.size)
    at, to = inside[live], outside[paid]
    if (at >= 0).all() and (to >= 0).all():
        return multipliers.only(at, to)
    shares = np.full((live.size, paid.size), _TINY, dtype=np.float32)
    shares[np.ix_(at >= 0, to >= 0)] = multipliers.shares[np.ix_(at[at >= 0], to[to >= 0])]
    prices = np.where(at >= 0, multipliers.prices[at], _FREE)
    return Multipliers(shares, prices)


@cache
def _texts() -> NDArray[np.bytes_]:
    """Return what numbers look like, a blank before each."""
    return np.array([f" {number}" for number in range((1 << _BITS) + 1)], dtype=np.bytes_)


def _written(numbers: Ints) -> str:
    """Return many numbers, a blank before each; it takes a sixth of the time of ``str``."""
    return _texts()[numbers].tobytes().translate(None, b"\0").decode("ascii")
