"""What an answer by all kinds is made of: one kind, what is expected, and a relation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cpx.answers.explanation import Explanation
from cpx.answers.result import Status
from cpx.answers.values import plural
from cpx.data.oracle import PrecisionEstimate
from cpx.support.shares import share_text, significant

COUNTED = ("condition", "column")
"""Measures of which there are so many."""


@dataclass(frozen=True)
class OneKind:
    """What one kind answers of the row, or why it has no answer.

    kind: Its name, as ``cpx.explain(kind=...)`` has it, or ``"certificate"``.
    asks: The question in words.
    found: The answer; an :class:`~cpx.answers.explanations.Unanswered` where there is none.
    columns: The columns that it names, with what it says of each.
    measure: What the value is: ``"precision"``, ``"condition"``, ``"column"``, what is expected.
    value, bound: Of the answer, and what no other one can be better than; None where not known.
    seconds: Processor time.
    problem: States what was asked, to save it beside the result and its proof.
    """

    kind: str
    asks: str
    found: Explanation
    columns: Mapping[str, str]
    measure: str = ""
    value: float | None = None
    bound: float | None = None
    seconds: float = 0.0
    problem: Callable[[], Any] | None = field(default=None, compare=False, repr=False)

    @property
    def why(self) -> str:
        """Why there is no answer; empty where there is one."""
        return self.found.why

    @property
    def status(self) -> Status | None:
        """What was proved; None where the kind could not be asked."""
        status: Status | None = self.found.status
        return status

    @property
    def proved(self) -> bool:
        """Whether the answer is proved optimal, or that there is none."""
        return self.status in (Status.OPTIMAL, Status.INFEASIBLE)

    @property
    def told(self) -> str:
        """What the status is in words."""
        if self.status is None:
            return "not asked" if self.why else ""
        if self.status is Status.OPTIMAL:
            return "proved"
        return {Status.INFEASIBLE: "proved: none"}.get(self.status, "not proved")

    def figures(self) -> tuple[str, str]:
        """Return value and bound in words."""
        if self.value is None:
            return "", ""
        if self.measure in COUNTED:
            bound = "" if self.bound is None else str(int(self.bound))
            return plural(int(self.value), self.measure), bound
        bound = "" if self.bound is None else significant(self.bound)
        return f"{self.measure} {significant(self.value)}", bound

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON values, with the result that :mod:`cpx.check` reads."""
        result = self.found.result
        return {
            "asks": self.asks,
            "status": None if self.status is None else str(self.status),
            "why": self.why,
            "measure": self.measure,
            "value": self.value,
            "bound": self.bound,
            "proved": self.found.proved,
            "text": "" if self.why else str(self.found),
            "columns": dict(self.columns),
            "seconds": self.seconds,
            "result": None if result is None else result.to_dict(),
        }


@dataclass(frozen=True)
class Known:
    """What follows from knowing the values of x in some columns.

    of: Whose columns they are: a kind, ``"nothing"`` or ``"all columns"``.
    columns: How many of the columns the model has.
    expected: What the model expects of its class, under the distribution.
    same: The probability that a row with these values gets the class, and None where it was
        estimated; ``estimate`` then has it with its interval.
    """

    of: str
    columns: int
    expected: float
    same: float | None
    estimate: PrecisionEstimate | None = None

    @property
    def share(self) -> float:
        """The share of rows that get the class."""
        if self.same is not None:
            return self.same
        return 0.0 if self.estimate is None else float(self.estimate.value)

    def told(self) -> str:
        """Return that share in words."""
        if self.same is not None:
            return f"{share_text(self.same)}, exact"
        return "" if self.estimate is None else str(self.estimate)


@dataclass(frozen=True)
class Relation:
    """What holds between answers of two kinds or more, computed for this row.

    kinds: Those that it is about.
    text: What was found.
    law: Whether it follows from the definitions; then :exc:`~cpx.errors.CheckFailed` is raised
        where it does not hold. Others are figures of this row.
    """

    kinds: tuple[str, ...]
    text: str
    law: bool
