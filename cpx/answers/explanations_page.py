"""Explanations of many rows as one page: a table to sort and filter, and a picture of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from cpx.answers.pages import filled_page
from cpx.answers.panels import Spread
from cpx.answers.values import class_words, plural
from cpx.errors import printable
from cpx.support.shares import share_text

if TYPE_CHECKING:
    from cpx.answers.explanation import Explanation

__all__ = ["Beside", "explanations_page"]

_SHARES = ("probability", "precision", "coverage")


class Beside(NamedTuple):
    """Files beside a page that are about a row: names and addresses, and what checks them."""

    links: Sequence[tuple[str, str]]
    command: str


class _Cell(NamedTuple):
    """A text, and the number by which it is sorted."""

    text: str
    key: float | None = None


def explanations_page(
    found: Any,
    title: str = "",
    overview: Any = None,
    files: Mapping[int, Beside] | None = None,
) -> str:
    """Return the page.

    Parameters
    ----------
    found : Explanations
        All of them.
    title : str
        Its heading.
    overview : Overview, optional
        What they say together.
    files : mapping of int to Beside, optional
        What is linked beside a row, by its place.

    Raises
    ------
    EngineMissing
        When jinja2 is not installed; with the pip line.
    """
    spreads: dict[int, Spread] = {}
    frame = found.to_frame()
    shown = [name for name in _SHARES if frame[name].notna().any()]
    heads = [("row", "text"), ("class", "text"), *((name, "number") for name in shown)]
    heads += [("size", "number"), ("explanation", "text rule"), ("status", "text")]
    rows = [
        {"label": printable(label), "why": one.why, "cells": _cells(one, shown)}
        for label, one in zip(found.labels, found)
    ]
    data = {
        "rows": [
            _row(one, label, spreads, (files or {}).get(place))
            for place, (label, one) in enumerate(zip(found.labels, found))
        ],
        "spreads": [],
    }
    data["spreads"] = [spread.to_json() for spread in spreads.values()]
    answered = len(found.answered)
    lead = f"{plural(len(found), 'row')}, {answered} explained."
    if not found.complete:
        lead += " Interrupted: the others were not asked about."
    return filled_page(
        "cpx.answers",
        "explanations",
        data,
        title=printable(title or lead),
        lead=lead,
        sections=[("together", "Together"), ("rows", "Rows")],
        heads=heads,
        rows=rows,
        **_together(found, overview),
    )


def _cells(one: Explanation, shown: Sequence[str]) -> list[_Cell]:
    values = {
        "probability": None if one.row is None else one.row.probability,
        "precision": one.precision,
        "coverage": one.coverage,
    }
    shares = [values[name] for name in shown]
    return [
        _Cell(printable(class_words(one.row_class) or one.rule.says)),
        *(_Cell("") if v is None else _Cell(share_text(v), float(v)) for v in shares),
        _Cell(str(len(one.rule)), len(one.rule)),
        _Cell(printable(one.why or one)),
        _Cell("" if one.status is None else str(one.status)),
    ]


def _row(
    one: Explanation, label: Any, spreads: dict[int, Spread], beside: Beside | None
) -> dict[str, Any]:
    """Return what the script shows of a row; equal spreads are there once."""
    panels = []
    for panel in one.panels:
        drawn = panel.to_json()
        drawn["spread"] = None
        if panel.spread is not None:
            place = spreads.setdefault(id(panel.spread), panel.spread)
            drawn["spread"] = [*spreads].index(id(place))
        drawn["name"], drawn["text"] = printable(panel.name), printable(panel.text)
        panels.append(drawn)
    facts = [*one.about(), *one.facts(), *([] if one.rows is None else [one.rows.fact()])]
    told = [(fact.name, printable(fact.text)) for fact in facts if fact.text]
    if beside is not None:
        told.append(("check it by", beside.command))
    return {
        "label": printable(label),
        "class": printable(class_words(one.row_class) or one.rule.says),
        "text": printable(one.why or one),
        "panels": panels,
        "facts": told,
        "files": [] if beside is None else [list(pair) for pair in beside.links],
    }


def _together(found: Any, overview: Any) -> dict[str, Any]:
    findings = list[tuple[str, str]]()
    if overview is None:
        return {"findings": findings, "rules": [], "columns": []}
    findings.append((printable(overview.headline()), "good" if overview.rules else "plain"))
    if none := len(overview.unexplained):
        told = f"explained by no rule of precision {share_text(overview.limit)} or more"
        findings.append((f"{told}: {plural(none, 'row')}", "plain"))
    if lacking := len(found.asked) - len(found.answered):
        findings.append((f"{plural(lacking, 'row')} without an answer", "bad"))
    rules = [
        {
            "text": printable(one.explanation),
            "rows": one.rows,
            "new": one.new,
            "share": one.rows / max(1, overview.total),
            "precision": share_text(one.explanation.precision or 0),
            "coverage": share_text(one.explanation.coverage or 0),
        }
        for one in overview.rules
    ]
    columns = [
        (printable(name), count, count / max(1, overview.total))
        for name, count in overview.columns.items()
    ]
    return {"findings": findings, "rules": rules, "columns": columns}
