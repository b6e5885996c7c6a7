"""Documents in sections: complete for files, abridged for reading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

# In a cut document: how much of a long item is kept, and the fewest items of a section.
_START, _END = 180, 60
_FEWEST = 4


@dataclass(frozen=True)
class Section:
    """Items of one kind, each one line or a few that belong together.

    items: Without line ends; made while they are read, so that a cut document of a large model
        does not write what it leaves out.
    count: Their number.
    noun: What they are, in the plural, for the line that says how many were left out; empty for a
        section that is always shown whole, such as running text.
    mark: What begins that line: the sign of a comment.
    """

    items: Iterable[str]
    count: int
    noun: str = ""
    mark: str = ""

    @classmethod
    def of(cls, items: Sequence[str], noun: str = "", mark: str = "") -> Section:
        """Return a section of items that are there already."""
        return cls(items, len(items), noun, mark)


@dataclass(frozen=True)
class Document:
    """Sections of text.

    >>> head = Section.of(["c a formula"])
    >>> body = Section.of([f"{i} 0" for i in range(1, 100)], "clauses", "c ")
    >>> print(Document([head, body]).cut(5))
    c a formula
    1 0
    2 0
    3 0
    4 0
    5 0
    c ... 94 more clauses, 99 in all
    <BLANKLINE>
    """

    sections: Sequence[Section]

    def text(self) -> str:
        """Return the whole text; every line ends with a line feed."""
        return "".join(f"{item}\n" for section in self.sections for item in section.items)

    def cut(self, limit: int) -> str:
        """Return the text, cut when it has more than ``limit`` items.

        Short sections stay whole, as do those without a noun, which do not count; the long
        ones share what is left of the limit, and keep at least 4 items each.
        """
        counts = [section.count for section in self.sections if section.noun]
        if sum(counts) <= limit:
            return self.text()
        share = max(_FEWEST, _share(counts, limit))
        lines = (line for section in self.sections for line in _excerpt(section, share))
        return "".join(f"{line}\n" for line in lines)


def _share(counts: Sequence[int], limit: int) -> int:
    """Return the largest s with sum(min(count, s)) <= limit."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if sum(min(count, middle) for count in counts) <= limit:
            low = middle
        else:
            high = middle - 1
    return low


def _excerpt(section: Section, share: int) -> Iterator[str]:
    for item in islice(section.items, share if section.noun else None):
        left_out = len(item) - _START - _END
        if left_out <= 0:
            yield item
        else:  # the end has the relation and the right-hand side
            yield f"{item[:_START]} ... {left_out:,} characters ... {item[-_END:]}"
    left_out = section.count - share
    if section.noun and left_out > 0:
        yield f"{section.mark}... {left_out:,} more {section.noun}, {section.count:,} in all"
