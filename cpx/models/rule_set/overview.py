"""What explanations of many rows say together: the fewest rules that explain most rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cpx.answers.explanation import Explanation
from cpx.answers.explanations import Explanations
from cpx.answers.html import Shown
from cpx.answers.result import Result
from cpx.answers.text import Block, Paragraph, Table, as_text
from cpx.answers.values import plural
from cpx.data.condition import ColumnCondition
from cpx.errors import printable
from cpx.models.rule_set.selection import RuleSetSelection
from cpx.solving import solve
from cpx.support.shares import percent, share_text
from cpx.support.validation import Share, choice, seconds, share

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Chosen", "Overview", "Step", "overview"]

ENGINE = "milp:highs"
"""The linear relaxation of a cover is nearly exact: it proves in milliseconds."""

_SHOWN = 20


class Chosen(NamedTuple):
    """One of the few rules, with how many rows it explains, and how many that none before does."""

    explanation: Explanation
    rows: int
    new: int


class Step(NamedTuple):
    """What so many rules can do: the rows that they explain, and a proved limit of it."""

    rules: int
    rows: int
    most: int


@dataclass(frozen=True)
class Overview(Shown):
    """What explanations of many rows say together.

    Attributes
    ----------
    total : int
        Rows; of reasons and the like, those that have an answer.
    rules : tuple of Chosen
        The fewest rules that explain enough rows; the first explains most.
    steps : tuple of Step
        The most rows that 1, 2, ... rules explain.
    columns : mapping of str to int
        In how many explanations each column is; the most frequent first.
    unexplained : tuple
        Labels of the rows that no good rule explains.
    precisions : tuple of (float or None, bool)
        Of the rule of each row, and whether a good rule explains the row.
    limit : Fraction
        Least precision of a good rule.
    results : tuple of Result
        Of the solves, one for each step; each was checked.
    """

    total: int
    rules: tuple[Chosen, ...]
    steps: tuple[Step, ...]
    columns: Mapping[str, int]
    unexplained: tuple[Any, ...]
    precisions: tuple[tuple[float | None, bool], ...]
    limit: Fraction
    results: tuple[Result, ...] = ()

    @property
    def explained(self) -> int:
        """Rows that one of the few rules explains."""
        return self.steps[-1].rows if self.steps else 0

    @property
    def fewest(self) -> bool:
        """Whether it is proved that no fewer rules explain as many rows."""
        return len(self.steps) < 2 or self.steps[-2].most < self.explained

    def __str__(self) -> str:
        return as_text(self.blocks())

    def headline(self) -> str:
        """Return how many rules explain how many rows, and what is proved of it."""
        if all(share is None for share, _ in self.precisions):
            # Reasons and the like hold of their own row: none is asked of another one.
            named, most = plural(len(self.columns), "column"), next(iter(self.columns), "")
            told = f"{plural(self.total, 'explanation')} name{'s' * (self.total == 1)} {named}"
            return told + (f", most often {most}" if most else "")
        good = f"of precision {share_text(self.limit)} or more"
        if not self.rules:
            return f"no rule {good} explains any of {plural(self.total, 'row')}"
        many = len(self.rules)
        told = (
            f"{plural(many, 'rule')} {good} explain{'s' * (many == 1)} {self.explained} of "
            f"{plural(self.total, 'row')} ({percent(self.explained / self.total)})"
        )
        proved = []
        if self.steps[-1].most == self.explained:
            proved.append(
                "no rule explains more" if many == 1 else f"no {many} rules explain more"
            )
        if many > 1 and self.fewest:
            proved.append("no fewer explain as many")
        if proved:
            told += f"; proved: {' and '.join(proved)}"
        return told

    def blocks(self) -> list[Block]:
        """Return the rules, the columns, and the rows that no good rule explains."""
        blocks: list[Block] = [Paragraph(self.headline(), "strong")]
        if self.rules:
            rows = tuple(
                (
                    str(one.rows),
                    str(one.new),
                    *(
                        "" if value is None else share_text(value)
                        for value in (one.explanation.precision, one.explanation.coverage)
                    ),
                    str(one.explanation),
                )
                for one in self.rules
            )
            blocks.append(Table(("rows", "new", "precision", "coverage", "rule"), rows, left=(4,)))
        if self.columns:
            named = tuple((str(n), printable(name)) for name, n in self.columns.items())
            blocks.append(Table(("explanations", "column"), named[:_SHOWN], left=(1,)))
        if self.unexplained:
            shown = ", ".join(printable(label) for label in self.unexplained[:_SHOWN])
            more = len(self.unexplained) - _SHOWN
            tail = f" and {more} more" if more > 0 else ""
            blocks.append(Paragraph(f"explained by no good rule: rows {shown}{tail}"))
        return blocks

    def plot(self, what: str = "rules", *, ax: Axes | None = None) -> Axes:
        """Draw one of its parts.

        Parameters
        ----------
        what : {"rules", "columns", "rows"}
            How many rows 1, 2, ... rules explain; in how many explanations each column is; or how
            precise the rule of each row is, and which rows no good rule explains.
        ax : matplotlib axes, optional
            Where to draw; those of a new figure of pyplot when not given.

        Returns
        -------
        matplotlib axes
        """
        from cpx.models.rule_set.overview_plots import PLOTS

        drawn: Axes = PLOTS[choice("what", what, tuple(PLOTS))](self, ax)
        return drawn


def overview(
    found: Explanations,
    *,
    enough: Share = Fraction(9, 10),
    min_precision: Share = Fraction(19, 20),
    time_limit: float | None = 10.0,
) -> Overview:
    """Return what explanations of many rows say together, of those that were asked about.

    A rule explains a row that it covers and whose class it names. Among the good rules of the
    collection the fewest are chosen that explain enough of the rows that any of them explains:
    the greatest cover by 1, 2, ... rules is a selection of rule sets, which is solved exactly.

    Parameters
    ----------
    found : Explanations
        Of rows of a table; those that are no rules of columns count for the columns alone.
    enough : Fraction, float or str
        Share of the rows that can be explained.
    min_precision : Fraction, float or str
        Of a good rule, on its samples.
    time_limit : float or None
        Seconds for all solves; then the rules are the best found, and what was proved is said.
    """
    found = found.asked
    wanted, limit = share("enough", enough), share("min_precision", min_precision)
    end, left = monotonic(), seconds(time_limit)
    end = math.inf if left is None else end + left
    good = _good(found, limit)
    covers = _covers(found, good)
    steps, results, chosen = list[Step](), list[Result](), tuple[int, ...]()
    explained = [bool(own.any()) for own in covers.T]
    reachable, rated = sum(explained), any(one.precision is not None for one in found)
    target = math.ceil(wanted * reachable)
    while reachable and (not steps or steps[-1].rows < target) and len(steps) < len(good):
        left = None if end == math.inf else max(0.1, end - monotonic())
        result = _greatest_cover(covers, [str(one) for one in good], len(steps) + 1, left, chosen)
        if result.explanation is None:
            break
        chosen = result.explanation.features
        n = covers.shape[1]
        rows, most = n - int(result.objective or 0), n - math.ceil(result.bound or 0)
        steps.append(Step(len(steps) + 1, rows, min(most, reachable)))
        results.append(result)
    return Overview(
        len(found) if rated else len(found.answered),
        _in_order(good, covers, chosen),
        tuple(steps),
        _columns(found),
        tuple(label for label, known in zip(found.labels, explained) if rated and not known),
        tuple(
            (None if one.precision is None else float(one.precision), known)
            for one, known in zip(found, explained)
        ),
        limit,
        tuple(results),
    )


def _good(found: Explanations, limit: Fraction) -> list[Explanation]:
    """Return the different rules that are precise enough and can be asked of other rows."""
    good: dict[Any, Explanation] = {}
    for one in found:
        if one.precision is not None and one.precision >= limit and one.rule.cases is not None:
            good.setdefault((one.rule.words, one.rule.conclusion), one)
    return list(good.values())


def _covers(found: Explanations, good: Sequence[Explanation]) -> NDArray[np.bool_]:
    """Return which good rules explain which rows, shape (rules, rows)."""
    called = np.array([one.rule.conclusion for one in found], dtype=object)
    covers = np.zeros((len(good), len(found)), dtype=bool)
    known = np.flatnonzero(called != "")  # the others cannot be read
    rows = found._of(known.tolist()).rows
    for r, one in enumerate(good):
        covers[r, known] = one.rule.mask(rows) & (called[known] == one.rule.conclusion)
    return covers


def _greatest_cover(
    covers: NDArray[np.bool_],
    texts: Sequence[str],
    rules: int,
    time_limit: float | None,
    hint: tuple[int, ...],
) -> Result:
    same = np.ones(covers.shape[1], dtype=bool)
    problem = RuleSetSelection.of_coverage(covers, same, texts=texts, max_rules=rules)
    return solve(problem, ENGINE, time_limit=time_limit, hint=hint)


def _in_order(
    good: Sequence[Explanation], covers: NDArray[np.bool_], chosen: Sequence[int]
) -> tuple[Chosen, ...]:
    """Return rules with what each adds to those before it, that of most first."""
    ordered, open_, left = list[Chosen](), np.ones(covers.shape[1], dtype=bool), [*chosen]
    while left:
        best = max(left, key=lambda r: int((covers[r] & open_).sum()))
        left.remove(best)
        new = int((covers[best] & open_).sum())
        ordered.append(Chosen(good[best], int(covers[best].sum()), new))
        open_ &= ~covers[best]
    return tuple(ordered)


def _columns(found: Explanations) -> Mapping[str, int]:
    """Return in how many explanations each column is."""
    counts: Counter[str] = Counter()
    for one in found:
        if one.row is not None and not one.why:
            means = (literal.means for literal in one.rule.literals)
            said = {m.title for m in means if isinstance(m, ColumnCondition)}
            # A change tells in its conditions what the row has, and not once more.
            counts.update({name for name, _ in one.row.values} or said)
    return dict(counts.most_common())
