"""The tables of a report, and the same in CSV."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

from cpx.answers.explanation import Explanation
from cpx.answers.text import Tone
from cpx.answers.values import Value, decimal, digits
from cpx.compare.cases import Cases, reason
from cpx.compare.records import Run
from cpx.compare.statistics import intervals, pairs
from cpx.compare.summary import floored, in_seconds
from cpx.errors import printable
from cpx.support.files import csv_text
from cpx.support.shares import percent, share_text

_MOST_PAIRS = 400


class Column(NamedTuple):
    """The head of a column; the kind is ``text``, ``number`` or ``text rule``."""

    name: str
    kind: str = "number"

    @property
    def title(self) -> str:
        """What the column means, or ``""``."""
        return DEFINITIONS.get(self.name, "")


class Cell(NamedTuple):
    """A text, and the number by which it is sorted."""

    text: str
    key: float | None = None


class Row(NamedTuple):
    """The cells of a row."""

    cells: tuple[Cell, ...]
    tone: Tone = ""


class Grid(NamedTuple):
    """A table with its name for files, and its caption."""

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


def grids(cases: Cases, scores: pd.DataFrame) -> dict[str, Grid]:
    """Return the tables of a comparison by their names, those that have rows."""
    ranked = cases.ranked
    made = [_scores(cases, scores), settings(cases, list(scores.index)), _explanations(cases)]
    made.append(_errors(cases))
    if len(ranked) >= 2 and len(ranked) * (len(ranked) - 1) // 2 <= _MOST_PAIRS:
        made.append(_pairs(cases, list(scores.index)))
    if len(cases.problems) > 1:
        made.append(_intervals(cases, list(scores.index)))
    return {grid.name: grid for grid in made if grid.rows}


_SCORES = (
    ("proved", "proved", "count"),
    ("solved", "solved", "count"),
    ("best value", "best", "count"),
    ("PAR-2", "par2", "seconds"),
    ("PAR-2, cpu", "par2_cpu", "seconds"),
    ("to best", "to_best", "seconds"),
    ("to target", "to_target", "seconds"),
    ("to proof", "to_proof", "seconds"),
    ("gap", "gap", "share"),
    ("quality", "quality", "quality"),
    ("primal integral", "primal_integral", "seconds"),
    ("dual integral", "dual_integral", "seconds"),
    ("points", "points", "1"),
    ("rank", "rank", "2"),
    ("proved alone", "proved_alone", "0"),
    ("contribution", "contribution", "seconds"),
)


def _scores(cases: Cases, scores: pd.DataFrame) -> Grid:
    rows = []
    for name, row in scores.iterrows():
        cells = [Cell(printable(cases.labels[str(name)]))]
        for _, column, form in _SCORES:
            unranked = row["wrong"] and column in ("points", "rank")
            cells.append(Cell("WRONG") if unranked else _cell(row[column], form, row["runs"]))
        rows.append(Row(tuple(cells), "bad" if row["wrong"] else ""))
    columns = (Column("configuration", "text"), *(Column(name) for name, _, _ in _SCORES))
    return Grid("scores", "Scores of each configuration", columns, tuple(rows))


def settings(cases: Cases, order: Sequence[str]) -> Grid:
    """Return what each configuration ran with: encoding, start, threads, limits, versions."""
    told: dict[str, list[dict[str, None]]] = {name: [{} for _ in _SETTINGS] for name in order}
    for name, run in zip(cases.frame["configuration"], cases.runs, strict=True):
        for known, text in zip(told[str(name)], _settings(run), strict=True):
            known[text] = None
    columns = (Column("configuration", "text"), *(Column(name, "text") for name in _SETTINGS))
    rows = [
        Row((Cell(printable(name)), *(Cell(printable(", ".join(each))) for each in told[name])))
        for name in order
    ]
    return Grid("settings", "What each configuration ran with", columns, tuple(rows))


_SETTINGS = ("encoding", "start", "threads", "limit", "seed", "versions")


def _settings(run: Run) -> list[str]:
    result, options = run.result, run.result.options
    start = "none"
    if result.start is not None:
        start = str(result.start.get("method"))
    elif options.get("warm_start"):
        start = "allowed"
    limit, cpu = options.get("time_limit"), options.get("cpu_limit")
    seed = str(options.get("seed", 0)) if run.heeds_seed else "ignored"
    return [
        (result.encoding or "none needed") + (", your own" if result.statement else ""),
        start,
        str(options.get("threads", 1)),
        ("none" if limit is None else f"{limit:g} s")
        + (f", {cpu:g} s of processor time" if cpu is not None else ""),
        seed,
        ", ".join(f"{name} {value}" for name, value in result.versions.items()),
    ]


def _pairs(cases: Cases, order: Sequence[str]) -> Grid:
    place = {name: i for i, name in enumerate(order)}
    rows = []
    for found in pairs(cases).to_dict("records"):
        first, second = found["first"], found["second"]
        win, lose, difference = found["wins"], found["losses"], found["difference"]
        if place[first] > place[second]:
            first, second, win, lose, difference = second, first, lose, win, -difference
        values = (win, found["ties"], lose, difference, found["p"], found["p_holm"])
        forms = ("0", "0", "0", "signed", "p", "p")
        cells = [_cell(value, form, 0) for value, form in zip(values, forms, strict=True)]
        names = [Cell(printable(cases.labels[name])) for name in (first, second)]
        rows.append((place[first], place[second], Row((*names, *cells))))
    texts = (Column("first", "text"), Column("second", "text"))
    heads = ("wins", "ties", "losses", "median difference in PAR-2", "p", "p (Holm)")
    columns = (*texts, *map(Column, heads))
    rows.sort(key=lambda row: row[:2])
    return Grid("pairs", "Each two configurations", columns, tuple(row for _, _, row in rows))


def _intervals(cases: Cases, order: Sequence[str]) -> Grid:
    found, rows = intervals(cases).to_dict("index"), []
    for name in order:
        cells = [Cell(printable(cases.labels[name]))]
        for score, form in (("proved", "share"), ("par2", "seconds"), ("quality", "quality")):
            values = found[score, name]
            mean, low, high = (_cell(values[v], form, 0) for v in ("mean", "low", "high"))
            cells.append(Cell(f"{mean.text}  [{low.text}, {high.text}]", mean.key))
        rows.append(Row(tuple(cells)))
    heads = ("proved", "PAR-2", "quality")
    columns = (Column("configuration", "text"), *(Column(name) for name in heads))
    return Grid("intervals", "Means with 95 % bootstrap intervals", columns, tuple(rows))


def _explanations(cases: Cases) -> Grid:
    """Return the best answer to each instance, and who found and proved it."""
    rows, frame = [], cases.frame
    founds = [run.result.explanation for run in cases.runs]
    fresh = any(found is not None and found.fresh is not None for found in founds)
    aside = any(found is not None and found.unseen is not None for found in founds)
    columns = ("problem", "configuration", "solved", "proved", "answer", "seconds")
    runs: list[list[tuple[Any, ...]]] = [[] for _ in cases.problems]
    for run, row in zip(cases.runs, zip(*(frame[name] for name in columns)), strict=True):
        runs[row[0]].append((*row[1:], run))
    for own, value in zip(runs, cases.reference, strict=True):
        order = sorted((row for row in own if row[1]), key=lambda row: (row[3], row[4]))
        run = (order or own)[0][-1]
        found, first = run.result.explanation, cases.labels[order[0][0]] if order else "-"
        proved = {row[0] for row in own if row[2]}
        told = "no solution: proved" if proved and value is None else "-"
        cells = [
            Cell(printable(run.instance)),
            Cell(printable(run.statement)),
            Cell("-" if value is None else decimal(value, digits([value])), _key(value)),
            Cell(str(len(proved)), len(proved)),
            Cell(printable(first)),
            Cell(printable(str(found)) if found is not None and order else told),
            _share(None if found is None else found.precision),
            *([Cell(_fresh(found))] if fresh else []),
            _share(None if found is None else found.coverage),
            *(_unseen(found) if aside else []),
        ]
        rows.append(Row(tuple(cells)))
    heads = (
        Column("instance", "text"),
        Column("problem", "text"),
        Column("value"),
        Column("proofs"),
        Column("first by", "text"),
        Column("explanation", "text rule"),
        Column("precision"),
        *([Column("precision, fresh")] if fresh else []),
        Column("coverage"),
        *([Column("precision, unseen"), Column("coverage, unseen")] if aside else []),
    )
    return Grid("explanations", "The best answer to each instance", heads, tuple(rows))


def _errors(cases: Cases) -> Grid:
    rows, failed, again = [], list(cases.frame["failed"]), list(cases.frame["again"])
    configurations = [str(name) for name in cases.frame["configuration"]]
    for i, run in enumerate(cases.runs):
        if (i in cases.refuted or failed[i]) and not again[i]:
            told = cases.refuted.get(i) or reason(run)
            texts = (run.instance, cases.labels[configurations[i]], told)
            rows.append(Row(tuple(Cell(printable(text)) for text in texts)))
    columns = tuple(Column(name, "text") for name in ("instance", "configuration", "what"))
    return Grid("errors", "Refuted claims and failed runs", columns, tuple(rows))


def _fresh(found: Explanation | None) -> str:
    if found is None or found.fresh is None:
        return "-"
    low, high = share_text(found.fresh.low), share_text(found.fresh.high)
    return f"{share_text(found.fresh.value)} [{low}, {high}]"


def _unseen(found: Explanation | None) -> list[Cell]:
    unseen = None if found is None else found.unseen
    if unseen is None:
        return [Cell("-"), Cell("-")]
    return [_share(unseen.precision), _share(unseen.coverage)]


def _share(share: float | None) -> Cell:
    return Cell("-") if share is None else Cell(share_text(share), float(share))


def _cell(value: float, form: str, runs: float) -> Cell:
    """Return a number in one of the forms of scores."""
    if not math.isfinite(value):
        return Cell("-", None if math.isnan(value) else value)
    if form == "count":
        return Cell(f"{value:.0f} of {runs:.0f}", float(value))
    if form == "seconds":
        return Cell(in_seconds(value, ""), float(value))
    if form == "signed":
        text = in_seconds(abs(value), "") if value else "0"
        return Cell(f"-{text}" if value < 0 else text, float(value))
    if form == "share":
        return Cell(percent(value), float(value))
    if form == "quality":
        return Cell(floored(value), float(value))
    if form == "p":
        return Cell("< 0.001" if value < 0.001 else f"{value:.3f}", float(value))
    return Cell(f"{value:.{form}f}", float(value))


def _key(value: Value | None) -> float | None:
    return None if value is None else float(value)


# ------------------------------------------------------------------- writing


def as_csv(grid: Grid) -> str:
    """Return a table in CSV, in which no text is a formula; numbers have all their digits."""
    names = [column.name for column in grid.columns]
    rows = []
    for row in grid.rows:
        cells = [
            cell.text
            if cell.key is None or column.kind != "number" or " of " in cell.text
            else repr(cell.key)
            for cell, column in zip(row.cells, grid.columns, strict=True)
        ]
        rows.append(dict(zip(names, cells, strict=True)))
    return csv_text(names, rows)


DEFINITIONS = {
    "case": "An instance with a seed and the limits: what configurations are compared on. A "
    "run of an engine that ignores the seed is one of each seed.",
    "configuration": "An engine with its options, and its encoding where it has several.",
    "best known value": "The best checked value of any run on the instance.",
    "proved": "Cases with a proof: of an optimum, or that there is no solution.",
    "solved": "Cases with a checked solution, or a proof that there is none.",
    "best value": "Cases in which the value is the best known one.",
    "PAR-2": "Mean seconds until the proof, twice the limit where there is none "
    "(SAT Competition).",
    "PAR-2, cpu": "The same by seconds of processor time, which a busy machine changes less.",
    "to best": "Median of the seconds until the engine found the best known value; never where "
    "a start that it was given has it.",
    "to target": "Median of the seconds until a value within 1 % of the best known one was found.",
    "to proof": "Median of the seconds until the proof.",
    "gap": "Mean of |value - bound| / max(1, |value|) at the end; 100 % without a value or a "
    "bound, and at most.",
    "quality": "Mean of (best known value + 1) / (value + 1), 0 without a solution "
    "(MaxSAT Evaluation, incomplete tracks); for a maximum, value / best known value.",
    "primal integral": "Mean area below the distance of the value from the best known one, from "
    "the start to the limit, in seconds (Berthold 2013).",
    "dual integral": "The same of the bound.",
    "points": "Sum over cases and opponents of 1 for a better answer, 0 for a worse one, and the "
    "opponent's share of both times where they are equal (MiniZinc Challenge).",
    "rank": "Mean rank, 1 for the best answer; equal answers share their ranks. An answer is "
    "better that is proved, else by its value; of two proofs the faster one is.",
    "proved alone": "Cases that no other configuration proves.",
    "contribution": "Seconds of PAR-2 that the virtual best engine loses without this one "
    "(Xu and others 2012).",
    "virtual best": "The best answer of all in each case, as if the right engine were known.",
    "performance profile": "Share of cases proved within so many times the seconds of the fastest "
    "proof (Dolan and Moré 2002).",
    "p": "Two-sided p-value of Wilcoxon's signed-rank test of PAR-2 over instances, zeros by "
    "Pratt's rule; corrected for the number of pairs by Holm's method.",
    "outcome": "WRONG: a claim that checked data refute; ERROR: the run failed.",
}
"""The words of the report, in the order in which it explains them."""
