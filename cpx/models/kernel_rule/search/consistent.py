"""Formulas (DNF) consistent with labelled rows: true of all of one class, of none of the other.

Such a formula covers the first rows by clauses that no row of the second satisfies. A clause
that is true of a row has features of that row only, so that the clauses worth trying for a row
are few: the minimal sets that meet, for each row of the other kind, the features which this row
has and that one has not. Rows are integers whose bits are features, sets of rows integers
whose bits are rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.bool_]

_STEPS = 200
"""Steps of the enumeration of clauses that count as a node."""


class _Enough(Exception):
    """The search was stopped, or has taken as many steps as it may."""


class Consistent:
    """The search for a formula that is true of some rows and of none of some others.

    inside, outside (p, d) and (q, d): The rows it is to be true of, those that are difficult
        first, and the others.
    allowed: Whether clauses, as integers, are a formula that may be found.
    """

    def __init__(
        self,
        inside: Bits,
        outside: Bits,
        max_clauses: int,
        max_literals: int,
        allowed: Callable[[list[int]], bool],
    ) -> None:
        self.max_clauses, self.max_literals = max_clauses, max_literals
        self._allowed = allowed
        self._rows, self._others = masks(inside), masks(outside)
        self._having = masks(inside.T)
        self._known: dict[int, list[tuple[int, int]]] = {}
        self.nodes = self._steps = 0
        self._tick: Callable[[], None] = lambda: None

    def find(self, most: int, stop: Callable[[], bool]) -> list[int] | None:
        """Search for a formula, depth first.

        most: Nodes after which the search gives up.
        stop: Asked at every node.
        Returns: The clauses as integers; None where none was found.
        """

        def tick() -> None:
            self._steps += 1
            if self._steps % _STEPS == 0 and (stop() or self._steps > most * _STEPS):
                raise _Enough

        self._tick = tick
        try:
            return self._depth_first(most, stop)
        except _Enough:
            return None

    def _depth_first(self, most: int, stop: Callable[[], bool]) -> list[int] | None:
        # Rows still to be covered, and the clauses so far, in an explicit stack of choices.
        everything = (1 << len(self._rows)) - 1
        if not everything:
            return None
        chosen: list[int] = []
        stack = [self._choices(everything, self.max_clauses)]
        while stack:
            self.nodes += 1
            if self.nodes > most or stop():
                return None
            choice = next(stack[-1], None)
            if choice is None:
                stack.pop()
                if chosen:
                    chosen.pop()
                continue
            clause, left = choice
            if not left and not self._allowed([*chosen, clause]):
                continue
            chosen.append(clause)
            if not left:
                return chosen
            stack.append(self._choices(left, self.max_clauses - len(chosen)))
        return None

    def _choices(self, left: int, clauses: int) -> Iterator[tuple[int, int]]:
        """Yield clauses for the first row that is left, the widest first, and what they leave."""
        if not clauses:
            return
        row = (left & -left).bit_length() - 1
        found: list[tuple[int, int]] = []
        for clause, covered in self._clauses(row):
            found.append((clause, covered & left))
        found.sort(key=lambda pair: -pair[1].bit_count())
        tried: list[int] = []
        for clause, covered in found:
            if clauses == 1 and covered != left:
                return
            if any(covered & ~other == 0 for other in tried):
                continue
            tried.append(covered)
            yield clause, left & ~covered

    def _clauses(self, i: int) -> list[tuple[int, int]]:
        """Return the minimal clauses that are true of row i and no other kind, and their rows."""
        if i not in self._known:
            row = self._rows[i]
            sets = _minimal({row & ~other for other in self._others})
            clauses = list(_transversals(sets, self.max_literals, self._tick))
            if not sets:  # nothing is to be excluded, and a clause has a feature
                clauses = [1 << j for j in elements(row)]
            self._known[i] = [(clause, self._covered(clause)) for clause in clauses]
        return self._known[i]

    def _covered(self, clause: int) -> int:
        covered = -1
        for j in elements(clause):
            covered &= self._having[j]
        return covered


def masks(rows: Bits) -> list[int]:
    """Return each row of bits as an integer, whose bit j is column j.

    >>> masks(np.array([[True, False, True], [False, False, False]]))
    [5, 0]
    """
    packed = np.packbits(rows, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def elements(mask: int) -> list[int]:
    """Return the places of the bits of an integer that are set.

    >>> elements(5)
    [0, 2]
    """
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


def _minimal(sets: set[int]) -> list[int]:
    """Return the sets that contain no other one, the smallest first."""
    kept: list[int] = []
    for one in sorted(sets, key=lambda s: (s.bit_count(), s)):
        if not any(other & ~one == 0 for other in kept):
            kept.append(one)
    return kept


def _transversals(sets: list[int], most: int, tick: Callable[[], None]) -> Iterator[int]:
    """Yield every minimal set of at most ``most`` elements that meets all sets.

    Others that meet them may be among them. An element that was tried for a set is banned where
    the next ones are tried, so that no set comes twice.
    """
    if not sets:
        return
    stack = [(0, 0, sets)]
    while stack:
        tick()
        chosen, banned, left = stack.pop()
        if not left:
            yield chosen
            continue
        if chosen.bit_count() == most:
            continue
        free = left[0] & ~banned
        while free:
            low = free & -free
            free ^= low
            rest = [s for s in left if not s & low]
            if most - chosen.bit_count() > 1 or not rest:
                stack.append((chosen | low, banned, rest))
            banned |= low
