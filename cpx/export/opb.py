"""Writer of OPB, the format of pseudo-Boolean solvers.

CPMpy's own writer loses the constant of the objective and writes ``max:``, which readers refuse.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from cpx.backends.pseudo_boolean import PseudoBoolean
from cpx.export.document import Document, Section
from cpx.export.legend import head, legend_items
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
    return Document(
        [
            Section.of([form.header]),
            head("* ", problem, encoding, ["format: OPB"], form.offset, form.sign),
            Section(legend_items("* ", problem, named), len(named), "variables", "* "),
            Section.of(list(_words(form)), "integer variables", "* "),
            Section.of(list(islice(lines, 1))),
            Section(lines, len(form.rows), "constraints", "* "),
        ]
    )


def _words(form: PseudoBoolean) -> Iterator[str]:
    """Yield a comment for each integer variable of the statement."""
    for place, array, index in form.program.named:
        column = form.program.columns[place]
        if not column.binary:
            shift = [str(column.low)] if column.low or not form.bits[place] else []
            bits = [f"{weight} x{number}" for weight, number in form.bits[place]]
            yield f"* {array}[{index}] is {' + '.join(shift + bits)}"
