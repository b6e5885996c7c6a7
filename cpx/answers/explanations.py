"""Explanations of many rows, as a collection; a row without an answer says why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, overload

from cpx.answers.explanation import Explanation
from cpx.answers.html import Shown
from cpx.answers.rule import Rule
from cpx.answers.text import Block, Fact, Paragraph, Table, as_text
from cpx.answers.values import plural
from cpx.errors import EngineError, InvalidOption, printable
from cpx.support.families import families
from cpx.support.lazy_imports import named_object
from cpx.support.shares import share_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["INTERRUPTED", "Explanations", "Unanswered", "unanswered"]

_SHOWN = 20

INTERRUPTED = "not explained: interrupted"
"""Why a row has no answer that Ctrl-C came before."""


@dataclass(frozen=True)
class NoRule(Rule):
    """What stands in the place of a rule where there is none."""

    empty: ClassVar[str] = "(no answer)"
    unnamed: ClassVar[str] = ""

    @property
    def text(self) -> str:
        """That there is no answer."""
        return self.empty


@dataclass(frozen=True)
class Unanswered(Explanation):
    """That a row has no explanation, and why.

    error: What :func:`cpx.explain` raises, with what can be had in its place where that is known.

    >>> found = unanswered(EngineError("there is no rule of at most 1 condition"))
    >>> str(found), found.why, len(found.rule)
    ('(no answer)', 'there is no rule of at most 1 condition', 0)
    """

    error: EngineError = field(kw_only=True, compare=False)

    @property
    def why(self) -> str:
        """Why there is no answer."""
        return str(self.error)

    def headline(self) -> list[Block]:
        """Return why there is no answer."""
        return [Paragraph(self.why, "strong")]

    def facts(self) -> list[Fact]:
        """Return nothing: nothing is known of an answer."""
        return []


def _overview() -> str:
    for family in families():
        if family.overview:
            return family.overview
    raise InvalidOption("no family of problems is there that gives an overview")


def unanswered(error: EngineError) -> Unanswered:
    """Return what stands for the explanation of a row that has none."""
    return Unanswered(NoRule((), ""), result=getattr(error, "result", None), error=error)


@dataclass(frozen=True)
class Explanations(Shown, Sequence[Explanation]):
    """Explanations of rows, in their order.

    Attributes
    ----------
    explanations : tuple of Explanation
    labels : tuple
        Of the rows, as the index of their table has them.
    rows : table or array, optional
        The rows themselves.

    Examples
    --------
    >>> rule, none = Rule.of([0], ["a > 1"], "yes"), EngineError("no rule covers enough")
    >>> found = Explanations((Explanation(rule), unanswered(none)), (7, 9))
    >>> print(found)
    row  explanation
      7  a > 1 => yes
      9  (no answer): no rule covers enough
    >>> len(found), str(found[0]), found[1:].labels, len(found.answered)
    (2, 'a > 1 => yes', (9,), 1)
    """

    explanations: tuple[Explanation, ...]
    labels: tuple[Any, ...]
    rows: Any = field(default=None, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.explanations)

    def __iter__(self) -> Iterator[Explanation]:
        return iter(self.explanations)

    @overload
    def __getitem__(self, place: int) -> Explanation: ...

    @overload
    def __getitem__(self, place: slice) -> Explanations: ...

    def __getitem__(self, place: int | slice) -> Explanation | Explanations:
        if isinstance(place, slice):
            return self._of(range(len(self))[place])
        return self.explanations[place]

    def _of(self, places: Sequence[int]) -> Explanations:
        rows = self.rows
        if rows is not None:
            rows = rows.iloc[[*places]] if hasattr(rows, "iloc") else rows[[*places]]
        some = tuple(self.explanations[i] for i in places)
        return Explanations(some, tuple(self.labels[i] for i in places), rows)

    @property
    def answered(self) -> Explanations:
        """Those that have an answer."""
        return self._of([i for i, found in enumerate(self) if not found.why])

    @property
    def complete(self) -> bool:
        """Whether each row was asked about: Ctrl-C leaves the rest without an answer."""
        return not any(found.why == INTERRUPTED for found in self)

    @property
    def asked(self) -> Explanations:
        """Those whose row was asked about, before Ctrl-C if it came."""
        return self._of([i for i, found in enumerate(self) if found.why != INTERRUPTED])

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each, with the labels as index.

        Its columns are ``class`` (of the row), ``probability`` (of the class, by the model),
        ``explanation`` (the conditions), ``size``, ``precision``, ``coverage`` (floats, missing
        where they are not known), ``status`` and ``why``; of contrasts also ``target``, the class
        that is reached.
        """
        import pandas as pd

        rows = [
            {
                "class": found.row_class,
                "target": found.rule.conclusion,
                "probability": None if found.row is None else found.row.probability,
                "explanation": f" {found.rule.joint} ".join(found.rule.words),
                "size": len(found.rule),
                "precision": None if found.precision is None else float(found.precision),
                "coverage": None if found.coverage is None else float(found.coverage),
                "status": "" if found.status is None else str(found.status),
                "why": found.why,
            }
            for found in self
        ]
        named = ["class", "probability", "explanation", "size", "precision", "coverage", "status"]
        if any(found.row_class != found.rule.conclusion for found in self):
            named.insert(1, "target")
        frame = pd.DataFrame(rows, columns=[*named, "why"], index=pd.Index(self.labels))
        shares = "probability", "precision", "coverage"
        return frame.astype(dict.fromkeys(shares, "float64"))

    def overview(self, **options: Any) -> Any:
        """Return what they say together: the fewest rules that explain most rows.

        Also in how many explanations each column is, and which rows no good rule explains.

        Parameters
        ----------
        **options
            ``enough`` (9/10), the share of the rows that can be explained which must be;
            ``min_precision`` (19/20) of a good rule; ``time_limit`` (10 seconds).

        Returns
        -------
        Overview
            With ``rules``, ``columns``, ``unexplained``, and plots.
        """
        return named_object(_overview(), "overview", InvalidOption)(self, **options)

    def to_page(self, title: str = "") -> str:
        """Return them as one page of HTML that needs no network, with :meth:`overview`.

        Its table is sorted and filtered; each row opens with its picture and what was proved.

        Parameters
        ----------
        title : str
            Its heading.

        Raises
        ------
        EngineMissing
            When jinja2 is not installed; with the pip line.
        """
        from cpx.answers.explanations_page import explanations_page

        return explanations_page(self, title, self.overview())

    def __str__(self) -> str:
        return as_text(self.blocks())

    def blocks(self) -> list[Block]:
        """Return a table of the first ones, and how many more there are.

        Precision and coverage are columns where one of them is known.
        """
        shown = self.explanations[:_SHOWN]
        figures = {
            "precision": [found.precision for found in shown],
            "coverage": [found.coverage for found in shown],
        }
        columns = {
            name: shares for name, shares in figures.items() if any(s is not None for s in shares)
        }
        rows = tuple(
            (
                printable(label),
                *("" if share is None else share_text(share) for share in shares),
                f"{found}: {found.why}" if found.why else str(found),
            )
            for label, found, *shares in zip(self.labels, shown, *columns.values())
        )
        table = Table(("row", *columns, "explanation"), rows, left=(len(columns) + 1,))
        more = len(self) - len(rows)
        told = [f"and {plural(more, 'row')} more"] * (more > 0)
        if not self.complete:
            told.append(f"interrupted: {len(self.asked)} of {plural(len(self), 'row')} explained")
        return [table, *map(Paragraph, told)]
