"""The words and the sentences of a page: what the pages for people are measured by."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
PEOPLE = ("start", "explain", "problems", "engines", "teach", "extend")
"""Folders of pages that are read; the reference is looked up, and records are tables."""

_FENCE = re.compile(r"^( *)(`{3,}|:{3,}).*?^\1\2 *$", re.DOTALL | re.MULTILINE)
_MATH = re.compile(r"\$\$.+?\$\$", re.DOTALL)
_INLINE = re.compile(r"`[^`]*`|\$[^$\n]+\$")
_ROLE = re.compile(r"\{\w+\}(?=`)")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|\[\^\w+\]")
_ITEM = re.compile(r"^\s*(?:[-*:]|\d+\.)\s+")
_END = re.compile(r"(?<=[.!?])[\"')*]*\s+(?=[\"'(*]*[A-Z0-9])")
_SHORT = re.compile(r"\b(?:et al|e\.g|i\.e|eq|Dr|vs)\.")


def pages() -> list[Path]:
    """Return the pages for people, the index first."""
    return [DOCS / "index.md", *(p for name in PEOPLE for p in sorted((DOCS / name).glob("*.md")))]


def words(path: Path) -> int:
    """Count everything between spaces, code and tables included."""
    return len(path.read_text(encoding="utf-8").split())


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of the running text, code and formulas in it as one word each."""
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = _MATH.sub("", _FENCE.sub("\n", text))
    block: list[str] = []
    for line in [*text.splitlines(), ""]:
        # Of a definition list the term stands alone; headings, tables and references do not count.
        fresh = _ITEM.match(line) or not line.strip() or line.startswith(("#", "|", "    ", "[^"))
        if fresh and block:
            yield from _parted(" ".join(block))
            block = []
        if line.strip() and not line.startswith(("#", "|", "    ", "[^")):
            block.append(_ITEM.sub("", line))


def _parted(block: str) -> list[str]:
    block = _LINK.sub(r"\1", _INLINE.sub("X", _ROLE.sub("", block)))
    block = " ".join(_SHORT.sub("X", block).split())
    return [sentence for sentence in _END.split(block) if sentence.strip()]
