"""What branch and cut for a reason leaves behind for a proof of its bound."""

from __future__ import annotations

from dataclasses import dataclass, field

from cpx.models.sufficient_reason.search.cuts import Inequality

__all__ = ["Record", "RecordedCuts"]


@dataclass(eq=False)
class Record:
    """A node of the search.

    multipliers: Inequalities, by their number, and what each was worth in the end.
    missed: The inequality that no set of the node meets, if there is one.
    place: The place by which the node was split; -1 where it was not.
    parts: That which has the place, and that without.
    """

    multipliers: list[tuple[int, int]] = field(default_factory=list)
    missed: int | None = None
    place: int = -1
    parts: list[Record] = field(default_factory=list)

    def split(self, place: int) -> list[Record]:
        """Note a split, and return the records of the parts."""
        self.place, self.parts = place, [Record(), Record()]
        return self.parts


@dataclass(eq=False)
class RecordedCuts:
    """What is recorded of a search.

    inequalities: In the order in which they were asked for.
    room: Numbers for which there is still room: none are recorded where it is not above 0.
    """

    inequalities: list[Inequality] = field(default_factory=list)
    root: Record = field(default_factory=Record)
    room: int = 2**25

    def add(self, inequality: Inequality) -> None:
        """Record an inequality."""
        if self.room > 0:
            entries = inequality.of_entries
            self.room -= 2 * inequality.weights.size + (0 if entries is None else entries.size)
            self.inequalities.append(inequality)

    def bounded(
        self, node: Record, multipliers: list[tuple[int, int]], missed: int | None
    ) -> None:
        """Record by what a node is bounded."""
        if self.room > 0:
            node.multipliers = [pair for pair in multipliers if pair[1]]
            self.room -= 2 * len(node.multipliers)
            node.missed = missed
