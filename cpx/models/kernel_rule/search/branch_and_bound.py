"""Branch and bound over sets of clauses, best-first.

A node has some clauses and leaves others to choose from; rows that the former are true of do not
count any more. Its bound (``dual``) is improved until it is no better than the best formula
known, clauses that no better one needs are dropped on the way, and where it settles, it is
split: by a negative row, which is paid for or which no clause is true of, while there is one
that the linear program pays for in part, and else by a clause, which is chosen or left out. Each
choice makes clauses dominated (``dominance``). The node with the greatest bound is next, so that
the bound of the whole search gets better all the time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cpx.backends.search.best_first import BestFirst
from cpx.models.kernel_rule.search.candidates import Candidates
from cpx.models.kernel_rule.search.dominance import dominated, parents_of
from cpx.models.kernel_rule.search.dual import Dual
from cpx.models.kernel_rule.search.local_search import exchange
from cpx.models.kernel_rule.search.record import Record
from cpx.models.kernel_rule.search.restriction import (
    Multipliers,
    NamedMultipliers,
    Restriction,
)
from cpx.models.kernel_rule.search.rows import Rows
from cpx.models.kernel_rule.search.terms import Terms

Ints = NDArray[np.int64]

_BITS = 52
"""Weights are multiplied such that their sum has so many bits: multipliers are integers."""

_STEPS, _BELOW = 300, 60
"""Steps at the root, and below it."""

_ACTIVE, _ACTIVE_BELOW = 2000, 1000
"""Clauses that steps look at."""

_RATES, _WIDTHS = (0.5, 0.01), (3e-3, 1e-5)
"""With what the steps at the root begin and end."""

_RATES_BELOW, _WIDTHS_BELOW = (0.3, 0.02), (3e-4, 1e-5)
"""The same for the steps below it."""

_WIDE = 600
"""Clauses that better formulas are looked for among."""

_MANY = 0.8
"""Share of the clauses that has to be dropped for it to be worth while."""

_MOST_RECORDED = 2**26
"""Shares that are recorded: a quarter of a gigabyte."""

_LOOK = 10
"""Steps between two looks at what has come of them."""

_MOST_OPEN = 500
"""Nodes kept for their bounds; with more, the search goes depth first for a while."""

_DOUBT = 0.2
"""Cost in doubt for which a node is split by a negative row, as a share of what is at stake: the
gap, or what the last of the best clauses is worth, where that is less."""


@dataclass(frozen=True, eq=False)
class _Node:
    """Clauses chosen, by number, what they are worth, and the bound of what is left.

    That is: the ``numbers`` of clauses, and the ``rows`` and ``others`` that count. ``value``
    pays for some negative rows, too, that are to be paid for. The ``multipliers`` are of the
    rows of the node above.
    """

    clauses: tuple[int, ...]
    value: int
    bound: int
    numbers: Ints
    rows: Ints
    others: Ints
    multipliers: NamedMultipliers
    record: Record | None = None


class BranchAndBound:
    """Branch and bound over sets of clauses.

    terms: Those of the side constraints.
    candidates: All clauses that a formula better than the best known one may need.
    value: What the best known formula is worth; where there is none, less than any.
    found: Told the candidates, by number, of every better formula.
    proved: Told every better bound.
    stop: Asked now and then.
    record: Of the first node, to be filled in.
    value: What the best formula is worth.
    """

    def __init__(
        self,
        rows: Rows,
        terms: Terms,
        candidates: Candidates,
        max_clauses: int,
        value: int,
        *,
        found: Callable[[list[int]], None],
        proved: Callable[[int], None],
        stop: Callable[[], bool],
        record: Record | None = None,
    ) -> None:
        # Of more clauses than positive rows and wanted terms, the others are in no need.
        self._max_clauses = min(max_clauses, rows.gains.size + int(terms.wanted.sum()))
        self._found, self._proved, self._stop = found, proved, stop
        self._record, self._recorded = record, 0
        self.value, self.nodes = value, 0
        total = int(rows.gains.sum() + rows.costs.sum())
        self._scale = 1 << max(0, _BITS - total.bit_length())
        self._candidates = candidates
        self._whole = Restriction.whole(
            candidates.inside,
            candidates.outside,
            rows.gains * self._scale,
            rows.costs * self._scale,
        )
        self._parents = parents_of(candidates, rows, terms)
        self._terms, self._holding = terms, candidates.terms

    def search(self) -> bool:
        """Search; return whether it was finished, which proves ``value``."""
        whole = self._whole
        if not len(whole):
            return True
        start = Multipliers.in_proportion(whole.gains, whole.costs.size)
        most = int(whole.gains.sum())
        named = (whole.rows, whole.others, start)
        root = _Node((), 0, most, whole.numbers, whole.rows, whole.others, named, self._record)
        tree = BestFirst(
            self._expand,
            lambda node: (-node.bound,),
            lambda node: not self._better(node.bound),
            self._prove,
            self._stop,
            _MOST_OPEN,
        )
        return tree.search(root)

    def _better(self, bound: int) -> bool:
        """Whether a formula within the bound may be better than the best known one."""
        return bound // self._scale > self.value

    def _prove(self, lowest: int) -> None:
        self._proved(max(-lowest // self._scale, self.value))

    def _held(self, clauses: Sequence[int]) -> NDArray[np.bool_]:
        """Return the terms that clauses hold together."""
        return np.asarray(self._holding[list(clauses)].any(axis=0))

    def _report(self, clauses: list[int]) -> None:
        whole = self._whole
        inside, outside = (table.any(axis=0) for table in whole.tables(np.array(clauses)))
        value = int(whole.gains[inside].sum() - whole.costs[outside].sum()) // self._scale
        if value > self.value and self._terms.allow(self._held(clauses)):
            self.value = value
            self._found(clauses)

    def _expand(self, node: _Node, note: Callable[[int], None]) -> list[_Node]:
        """Return what is left to search below a node."""
        self.nodes += 1
        left = self._max_clauses - len(node.clauses)
        part, multipliers = self._opened(node)
        if not len(part) or not left:
            return []
        self._report([*node.clauses, int(part.numbers[part.nets.argmax()])])
        if left == 1:
            return []
        if not part.gains.size:
            return self._for_constraints(node, part)
        active = _ACTIVE if self.nodes == 1 else _ACTIVE_BELOW
        dual = self._improved(node, Dual(part, left, multipliers, active), note)
        return [] if dual is None else self._split(node, dual)

    def _opened(self, node: _Node) -> tuple[Restriction, Multipliers]:
        """Return what is left at a node."""
        whole = self._whole
        part = whole.only(
            np.isin(whole.numbers, node.numbers),
            np.isin(whole.rows, node.rows),
            np.isin(whole.others, node.others),
        )
        terms, held = self._holding[part.numbers], self._held(node.clauses)
        wanted, avoided = (
            terms & ~held & kind for kind in (self._terms.wanted, self._terms.avoided)
        )
        useful = (part.cover.counts[0] > 0) | wanted.any(axis=1)
        useful &= ~dominated(part, self._parents, wanted, avoided)
        left = self._max_clauses - len(node.clauses)
        useful[useful] = self._terms.possible(terms[useful], held, left)
        part, _, _ = part.without_idle_rows(useful)
        rows, others, multipliers = node.multipliers
        return part, multipliers.only(np.isin(rows, part.rows), np.isin(others, part.others))

    def _for_constraints(self, node: _Node, part: Restriction) -> list[_Node]:
        """Choose the clause that costs least, or leave it out, where nothing is left to gain."""
        nets = part.nets
        at = int(nets.argmax())
        value = node.value + int(nets[at])
        number, numbers = int(part.numbers[at]), np.delete(part.numbers, at)
        others = part.others[~part.tables(np.array([at]))[1][0]]
        chosen, rows, kept = (*node.clauses, number), part.rows, node.multipliers
        return [
            _Node(chosen, value, value, numbers, rows, others, kept),
            _Node(node.clauses, node.value, value, numbers, rows, part.others, kept),
        ]

    def _improved(self, node: _Node, dual: Dual, note: Callable[[int], None]) -> Dual | None:
        """Take steps until the node is done with, which is None, or they lead no further."""
        root = self.nodes == 1
        steps = _STEPS if root else _BELOW
        rates = np.geomspace(*(_RATES if root else _RATES_BELOW), steps)
        widths = np.geomspace(*(_WIDTHS if root else _WIDTHS_BELOW), steps)
        for at in range(steps):
            if at % _LOOK == 0:
                settled = self._looked(node, dual, root, note)
                if settled is not dual:
                    self._note(node, dual)
                if settled is None or self._stop():
                    return settled
                dual = settled
            dual.step(float(rates[at]), float(widths[at]))
        settled = self._looked(node, dual, True, note)
        if settled is not dual:
            self._note(node, dual)
        return settled

    def _looked(
        self, node: _Node, dual: Dual, trying: bool, note: Callable[[int], None]
    ) -> Dual | None:
        """Bound, and drop what no better formula needs; None where nothing is left."""
        bound = node.value + dual.look()
        note(-bound)
        if trying:
            self._try(node, dual)
        if not self._better(bound):
            return None
        needed = dual.needed((self.value + 1) * self._scale - 1 - node.value)
        if not needed.any():
            return None
        if needed.mean() > _MANY:
            return dual
        kept = dual.only(needed)
        kept.look()
        return kept

    def _note(self, node: _Node, dual: Dual) -> Record | None:
        """Record multipliers that no step changes any more, while there is room for them."""
        if node.record is None:
            return None
        part = dual.part
        self._recorded += part.gains.size * part.costs.size
        if self._recorded > _MOST_RECORDED:
            return None
        node.record.multipliers.append((part.rows, part.others, dual.multipliers))
        return node.record

    def _try(self, node: _Node, dual: Dual) -> None:
        """Look for a better formula among the clauses of the greatest values."""
        chosen, _ = exchange(dual.part, dual.order[:_WIDE], dual.most)
        if chosen.size:  # a formula has a clause
            self._report([*node.clauses, *dual.part.numbers[chosen].tolist()])

    def _split(self, node: _Node, dual: Dual) -> list[_Node]:
        """Split by the negative row most in doubt, or else by the clause of the greatest value."""
        hits = np.clip(dual.hits, 0, 1)
        doubt = dual.part.costs * np.minimum(hits, 1 - hits)
        if not self._better(node.value + dual.bound):
            self._note(node, dual)
            return []
        gap = node.value + dual.bound - self.value * self._scale
        stake = min(gap, int(dual.values[dual.order[: dual.most]].min()))
        if doubt.max(initial=0) > _DOUBT * stake:
            return self._by_row(node, dual, int(doubt.argmax()))
        return self._by_clause(node, dual)

    def _by_row(self, node: _Node, dual: Dual, at: int) -> list[_Node]:
        """Pay for a negative row, or have no clause that is true of it."""
        part = dual.part
        outside = part.cover.counts[1]
        of = np.repeat(np.arange(len(part)), outside)[part.cover.outside == at]
        bound = min(node.bound, node.value + dual.bound)
        without = min(bound, node.value + dual.bound_without(of))
        others, spared = np.delete(part.others, at), np.delete(part.numbers, of)
        kept = (part.rows, part.others, dual.lasting)
        value, rows = node.value - int(part.costs[at]), part.rows
        noted = self._noted(node, dual, row=int(part.others[at]))
        return [
            _Node(node.clauses, value, bound, part.numbers, rows, others, kept, noted[0]),
            _Node(node.clauses, node.value, without, spared, rows, others, kept, noted[1]),
        ]

    def _by_clause(self, node: _Node, dual: Dual) -> list[_Node]:
        """Choose the clause of the greatest value, or leave it out."""
        part, at = dual.part, int(dual.order[0])
        number = int(part.numbers[at])
        gained, paid = (table[0] for table in part.tables(np.array([at])))
        value = node.value + int(part.gains[gained].sum() - part.costs[paid].sum())
        chosen = (*node.clauses, number)
        self._report(list(chosen))
        bound = min(node.bound, node.value + dual.bound)
        without = min(bound, node.value + dual.bound_without(np.array([at])))
        numbers = np.delete(part.numbers, at)
        kept = (part.rows, part.others, dual.lasting)
        rows, others = part.rows[~gained], part.others[~paid]
        noted = self._noted(node, dual, clause=self._candidates.clause(number))
        return [
            _Node(chosen, value, bound, numbers, rows, others, kept, noted[0]),
            _Node(
                node.clauses, node.value, without, numbers, part.rows, part.others, kept, noted[1]
            ),
        ]

    def _noted(
        self, node: _Node, dual: Dual, row: int | None = None, clause: tuple[int, ...] = ()
    ) -> Sequence[Record | None]:
        """Record a split; return the records of its parts."""
        record = self._note(node, dual)
        return (None, None) if record is None else record.split(row, clause)
