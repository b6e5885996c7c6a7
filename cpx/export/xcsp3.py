"""Writer of XCSP3-core, the XML format of the competitions of constraint solvers.

The integer program of a statement: a ``sum`` for each row, over integer variables.
"""

from __future__ import annotations

from collections.abc import Iterator

from cpx.backends.integer_program import IntegerProgram, Terms, integer_program
from cpx.export.document import Document, Section
from cpx.export.legend import head
from cpx.export.origins import ProgramOrigins, commented
from cpx.modelling.base import Problem
from cpx.modelling.statement import Statement

_CONDITIONS = {"<=": "le", ">=": "ge", "=": "eq"}


def xcsp3(problem: Problem, statement: Statement, encoding: str) -> Document:
    """Return the problem as an XCSP3 file; its objective lacks the offset in the legend."""
    program = integer_program(statement)
    names = [f"x{place}" for place in range(len(program.columns))]
    origins = ProgramOrigins(problem, statement, program)
    auxiliary = [f"# {line}" for line in origins.auxiliary(names)]
    comments = ["format: XCSP3", program.sizes]
    legend = [
        head("# ", problem, encoding, comments, program.offset),
        origins.legend("# ", names),
        Section.of(auxiliary, "ranges of auxiliary variables", "# "),
    ]
    kind = "COP" if program.objective else "CSP"
    return Document(
        [
            Section.of(['<?xml version="1.0" encoding="UTF-8"?>', "<!--"]),
            *(_in_comment(section) for section in legend),
            Section.of(["-->", f'<instance format="XCSP3" type="{kind}">', "<variables>"]),
            Section.of(list(_variables(program, names)), "variables"),
            Section.of(["</variables>", "<constraints>"]),
            Section(
                commented(_rows(program, names), _said(origins), ""),
                len(program.rows),
                "constraints",
            ),
            Section.of(["</constraints>", *_objective(program, names), "</instance>"]),
        ]
    )


def _said(origins: ProgramOrigins) -> Iterator[str]:
    for text in origins.rows():
        apart = text.replace("--", "- -").replace("--", "- -")
        yield f"<!-- {apart} -->"


def _in_comment(section: Section) -> Section:
    """Return a section without two hyphens in a row, which would end the comment."""
    items = (item.replace("--", "- -").replace("--", "- -") for item in section.items)
    return Section(items, section.count, section.noun, section.mark)


def _variables(program: IntegerProgram, names: list[str]) -> Iterator[str]:
    for name, column in zip(names, program.columns, strict=True):
        values = str(column.low) if column.low == column.high else f"{column.low}..{column.high}"
        yield f'<var id="{name}"> {values} </var>'


def _rows(program: IntegerProgram, names: list[str]) -> Iterator[str]:
    for row in program.rows:
        condition = f"<condition> ({_CONDITIONS[row.operator]},{row.constant}) </condition>"
        yield f"<sum> {_list(row.terms, names)} {condition} </sum>"


def _objective(program: IntegerProgram, names: list[str]) -> Iterator[str]:
    if program.objective:
        tag = "maximize" if program.maximise else "minimize"
        terms = _list(program.objective, names)
        yield f'<objectives> <{tag} type="sum"> {terms} </{tag}> </objectives>'


def _list(terms: Terms, names: list[str]) -> str:
    variables = " ".join(names[place] for _, place in terms)
    weights = " ".join(str(weight) for weight, _ in terms)
    return f"<list> {variables} </list> <coeffs> {weights} </coeffs>"
