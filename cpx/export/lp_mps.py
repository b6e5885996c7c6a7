"""Writers of LP, the format of CPLEX, and of free MPS, for MILP solvers."""

from __future__ import annotations

from cpx.backends.integer_program import integer_program
from cpx.backends.linear_formats import Part, lp_parts, mps_parts
from cpx.export.document import Document, Section
from cpx.export.legend import head
from cpx.export.origins import ProgramOrigins
from cpx.modelling.base import Problem
from cpx.modelling.statement import Statement


def lp(problem: Problem, statement: Statement, encoding: str) -> Document:
    """Return the problem as an LP file; its objective lacks the offset in the legend."""
    program = integer_program(statement)
    comments = ["format: LP", program.sizes]
    top = head("\\ ", problem, encoding, comments, program.offset)
    origins = ProgramOrigins(problem, statement, program)
    parts = lp_parts(program, [f"\\ {text}" for text in origins.rows()])
    return _document(top, origins, parts, "\\ ")


def mps(problem: Problem, statement: Statement, encoding: str) -> Document:
    """Return the problem as a free MPS file; its objective lacks the offset in the legend.

    That a maximisation is written as the minimisation of the negated objective, the legend says.
    """
    program = integer_program(statement)
    comments, sign = ["format: free MPS", program.sizes], -1 if program.maximise else 1
    top = head("* ", problem, encoding, comments, program.offset, sign)
    origins = ProgramOrigins(problem, statement, program)
    parts = mps_parts(program, [f"* {text}" for text in origins.rows()])
    return _document(top, origins, parts, "* ")


def _document(top: Section, origins: ProgramOrigins, parts: list[Part], mark: str) -> Document:
    auxiliary = [f"{mark}{line}" for line in origins.auxiliary()]
    return Document(
        [
            top,
            origins.legend(mark),
            Section.of(auxiliary, "ranges of auxiliary variables", mark),
            *(Section(*part, mark) for part in parts),
        ]
    )
