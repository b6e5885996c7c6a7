"""Explanations and results as HTML, for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from cpx.answers.values import digits, in_words

if TYPE_CHECKING:
    from cpx.answers.explanation import Explanation
    from cpx.answers.result import Result

__all__ = ["explanation_html", "result_html"]

# Colours that read on light and dark notebook themes alike: only the accents are coloured.
_BOX = "border-left:4px solid #3b7dd8;padding:.4em .9em;margin:.3em 0;max-width:60em"
_CHIP = (
    "display:inline-block;border:1px solid #3b7dd8;border-radius:.8em;"
    "padding:.05em .7em;margin:.15em .2em .15em 0"
)
_BAR = "display:inline-block;width:10em;height:.6em;background:#8884;vertical-align:middle"


def explanation_html(explanation: Explanation) -> str:
    """Return the rule as chips, with bars for precision and coverage."""
    rule = explanation.rule
    texts = map(escape, rule.words)
    chips = f" {rule.joint} ".join(f'<span style="{_CHIP}">{text}</span>' for text in texts)
    nothing = f"<i>{rule.empty.strip('()')}</i>"
    head = f"{chips or nothing} &rArr; <b>{escape(rule.conclusion)}</b>"
    rows = []
    if explanation.fresh is not None:
        rows.append(_row("precision", explanation.fresh.value, str(explanation.fresh)))
    elif explanation.precision is not None:
        share = float(explanation.precision)
        rows.append(_row("precision", share, f"{share:.3f} on the samples"))
    if explanation.coverage is not None:
        share = float(explanation.coverage)
        rows.append(_row("coverage", share, f"{share:.3f} of the samples"))
    said = [("proved", explanation.proved), ("guarantee", explanation.guarantee)]
    said += [("note", text) for text in explanation.notes]
    rows += [
        f"<tr><td>{name}</td><td colspan=2>{escape(text)}</td></tr>" for name, text in said if text
    ]
    table = f"<table style='text-align:left'>{''.join(rows)}</table>" if rows else ""
    return f'<div style="{_BOX}"><div>{head}</div>{table}</div>'


def result_html(result: Result) -> str:
    """Return the explanation with status, value, bound, gap and seconds below it."""
    body = "" if result.explanation is None else explanation_html(result.explanation)
    gap = "none" if result.gap is None else f"{result.gap:.1%}"
    value, bound = result.objective, result.bound
    places = digits((value, bound))
    facts = {
        "status": f"{result.status} ({result.termination})",
        "value": None if value is None else in_words(value, places),
        "bound": None if bound is None else in_words(bound, places),
        "gap": gap,
        "engine": ", ".join(filter(None, (result.engine, result.encoding))),
        "seconds": f"{result.times.total:.2f}",
        "checked": "yes" if result.verified else "no",
    }
    cells = "".join(f"<th>{name}</th>" for name in facts)
    values = "".join(f"<td>{escape(str(value))}</td>" for value in facts.values())
    notes = "".join(f"<li>{escape(text)}</li>" for text in result.warnings)
    warnings = f"<ul>{notes}</ul>" if notes else ""
    return f"{body}<table><tr>{cells}</tr><tr>{values}</tr></table>{warnings}"


def _row(name: str, share: float, text: str) -> str:
    filled = (
        f"<span style='display:block;height:100%;width:{share:.1%};background:#3b7dd8'></span>"
    )
    return (
        f"<tr><td>{name}</td><td><span style='{_BAR}'>{filled}</span></td>"
        f"<td>{escape(text)}</td></tr>"
    )
