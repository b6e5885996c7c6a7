"""Summaries of records: means over the instances of a data set, by method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.papers.koriche.records import Record, Store, Task

__all__ = ["Cell", "cell"]


@dataclass(frozen=True)
class Cell:
    """The tasks of one method on one data set, or at one point of a curve.

    Attributes
    ----------
    wanted : int
        Tasks that belong here.
    records : tuple of Record
        Those that were made, failures included.
    """

    wanted: int
    records: tuple[Record, ...]

    @property
    def answers(self) -> tuple[Record, ...]:
        """The records of tasks that did not fail."""
        return tuple(record for record in self.records if not record.failed)

    @property
    def failed(self) -> int:
        """How many tasks failed."""
        return len(self.records) - len(self.answers)

    @property
    def missing(self) -> int:
        """How many tasks were not made yet."""
        return self.wanted - len(self.records)

    @property
    def ruleless(self) -> int:
        """How many tasks ended without a rule."""
        return sum(record.error is None for record in self.answers)

    @property
    def errors(self) -> list[float]:
        """The precision errors of the rules that were found."""
        return [record.error for record in self.answers if record.error is not None]

    @property
    def error(self) -> float | None:
        """Mean precision error."""
        return _mean(self.errors)

    @property
    def deviation(self) -> float | None:
        """Standard deviation of the precision errors, with the number of them below."""
        mean = self.error
        if mean is None:
            return None
        return math.sqrt(sum((error - mean) ** 2 for error in self.errors) / len(self.errors))

    @property
    def seconds(self) -> float | None:
        """Mean time of a whole solve."""
        return _mean([record.seconds for record in self.answers])

    @property
    def proved(self) -> float | None:
        """Share of the tasks whose answer was proved."""
        return _mean([float(record.proved) for record in self.answers])

    @property
    def gap(self) -> float | None:
        """Mean gap of the answers that were not proved; None where there are none."""
        open_ones = [record for record in self.answers if not record.proved]
        return _mean([record.gap for record in open_ones if record.gap is not None])

    @property
    def size(self) -> float | None:
        """Mean number of conditions."""
        return _mean([float(len(r.features)) for r in self.answers if r.features is not None])


def cell(tasks: Sequence[Task], store: Store) -> Cell:
    """Collect the records of some tasks."""
    records = (store.get(task) for task in tasks)
    return Cell(len(tasks), tuple(record for record in records if record is not None))


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
