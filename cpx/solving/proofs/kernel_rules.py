"""Proofs about rules of kernel machines: one clause by boxes, several by branch and bound.

Where the checker cannot look at all clauses, several are bounded by prices of rows. The
multipliers are those of the exact search, rounded until the checker's numbers are small.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.backends.search.kernel_rules.dual import Dual
from cpx.backends.search.kernel_rules.restriction import Multipliers, Restriction
from cpx.check.proofs.document import Claim, Refused, Undecided
from cpx.check.proofs.formulas import Formulas, Node
from cpx.check.proofs.kernel_rules import Clauses
from cpx.check.proofs.parts import Part
from cpx.solving.proofs.row_prices import by_boxes, by_prices

__all__ = ["prove"]

Ints = NDArray[np.int64]

_BITS = 14
"""Of multipliers, as parts of the gain or the cost of a row."""
# Steps at the root and below it, how far they move at first and at last, and the same of how much
# less than the best clauses those may be worth that are chosen in part; as the search has them.
_STEPS, _RATES, _WIDTHS = (300, 60), ((0.5, 0.01), (0.3, 0.02)), ((3e-3, 1e-5), (3e-4, 1e-5))
_LOOK, _ACTIVE_BELOW = 10, 1000
# What is left of the clauses for a line that leaves the others out.
_FEW = 0.3


def prove(
    instance: Mapping[str, Any], goal: Claim, over: Callable[[], bool]
) -> tuple[Claim | None, list[str]]:
    """Return what was proved and the lines: the goal, or the bound that the parts reached.

    Where there are too many clauses to look at them all, or too little time, prices of rows may
    prove a better bound. Refused is raised where a formula that is met is worth more than the
    goal.
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
            search = _Search(Formulas(instance, goal.bound), goal.bound, over)
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


_Known = tuple[Ints, Ints, Multipliers]
"""Rows of positive and of negative weight, and their multipliers."""


class _Search:
    """Depth-first branch and bound, with the lines for the nodes that are done."""

    def __init__(self, formulas: Formulas, goal: int, over: Callable[[], bool]) -> None:
        self.lines, self.reached = ["clauses"], goal
        self._formulas, self._over = formulas, over
        self._beats = (goal + 1) * formulas.scale
        self._whole = Restriction.whole(
            formulas.inside, formulas.outside, formulas.gains, formulas.costs
        )

    def close(self) -> None:
        """Write the lines for all formulas."""
        left: list[tuple[Node, _Known | None]] = [(self._formulas.root(), None)]
        while left:
            node, known = left.pop()
            if node.left > 1 and node.allowed.any():
                parts, known = self._opened(node, known)
                left += [(part, known) for part in reversed(parts)]
                continue
            reached = node.alone()
            if reached is not None and reached >= self._beats:
                raise Refused("a formula is worth more")
            self.lines.append("alone")

    def _opened(self, node: Node, known: _Known | None) -> tuple[tuple[Node, ...], _Known | None]:
        """Write a line or more; return what is left of a node, and the multipliers."""
        if not node.live[0].size:
            if node.value >= self._beats:
                raise Refused("a formula is worth more")
            self.lines.append(f"shares {_BITS}")
            return (), known
        root = known is None
        dual = self._dual(node, known)
        steps = _STEPS[not root]
        rates = np.geomspace(*_RATES[not root], steps)
        widths = np.geomspace(*_WIDTHS[not root], steps)
        for step in range(steps + 1):
            last = step == steps or self._over()
            if last or step % _LOOK == 0:
                done = node.value + dual.look() < self._beats
                few = dual.needed(self._beats - 1 - node.value).mean() < _FEW
                if done or few or last:
                    line, bound, after = self._line(node, dual)
                    if bound < self._beats:
                        self.lines.append(f"shares {line}")
                        return (), known
                    if self._over():
                        self.lines.append(f"open {line}")
                        self.reached = max(self.reached, bound // self._formulas.scale)
                        return (), known
                    dropped = int((node.allowed & ~after.allowed).sum())
                    if dropped and (last or after.allowed.sum() < _FEW * node.allowed.sum()):
                        self.lines.append(f"shares {line}")
                        if not last or not after.allowed.any():
                            return (after,), (dual.part.rows, dual.part.others, dual.lasting)
                        node = after
                    if last:
                        break
            dual.step(float(rates[step]), float(widths[step]))
        return self._split(node, dual), (dual.part.rows, dual.part.others, dual.lasting)

    def _dual(self, node: Node, known: _Known | None) -> Dual:
        live, paid = node.live
        inside, outside = self._formulas.gains.size, self._formulas.costs.size
        part = self._whole.only(
            node.allowed, np.isin(np.arange(inside), live), np.isin(np.arange(outside), paid)
        )
        if known is None:
            start = Multipliers.in_proportion(part.gains, part.costs.size)
            return Dual(part, node.left, start)
        rows, others, start = known
        start = start.only(np.isin(rows, live), np.isin(others, paid))
        return Dual(part, node.left, start, _ACTIVE_BELOW)

    def _line(self, node: Node, dual: Dual) -> tuple[str, int, Node]:
        """Return rounded multipliers as they are written, their bound, and what is left."""
        known = dual.multipliers
        portions = np.round((1 << _BITS) / (1 + np.exp(-known.prices))).astype(np.int64)
        shares = known.shares.T.astype(np.float64)
        shares = np.round(shares / shares.sum(axis=1, keepdims=True) * (1 << _BITS))
        whole = shares.astype(np.int64)
        rest, paid = node.charged(_BITS, portions, whole)
        # As the checker does, only faster: it tries all rows of all clauses.
        values = dual.weighed(rest, np.ascontiguousarray(paid.T))
        bound, values, beyond = node.total(rest, values)
        idle = np.flatnonzero(node.allowed)[values + beyond < self._beats]
        numbers = [_BITS, *portions.tolist(), *whole.reshape(-1).tolist()]
        return " ".join(map(str, numbers)), bound, node.without(idle)

    def _split(self, node: Node, dual: Dual) -> tuple[Node, ...]:
        """Split by the row of negative weight most in doubt, or else by a clause."""
        of, part = self._formulas, dual.part
        hits = np.clip(dual.hits, 0, 1)
        doubt = part.costs * np.minimum(hits, 1 - hits)
        gap = node.value + dual.bound - self._beats
        stake = min(gap, int(dual.values[dual.order[: dual.most]].min()))
        live = np.isin(part.others, node.live[1])
        doubt[~live] = 0
        if doubt.max(initial=0) > 0.2 * stake and doubt.max(initial=0) > 0:
            other = int(part.others[doubt.argmax()])
            self.lines.append(f"row {of.others[other]}")
            return node.by_row(other)
        # The clause of the greatest value that is left.
        best = part.numbers[np.argsort(-dual.values, kind="stable")]
        clause = int(best[node.allowed[best]][0])
        names = of.clauses[clause]
        self.lines.append(" ".join(["clause", *map(str, names[names >= 0].tolist())]))
        return node.by_clause(clause)
