"""Writer of MiniZinc: the constraints as they are stated, data apart, for reading and solving.

Constraints of one shape, such as a clause for each sample, become one ``forall`` over an array of
sets. The others are written one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from cpmpy.expressions.core import BoolVal, Comparison
from cpmpy.expressions.utils import is_num
from cpmpy.expressions.variables import _NumVarImpl

from cpx.answers.text import one_line
from cpx.backends.integer_program import variable_names
from cpx.backends.normal_forms import Clause, Implication, linear_sum, recognise
from cpx.errors import EngineError, shown
from cpx.export.document import Document, Section
from cpx.export.legend import head, legend_items, names_of
from cpx.export.origins import Origins, commented
from cpx.modelling.base import Problem
from cpx.modelling.statement import Statement

_FEWEST = 3
"""So many constraints of one shape are written as one."""

_COMPARISONS = {"==": "=", "!=": "!=", "<=": "<=", ">=": ">=", "<": "<", ">": ">"}
_WORDS = frozenset(
    {
        *("ann", "annotation", "any", "array", "bool", "case", "constraint", "default", "diff"),
        *("div", "else", "elseif", "endif", "enum", "false", "float", "function", "if", "in"),
        *("include", "int", "intersect", "let", "list", "maximize", "minimize", "mod", "not"),
        *("of", "op", "opt", "output", "par", "predicate", "record", "satisfy", "set", "solve"),
        *("string", "subset", "superset", "symdiff", "test", "then", "true", "tuple", "type"),
        *("union", "value", "var", "where", "xor"),
    }
)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def minizinc(problem: Problem, statement: Statement, encoding: str) -> Document:
    """Return the problem as a MiniZinc model with its data; ``value`` is its objective."""
    text = _Text(statement)
    words, origins = names_of(problem), Origins(problem, statement, len(text.constraints))
    declared, objective = list(text.declarations()), text.objective
    named = [
        (f"{text.arrays[array]}[{index}]", array, index)
        for array, index, variable in variable_names(statement)
        if not isinstance(variable, int)
    ]
    groups, others = text.groups
    model = statement.model
    solve = "satisfy"
    if model.objective_ is not None:
        solve = "minimize value" if statement.sense == "min" else "maximize value"
    chosen = {array: words[array] for array in text.arrays if words.get(array)}
    return Document(
        [
            head("% ", problem, encoding, ["format: MiniZinc"], statement.offset),
            Section(legend_items("% ", problem, statement, named), len(named), "variables", "% "),
            Section.of(["", "% ---- data"]),
            *(_names(text.arrays[array], names) for array, names in chosen.items()),
            *(group.data() for group in groups),
            Section.of(text.weights),
            Section.of(["", "% ---- variables", *declared]),
            Section.of(["", "% ---- constraints"]),
            Section.of([f"% {origins.line(g.origin)}\n{g.constraint()}" for g in groups]),
            Section(
                commented(
                    (f"constraint {text.of(c)};" for c in others),
                    (origins.text(text.origins[id(c)]) for c in others),
                    "% ",
                ),
                len(others),
                "constraints",
                "% ",
            ),
            Section.of(["", f"var int: value = {objective};", f"solve {solve};", ""]),
            Section.of(["output", *_output(statement.offset, [text.arrays[a] for a in chosen])]),
        ]
    )


def _names(array: str, names: Sequence[str]) -> Section:
    quoted = [_quoted(name) for name in names]
    lines = [f"  {name}," for name in quoted[:-1]] + [f"  {quoted[-1]}"]
    begin = f"array[0..{len(names) - 1}] of string: {array}_names = array1d(0..{len(names) - 1}, ["
    return Section.of([begin, *lines, "]);"])


def _quoted(name: str) -> str:
    plain = one_line(name).encode("utf-8", "replace").decode()
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _output(offset: int, arrays: Sequence[str]) -> Iterator[str]:
    shift = f" {'-' if offset < 0 else '+'} {abs(offset)}" if offset else ""
    yield f'  ["objective = \\(fix(value){shift})\\n"]'
    for array in arrays:
        chosen = f"j in index_set({array}) where fix({array}[j])"
        yield f'  ++ ["{array}[\\(j)]: \\({array}_names[j])\\n" | {chosen}]'
    yield ";"


@dataclass
class _Group:
    """Constraints of one shape: a literal of each, and a set of literals of another array."""

    kind: str
    head: tuple[str, bool]
    tail: tuple[str, bool]
    sets: dict[int, list[int]] = field(default_factory=dict)
    name: str = ""
    origin: int = -1

    @property
    def _whole(self) -> bool:
        """Whether there is a constraint for each of the first indices."""
        return sorted(self.sets) == list(range(len(self.sets)))

    def data(self) -> Section:
        """Return the sets of indices, one line for each."""
        (first, _), (second, _) = self.head, self.tail
        places = sorted(self.sets)
        lines = [f"  {{{', '.join(map(str, sorted(self.sets[i])))}}}" for i in places]
        lines = [f"{line}," for line in lines[:-1]] + lines[-1:]
        begin = [f"% which {second}[j] belong to {first}[i]"]
        if self._whole:
            rows = f"0..{len(places) - 1}"
            begin.append(f"array[{rows}] of set of int: {self.name} = array1d({rows}, [")
            return Section.of([*begin, *lines, "]);"], "lines of data", "% ")
        numbers = ", ".join(map(str, places))
        begin[0] += f", where i is the number {self.name}_rows[r] of the row r"
        begin.append(f"array[1..{len(places)}] of int: {self.name}_rows = [{numbers}];")
        begin.append(f"array[1..{len(places)}] of set of int: {self.name} = [")
        return Section.of([*begin, *lines, "];"], "lines of data", "% ")

    def constraint(self) -> str:
        """Return the constraint for all of them."""
        (first, direct), (second, straight) = self.head, self.tail
        row, place = ("i", "i") if self._whole else ("r", f"{self.name}_rows[r]")
        one = f"{'' if direct else 'not '}{first}[{place}]"
        each = f"({'' if straight else 'not '}{second}[j])"
        both = {
            "clause": f"{one} \\/ exists(j in {self.name}[{row}]){each}",
            "implies": f"{one} -> forall(j in {self.name}[{row}]){each}",
        }[self.kind]
        return f"constraint forall({row} in index_set({self.name})) ({both});"


class _Text:
    """The text of a statement, by the names of its variables."""

    def __init__(self, statement: Statement) -> None:
        from cpmpy.transformations.normalize import toplevel_list

        self._statement = statement
        self.arrays = {
            array: array if _NAME.fullmatch(array) and array not in _WORDS else f"v_{place}"
            for place, array in enumerate(statement.variables)
        }
        self._places = {
            variable: (self.arrays[array], index)
            for array, index, variable in variable_names(statement)
            if not isinstance(variable, int)
        }
        self._sizes = {
            self.arrays[array]: len(list(variables))
            for array, variables in statement.variables.items()
        }
        stated = [
            (place, constraint)
            for place, one in enumerate(statement.model.constraints)
            for constraint in toplevel_list(one, merge_and=False)
        ]
        self.constraints = [constraint for _, constraint in stated]
        self.origins = {id(constraint): place for place, constraint in stated}
        self.weights: list[str] = []

    def declarations(self) -> Iterator[str]:
        """Yield the arrays of variables."""
        for array, variables in self._statement.variables.items():
            name, each = self.arrays[array], list(variables)
            if not each:
                continue
            fixed = {i: int(v) for i, v in enumerate(each) if isinstance(v, int)}
            plain = [v for v in each if not isinstance(v, int)]
            of, bounds = "bool", []
            if fixed or not all(v.is_bool() for v in plain):
                ends = [(int(v.lb), int(v.ub)) for v in plain] + [(v, v) for v in fixed.values()]
                low, high = min(end[0] for end in ends), max(end[1] for end in ends)
                of = f"{low}..{high}"
                for i, v in enumerate(each):
                    own = (fixed[i], fixed[i]) if i in fixed else (int(v.lb), int(v.ub))
                    if own != (low, high):
                        bounds.append(f"constraint {name}[{i}] in {own[0]}..{own[1]};")
            yield f"array[0..{len(each) - 1}] of var {of}: {name};"
            yield from bounds

    # ----------------------------------------------------------- constraints

    @cached_property
    def groups(self) -> tuple[list[_Group], list[Any]]:
        """The shapes that occur several times, and the constraints of no such shape."""
        found: dict[tuple[Any, ...], _Group] = {}
        members: dict[tuple[Any, ...], list[Any]] = {}
        others = []
        for constraint in self.constraints:
            shape = self._shape(constraint)
            if shape is None or shape[1] in found.get(shape[0], _EMPTY).sets:
                others.append(constraint)
                continue
            key, i, tail = shape
            if key not in found:
                found[key] = _Group(*key)
                found[key].origin = self.origins[id(constraint)]
            found[key].sets[i] = tail
            members.setdefault(key, []).append(constraint)
        for key in [key for key, group in found.items() if len(group.sets) < _FEWEST]:
            del found[key]
            others += members[key]
        kept: dict[str, int] = {}
        for group in found.values():
            name = f"{group.head[0]}_{group.tail[0]}"
            kept[name] = kept.get(name, 0) + 1
            group.name = name if kept[name] == 1 else f"{name}_{kept[name]}"
        return list(found.values()), others

    def _shape(self, constraint: Any) -> tuple[tuple[Any, ...], int, list[int]] | None:
        """Return the kind with its arrays, the index of the one literal, and those of the set."""
        try:
            form = recognise(constraint)
        except AttributeError:  # a constant
            return None
        if isinstance(form, Implication):
            head, rest = form.premise, list(form.conclusions)
            kind = "implies"
        elif isinstance(form, Clause) and len(form.literals) > 1:
            # The literal whose array is that of no other.
            arrays = [self._literal(literal)[:2] for literal in form.literals]
            alone = [i for i, array in enumerate(arrays) if arrays.count(array) == 1]
            if not alone:
                return None
            head = form.literals[alone[0]]
            rest = [literal for i, literal in enumerate(form.literals) if i != alone[0]]
            kind = "clause"
        else:
            return None
        array, direct, i = self._literal(head)
        tails = [self._literal(literal) for literal in rest]
        if len({tail[:2] for tail in tails}) != 1 or tails[0][0] == array:
            return None
        return (kind, (array, direct), tails[0][:2]), i, [tail[2] for tail in tails]

    def _literal(self, literal: Any) -> tuple[str, bool, int]:
        direct = literal in self._places
        array, index = self._places[literal if direct else ~literal]
        return array, direct, index

    # ----------------------------------------------------------- expressions

    def constraint(self, expression: Any) -> str:
        """Return a constraint of CPMpy in MiniZinc."""
        return f"constraint {self.of(expression)};"

    @cached_property
    def objective(self) -> str:
        """The objective as stated, whole arrays with a list of their weights, or 0."""
        stated = self._statement.model.objective_
        found = None if stated is None else linear_sum(stated)
        if stated is None or found is None:
            return "0" if stated is None else self.of(stated)
        weights: dict[str, dict[int, int]] = {}
        parts, constant = [], found.constant
        for weight, variable in zip(found.weights, found.variables, strict=True):
            array, direct, index = self._literal(variable)
            if not direct:  # w (1 - x)
                weight, constant = -weight, constant + weight
            own = weights.setdefault(array, {})
            own[index] = own.get(index, 0) + weight
        for array, own in weights.items():
            size, values = self._sizes[array], set(own.values())
            if len(own) == size > 1 and values == {1}:
                parts.append(f"sum({array})")
            elif len(own) > _FEWEST:
                last = size - 1
                each = ", ".join(str(own.get(i, 0)) for i in range(size))
                self.weights.append(
                    f"array[0..{last}] of int: cost_{array} = array1d(0..{last}, [{each}]);"
                )
                parts.append(f"sum(i in 0..{last})(cost_{array}[i] * {array}[i])")
            else:
                parts += [_times(w, f"{array}[{i}]") for i, w in own.items()]
        if constant or not parts:
            parts.append(str(constant))
        return " + ".join(parts).replace("+ -", "- ")

    def of(self, expression: Any) -> str:
        """Return an expression of CPMpy in MiniZinc.

        Raises EngineError: For an operation that no statement of ours has.
        """
        if isinstance(expression, BoolVal):
            return str(bool(expression)).lower()
        if is_num(expression):
            return str(expression).lower()
        if isinstance(expression, _NumVarImpl):
            array, direct, index = self._literal(expression)
            return f"{array}[{index}]" if direct else f"not {array}[{index}]"
        name, args = expression.name, expression.args
        if name in ("sum", "wsum"):
            weights, terms = args if name == "wsum" else ([1] * len(args), args)
            return self._sum(weights, terms)
        inner = [self._within(arg) for arg in args]
        if name in _COMPARISONS:
            both = all(hasattr(arg, "is_bool") and arg.is_bool() for arg in args)
            if both:
                return f"{inner[0]} {'<->' if name == '==' else _COMPARISONS[name]} {inner[1]}"
            # Sums need no parentheses there.
            inner = [self._within(a) if isinstance(a, Comparison) else self.of(a) for a in args]
            return f"{inner[0]} {_COMPARISONS[name]} {inner[1]}"
        signs = {"and": " /\\ ", "or": " \\/ ", "->": " -> ", "sub": " - ", "mul": " * "}
        if name in signs:
            return signs[name].join(inner) if inner else str(name == "and").lower()
        if name in ("not", "-"):
            return f"{'not ' if name == 'not' else '-'}{inner[0]}"
        raise EngineError(f"no MiniZinc for the operation {shown(name)}: export to flatzinc")

    def _within(self, expression: Any) -> str:
        text = self.of(expression)
        return text if re.fullmatch(r"-?\w+(\[\d+\])?|sum\(\w+\)", text) else f"({text})"

    def _sum(self, weights: Sequence[int], terms: Sequence[Any]) -> str:
        if all(weight == 1 for weight in weights) and all(term in self._places for term in terms):
            places = [self._places[term] for term in terms]
            array = places[0][0] if places else ""
            if len(places) > 1 and places == [(array, i) for i in range(self._sizes[array])]:
                return f"sum({array})"
        parts = [_times(int(w), self._within(t)) for w, t in zip(weights, terms, strict=True)]
        return " + ".join(parts).replace("+ -", "- ") or "0"


_EMPTY = _Group("", ("", True), ("", True))


def _times(weight: int, text: str) -> str:
    if abs(weight) == 1:
        return text if weight == 1 else f"-{text}"
    return f"{weight} * {text}"
