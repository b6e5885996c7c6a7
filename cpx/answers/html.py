"""The blocks of an answer as HTML, for notebooks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from html import escape

from cpx.answers.text import Block, Fact, Facts, Implication, Paragraph, Table, Tone
from cpx.errors import printable

# Notebooks have light and dark themes: the colour of the text is theirs, these are between the
# two and read on both, and greys let the ground shine through.
_ACCENT = "#3b7dd8"
_COLOURS: dict[Tone, str] = {"good": "#2e9157", "open": "#b7791f", "bad": "#d64545"}

_BOX = f"border-left:4px solid {_ACCENT};padding:.4em .9em;margin:.3em 0;max-width:60em"
_CHIP = (
    f"display:inline-block;border:1px solid {_ACCENT};border-radius:.8em;"
    "padding:.05em .7em;margin:.15em .2em .15em 0"
)
_BAR = "display:inline-block;width:10em;height:.6em;margin-right:.7em;background:#8884"
_TABLE = "border-collapse:collapse;margin:.3em 0"
_CELL = "padding:.15em .7em .15em 0;vertical-align:top"
_RULED = "border-bottom:1px solid #8888"
_TITLE = "text-align:left;font-weight:bold;padding:.15em 0"


class Shown:
    """What is shown in notebooks as the blocks that it is made of."""

    @abstractmethod
    def blocks(self) -> Sequence[Block]:
        """Return what is printed and shown."""

    def _repr_html_(self) -> str:
        return as_html(self.blocks())


def as_html(blocks: Sequence[Block]) -> str:
    """Return blocks as HTML that needs no style sheet; all texts are escaped.

    >>> as_html([Paragraph("a < b")]).endswith("<div>a &lt; b</div></div>")
    True
    """
    return f'<div style="{_BOX}">{"".join(map(_block, blocks))}</div>'


def _block(block: Block) -> str:
    if isinstance(block, Paragraph):
        return f"<div>{_toned(block.text, block.tone)}</div>"
    if isinstance(block, Facts):
        rows = "".join(map(_fact, block.facts))
        return f'<table style="{_TABLE}">{rows}</table>' if rows else ""
    if isinstance(block, Table):
        return _table(block)
    return f"<div>{_condition(block)}</div>"


def _condition(block: Implication) -> str:
    chips = f" {_escape(block.joint)} ".join(
        f'<span style="{_CHIP}">{_escape(text)}</span>' for text in block.words
    )
    nothing = f"<i>{_escape(block.empty.strip('()'))}</i>"
    return f"{chips or nothing} &rArr; <b>{_escape(block.says)}</b>"


def _fact(fact: Fact) -> str:
    first, space, others = fact.text.partition(" ")
    text = _toned(first, fact.tone) + space + _escape(others)
    if fact.share is not None:
        filled = f"display:block;height:100%;width:{fact.share:.1%};background:{_ACCENT}"
        text = f'<span style="{_BAR}"><span style="{filled}"></span></span>{text}'
    return f"<tr>{_cell(_escape(fact.name), dim=True)}{_cell(text)}</tr>"


def _table(table: Table) -> str:
    sides = ["left" if c in table.left else "right" for c in range(len(table.head))]
    head = "".join(
        f'<th style="{_CELL};{_RULED};text-align:{side}">{_escape(text)}</th>'
        for side, text in zip(sides, table.head, strict=True)
    )
    rows = []
    for i, row in enumerate(table.rows):
        tone = table.tones[i] if table.tones else ""
        cells = zip(sides, row, strict=True)
        rows.append("".join(_cell(_toned(text, tone), side=side) for side, text in cells))
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    title = f'<caption style="{_TITLE}">{_escape(table.title)}</caption>' if table.title else ""
    return f'<table style="{_TABLE}">{title}<tr>{head}</tr>{body}</table>'


def _cell(content: str, side: str = "left", dim: bool = False) -> str:
    faint = ";opacity:.7" if dim else ""
    return f'<td style="{_CELL};text-align:{side}{faint}">{content}</td>'


def _toned(text: str, tone: Tone) -> str:
    if tone == "strong":
        return f"<b>{_escape(text)}</b>"
    if not tone:
        return _escape(text)
    return f'<span style="color:{_COLOURS[tone]}">{_escape(text)}</span>'


def _escape(text: str) -> str:
    """Return a text without control characters and markup."""
    return escape(printable(text))
