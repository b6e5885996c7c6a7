"""The statement of one instance as mathematics and plain text."""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import TYPE_CHECKING

from cpx.answers.text import one_line
from cpx.export.document import Document, Section
from cpx.modelling.base import told_facts
from cpx.modelling.encodings import find_encoding

if TYPE_CHECKING:
    from cpx.modelling.base import Problem
    from cpx.modelling.statement import Encoding, Statement

_WIDTH = 96


def in_words(problem: Problem, statement: Statement, encoding: str) -> Document:
    """Return what is asked, the data, the objective spelled out, and the encoding."""
    words = _encoding(find_encoding(problem, encoding), statement)
    return Document([*_asked(problem), Section.of(words)])


def unstated_in_words(problem: Problem) -> Document:
    """Return what is asked, the data, and why there is no statement."""
    encoding = find_encoding(problem)
    would_be = f"It would be that of the encoding {encoding.name}. {encoding.summary}"
    why = f"Not shown: {problem._unstated}."
    filled = [line for text in (would_be, why) for line in textwrap.wrap(text, _WIDTH)]
    return Document([*_asked(problem), Section.of(["", "Statement", "---------", *filled])])


def _asked(problem: Problem) -> list[Section]:
    notes = [f"  note         {one_line(note)}" for note in problem._notes()]
    sections = [Section.of(_title(problem)), Section.of(["", *_doc(type(problem)), ""])]
    told = [f"  {name:<12} {one_line(text)}" for name, text in told_facts(problem).items()]
    sections.append(Section.of(["Instance", *told, *notes]))
    for listed in problem._listings():
        sections.append(Section.of(["", listed.title] if listed.title else [""]))
        sections.append(Section(listed.lines, listed.count, listed.noun))
    return sections


def _title(problem: Problem) -> list[str]:
    name = one_line(str(getattr(problem, "name", "")))
    title = f"{problem.kind}{f' {name!r}' if name else ''}"
    return [title, "=" * len(title)]


def _doc(described: object) -> list[str]:
    """Return a docstring up to its first section, without the marks of Sphinx."""
    text = inspect.getdoc(described) or ""
    text = re.split(r"\n\n\w[\w ]*\n-{3,}\n", text)[0]
    text = re.sub(r"\s*\[\d+\]_", "", text)
    text = re.sub(r":\w+:`~?[\w.]*?(\w+)`", r"\1", text)
    text = text.replace("``", "").replace("\\|", "|").replace("::\n", ":\n")
    lines: list[str] = []
    for paragraph in text.rstrip().split("\n\n"):
        # Formulas are indented; running text is filled again after the replacements.
        prose = not any(line.startswith(" ") for line in paragraph.splitlines())
        lines += ["", *(textwrap.wrap(paragraph, _WIDTH) if prose else paragraph.splitlines())]
    return lines[1:]


def _encoding(encoding: Encoding[object], statement: Statement) -> list[str]:
    arrays = ", ".join(f"{name} ({len(list(v))})" for name, v in statement.variables.items())
    title = f"Encoding {encoding.name}"
    study = "" if encoding.faithful else " (for study: its value is not the problem's)"
    return [
        "",
        title + study,
        "-" * len(title),
        *_doc(encoding.build),
        "",
        f"Here: variables {arrays}; {len(statement.model.constraints)} constraints as stated; "
        f"objective = value {'-' if statement.offset < 0 else '+'} {abs(statement.offset)}.",
    ]
