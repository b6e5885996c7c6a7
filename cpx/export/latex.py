"""Writer of LaTeX: the mathematics of an encoding, filled with the instance."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from cpmpy.expressions.core import Comparison, Operator
from cpmpy.expressions.utils import is_num
from cpmpy.expressions.variables import NegBoolView, _NumVarImpl

from cpx.backends.integer_program import variable_names
from cpx.backends.normal_forms import linear_sum
from cpx.errors import EngineError, shown
from cpx.export.document import Document, Section
from cpx.export.legend import head, legend_items
from cpx.export.origins import Origins
from cpx.modelling.base import Problem
from cpx.modelling.statement import Statement

_JOINED = {
    "or": r" \lor ",
    "and": r" \land ",
    "->": r" \rightarrow ",
    "==": " = ",
    "!=": r" \ne ",
    "<=": r" \le ",
    ">=": r" \ge ",
    "<": " < ",
    ">": " > ",
}
_SPECIAL = re.compile(r"[&%$#_{}]")
_SIGNS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}
_INDEX = re.compile(r"\b(sum|OR|AND|[A-Za-z])_(\w+|\([^)]*\))")
_OF_LINES = (
    (re.compile(r"\bobjective\b"), r"\\text{objective}"),
    (re.compile(r"\bsum_"), r"\\sum_"),
    (re.compile(r"\bOR_"), r"\\bigvee_"),
    (re.compile(r"\bAND_"), r"\\bigwedge_"),
    (re.compile(r"<->"), r"\\leftrightarrow "),
    (re.compile(r"->"), r"\\rightarrow "),
    (re.compile(r"<="), r"\\le "),
    (re.compile(r">="), r"\\ge "),
    (re.compile(r"\bor\b"), r"\\lor "),
    (re.compile(r"\bnot\b"), r"\\lnot "),
    (re.compile(r"\bin\b"), r"\\in "),
)
_FORMULA = re.compile(r"[A-Za-z0-9]+_|<=|>=|->")


def latex(problem: Problem, statement: Statement, encoding: str) -> Document:
    """Return the objective and the constraints as an ``align*``, one line for each constraint.

    Beside each stands the line of the mathematics that it is, and its sample or feature.
    """
    constraints = statement.model.constraints
    text, origins = _Text(statement), Origins(problem, statement, len(constraints))
    named = [
        (f"${text.names[str(variable)]}$", array, index)
        for array, index, variable in variable_names(statement)
        if isinstance(variable, _NumVarImpl)
    ]
    sense = "minimise" if statement.sense == "min" else "maximise"
    objective = statement.model.objective_
    goal = "0" if objective is None else text.of(objective)
    if statement.offset:
        goal += f" {'-' if statement.offset < 0 else '+'} {abs(statement.offset)}"
    rows, last = [], ""
    for place, constraint in enumerate(constraints):
        line, subject = origins.line(place), origins.subject(place)
        said = rf" && {_line(line)}" if line != last else " &&"
        what = rf" && \text{{{_words(subject)}}}" if subject else ""
        rows.append(rf"& {text.of(constraint)}{said}{what} \\")
        last = line
    return Document(
        [
            head("% ", problem, encoding, ["the mathematics, in LaTeX with amsmath"], 0),
            Section(legend_items("% ", problem, statement, named), len(named), "variables", "% "),
            Section.of([r"\begin{align*}", rf"\text{{{sense}}} \quad & {goal} \\"]),
            Section.of([r"\text{subject to} \quad"]),
            Section.of(rows, "constraints", "% "),
            Section.of([r"\end{align*}"]),
        ]
    )


class _Text:
    """CPMpy expressions in LaTeX, by the names of the variables of a statement."""

    def __init__(self, statement: Statement) -> None:
        self.names = {
            str(variable): f"{array}_{{{index}}}"
            for array, index, variable in variable_names(statement)
            if isinstance(variable, _NumVarImpl)
        }

    def of(self, expression: Any) -> str:
        """Return an expression."""
        if isinstance(expression, NegBoolView):
            return rf"\overline{{{self.names[str(expression._bv)]}}}"
        if isinstance(expression, _NumVarImpl):
            return self.names[str(expression)]
        if is_num(expression) or isinstance(expression, bool):
            return str(int(expression))
        if isinstance(expression, list | tuple) and expression:
            return r" \land ".join(map(self._within, expression))
        if (total := linear_sum(expression)) is not None:
            return self._sum(total.weights, total.variables, total.constant)
        name: str = expression.name
        args: Sequence[Any] = expression.args
        if name == "not":
            return rf"\lnot {self._within(args[0])}"
        if name == "boolval":
            return r"\top" if args[0] else r"\bot"
        if isinstance(expression, Comparison | Operator) and name in _JOINED:
            defined = isinstance(expression, Comparison) and all(
                is_num(a) is False and a.is_bool() for a in args
            )
            joined = r" \leftrightarrow " if defined and name == "==" else _JOINED[name]
            return joined.join(map(self._within, args))
        raise EngineError(f"no LaTeX for {shown(expression)}")

    def _within(self, expression: Any) -> str:
        """Return an expression as a part of another one."""
        text = self.of(expression)
        plain = is_num(expression) or isinstance(expression, _NumVarImpl)
        if plain or linear_sum(expression) is not None or len(expression.args) == 1:
            return text
        return rf"\left({text}\right)"

    def _sum(self, weights: Sequence[int], variables: Sequence[Any], constant: int) -> str:
        words = []
        for weight, variable in zip(weights, variables, strict=True):
            size = "" if abs(weight) == 1 else f"{abs(weight)} "
            words.append(f"{'-' if weight < 0 else '+'} {size}{self.of(variable)}")
        if constant or not words:
            words.append(f"{'-' if constant < 0 else '+'} {abs(constant)}")
        return " ".join(words).removeprefix("+ ")


def _line(line: str) -> str:
    r"""Return a line of the mathematics in LaTeX.

    >>> _line("C_i or OR_{j in M_i} X_j")
    'C_i \\lor \\bigvee_{j \\in M_i} X_j'
    >>> _line("what is covered keeps the limits")
    '\\text{what is covered keeps the limits}'
    """
    if not _FORMULA.search(line):
        return rf"\text{{{_words(line)}}}"
    formula, comma, rest = line.partition(", ")
    formula = _INDEX.sub(lambda found: f"{found[1]}_{_index(found[2])}", formula)
    for pattern, replacement in _OF_LINES:
        formula = pattern.sub(replacement, formula)
    formula = " ".join(formula.split())
    return formula + (rf",\ \text{{{_words(rest)}}}" if comma else "")


def _index(text: str) -> str:
    return text if len(text) == 1 else f"{{{text.strip('()')}}}"


def _words(text: str) -> str:
    r"""Return words as LaTeX prints them.

    >>> _words("a_1 <= 50%")
    'a\\_1 \\textless{}= 50\\%'
    """
    signs = re.compile("|".join(map(re.escape, _SIGNS)))
    parts = (_SIGNS.get(part, part) for part in re.split(f"({signs.pattern})", text))
    return "".join(
        part if part in _SIGNS.values() else _SPECIAL.sub(lambda found: f"\\{found[0]}", part)
        for part in parts
    )
