"""The answer: each kind with value, bound and proof, what is expected, and how kinds relate."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cpx.answers.explanation import AboutRow, Explanation
from cpx.answers.html import Shown
from cpx.answers.pages import require_form
from cpx.answers.result import Status
from cpx.answers.text import Block, Fact, Facts, Paragraph, Table, Tone, as_text
from cpx.answers.values import class_words, plural
from cpx.data.oracle import PrecisionEstimate
from cpx.errors import printable
from cpx.support.files import write_atomic
from cpx.support.shares import share_text, significant

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["AllKinds", "Known", "OneKind", "Relation"]


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
    """

    kind: str
    asks: str
    found: Explanation
    columns: Mapping[str, str]
    measure: str = ""
    value: float | None = None
    bound: float | None = None
    seconds: float = 0.0

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

    @property
    def tone(self) -> Tone:
        """Whether that is a proof."""
        return "good" if self.proved else "open"

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


@dataclass(frozen=True)
class AllKinds(Shown):
    """All kinds of explanations of a row.

    Attributes
    ----------
    label : str
        What the class of the row is called.
    row : AboutRow
        How sure the model is of it.
    kinds : tuple of OneKind
        ``rule``, ``certificate``, ``expectation``, ``reason`` and ``contrast``, also by
        ``found["rule"]``.
    known : tuple of Known
        What the model expects once the values in the columns of a kind are known.
    measure : str
        What is expected: a probability, a score, a share of votes.
    relations : tuple of Relation
    """

    label: str
    row: AboutRow
    kinds: tuple[OneKind, ...]
    known: tuple[Known, ...]
    measure: str
    relations: tuple[Relation, ...]

    def __getitem__(self, kind: str) -> OneKind:
        for one in self.kinds:
            if one.kind == kind:
                return one
        raise KeyError(kind)

    @property
    def answered(self) -> tuple[OneKind, ...]:
        """The kinds that have an answer."""
        return tuple(one for one in self.kinds if not one.why)

    @property
    def status(self) -> Status:
        """OPTIMAL where all kinds are proved, FEASIBLE where some are answered, else UNKNOWN."""
        if all(one.proved for one in self.kinds):
            return Status.OPTIMAL
        return Status.FEASIBLE if self.answered else Status.UNKNOWN

    @property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """The columns that some kind names, each with these kinds; those of most kinds first."""
        named: dict[str, list[str]] = {}
        for one in self.kinds:
            for column in one.columns:
                named.setdefault(column, []).append(one.kind)
        order = sorted(named, key=lambda column: -len(named[column]))
        return {column: tuple(named[column]) for column in order}

    def headline(self) -> str:
        """Return class and probability in a line."""
        told = str(self.row)
        return (class_words(self.label) or "not explained") + f"; {told}" * bool(told)

    def counts(self) -> str:
        """Return how many kinds are answered and proved."""
        proved = sum(one.proved for one in self.kinds)
        told = f"{len(self.answered)} of {plural(len(self.kinds), 'kind')} answered"
        return f"{told}, {proved} proved"

    def __str__(self) -> str:
        return "\n".join(f"{one.kind}: {printable(one.why or one.found)}" for one in self.kinds)

    def summary(self) -> str:
        """Return the answers, what is expected, and the relations as lines of text."""
        return as_text(self.blocks(), spaced=True)

    def blocks(self) -> list[Block]:
        """Return what is printed and shown."""
        head = "kind", "value", "bound", "", "answer"
        rows = [
            (one.kind, *one.figures(), one.told, printable(one.why or one.found))
            for one in self.kinds
        ]
        blocks: list[Block] = [
            Paragraph(self.headline(), "strong"),
            Table(head, tuple(rows), left=(0, 1, 3, 4)),
        ]
        if self.known:
            lines = [
                (one.of, str(one.columns), significant(one.expected), one.told())
                for one in self.known
            ]
            names = "values known", "columns", f"expected {self.measure}", "same class"
            blocks.append(Table(names, tuple(lines), left=(0, 3)))
        told = [Fact("holds" if one.law else "here", one.text) for one in self.relations]
        return [*blocks, Facts.of(told)] if told else blocks

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain JSON values."""
        return {
            "class": self.label,
            "row": str(self.row),
            "status": str(self.status),
            "kinds": {one.kind: one.to_dict() for one in self.kinds},
            "measure": self.measure,
            "known": [
                {
                    "of": one.of,
                    "columns": one.columns,
                    "expected": one.expected,
                    "same": one.share,
                    "exact": one.same is not None,
                }
                for one in self.known
            ],
            "relations": [
                {"kinds": list(one.kinds), "text": one.text, "law": one.law}
                for one in self.relations
            ],
        }

    def to_page(self, title: str = "") -> str:
        """Return one page of HTML that needs no network.

        Parameters
        ----------
        title : str
            Its heading.

        Raises
        ------
        EngineMissing
            When jinja2 is not installed; with the pip line.
        """
        from cpx.models.all_kinds.html_page import html_page

        return html_page(self, title)

    def plot(self, title: str = "") -> Figure:
        """Draw which kind names which column, and what is expected once these are known.

        Parameters
        ----------
        title : str
            Its heading; the class by default.

        Returns
        -------
        matplotlib Figure
            ``savefig("figure.pdf")`` or ``.svg`` writes it for a paper.

        Raises
        ------
        InvalidOption
            When no kind has an answer.
        EngineMissing
            When matplotlib is not installed; with the pip line.
        """
        from cpx.models.all_kinds.figure import figure

        return figure(self, title)

    def save(self, path: str | Path, title: str = "") -> None:
        """Write the page (``.html``), the figure (``.svg``, ``.pdf``, ``.png``) or ``.json``.

        Raises
        ------
        InvalidOption
            When the path ends with something else.
        EngineMissing
            When jinja2 or matplotlib is not installed; with the pip line.
        """
        path = Path(path)
        require_form(path)
        if path.suffix == ".html":
            data = self.to_page(title).encode()
        elif path.suffix == ".json":
            data = json.dumps(self.to_dict(), indent=1).encode() + b"\n"
        else:
            buffer = io.BytesIO()
            self.plot(title).savefig(buffer, format=path.suffix[1:], dpi=200)
            data = buffer.getvalue()
        write_atomic(path, data)
