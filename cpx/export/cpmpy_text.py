"""Text of the CPMpy model, as stated and as flattened by CPMpy, for reading."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cpx.answers.text import one_line
from cpx.backends.integer_program import variable_names
from cpx.export.document import Document, Section
from cpx.export.legend import head, names_of
from cpx.export.origins import Origins, commented
from cpx.modelling.base import Problem
from cpx.modelling.statement import Statement


def cpmpy_model(problem: Problem, statement: Statement, encoding: str) -> Document:
    """Return the constraints and the objective as CPMpy prints them."""
    from cpmpy.transformations.normalize import toplevel_list

    model = statement.model
    constraints = [
        (place, constraint)
        for place, one in enumerate(model.constraints)
        for constraint in toplevel_list(one, merge_and=False)
    ]
    comments = ["the CPMpy model as stated"]
    return _document(problem, statement, encoding, comments, constraints, model.objective_)


def flat_model(problem: Problem, statement: Statement, encoding: str) -> Document:
    """Return what CPMpy's flattening makes of the model: one operation per constraint."""
    from cpmpy.transformations.cse import CSEMap
    from cpmpy.transformations.flatten_model import flatten_constraint, flatten_objective
    from cpmpy.transformations.negation import push_down_negation, push_down_negation_objective
    from cpmpy.transformations.normalize import toplevel_list
    from cpmpy.transformations.safening import no_partial_functions, safen_objective

    # As in CPMpy's interfaces to solvers; what global constraints become is theirs to say.
    model, objective = statement.model, statement.model.objective_
    constraints = list(enumerate(model.constraints))
    if objective is not None:
        objective, safe = safen_objective(objective)
        objective, flat = flatten_objective(push_down_negation_objective(objective))
        constraints += [(-1, constraint) for constraint in (*safe, *flat)]
    known = CSEMap()
    constraints = [
        (place, flat)
        for place, one in constraints
        for flat in flatten_constraint(
            push_down_negation(no_partial_functions(toplevel_list(one))), csemap=known
        )
    ]
    comments = ["the CPMpy model flattened; variables BV.. and IV.. stand for subexpressions"]
    return _document(problem, statement, encoding, comments, constraints, objective)


def _document(
    problem: Problem,
    statement: Statement,
    encoding: str,
    comments: list[str],
    placed: Sequence[tuple[int, Any]],
    objective: Any,
) -> Document:
    from cpmpy.transformations.get_variables import get_variables

    constraints = [constraint for _, constraint in placed]
    used = get_variables([*constraints, *([] if objective is None else [objective])])
    sizes = f"{len(used)} variables, {len(constraints)} constraints"
    names = {str(v): (a, i) for a, i, v in variable_names(statement)}
    origins = Origins(problem, statement, len(constraints))
    said = (
        origins.text(place, [names[str(v)] for v in get_variables(c) if str(v) in names])
        for place, c in placed
    )
    words = names_of(problem)
    lines = [
        f"# {variable}: {one_line(words[array][index])}"
        for array, index, variable in variable_names(statement)
        if index < len(words.get(array, ()))
    ]
    sense = "minimise" if statement.sense == "min" else "maximise"
    goal = "nothing" if objective is None else str(objective)
    return Document(
        [
            head("# ", problem, encoding, [*comments, sizes], statement.offset),
            Section.of(lines, "variables", "# "),
            Section.of([f"{sense} {goal}", "subject to"]),
            Section(
                commented((f"  {c}" for c in constraints), said, "  # "),
                len(constraints),
                "constraints",
                "# ",
            ),
        ]
    )
