"""All kinds of explanations of a row as one page of HTML that needs no network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cpx.answers.pages import filled_page
from cpx.errors import printable
from cpx.models.all_kinds.parts import OneKind
from cpx.support.shares import significant

if TYPE_CHECKING:
    from cpx.answers.explanations_page import Beside


def html_page(found: Any, title: str = "", files: Mapping[str, Beside] | None = None) -> str:
    """Return the page; its heading is the class unless there is a title.

    files: What is linked beside a kind.

    Raises EngineMissing: When jinja2 is not installed; with the pip line.
    """
    answered = found.answered
    said = {one.kind: one.columns for one in answered}
    columns = [
        (printable(name), len(of), [printable(said[kind].get(name, "")) for kind in said])
        for name, of in found.columns.items()
    ]
    known = [
        {
            "of": one.of,
            "columns": one.columns,
            "expected": significant(one.expected),
            "key": one.expected,
            "share": one.share,
            "told": one.told(),
        }
        for one in found.known
    ]
    sections = {
        "answers": "Answers",
        "columns": "Columns" * bool(columns),
        "expected": "What the model expects" * bool(known),
        "relations": "How they relate" * bool(found.relations),
        "proofs": "What was proved",
    }
    return filled_page(
        "cpx.models.all_kinds",
        "all_kinds",
        {},
        title=printable(title or found.headline()),
        lead=printable(found.headline() if title else found.counts()),
        sections=[(name, text) for name, text in sections.items() if text],
        kinds=[_kind(one, (files or {}).get(one.kind)) for one in found.kinds],
        answered=[*said],
        columns=columns,
        known=known,
        measure=found.measure,
        relations=[
            (printable(one.text), "good" if one.law else "plain") for one in found.relations
        ],
    )


def _kind(one: OneKind, beside: Beside | None) -> dict[str, Any]:
    value, bound = one.figures()
    facts = [*one.found.facts(), *([] if one.found.rows is None else [one.found.rows.fact()])]
    told = [(fact.name, printable(fact.text)) for fact in facts if fact.text]
    if beside is not None:
        told.append(("check it by", beside.command))
    return {
        "links": [] if beside is None else [*beside.links],
        "kind": one.kind,
        "asks": one.asks,
        "why": one.why,
        "text": printable(one.why or one.found),
        "value": value,
        "bound": bound,
        "told": one.told,
        "seconds": f"{one.seconds:.2f}",
        "facts": told or [("answer", printable(one.why))],
    }
