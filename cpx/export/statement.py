"""The statement of one instance as mathematics and plain text."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from cpx.export.document import Document, Section, one_line

if TYPE_CHECKING:
    from cpx.models.base import Encoding, Problem, Statement
    from cpx.models.monomial.problem import MonomialProblem, WeightedProblem

__all__ = ["in_words", "unstated_in_words"]

_WIDTH = 96


def in_words(problem: Problem, statement: Statement, encoding: str) -> Document:
    """Return what is asked, the data, the objective spelled out, and the encoding."""
    words = _encoding(problem.encoding(encoding), statement)
    return Document([*_asked(problem), Section.of(words)])


def unstated_in_words(problem: Problem) -> Document:
    """Return what is asked, the data, and why there is no statement."""
    encoding = problem.encoding()
    would_be = f"It would be that of the encoding {encoding.name}. {encoding.summary}"
    why = f"Not shown: {problem.unstated}."
    filled = [line for text in (would_be, why) for line in textwrap.wrap(text, _WIDTH)]
    return Document([*_asked(problem), Section.of(["", "Statement", "---------", *filled])])


def _asked(problem: Problem) -> list[Section]:
    from cpx.models.monomial.problem import MonomialProblem

    notes = [f"  note         {one_line(note)}" for note in problem.notes()]
    sections = [Section.of(_title(problem)), Section.of(["", *_doc(type(problem)), ""])]
    told = [f"  {name:<12} {one_line(text)}" for name, text in problem.told_facts().items()]
    sections.append(Section.of(["Instance", *told, *notes]))
    if isinstance(problem, MonomialProblem):
        return [*sections, *_monomial(problem)]
    title, names = problem.listed
    lines = (f"  {j:>4}  {one_line(name)}" for j, name in enumerate(names))
    return [
        *sections,
        Section.of(["", title]),
        Section(lines, len(names), "features"),
    ]


def _title(problem: Problem) -> list[str]:
    name = one_line(str(getattr(problem, "name", "")))
    title = f"{problem.kind}{f' {name!r}' if name else ''}"
    return [title, "=" * len(title)]


def _doc(described: object) -> list[str]:
    """Return a docstring up to its first section, without the marks of Sphinx."""
    text = inspect.getdoc(described) or ""
    text = re.split(r"\n\n\w[\w ]*\n-{3,}\n", text)[0]
    text = re.sub(r"\s*\[\d+\]_", "", text)
    text = re.sub(r":\w+:`~?[\w.]*?(\w+)`", r"\1", text)
    text = text.replace("``", "").replace("\\|", "|").replace("::\n", ":\n")
    lines: list[str] = []
    for paragraph in text.rstrip().split("\n\n"):
        # Formulas are indented; running text is filled again after the replacements.
        prose = not any(line.startswith(" ") for line in paragraph.splitlines())
        lines += ["", *(textwrap.wrap(paragraph, _WIDTH) if prose else paragraph.splitlines())]
    return lines[1:]


def _monomial(problem: MonomialProblem) -> list[Section]:
    from cpx.models.base import RatioProblem
    from cpx.models.monomial.problem import WeightedProblem

    m, d = problem.samples.m, problem.samples.d
    lines: list[str] = []
    stated: Problem = problem
    if isinstance(problem, RatioProblem):
        # A ratio is no sum of costs; what is stated is a step.
        stated, at = problem.first_step(), problem.evaluate(problem.first()).objective
        lines = [f"Objective: {problem.ratio}, to maximise"]
        lines += [f"Stated below: the first step of Dinkelbach's method, at {at}", ""]
    assert isinstance(stated, WeightedProblem)
    lines += _objective(stated)
    return [
        Section.of(["", "Features j: literal, samples that agree with x on it"]),
        Section(_features(problem), d, "features"),
        Section.of(["", "Samples i: a_i0 a_i1 ..., class, weight, cost, features that differ"]),
        Section(_samples(stated), m, "samples"),
        Section.of(["", *lines]),
    ]


def _features(problem: MonomialProblem) -> Iterator[str]:
    samples = problem.samples
    agreeing = samples.agreement.sum(axis=0)
    for j, literal in enumerate(samples.features):
        group = "" if samples.groups is None else f", group {samples.groups[j]}"
        yield f"  {j:>4}  {one_line(literal)}: {agreeing[j]}{group}"


def _samples(problem: WeightedProblem) -> Iterator[str]:
    from cpx.data.bits import string_of

    samples, form = problem.samples, problem.search_form()
    for i, row in enumerate(form.agreement):
        same = "same " if samples.same[i] else "other"
        costs = [
            f"{cost} {when}"
            for cost, when in (
                (form.cost_covered[i], "if covered"),
                (form.cost_uncovered[i], "if not covered"),
            )
            if cost
        ]
        differs = ", ".join(map(str, np.flatnonzero(~row))) or "none"
        words = " and ".join(costs) or "no cost"
        yield (
            f"  {i:>4}  {string_of(row)}  {same}  {samples.weights[i]:>3}  {words:<16}  "
            f"{{{differs}}}".replace("{none}", "none")
        )


def _objective(problem: WeightedProblem) -> list[str]:
    form = problem.search_form()
    pairs = zip(form.cost_covered.tolist(), form.cost_uncovered.tolist(), strict=True)
    terms = [
        f"{cost if cost > 1 else ''}[{i} {what}]".strip()
        for i, (on, off) in enumerate(pairs)
        for cost, what in ((on, "covered"), (off, "not covered"))
        if cost
    ]
    text = f"minimise {problem.claim()}(S) = {' + '.join(terms) or '0'}"
    if problem.sense == "max":
        costs = f" - ({' + '.join(terms)})" if terms else ""
        text = f"maximise {problem.claim()}(S) = {problem.greatest()}{costs}"
    lines = textwrap.wrap(text, _WIDTH, subsequent_indent="    ", break_long_words=False)
    most = 6
    if len(lines) > most:
        lines = [*lines[:most], f"    ... {len(terms):,} terms in all"]
    return ["Objective: [i covered] is 1 when a_ij = 1 for all j in S, else 0", *lines]


def _encoding(encoding: Encoding[object], statement: Statement) -> list[str]:
    arrays = ", ".join(f"{name} ({len(list(v))})" for name, v in statement.variables.items())
    title = f"Encoding {encoding.name}"
    study = "" if encoding.faithful else " (for study: its value is not the problem's)"
    return [
        "",
        title + study,
        "-" * len(title),
        *_doc(encoding.build),
        "",
        f"Here: variables {arrays}; {len(statement.model.constraints)} constraints as stated; "
        f"objective = value {'-' if statement.offset < 0 else '+'} {abs(statement.offset)}.",
    ]
