"""The printed tables of a comparison: one for each instance, and a summary over all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cpx.answers.claim import source_words
from cpx.answers.result import Status, Termination
from cpx.answers.text import Block, Paragraph, Table, Tone
from cpx.answers.values import Value, decimal, digits
from cpx.compare.cases import cases_of, reason
from cpx.compare.records import Best, Run, best_of, contradictions
from cpx.compare.scores import scores
from cpx.compare.summary import summary
from cpx.support.shares import percent

__all__ = ["blocks", "cautions", "outcome"]

Groups = Mapping[str, list[Run]]
"""The runs on each instance, by its name."""

_OUTCOMES = {
    Termination.COMPLETED: "stopped at gap",
    Termination.TIME_LIMIT: "time limit",
    Termination.MEMORY_LIMIT: "memory limit",
    Termination.INTERRUPTED: "interrupted",
    Termination.SOLVER_ERROR: "error",
}

_FIGURES = ("value", "bound", "gap", "best at", "seconds", "cpu", "memory")

_INTERRUPTED = "interrupted: not all runs were made"
_NOTE = (
    "* best value; best at: seconds until it was found, 'start' where another method found it; "
    "cpu: seconds of processor time; memory: MB at the peak"
)


def blocks(groups: Groups, complete: bool) -> list[Block]:
    """Return the tables, contradictions and notes, and a summary over several instances."""
    parts: list[Block] = []
    for name, runs in groups.items():
        wrong = contradictions(runs)
        parts.append(_table(name, runs, set(wrong), best_of(runs, wrong)))
        parts += [Paragraph(text, "bad") for text in _troubles(runs, wrong)]
    if not parts:
        return [Paragraph("no runs")]
    parts.append(Paragraph(_NOTE))
    parts += [
        Paragraph(text, "open")
        for text in cautions([run for runs in groups.values() for run in runs])
    ]
    if len(groups) > 1:
        cases = cases_of([run for runs in groups.values() for run in runs])
        parts += summary(cases, scores(cases))
    if not complete:
        parts.append(Paragraph(_INTERRUPTED, "open"))
    return parts


def cautions(runs: Sequence[Run]) -> list[str]:
    """Say what a reader must know before figures are compared."""
    stated = (
        f"{run.configuration}: {source_words(run.result.statement)}"
        for run in runs
        if run.result.statement
    )
    return [*dict.fromkeys(stated), *_busy(runs)]


def _busy(runs: Iterable[Run]) -> list[str]:
    """Say where machines had more to do than cores to do it on when runs began."""
    worst: dict[str, tuple[float, float, int]] = {}
    for run in runs:
        load, cores = run.machine.get("load"), run.machine.get("cores")
        if load is None or not cores:
            continue
        high, _, count = worst.get(run.host, (0.0, 0, 0))
        worst[run.host] = (max(high, load), cores, count + (load > cores))
    return [
        f"busy machine{f' {host}' if host else ''}: the load was up to {high:.0f} on {cores} "
        f"cores, above them for {count} runs: compare processor times rather than seconds"
        for host, (high, cores, count) in worst.items()
        if count
    ]


def _troubles(runs: list[Run], wrong: dict[int, str]) -> list[str]:
    lines = [f"CONTRADICTION: {sentence}; not ranked" for sentence in wrong.values()]
    errors = [
        run
        for i, run in enumerate(runs)
        if run.result.status is Status.ERROR and not run.result.refuted and i not in wrong
    ]
    return lines + [f"error: {run.configuration}: {reason(run)}" for run in errors]


def _table(name: str, runs: list[Run], wrong: set[int], best: Best) -> Table:
    """Return a row per run, and with several runs one of what they say together."""
    # What the runs differ in gets a column.
    settings = {
        "encoding": [_encoding(run) for run in runs],
        "seed": [str(run.seed) for run in runs],
        "limit": [_limit(run) for run in runs],
    }
    settings["threads"] = [str(run.result.options.get("threads", 1)) for run in runs]
    several = {name: column for name, column in settings.items() if len({*column} - {""}) > 1}
    if any(settings["encoding"]):
        # Who solved what is not to be guessed, also where all solved the same.
        several = {"encoding": settings["encoding"], **several}
    # Values that differ must not look alike.
    places = digits(value for run in runs for value in (run.result.objective, run.result.bound))
    rows: list[tuple[str, ...]] = []
    tones: list[Tone] = []
    for i, run in enumerate(runs):
        result = run.result
        leads = (
            i not in wrong and result.objective is not None and result.objective == best.objective
        )
        cells = [run.configuration, *(column[i] for column in several.values())]
        cells += [
            outcome(run, i in wrong),
            _number(result.objective, places) + (" *" if leads and result.verified else "  "),
            # A refuted bound is none, nor is the gap to it.
            _number(None if i in wrong else result.bound, places),
            _percent(None if i in wrong else result.gap),
            "start" if run.from_start else _seconds(run.seconds_to_best),
            _seconds(result.times.total),
            _seconds(result.times.cpu),
            "-" if result.memory is None else f"{result.memory / 1e6:.0f}",
        ]
        rows.append(tuple(cells))
        tones.append(_tone(run, i in wrong))
    if len(runs) > 1:
        rows.append(_best_cells(best, len(several), places))
        tones.append("strong")
    head = ("engine", *several, "outcome", *_FIGURES)
    left, title = tuple(range(len(several) + 2)), f"{name}  {runs[0].statement}"
    return Table(head, tuple(rows), left, tuple(tones), title)


def _best_cells(best: Best, extra: int, places: int) -> tuple[str, ...]:
    outcome = "infeasible" if best.infeasible else "proved" if best.proved else "open"
    cells = ["virtual best", *[""] * extra, outcome]
    cells += [_number(best.objective, places) + "  ", _number(best.bound, places)]
    return (*cells, _percent(best.gap), "", _seconds(best.seconds), "", "")


def outcome(run: Run, wrong: bool) -> str:
    """Return how a run ended, in a word or two."""
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


def _encoding(run: Run) -> str:
    # One that was chosen is part of the configuration.
    return "" if run.result.options.get("encoding") else run.result.encoding


def _limit(run: Run) -> str:
    limit = run.result.options.get("time_limit")
    return "none" if limit is None else f"{limit:g} s"


def _number(value: Value | None, places: int) -> str:
    return "-" if value is None else decimal(value, places)


def _percent(gap: float | None) -> str:
    if gap is None:
        return "-"
    # Rounding must not make a proof of a gap that is only small.
    return "0 %" if gap == 0 else percent(max(gap, 0.0005))


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
