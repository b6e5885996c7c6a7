"""Writer of FlatZinc, which the solvers of MiniZinc read: linear constraints over integers."""

from __future__ import annotations

from cpx.backends.program.forms import FlatZinc
from cpx.export.document import Document, Section
from cpx.export.legend import head
from cpx.export.origins import ProgramOrigins, commented
from cpx.modelling.base import Problem
from cpx.modelling.statement import Statement


def flatzinc(problem: Problem, statement: Statement, encoding: str) -> Document:
    """Return the problem as a FlatZinc file; a maximisation as the minimum of its negation."""
    form = FlatZinc(statement)
    program = form.program
    origins = ProgramOrigins(problem, statement, program)
    names = [f"x{place + 1}" for place in range(len(program.columns))]
    lines = list(form.lines())
    rows = len(program.rows)
    first = len(program.columns) + 1  # the value is a variable too
    comments = ["format: FlatZinc", program.sizes]
    return Document(
        [
            head("% ", problem, encoding, comments, form.offset, form.sign),
            origins.legend("% ", names),
            Section.of([f"% {line}" for line in origins.auxiliary(names)], "ranges", "% "),
            Section.of(lines[:first], "declarations", "% "),
            Section(
                commented(lines[first : first + rows], origins.rows(), "% "),
                rows,
                "constraints",
                "% ",
            ),
            Section.of(lines[first + rows :]),
        ]
    )
