"""Answers as blocks (sentences, facts, tables), and the blocks as plain text.

An answer says what it is as a few blocks. What is printed and what the shell shows are these
blocks as text; :mod:`cpx.answers.html` is the same for notebooks. Both clean the texts.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, Protocol

from cpx.answers.values import Value, digits, in_words
from cpx.errors import printable
from cpx.support.shares import percent

Tone = Literal["", "strong", "good", "open", "bad"]
"""How a text is meant: a heading, a proof, no proof, an error."""

_INDENT = 11
_NARROWEST = 12  # characters that a column of texts keeps


@dataclass(frozen=True)
class Paragraph:
    """A sentence or two."""

    text: str
    tone: Tone = ""


class Implication(Protocol):
    """A rule, which is a block itself: conditions, and what follows from them."""

    joint: ClassVar[str]
    """The word between the conditions."""
    empty: ClassVar[str]
    """What stands in their place when there are none."""

    @property
    def words(self) -> tuple[str, ...]:
        """The conditions."""

    @property
    def says(self) -> str:
        """The class."""


class Fact(NamedTuple):
    """A named figure or sentence.

    ``share`` is what a bar can show of it, from 0 to 1. The tone is that of the first word.
    """

    name: str
    text: str
    tone: Tone = ""
    share: float | None = None


@dataclass(frozen=True)
class Facts:
    """Named figures and sentences, one below the other; those without a text are left out."""

    facts: tuple[Fact, ...]

    @classmethod
    def of(cls, facts: Iterable[Fact]) -> Facts:
        """Keep those that have a text."""
        return cls(tuple(fact for fact in facts if fact.text))


@dataclass(frozen=True)
class Table:
    """Rows of figures and texts.

    left: Columns of texts, by number: they are flush left, figures flush right.
    tones: Of the rows; empty when all are alike.
    title: Stands above the table, which then has a line below its head and above a strong row.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: tuple[int, ...]
    tones: tuple[Tone, ...] = ()
    title: str = ""


Block = Paragraph | Implication | Facts | Table
Style = Callable[[str, Tone], str]


def _plain(text: str, tone: Tone) -> str:
    return text


def as_text(
    blocks: Sequence[Block],
    *,
    spaced: bool = False,
    width: int | None = None,
    style: Style = _plain,
) -> str:
    """Return blocks as lines of text.

    spaced: Put an empty line between blocks.
    width: Wrap sentences to so many characters; by default they are one line each.
    style: Returns a text in the colour of its tone.

    >>> from cpx.answers.rule import Rule
    >>> rule = Rule.of([0, 1], ["a <= 1", "b"], "yes")
    >>> facts = Facts((Fact("coverage", "0.500"), Fact("proved", "it is optimal")))
    >>> print(as_text([rule, facts]))
    a <= 1 and b => yes
    coverage   0.500
    proved     it is optimal
    >>> print(as_text([facts], width=20))
    coverage   0.500
    proved     it is
               optimal
    """
    parts = [_block(block, width, style) for block in blocks]
    return ("\n\n" if spaced else "\n").join(part for part in parts if part)


def _block(block: Block, width: int | None, style: Style) -> str:
    if isinstance(block, Paragraph):
        return style(_wrapped(block.text, width), block.tone)
    if isinstance(block, Facts):
        return "\n".join(_fact(fact, width, style) for fact in block.facts)
    if isinstance(block, Table):
        return _table(block, width, style)
    return style(_condition(block, width), "strong")


def _condition(block: Implication, width: int | None) -> str:
    text = printable(block)
    if width is None or len(text) <= width:
        return text
    # One condition per line.
    words = f"\n  {block.joint:<3} ".join(map(printable, block.words))
    return f"      {words}\n  => {printable(block.says)}"


def _fact(fact: Fact, width: int | None, style: Style) -> str:
    row = _wrapped(fact.text, width, f"{printable(fact.name):<{_INDENT}}")
    if not fact.tone:
        return row
    word = printable(fact.text).split()[0]
    return row[:_INDENT] + row[_INDENT:].replace(word, style(word, fact.tone), 1)


def _table(table: Table, width: int | None, style: Style) -> str:
    space = "   " if table.title else "  "
    head, *rows = [[printable(cell) for cell in row] for row in (table.head, *table.rows)]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    if width is not None:
        _narrow(widths, table.left, sum(widths) + len(space) * (len(widths) - 1) - width)
    line = "-" * (sum(widths) + len(space) * (len(widths) - 1))
    lines = [style(printable(table.title), "strong")] if table.title else []
    lines.append(_row(head, widths, table.left, space))
    if table.title:
        lines.append(line)
    tones: Sequence[Tone] = table.tones or [""] * len(table.rows)
    for row, tone in zip(rows, tones, strict=True):
        if table.title and tone == "strong":
            lines.append(line)
        lines.append(style(_row(row, widths, table.left, space), tone))
    return "\n".join(lines)


def _row(cells: Sequence[str], widths: Sequence[int], left: Sequence[int], space: str) -> str:
    parts = []
    for c, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        cut = cell if len(cell) <= width else cell[: width - 1] + "…"
        parts.append(f"{cut:<{width}}" if c in left else f"{cut:>{width}}")
    return space.join(parts).rstrip()


def _narrow(widths: list[int], left: Sequence[int], excess: int) -> None:
    """Take what is too much from the columns of texts, the widest first."""
    while excess > 0:
        widest = max(left, key=lambda c: widths[c], default=None)
        if widest is None or widths[widest] <= _NARROWEST:
            return
        widths[widest] -= 1
        excess -= 1


def _wrapped(text: str, width: int | None, head: str = "") -> str:
    """Wrap to the width, indented below the head."""
    text = printable(text)
    if width is None:
        return head + text
    return textwrap.fill(text, width, initial_indent=head, subsequent_indent=" " * len(head))


def figures(value: Value | None, bound: Value | None, gap: float | None) -> str:
    """Return a value, its bound and the gap between them in words.

    >>> figures(200, 150, 0.25), figures(None, None, None)
    ('200, bound 150, gap 25.0 %', 'none, bound none')
    """
    places = digits((value, bound))
    told, limit = ("none" if v is None else in_words(v, places) for v in (value, bound))
    return f"{told}, bound {limit}" + ("" if gap is None else f", gap {percent(gap)}")


def one_line(text: str) -> str:
    r"""Return the text without line ends and control characters, for a comment.

    >>> one_line("colour is\nred  or green")
    'colour is red or green'
    """
    return " ".join(printable(text).replace("\ufffd", " ").split())
