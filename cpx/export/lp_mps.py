"""Writers of LP, the format of CPLEX, and of free MPS, for MILP solvers."""

from __future__ import annotations

from cpx.backends.integer_program import IntegerProgram, integer_program
from cpx.backends.linear_formats import Part, lp_parts, mps_parts
from cpx.export.document import Document, Section
from cpx.export.legend import head, legend_items
from cpx.modelling.base import Problem
from cpx.modelling.statement import Statement


def lp(problem: Problem, statement: Statement, encoding: str) -> Document:
    """Return the problem as an LP file; its objective lacks the offset in the legend."""
    program = integer_program(statement)
    comments = ["format: LP", program.sizes]
    top = head("\\ ", problem, encoding, comments, program.offset)
    return _document(top, problem, program, lp_parts(program), "\\ ")


def mps(problem: Problem, statement: Statement, encoding: str) -> Document:
    """Return the problem as a free MPS file; its objective lacks the offset in the legend.

    That a maximisation is written as the minimisation of the negated objective, the legend says.
    """
    program = integer_program(statement)
    comments, sign = ["format: free MPS", program.sizes], -1 if program.maximise else 1
    top = head("* ", problem, encoding, comments, program.offset, sign)
    return _document(top, problem, program, mps_parts(program), "* ")


def _document(
    top: Section, problem: Problem, program: IntegerProgram, parts: list[Part], mark: str
) -> Document:
    columns = program.columns
    named = [(columns[place].name, array, index) for place, array, index in program.named]
    legend = Section(legend_items(mark, problem, named), len(named), "variables", mark)
    return Document([top, legend, *(Section(*part, mark) for part in parts)])
