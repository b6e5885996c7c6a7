"""Writer of CP-SAT models in protocol buffer text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from cpx.backends.integer_program import variable_names
from cpx.export.document import Document, Section
from cpx.export.legend import head, legend_items
from cpx.export.origins import Origins, commented
from cpx.modelling.base import Problem
from cpx.modelling.statement import Statement

_LEAST, _GREATEST = -(2**63), 2**63 - 1
_PLACES = re.compile(r"(?:vars|literals|enforcement_literal): (\[[^\]]*\]|-?\d+)")
_SCALAR = re.compile(r"(\w+): ")


def cp_sat(problem: Problem, statement: Statement, encoding: str) -> Document:
    """Return the ``CpModelProto`` in text format, one variable or constraint per line.

    OR-Tools reads it back with ``CpModel().proto.parse_text_format(text)``, as does any
    program with the schema of ``CpModelProto``. The legend has places in the list of
    variables, from 0: the order of the values in a ``CpSolverResponse``.
    """
    from cpmpy.expressions.variables import _NumVarImpl

    model, variables, places = _compiled(statement)
    named = [
        (variables[array][index].index, array, index)
        for array, index, variable in variable_names(statement)
        if isinstance(variable, _NumVarImpl)
    ]
    proto = model.proto
    for constraint in proto.constraints:
        if constraint.has_linear():
            _name_ends(constraint.linear, proto.variables)
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
    origins = Origins(problem, statement, n_constraints)
    arrays = {place: (array, index) for place, array, index in named}
    said = [
        origins.text(place, [arrays[v] for v in _variables(text) if v in arrays])
        for place, text in zip(places, constraints, strict=True)
    ]
    comments = [
        "format: CpModelProto of OR-Tools CP-SAT, text format",
        f"{n_variables} variables, {n_constraints} constraints",
    ]
    return Document(
        [
            head("# ", problem, encoding, comments, statement.offset),
            Section(legend_items("# ", problem, statement, named), len(named), "variables", "# "),
            Section.of(columns, "variables", "# "),
            Section(commented(constraints, said, "# "), n_constraints, "constraints", "# "),
            Section.of(rest),
        ]
    )


def _compiled(statement: Statement) -> tuple[Any, dict[str, list[Any]], list[int]]:
    """Return the model, its variables, and the place of the constraint that each one is of."""
    from cpmpy.transformations.normalize import toplevel_list

    from cpx.backends.cpsat.compile import DirectOrtools, native_variables
    from cpx.backends.normal_forms import recognise
    from cpx.modelling.blocks import BlockModel

    compiled = DirectOrtools()
    if isinstance(statement.model, BlockModel):
        compiled.number(statement.model.variables)
        compiled.meet(statement.model.variables)
    places: list[int] = []
    stated = [
        (place, constraint)
        for place, one in enumerate(statement.model.constraints)
        for constraint in toplevel_list(one)
    ]
    # In the order of a solve: what CPMpy transforms comes last.
    for place, constraint in sorted(stated, key=lambda pair: recognise(pair[1]) is None):
        compiled.add(constraint)
        places += [place] * (len(compiled.ort_model.proto.constraints) - len(places))
    if statement.model.objective_ is not None:
        compiled.objective(statement.model.objective_, statement.sense == "min")
    variables = native_variables(compiled, statement)
    places += [-1] * (len(compiled.ort_model.proto.constraints) - len(places))
    return compiled.ort_model, variables, places


def _name_ends(linear: Any, variables: Any) -> None:
    """Write for an end of a domain that is no limit, a 64-bit number, what the sum can be."""
    ends = []
    for place, weight in zip(linear.vars, linear.coeffs, strict=True):
        # The lists of OR-Tools have no last element by the index -1.
        domain = list(variables[place].domain)
        ends.append(sorted((weight * domain[0], weight * domain[-1])))
    last = len(linear.domain) - 1
    if linear.domain[0] == _LEAST:
        linear.domain[0] = min(sum(low for low, _ in ends), linear.domain[last])
    if linear.domain[last] == _GREATEST:
        linear.domain[last] = max(sum(high for _, high in ends), linear.domain[0])


def _variables(constraint: str) -> list[int]:
    """Return the places of the variables in the text of a constraint."""
    found = []
    for numbers in _PLACES.findall(constraint):
        places = (int(number) for number in re.findall(r"-?\d+", numbers))
        found += [place if place >= 0 else -place - 1 for place in places]
    return found


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
