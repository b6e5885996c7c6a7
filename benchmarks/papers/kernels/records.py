"""Tasks of the experiment with kernel machines, and records of their results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar, Self

from benchmarks.papers.store import key_of
from cpx.errors import InvalidInstance, InvalidOption
from cpx.models.kernel_rule.form import DNF
from cpx.models.kernel_rule.methods.genetic import Operators
from cpx.support.validation import positive_integer, real, valid_seed

__all__ = ["Found", "Protocol", "Run", "Task"]


@dataclass(frozen=True)
class Protocol:
    """How the experiment is made, as in section 5 of the paper.

    Attributes
    ----------
    runs : int
        Splits of each data set.
    noise : float
        Share of the training labels that is turned around, 0 for none.
    time_limit : float or None
        Seconds for the exact search of a rule. The genetic algorithm has its generations.
    genetic : bool
        Also run the genetic algorithm.
    seed : int
    operators : str
        Of the genetic algorithm, where they are not the paper's; see
        :class:`~cpx.models.kernel_rule.methods.genetic.Operators`.
    """

    runs: int = 5
    noise: float = 0.0
    time_limit: float | None = 10.0
    genetic: bool = True
    seed: int = 0
    operators: str = ""

    max_clauses: ClassVar[int] = 10
    max_literals: ClassVar[int] = 5
    test_share: ClassVar[float] = 0.3
    hardness: ClassVar[float] = 1e6
    """C of the machine: with so much, the margin is hard."""

    def __post_init__(self) -> None:
        positive_integer("runs", self.runs)
        valid_seed(self.seed)
        Operators.named(self.operators)
        noise = real(self.noise)
        if noise is None or not 0 <= noise < 0.5:
            raise InvalidOption(f"noise must be a share from 0 to below 0.5, got {self.noise!r}")
        # An integer limit is the same limit.
        limit = None if self.time_limit is None else float(self.time_limit)
        object.__setattr__(self, "noise", noise)
        object.__setattr__(self, "time_limit", limit)


@dataclass(frozen=True)
class Task:
    """One split of one data set.

    Attributes
    ----------
    name : str
    number : int
        Of the split, from 0.
    protocol : Protocol
    """

    name: str
    number: int
    protocol: Protocol

    def setting(self) -> dict[str, Any]:
        """Return everything that decides the answer as plain JSON values."""
        protocol = asdict(self.protocol)
        # Other splits are other tasks.
        del protocol["runs"]
        return {"dataset": self.name, "split": self.number, "protocol": protocol}

    @property
    def key(self) -> str:
        """Hash of the setting: equal for the same task only."""
        return key_of(self.setting())

    @property
    def label(self) -> str:
        """Return the task in words."""
        return f"{self.name}, split {self.number + 1} of {self.protocol.runs}"


@dataclass(frozen=True)
class Found:
    """A rule that a method found, with shares of its weight and what it gets right.

    Attributes
    ----------
    rule : DNF
    weight : Fraction
    share : float
        Its weight, as a share of the positive weight, which no rule exceeds.
    bound : float or None
        The proved bound, as such a share.
    proved : bool
    train, test, fidelity_train, fidelity_test : float
        Accuracy, and agreement with the machine.
    seconds : float
        Processor time, after kernel and machine.
    generations : int or None
    """

    rule: DNF
    weight: Fraction
    share: float
    bound: float | None
    proved: bool
    train: float
    test: float
    fidelity_train: float
    fidelity_test: float
    seconds: float
    generations: int | None = None

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        """Return what its fields in JSON say."""
        values = {field.name: data[field.name] for field in fields(cls)}
        return cls(**{**values, "rule": _rule(data["rule"]), "weight": Fraction(data["weight"])})


@dataclass(frozen=True)
class Run:
    """One split of one data set.

    Attributes
    ----------
    task : Task
    svm_train, svm_test : float
        Accuracy of the machine; on the training labels it was given, and on clean test labels.
    support_vectors : int
    known : Fraction
        Weight of the known rule.
    known_share : float
        As a share of the positive weight.
    known_rule : DNF
    exact : Found
    genetic : Found or None
    """

    task: Task
    svm_train: float
    svm_test: float
    support_vectors: int
    known: Fraction
    known_share: float
    known_rule: DNF
    exact: Found
    genetic: Found | None

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
            When the line is no run.
        """
        try:
            data = json.loads(line)
            task, genetic = data.pop("task"), data.pop("genetic")
            return cls(
                task=Task(**{**task, "protocol": Protocol(**task["protocol"])}),
                known=Fraction(data.pop("known")),
                known_rule=_rule(data.pop("known_rule")),
                exact=Found.read(data.pop("exact")),
                genetic=None if genetic is None else Found.read(genetic),
                **data,
            )
        except (AttributeError, KeyError, TypeError, ValueError, InvalidOption) as error:
            raise InvalidInstance(f"cannot be read: {type(error).__name__}: {error}") from error


def _rule(clauses: list[list[int]]) -> DNF:
    return tuple(tuple(clause) for clause in clauses)
