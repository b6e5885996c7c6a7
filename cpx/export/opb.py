"""Writer of OPB, the format of pseudo-Boolean solvers.

CPMpy's own writer loses the constant of the objective and writes ``max:``, which readers refuse.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import islice

from cpx.backends.pseudo_boolean import PseudoBoolean
from cpx.export.document import Document, Section
from cpx.export.legend import head, legend_items
from cpx.export.origins import Origins, commented, ranges
from cpx.modelling.base import Problem
from cpx.modelling.statement import Statement


def opb(
    problem: Problem, statement: Statement, encoding: str, at_most: str | None = None
) -> Document:
    """Return the problem as an OPB file: ``min:``, ``>=`` and ``=``, integer coefficients.

    The first line counts variables and constraints, as OPB readers want. A maximisation is
    written as the minimisation of the negated objective, which the legend says.
    """
    form = PseudoBoolean(statement, at_most)
    program, lines = form.program, form.lines()
    named = []
    for place, array, index in program.named:
        if program.columns[place].binary:
            named.append((f"x{form.bits[place][0][1]}", array, index))
    origins = Origins(problem, statement, len(form.rows))
    places = {n: (array, i) for at, array, i in program.named for _, n in form.bits[at]}
    said = [
        origins.text(origin, [places[n] for _, n in row.terms if n in places])
        for origin, row in zip(form.origins, form.rows, strict=True)
    ]
    auxiliary = [f"* {line}" for line in ranges(_auxiliary(form, places, said))]
    return Document(
        [
            Section.of([form.header]),
            head("* ", problem, encoding, ["format: OPB"], form.offset, form.sign),
            Section(legend_items("* ", problem, statement, named), len(named), "variables", "* "),
            Section.of(list(_words(form)), "integer variables", "* "),
            Section.of(auxiliary, "ranges of auxiliary variables", "* "),
            Section.of(list(islice(lines, 1))),
            Section(commented(lines, said, "* "), len(form.rows), "constraints", "* "),
        ]
    )


def _auxiliary(
    form: PseudoBoolean, places: Container[int], said: Sequence[str]
) -> list[tuple[str, str]]:
    """Return each variable that the statement does not have, and the row that it comes with."""
    found: dict[int, str] = {}
    for row, text in zip(form.rows, said, strict=True):
        for _, number in row.terms:
            if number not in places:
                found.setdefault(number, text)
    return [(f"x{number}", found[number]) for number in sorted(found)]


def _words(form: PseudoBoolean) -> Iterator[str]:
    """Yield a comment for each integer variable of the statement."""
    for place, array, index in form.program.named:
        column = form.program.columns[place]
        if not column.binary:
            shift = [str(column.low)] if column.low or not form.bits[place] else []
            bits = [f"{weight} x{number}" for weight, number in form.bits[place]]
            yield f"* {array}[{index}] is {' + '.join(shift + bits)}"
