"""What is measured of one row, as a line of JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Self

from benchmarks.papers.store import key_of
from cpx.errors import InvalidInstance

__all__ = ["Found", "Level", "Row", "Task"]

_FORM = 1
"""Of the records; rows of another form are made again."""


@dataclass(frozen=True)
class Task:
    """One row of one table.

    Attributes
    ----------
    table : str
    row : int
        Of the test part.
    seed : int
    distribution : str
    samples, width : int
        Rows drawn for a same-decision probability, and the width of the beam.
    anchors : bool
    """

    table: str
    row: int
    seed: int
    distribution: str
    samples: int
    width: int
    anchors: bool

    @property
    def key(self) -> str:
        """Hash of all that decides the answer."""
        return key_of({**asdict(self), "form": _FORM})


@dataclass(frozen=True)
class Found:
    """An explanation: its attributes, expected log-odds, Pr, and the same-decision probability."""

    features: tuple[int, ...]
    expected: float
    log_probability: float
    same: float
    seconds: float


@dataclass(frozen=True)
class Level:
    """The best set of one size that the beam met.

    ``log_odds_bound`` and ``probability_bound`` are the two bounds of Figure 2, ``same`` what is
    sampled, ``seconds`` the processor time up to this size. Under the factorised distribution,
    ``beam`` and ``best`` are the expected log-odds of the beam and the proved optimum, where it
    was sought.
    """

    size: int
    expected: float
    log_probability: float
    same: float
    log_odds_bound: float
    probability_bound: float
    seconds: float
    beam: float | None = None
    best: float | None = None
    proved: bool | None = None
    proof_seconds: float | None = None


@dataclass(frozen=True)
class Row:
    """All that was measured of one row."""

    task: Task
    positive: bool
    right: bool
    log_odds: float
    found: dict[str, Found]
    levels: tuple[Level, ...]
    other: dict[str, float]

    @property
    def key(self) -> str:
        """Of the task."""
        return self.task.key

    @classmethod
    def from_line(cls, line: bytes) -> Self:
        """Read a line of a store.

        Raises
        ------
        InvalidInstance
            When the line is no row.
        """
        try:
            data: dict[str, Any] = json.loads(line)
            found = {
                name: Found(**{**one, "features": tuple(one["features"])})
                for name, one in data.pop("found").items()
            }
            levels = tuple(Level(**level) for level in data.pop("levels"))
            return cls(task=Task(**data.pop("task")), found=found, levels=levels, **data)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InvalidInstance(f"cannot be read: {type(error).__name__}: {error}") from error
