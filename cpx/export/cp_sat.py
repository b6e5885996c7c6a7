"""Writer of CP-SAT models in protocol buffer text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from cpx.backends.integer_program import variable_names
from cpx.export.document import Document, Section
from cpx.export.legend import head, legend_items
from cpx.modelling.base import Problem
from cpx.modelling.statement import Statement

_SCALAR = re.compile(r"(\w+): ")


def cp_sat(problem: Problem, statement: Statement, encoding: str) -> Document:
    """Return the ``CpModelProto`` in text format, one variable or constraint per line.

    OR-Tools reads it back with ``CpModel().proto.parse_text_format(text)``, as does any
    program with the schema of ``CpModelProto``. The legend has places in the list of
    variables, from 0: the order of the values in a ``CpSolverResponse``.
    """
    from cpmpy.expressions.variables import _NumVarImpl

    from cpx.backends.cpsat.compile import compile_cp_model

    model, variables = compile_cp_model(statement)
    named = [
        (variables[array][index].index, array, index)
        for array, index, variable in variable_names(statement)
        if isinstance(variable, _NumVarImpl)
    ]
    proto = model.proto
    n_variables, n_constraints = len(proto.variables), len(proto.constraints)
    messages = list(_messages(str(proto)))
    columns = [text for text in messages if text.startswith("variables ")]
    known = {place for place, _, _ in named}
    for place, text in enumerate(columns):
        if place not in known:
            # CPMpy numbers auxiliary variables through all models of the process; numbers of
            # our own make equal files of equal problems.
            columns[place] = re.sub(r'name: "[^"]*"', f'name: "aux{place}"', text)
    constraints = [text for text in messages if text.startswith("constraints ")]
    rest = [text for text in messages if not text.startswith(("variables ", "constraints "))]
    comments = [
        "format: CpModelProto of OR-Tools CP-SAT, text format",
        f"{n_variables} variables, {n_constraints} constraints",
    ]
    return Document(
        [
            head("# ", problem, encoding, comments, statement.offset),
            Section(legend_items("# ", problem, named), len(named), "variables", "# "),
            Section.of(columns, "variables", "# "),
            Section.of(constraints, "constraints", "# "),
            Section.of(rest),
        ]
    )


def _messages(text: str) -> Iterator[str]:
    r"""Yield the top-level fields of a message in text format, one line each.

    >>> list(_messages('a {\n  name: "x  y"\n  v: 1\n  v: 2\n}\nb: 3\n'))
    ['a { name: "x  y" v: [1, 2] }', 'b: 3']
    """
    words: list[str] = []
    depth = 0
    for field, lines in groupby(map(str.strip, text.splitlines()), key=_scalar_field):
        if field:
            values = [line[len(field) + 2 :] for line in lines]
            text = values[0] if len(values) == 1 else f"[{', '.join(values)}]"
            words.append(f"{field}: {text}")
            if depth == 0:
                yield words.pop()
            continue
        for line in lines:
            words.append(line)
            depth += 1 if line != "}" else -1
            if depth == 0:
                yield " ".join(words)
                words = []


def _scalar_field(line: str) -> str:
    """Return the name of the field of ``name: value``, ``""`` for ``name {`` and ``}``."""
    match = _SCALAR.match(line)
    return match[1] if match else ""
