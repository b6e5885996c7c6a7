"""A comparison as a table: per instance a row per engine, and the best of all."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING

from cpx.answers.result import Status, Termination
from cpx.answers.values import Value, decimal, digits
from cpx.compare.records import Best, Run, best_of, contradictions

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["LINES", "as_text", "renderables"]

_OUTCOMES = {
    Termination.COMPLETED: "stopped at gap",
    Termination.TIME_LIMIT: "time limit",
    Termination.MEMORY_LIMIT: "memory limit",
    Termination.INTERRUPTED: "interrupted",
    Termination.SOLVER_ERROR: "error",
}

# Lines below the header and between sections, nothing else.
LINES = "    \n    \n ── \n    \n ── \n    \n    \n    \n"

NOTE = "* best value; best at: seconds until it was found; memory: MB at the peak"


def as_text(by_instance: Mapping[str, list[Run]], complete: bool, width: int = 100) -> str:
    """Return the tables of the runs of each instance as plain text, for files and pipes."""
    from rich.console import Console

    out = io.StringIO()
    console = Console(file=out, width=width, color_system=None, highlight=False)
    for part in renderables(by_instance, complete, ascii_only=True):
        console.print(part)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def renderables(
    by_instance: Mapping[str, list[Run]], complete: bool, ascii_only: bool = False
) -> list[RenderableType]:
    """Return the tables, contradictions and notes as things that rich can print."""
    from rich.text import Text

    parts: list[RenderableType] = []
    for name, runs in by_instance.items():
        wrong = contradictions(runs)
        best = best_of(runs, wrong)
        title = Text(name, style="bold", overflow="fold")
        title.append(f"  {runs[0].statement}", style="not bold")
        parts += [title, _table(runs, set(wrong), best, ascii_only)]
        for sentence in wrong.values():
            parts.append(Text(f"CONTRADICTION: {sentence}; not ranked", style="bold red"))
        for run in runs:
            if run.result.status is Status.ERROR:
                parts.append(Text(f"error: {run.engine}: {_reason(run)}", style="red"))
        parts.append(Text(""))
    if not parts:
        return [Text("no runs")]
    parts.append(Text(NOTE, style="dim"))
    if not complete:
        parts.append(Text("interrupted: not all runs were made", style="yellow"))
    return parts


def _table(runs: list[Run], wrong: set[int], best: Best, ascii_only: bool) -> RenderableType:
    from rich.box import Box
    from rich.table import Table
    from rich.text import Text

    # What the runs differ in gets a column.
    settings = {
        "encoding": [run.result.encoding for run in runs],
        "seed": [str(run.seed) for run in runs],
        "limit": [_limit(run) for run in runs],
    }
    several = {name: column for name, column in settings.items() if len({*column} - {""}) > 1}
    lines = Box(LINES.replace("─", "-") if ascii_only else LINES)
    table = Table(box=lines, show_edge=False, pad_edge=False, padding=(0, 1))
    table.add_column("engine", overflow="fold")
    for name in several:
        table.add_column(name)
    table.add_column("outcome", no_wrap=True)
    for name in ("value", "bound", "gap", "best at", "seconds", "memory"):
        table.add_column(name, justify="right", no_wrap=True)
    # Values that differ must not look alike.
    places = digits(value for run in runs for value in (run.result.objective, run.result.bound))
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
        table.add_row(*(Text(cell) for cell in cells), style=_style(run, i in wrong))
    _add_best(table, best, len(several), len(runs), places)
    return table


def _add_best(table: object, best: Best, extra: int, count: int, places: int) -> None:
    from rich.table import Table
    from rich.text import Text

    assert isinstance(table, Table)
    if count < 2:
        return
    outcome = "infeasible" if best.infeasible else "proved" if best.proved else "open"
    cells = ["virtual best", *[""] * extra, outcome]
    cells += [_number(best.objective, places) + "  ", _number(best.bound, places)]
    cells += [_percent(best.gap), "", _seconds(best.seconds), ""]
    table.rows[-1].end_section = True
    table.add_row(*(Text(cell) for cell in cells), style="bold")


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


def _style(run: Run, wrong: bool) -> str:
    if wrong or run.result.status is Status.ERROR:
        return "red"
    return "green" if run.result.proved else ""


def _reason(run: Run) -> str:
    # The last line of a warning with a traceback is the exception itself.
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
