"""The answer: each kind with value, bound and proof, what is expected, and how kinds relate."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cpx.answers.explanation import AboutRow
from cpx.answers.html import Shown
from cpx.answers.pages import require_form
from cpx.answers.result import Status
from cpx.answers.text import Block, Fact, Facts, Paragraph, Table, as_text
from cpx.answers.values import class_words, plural
from cpx.errors import printable
from cpx.models.all_kinds.parts import Known, OneKind, Relation
from cpx.support.files import write_atomic
from cpx.support.shares import significant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

    from cpx.answers.explanations_page import Beside

__all__ = ["AllKinds"]


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

    def to_page(self, title: str = "", files: Mapping[str, Beside] | None = None) -> str:
        """Return one page of HTML that needs no network.

        Parameters
        ----------
        title : str
            Its heading.
        files : mapping of str to Beside, optional
            What is linked beside a kind.

        Raises
        ------
        EngineMissing
            When jinja2 is not installed; with the pip line.
        """
        from cpx.models.all_kinds.html_page import html_page

        return html_page(self, title, files)

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
            import matplotlib.pyplot as plt

            from cpx.compare.plots import written

            drawn = self.plot(title)
            data = written(drawn, path.suffix[1:], svg_fonttype="none")
            plt.close(drawn)
        write_atomic(path, data)
