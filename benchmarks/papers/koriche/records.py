"""Tasks of the experiment of Koriche et al., and records of their results."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from benchmarks.papers import store
from benchmarks.papers.datasets import Dataset
from benchmarks.papers.koriche.methods import Method
from benchmarks.papers.koriche.protocol import Protocol
from cpx.answers.result import Status
from cpx.errors import InvalidInstance

__all__ = ["Record", "Store", "Task"]


@dataclass(frozen=True, eq=False)
class Task:
    """One instance to be explained by one method.

    Attributes
    ----------
    dataset : Dataset
    data : str
        :meth:`~benchmarks.papers.sources.Source.identity` of the table.
    instance : int
        Number of the instance, from 0.
    method : Method
    k, m : int
        Greatest size of the rule, and number of samples.
    protocol : Protocol
    """

    dataset: Dataset
    data: str
    instance: int
    method: Method
    k: int
    m: int
    protocol: Protocol

    def setting(self) -> dict[str, Any]:
        """Return everything that decides the answer as plain JSON values."""
        return {
            "dataset": self.dataset.name,
            "data": self.data,
            "instance": self.instance,
            "k": self.k,
            "m": self.m,
            **self.method.to_dict(),
            "protocol": self.protocol.to_dict(),
        }

    @property
    def key(self) -> str:
        """Hash of the setting: equal for the same task only."""
        return store.key_of(self.setting())

    @property
    def label(self) -> str:
        """Return the task in words."""
        return (
            f"{self.dataset.name} #{self.instance} {self.method.title} k = {self.k} m = {self.m}"
        )


@dataclass(frozen=True)
class Record:
    """What became of a task.

    Attributes
    ----------
    key : str
        :attr:`Task.key`.
    setting : dict
        :meth:`Task.setting`.
    status, termination : str
        Of the solve; ``ERROR`` also when no solve was reached.
    message : str
        What went wrong.
    objective, bound : int, str or None
        An integer, or a fraction as ``"p/q"``.
    gap : float or None
    seconds, solving : float
        Of the whole solve, and of the solver in it.
    agreeing, drawn : int or None
        Fresh samples under the rule with the class of x, and all of them.
    row : int or None
        Position of the instance in its table.
    predicted : str
        Its predicted class.
    d : int or None
        Number of binary features.
    accuracy : float or None
        Of the classifier on the test rows.
    features : list of int or None
        The rule; ``rule`` has it in words.
    precision, coverage : str or None
        On the samples it was found on, as fractions.
    calls : int or None
        Rows that the classifier labelled, where they were counted.
    """

    key: str
    setting: Mapping[str, Any]
    status: str
    termination: str = ""
    message: str = ""
    objective: int | str | None = None
    bound: int | str | None = None
    gap: float | None = None
    seconds: float = 0.0
    solving: float = 0.0
    agreeing: int | None = None
    drawn: int | None = None
    row: int | None = None
    predicted: str = ""
    d: int | None = None
    accuracy: float | None = None
    features: list[int] | None = None
    rule: str = ""
    precision: str | None = None
    coverage: str | None = None
    calls: int | None = None
    warnings: list[str] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        """Whether the task ended in an error: it is tried again."""
        return self.status == Status.ERROR

    @property
    def proved(self) -> bool:
        """Whether the solve proved its answer."""
        return self.status in (Status.OPTIMAL, Status.INFEASIBLE)

    @property
    def error(self) -> float | None:
        """Precision error on fresh samples; None without a rule."""
        if self.drawn is None or self.agreeing is None:
            return None
        return 1 - self.agreeing / self.drawn

    @classmethod
    def from_line(cls, line: bytes) -> Record:
        """Read a line of a store.

        Raises
        ------
        InvalidInstance
            When the line is no record.
        """
        try:
            data = json.loads(line)
            known = {f.name for f in fields(cls)}
            if not isinstance(data, dict) or set(data) - known:
                raise ValueError("no record")
            return cls(**data)
        except (TypeError, ValueError) as error:
            raise InvalidInstance(f"cannot be read: {error}") from error


class Store(store.Store[Record]):
    """The records of a directory.

    Parameters
    ----------
    directory : path
        Made if need be.

    Raises
    ------
    OutputError, InvalidInstance
        As :class:`benchmarks.papers.store.Store`.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        super().__init__(directory, Record.from_line)

    def get(self, task: Task) -> Record | None:
        """Return what became of a task, None when it was not made."""
        return self.records.get(task.key)

    def finished(self, task: Task) -> bool:
        """Whether a task needs not be made again."""
        record = self.get(task)
        return record is not None and not record.failed
