"""The table of encodings, as data, text, frame, Markdown and a plot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cpx.answers.axes import ACCENT, MARK, axes_or_new
from cpx.answers.html import Shown
from cpx.answers.text import Block, Paragraph, Table, as_text
from cpx.answers.values import in_words
from cpx.compare.propagation import Fixed
from cpx.modelling.encodings import find_encoding
from cpx.modelling.statement import Cost
from cpx.support.files import csv_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from cpx.answers.result import Result
    from cpx.modelling.base import Problem

_LENGTHS = 3
"""Clauses and rows of so many literals or terms are counted apart."""

_DECIDED = ("none", "half", "all")


@dataclass(frozen=True)
class CompiledForm:
    """What an encoding becomes in one form; :doc:`/reference/encodings` explains the figures.

    Attributes
    ----------
    encoding, form : str
    at_most : str
        The encoding of cardinalities; empty for what is small.
    variables, auxiliary : int
        All variables, and those of them that the statement does not have.
    lengths : mapping of int to int
        How many hard clauses, rows or constraints have so many literals or terms.
    root : float or None
        Bound of the linear relaxation on the objective, of the form ``lp``; None where HiGHS
        found none within the limit.
    soft : int
        Soft clauses, of the form ``wcnf``.
    fixed : mapping of str to Fixed or None
        What unit propagation fixes, of the form ``wcnf``, when ``none``, ``half`` and ``all`` of
        the features are decided.
    seconds : mapping of str to float
        Processor time to ``state`` and to ``compile``.
    """

    encoding: str
    form: str
    at_most: str
    variables: int
    auxiliary: int
    lengths: Mapping[int, int]
    root: float | None
    soft: int
    fixed: Mapping[str, Fixed | None]
    seconds: Mapping[str, float]

    @property
    def constraints(self) -> int:
        """Hard clauses, rows or constraints."""
        return sum(self.lengths.values())

    @property
    def nonzeros(self) -> int:
        """Literals or terms of them all."""
        return sum(length * times for length, times in self.lengths.items())


@dataclass(frozen=True)
class EncodingsTable(Shown):
    """How large, how strong and how fast the encodings of a problem are.

    Attributes
    ----------
    problem : Problem
    forms : tuple of CompiledForm
        One for each encoding and form.
    answers : mapping of (str, str) to Result
        By encoding and engine.
    predicted : mapping of (str, str) to Cost
        By encoding and form: what stating and compiling was predicted to take, where it was.
    """

    problem: Problem
    forms: tuple[CompiledForm, ...]
    answers: Mapping[tuple[str, str], Result]
    predicted: Mapping[tuple[str, str], Cost] = field(default_factory=dict)

    def __str__(self) -> str:
        return as_text(self.blocks(), spaced=True)

    # ------------------------------------------------------------------ data

    def rows(self) -> list[dict[str, Any]]:
        """Return the figures of each encoding and form, by name; those that it lacks are None."""
        return [
            {**_figures(form), **self._expected(form), **self._solved(form.encoding)}
            for form in self.forms
        ]

    def _expected(self, form: CompiledForm) -> dict[str, Any]:
        cost = self.predicted.get((form.encoding, form.form))
        if not self.predicted:
            return {}
        return {f"predicted_{name}": cost and getattr(cost, name) for name in Cost._fields}

    def _solved(self, encoding: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for (name, engine), result in self.answers.items():
            if name == encoding:
                found[f"{engine} status"] = str(result.status)
                found[f"{engine} objective"] = _plain(result.objective)
                found[f"{engine} bound"] = _plain(result.bound)
                found[f"{engine} seconds"] = result.times.total
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain JSON values."""
        return {"format": "cpx-encodings", "version": 1, "rows": self.rows()}

    def to_frame(self) -> pd.DataFrame:
        """Return one row per encoding and form as a DataFrame, with these two as its index."""
        import pandas as pd

        return pd.DataFrame(self.rows()).set_index(["encoding", "form"])

    def to_csv(self) -> str:
        """Return one row per encoding and form as CSV text with a header."""
        rows = self.rows()
        return csv_text(list(rows[0]), rows)

    # ----------------------------------------------------------------- shown

    def blocks(self) -> list[Block]:
        """Return what is printed: sizes, strength, and what engines did."""
        found: list[Block] = [self._sizes()]
        if strength := self._strength():
            found.append(strength)
        if self.answers:
            found.append(self._engines())
        measured = {(form.encoding, form.form) for form in self.forms}
        long = [(*pair, cost) for pair, cost in self.predicted.items() if pair not in measured]
        if long:
            told = "; ".join(f"{name} as {form} in {cost}" for name, form, cost in long)
            found.append(Paragraph(f"not stated, as it was predicted to take too long: {told}"))
        unfaithful = [name for name in self._names() if not self._faithful(name)]
        if unfaithful:
            told = f"not the problem, for study only: {', '.join(unfaithful)}"
            found.append(Paragraph(told, "open"))
        return found

    def to_markdown(self) -> str:
        """Return the tables that are printed in Markdown."""
        return "\n".join(_markdown(block) for block in self.blocks())

    def _faithful(self, encoding: str) -> bool:
        return find_encoding(self.problem, encoding).faithful

    def _names(self) -> list[str]:
        pairs = (*((form.encoding, form.form) for form in self.forms), *self.predicted)
        return list(dict.fromkeys(name for name, _ in pairs))

    def _sizes(self) -> Table:
        counted = ("variables", "auxiliary", "constraints", "1", "2", "3", "longer", "nonzeros")
        head: tuple[str, ...] = ("encoding", "form", *counted, "state", "compile")
        if self.predicted:
            head += ("predicted", "MB")
        rows = []
        for form in self.forms:
            figures = _figures(form)
            numbers = [form.variables, form.auxiliary, form.constraints, *_by_length(form)]
            times = [f"{figures[f'seconds_{part}']:.3f}" for part in ("state", "compile")]
            if self.predicted:
                cost = self.predicted.get((form.encoding, form.form))
                times += ["-"] * 2 if cost is None else [f"{cost[0]:.3f}", f"{cost[1]:.0f}"]
            cells = [*(f"{n:,}" for n in (*numbers, form.nonzeros)), *times]
            rows.append((form.encoding, f"{form.form} {form.at_most}".rstrip(), *cells))
        title = "Sizes: constraints also by their length; seconds of processor time"
        title += ", measured, and predicted with MB" if self.predicted else ""
        return Table(head, tuple(rows), (0, 1), title=title)

    def _strength(self) -> Table | None:
        if not any(form.form in ("wcnf", "lp") for form in self.forms):
            return None
        head = ("encoding", "root", "soft", *_DECIDED)
        rows = []
        for name, program, clauses in self._pairs():
            root = "-" if program is None or program.root is None else f"{program.root:.2f}"
            soft = "-" if clauses is None else f"{clauses.soft:,}"
            label = name if clauses is None else f"{name} {clauses.at_most}".rstrip()
            rows.append((label, root, soft, *(_fixed(clauses, part) for part in _DECIDED)))
        title = "Strength: root of the linear relaxation; soft clauses that propagation fixes when"
        title += " none, half and all of the features are decided"
        return Table(head, tuple(rows), (0,), title=title)

    def _engines(self) -> Table:
        rows = []
        for (encoding, engine), result in self.answers.items():
            values = (result.objective, result.bound)
            words = ("-" if value is None else in_words(value, 3) for value in values)
            cells = (str(result.status), *words, f"{result.times.total:.2f}")
            rows.append((encoding, engine, *cells))
        head = ("encoding", "engine", "status", "value", "bound", "seconds")
        return Table(head, tuple(rows), (0, 1, 2), title="Engines")

    # ------------------------------------------------------------------ plot

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the two strengths of each encoding: of its relaxation, and of propagation.

        To the right the root of the linear relaxation, upwards the share of the soft clauses that
        unit propagation fixes once all features are decided; points are larger where there are
        more clauses. Encodings that fall together share a point.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; default: a new figure.

        Raises
        ------
        EngineMissing
            When matplotlib is not installed.
        InvalidOption
            When the table lacks the forms ``lp`` and ``wcnf``.
        """
        from cpx.errors import InvalidOption

        points = self._points()
        if not points:
            raise InvalidOption("the plot shows the forms lp and wcnf: measure both")
        ax = axes_or_new(ax, 6.4, 4.0)
        most = max(clauses for *_, clauses in points.values())
        together = sorted(_together(points).items())
        for i, ((x, y), (names, clauses)) in enumerate(together):
            study = not any(map(self._faithful, names))
            size = 40 + 260 * clauses / max(1, most)
            ax.scatter([x], [100 * y], s=size, color=MARK if study else ACCENT, alpha=0.75)
            # Neighbours have their names on two sides.
            away, side = (-12, "top") if i % 2 else (12, "bottom")
            ax.annotate(
                ",\n".join(names),
                (x, 100 * y),
                (0, away),
                textcoords="offset points",
                ha="center",
                va=side,
            )
        ax.margins(x=0.2, y=0.3)
        ax.set_xlabel("root of the linear relaxation")
        ax.set_ylabel("soft clauses fixed by propagation, %")
        ax.spines[["top", "right"]].set_visible(False)
        return ax

    def _points(self) -> dict[str, tuple[float, float, int]]:
        """Return root, share of soft clauses fixed, and clauses, where all three are known."""
        found = {}
        for name, program, clauses in self._pairs():
            if program is None or clauses is None or program.root is None or not clauses.soft:
                continue
            fixed = clauses.fixed.get("all")
            if fixed is not None and fixed.soft is not None:
                found[name] = (program.root, fixed.soft / clauses.soft, clauses.constraints)
        return found

    def _pairs(self) -> Iterator[tuple[str, CompiledForm | None, CompiledForm | None]]:
        """Yield each encoding with its integer program and each of its sets of clauses."""
        for name in self._names():
            own = [form for form in self.forms if form.encoding == name]
            program = next((form for form in own if form.form == "lp"), None)
            clauses = [form for form in own if form.form == "wcnf"]
            yield from ((name, program, one) for one in clauses or (None,))


def _figures(form: CompiledForm) -> dict[str, Any]:
    """Return the figures of a form by the names of the columns of the frame."""
    lengths = dict(zip(("1", "2", "3", "more"), _by_length(form), strict=True))
    fixed = [(part, form.fixed.get(part)) for part in _DECIDED]
    return {
        "encoding": form.encoding,
        "form": form.form,
        "at_most": form.at_most,
        "variables": form.variables,
        "auxiliary": form.auxiliary,
        "constraints": form.constraints,
        **{f"length_{name}": times for name, times in lengths.items()},
        "nonzeros": form.nonzeros,
        "root": form.root,
        "soft": form.soft if form.form == "wcnf" else None,
        **{f"fixed_{p}": at and at.soft for p, at in fixed},
        **{f"fixed_variables_{p}": at and at.variables for p, at in fixed},
        **{f"refuted_{p}": at and at.refuted for p, at in fixed},
        **{f"seconds_{part}": form.seconds[part] for part in ("state", "compile")},
    }


def _by_length(form: CompiledForm) -> list[int]:
    counted = [form.lengths.get(length, 0) for length in range(1, _LENGTHS + 1)]
    return [*counted, sum(form.lengths.values()) - sum(counted)]


def _fixed(form: CompiledForm | None, part: str) -> str:
    fixed = None if form is None else form.fixed.get(part)
    if fixed is None:
        return "-"
    refuted = f"{fixed.refuted} refuted" if fixed.refuted else ""
    if fixed.soft is None:
        return refuted
    return f"{fixed.soft:.1f}" + (f" ({refuted})" if refuted else "")


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, int) else float(value)


def _together(
    points: Mapping[str, tuple[float, float, int]],
) -> dict[tuple[float, float], tuple[list[str], int]]:
    """Return the names of the points that would be drawn over each other, and their clauses."""
    widest = max(abs(root) for root, *_ in points.values()) or 1.0
    found: dict[tuple[float, float], tuple[list[str], int]] = {}
    for name, (root, share, clauses) in points.items():
        near = (
            at for at in found if abs(at[0] - root) < widest / 20 and abs(at[1] - share) < 1 / 20
        )
        at = next(near, (root, share))
        names, most = found.get(at, ([], 0))
        found[at] = ([*names, name], max(most, clauses))
    return found


def _markdown(block: Block) -> str:
    return "\n".join(_lines(block)) + "\n"


def _lines(block: Block) -> Iterator[str]:
    if not isinstance(block, Table):
        yield as_text([block])
        return
    yield f"**{block.title}**"
    yield ""
    ends = (" --- " if i in block.left else " ---: " for i in range(len(block.head)))
    yield f"| {' | '.join(block.head)} |"
    yield f"|{'|'.join(ends)}|"
    for row in block.rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
