"""The branch and bound tree of a search for kernel rules, recorded for a proof of its bound."""

from __future__ import annotations

from dataclasses import dataclass, field

from cpx.models.kernel_rule.search.restriction import NamedMultipliers
from cpx.models.kernel_rule.search.rows import Rows


@dataclass(eq=False)
class Record:
    """A node of the search.

    multipliers: Those by which clauses were left out, one after the other, and the last ones.
    row: The negative row by which the node was split, of the engine's numbers.
    clause: The features of the clause by which it was, where it was not by a row.
    parts: That which pays for the row, or has the clause, and that without.
    """

    multipliers: list[NamedMultipliers] = field(default_factory=list)
    row: int | None = None
    clause: tuple[int, ...] = ()
    parts: list[Record] = field(default_factory=list)

    def split(self, row: int | None = None, clause: tuple[int, ...] = ()) -> list[Record]:
        """Note a split, and return the records of the parts."""
        self.row, self.clause, self.parts = row, clause, [Record(), Record()]
        return self.parts


@dataclass(frozen=True, eq=False)
class RecordedSearch:
    """The rows of a search, which its multipliers are about, and its first node."""

    rows: Rows
    root: Record
