"""The printed table of a comparison: one row per engine and instance, and the best of all."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING

from cpx.answers.result import Status, Termination
from cpx.answers.text import Block, Paragraph, Table, Tone
from cpx.answers.values import Value, decimal, digits
from cpx.compare.records import Best, Run, best_of, contradictions

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["LINES", "as_text", "blocks", "renderables"]

Groups = Mapping[str, list[Run]]
"""The runs on each instance, by its name."""

_OUTCOMES = {
    Termination.COMPLETED: "stopped at gap",
    Termination.TIME_LIMIT: "time limit",
    Termination.MEMORY_LIMIT: "memory limit",
    Termination.INTERRUPTED: "interrupted",
    Termination.SOLVER_ERROR: "error",
}

# Lines below the header and between sections, nothing else.
LINES = "    \n    \n ── \n    \n ── \n    \n    \n    \n"

_FIGURES = ("value", "bound", "gap", "best at", "seconds", "memory")
_STYLES: dict[Tone, str] = {"": "", "strong": "bold", "good": "green", "bad": "red"}

INTERRUPTED = "interrupted: not all runs were made"
NOTE = "* best value; best at: seconds until it was found; memory: MB at the peak"


def as_text(groups: Groups, complete: bool, width: int = 100) -> str:
    """Return the runs on each instance as tables in plain text, for files and pipes."""
    from rich.console import Console

    out = io.StringIO()
    console = Console(file=out, width=width, color_system=None, highlight=False)
    for part in renderables(groups, complete, ascii_only=True):
        console.print(part)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def renderables(groups: Groups, complete: bool, ascii_only: bool = False) -> list[RenderableType]:
    """Return the tables, contradictions and notes as things that rich can print."""
    from rich.text import Text

    parts: list[RenderableType] = []
    for name, runs in groups.items():
        wrong = contradictions(runs)
        title = Text(name, style="bold", overflow="fold")
        title.append(f"  {runs[0].statement}", style="not bold")
        table = _table(runs, set(wrong), best_of(runs, wrong))
        parts += [title, _rich_table(table, ascii_only)]
        parts += [Text(text, style="red") for text in _troubles(runs, wrong)]
        parts.append(Text(""))
    if not parts:
        return [Text("no runs")]
    parts.append(Text(NOTE, style="dim"))
    if not complete:
        parts.append(Text(INTERRUPTED, style="yellow"))
    return parts


def blocks(groups: Groups, complete: bool) -> list[Block]:
    """Return the tables, contradictions and notes as the blocks that notebooks show."""
    parts: list[Block] = []
    for name, runs in groups.items():
        wrong = contradictions(runs)
        parts.append(Paragraph(f"{name}: {runs[0].statement}", "strong"))
        parts.append(_table(runs, set(wrong), best_of(runs, wrong)))
        parts += [Paragraph(text, "bad") for text in _troubles(runs, wrong)]
    if not parts:
        return [Paragraph("no runs")]
    parts.append(Paragraph(NOTE))
    if not complete:
        parts.append(Paragraph(INTERRUPTED, "open"))
    return parts


def _troubles(runs: list[Run], wrong: dict[int, str]) -> list[str]:
    lines = [f"CONTRADICTION: {sentence}; not ranked" for sentence in wrong.values()]
    errors = [r for r in runs if r.result.status is Status.ERROR and not r.result.refuted]
    return lines + [f"error: {run.engine}: {_reason(run)}" for run in errors]


def _table(runs: list[Run], wrong: set[int], best: Best) -> Table:
    """Return a row per run, and with several runs one of what they say together."""
    # What the runs differ in gets a column.
    settings = {
        "encoding": [run.result.encoding for run in runs],
        "seed": [str(run.seed) for run in runs],
        "limit": [_limit(run) for run in runs],
    }
    several = {name: column for name, column in settings.items() if len({*column} - {""}) > 1}
    # Values that differ must not look alike.
    places = digits(value for run in runs for value in (run.result.objective, run.result.bound))
    rows: list[tuple[str, ...]] = []
    tones: list[Tone] = []
    for i, run in enumerate(runs):
        result = run.result
        leads = (
            i not in wrong and result.objective is not None and result.objective == best.objective
        )
        cells = [run.engine, *(column[i] for column in several.values())]
        cells += [
            _outcome(run, i in wrong),
            _number(result.objective, places) + (" *" if leads and result.verified else "  "),
            _number(result.bound, places),
            _percent(result.gap),
            _seconds(run.seconds_to_best),
            _seconds(result.times.total),
            "-" if result.memory is None else f"{result.memory / 1e6:.0f}",
        ]
        rows.append(tuple(cells))
        tones.append(_tone(run, i in wrong))
    if len(runs) > 1:
        rows.append(_best_cells(best, len(several), places))
        tones.append("strong")
    head = ("engine", *several, "outcome", *_FIGURES)
    left = tuple(range(len(several) + 2))
    return Table(head, tuple(rows), left, tuple(tones))


def _best_cells(best: Best, extra: int, places: int) -> tuple[str, ...]:
    outcome = "infeasible" if best.infeasible else "proved" if best.proved else "open"
    cells = ["virtual best", *[""] * extra, outcome]
    cells += [_number(best.objective, places) + "  ", _number(best.bound, places)]
    return (*cells, _percent(best.gap), "", _seconds(best.seconds), "")


def _rich_table(table: Table, ascii_only: bool) -> RenderableType:
    from rich.box import Box
    from rich.table import Table as RichTable
    from rich.text import Text

    lines = Box(LINES.replace("─", "-") if ascii_only else LINES)
    drawn = RichTable(box=lines, show_edge=False, pad_edge=False, padding=(0, 1))
    for c, name in enumerate(table.head):
        figure = c not in table.left
        drawn.add_column(
            name,
            justify="right" if figure else "left",
            no_wrap=figure or name == "outcome",
            overflow="fold" if c == 0 else "ellipsis",
        )
    for row, tone in zip(table.rows, table.tones, strict=True):
        if tone == "strong":
            drawn.rows[-1].end_section = True
        drawn.add_row(*map(Text, row), style=_STYLES[tone])
    return drawn


def _outcome(run: Run, wrong: bool) -> str:
    status = run.result.status
    if wrong:
        return "WRONG"
    if status is Status.OPTIMAL:
        return "proved"
    if status is Status.INFEASIBLE:
        return "infeasible"
    if status is Status.ERROR:
        return "ERROR"
    if run.result.termination is Termination.COMPLETED and not run.result.options.get("gap"):
        return "no proof"
    return _OUTCOMES[run.result.termination]


def _tone(run: Run, wrong: bool) -> Tone:
    if wrong or run.result.status is Status.ERROR:
        return "bad"
    return "good" if run.result.proved else ""


def _reason(run: Run) -> str:
    if run.result.error:
        return run.result.error
    # In files of earlier versions: the last line of a traceback is the exception itself.
    if run.result.warnings:
        return run.result.warnings[-1].splitlines()[-1].strip()
    return run.result.raw_status


def _limit(run: Run) -> str:
    limit = run.result.options.get("time_limit")
    return "none" if limit is None else f"{limit:g} s"


def _number(value: Value | None, places: int) -> str:
    return "-" if value is None else decimal(value, places)


def _percent(gap: float | None) -> str:
    if gap is None:
        return "-"
    # Rounding must not make a proof of a gap that is only small.
    return "0 %" if gap == 0 else f"{max(gap, 0.0005):.1%}".replace("%", " %")


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
