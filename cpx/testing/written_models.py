"""Models in files of solvers, asked set by set: WCNF, OPB, LP and MPS, with named features.

A file states one instance. Its features are the variables that comments name ``X[0]``, ``X[1]``
and so on, as in exported files (``c 1 = X[0]``), or, without comments, those that are called
``X0``, ``X_0`` or ``X[0]``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from cpx.errors import InvalidInstance, InvalidOption, shown
from cpx.export.legend import Legend, read_legend
from cpx.support.files import read_text
from cpx.testing.set_models import Chosen, SetModel

__all__ = ["SUFFIXES", "Linear", "WrittenModel", "read_model"]

SUFFIXES = (".wcnf", ".opb", ".lp", ".mps")

_INDEX = re.compile(r"[_\[(]?(\d+)[\])_]?$")
_NONE = 1e20  # as no limit
_CALLED = re.compile(r"[xX][_\[(]?(\d+)[\])_]?")


@dataclass
class Linear:
    """A linear program while it is read: columns by name, and rows ``low <= sum <= high``."""

    columns: dict[str, int] = field(default_factory=dict)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    integer: list[bool] = field(default_factory=list)
    rows: list[tuple[str, dict[int, float], float, float]] = field(default_factory=list)
    objective: dict[int, float] = field(default_factory=dict)
    offset: float = 0.0
    maximised: bool = False

    def column(self, name: str) -> int:
        """Return the place of a Boolean variable, a new one where there is none of the name."""
        if name not in self.columns:
            self.columns[name] = len(self.low)
            self.low.append(0.0)
            self.high.append(1.0)
            self.integer.append(True)
        return self.columns[name]

    def terms(self, literals: Sequence[tuple[float, str, bool]]) -> tuple[dict[int, float], float]:
        """Return the coefficients of weighted literals, and the constant of the negated ones."""
        found: dict[int, float] = {}
        constant = 0.0
        for weight, name, negated in literals:
            place = self.column(name)
            constant += weight * negated
            found[place] = found.get(place, 0.0) + (-weight if negated else weight)
        return found, constant


class WrittenModel(SetModel):
    """A linear program in a file, asked with the MILP solver of SciPy."""

    def __init__(self, linear: Linear, legend: Legend, path: Path) -> None:
        features = _features(legend, linear, path)
        self._features = [linear.column(features[j]) for j in range(len(features))]
        self._linear, self._legend = linear, legend
        self.n = len(features)
        self.senses = ("max" if linear.maximised ^ (legend.sign < 0) else "min",)
        self._names = [
            "{}[{}]".format(*legend.names[name]) if name in legend.names else name
            for name in linear.columns
        ]
        clauses = path.suffix.lower() == ".wcnf"
        self.rows = [
            (called, self._clause(terms) if clauses else self._row(terms, low, high))
            for called, terms, low, high in linear.rows
        ]
        self._matrix = np.zeros((len(linear.rows), len(linear.low)))
        for row, (_, terms, _, _) in enumerate(linear.rows):
            for place, weight in terms.items():
                self._matrix[row, place] = weight
        self._last: Sequence[float] = ()

    def _clause(self, terms: Mapping[int, float]) -> str:
        signs = ((self._names[place], sign) for place, sign in terms.items())
        return " or ".join(name if sign > 0 else f"not {name}" for name, sign in signs)

    def _row(self, terms: Mapping[int, float], low: float, high: float) -> str:
        total = " ".join(f"{weight:+g} {self._names[place]}" for place, weight in terms.items())
        if low == high:
            return f"{total} = {low:g}"
        below, above = "" if low <= -_NONE else f"{low:g} <= ", f" <= {high:g}" * (high < _NONE)
        return f"{total} >= {low:g}" if not above else f"{below}{total}{above}"

    def value(self, chosen: Chosen) -> int | float | None:
        """Return the best value, None for none; TimeoutError where that is not known."""
        found = self._solved(chosen, range(len(self.rows)), self._linear.objective)
        if found is None:
            return None
        found = self._legend.sign * found + self._legend.offset
        whole = round(found)
        return whole if abs(found - whole) < 1e-6 * max(1, abs(whole)) else found

    def values(self) -> Mapping[str, Sequence[int | float]]:
        """Return the values of the named variables, by their arrays, as the last set has them."""
        found: dict[str, list[int | float]] = {}
        for name, value in sorted(zip(self._names, self._last, strict=True), key=_by_index):
            if not name.isdigit():
                found.setdefault(_INDEX.sub("", name), []).append(round(value, 6))
        return found

    def allows(self, chosen: Chosen, rows: Sequence[int]) -> bool:
        """Whether some of the rows allow a set."""
        return self._solved(chosen, rows, {}) is not None

    def _solved(
        self, chosen: Chosen, rows: Sequence[int], objective: Mapping[int, float]
    ) -> float | None:
        from scipy.optimize import Bounds, LinearConstraint, milp

        linear, kept = self._linear, list(rows)
        low, high = np.array(linear.low), np.array(linear.high)
        for j, place in enumerate(self._features):
            wanted = float(j in chosen)
            if not low[place] <= wanted <= high[place]:
                return None
            low[place] = high[place] = wanted
        costs = np.zeros(len(low))
        for place, weight in objective.items():
            costs[place] = -weight if linear.maximised else weight
        sides = [linear.rows[row][2:] for row in kept]
        limits = np.array(sides, dtype=float).reshape(-1, 2).T
        found = milp(
            costs,
            integrality=np.array(linear.integer, dtype=int),
            bounds=Bounds(low, high),
            constraints=LinearConstraint(self._matrix[kept], *limits) if kept else (),
            options={"time_limit": 1.0},
        )
        if found.status == 2:
            return None
        if found.status == 3:
            raise InvalidInstance("the objective has no limit: a variable lacks a bound")
        if found.x is None or found.status != 0:
            raise TimeoutError
        self._last = found.x.tolist()
        value = -found.fun if linear.maximised else found.fun
        return float(value + linear.offset)


def _by_index(entry: tuple[str, float]) -> int:
    """Return the index at the end of the name of a variable, by which it is sorted."""
    index = _INDEX.search(entry[0])
    return -1 if index is None else int(index[1])


def _features(legend: Legend, linear: Linear, path: Path) -> dict[int, str]:
    """Return the name in the file of each feature."""
    named = legend.names.items()
    found = {index: name for name, (array, index) in named if array == "X"}
    if not found:
        matches = ((_CALLED.fullmatch(name), name) for name in linear.columns)
        found = {int(match[1]): name for match, name in matches if match}
    if not found or sorted(found) != list(range(len(found))):
        raise InvalidInstance(
            f"{path}: which variables are the features? Comments such as 'c 1 = X[0]' say it, or "
            "names such as X_0, X_1, ..., counted from 0"
        )
    return found


def read_model(path: Path) -> WrittenModel:
    """Read the model in a file, by the end of its name.

    Raises
    ------
    InvalidInstance
        Naming the file and the line that cannot be read, or that no features are named.
    InvalidOption
        For a file of another kind.
    """
    readers = {".wcnf": _wcnf, ".opb": _opb, ".lp": _lp, ".mps": _lp}
    if path.suffix.lower() not in readers:
        raise InvalidOption(
            f"{path}: a model must be a file {', '.join(SUFFIXES)}, or a Python file .py"
        )
    text = read_text(path, InvalidInstance)
    linear = readers[path.suffix.lower()](text, path)
    return WrittenModel(linear, read_legend(text.encode(), exported=False), path)


def _wcnf(text: str, path: Path) -> Linear:
    """Read weighted clauses, with ``h`` for hard ones or with ``p wcnf VARIABLES CLAUSES TOP``."""
    linear, top = Linear(), None
    for number, line in _lines(text, "c"):
        words = line.split()
        if words[0] == "p":
            top = int(words[4]) if len(words) > 4 else None
            continue
        try:
            literals = [int(word) for word in words[1:]]
            weight = None if words[0] == "h" else int(words[0])
        except ValueError:
            raise _unread(path, number, line) from None
        if not literals or literals.pop() != 0 or 0 in literals:
            raise _unread(path, number, line)
        told = [(1.0, str(abs(literal)), literal < 0) for literal in literals]
        terms, constant = linear.terms(told)
        if weight is None or (top is not None and weight >= top):
            linear.rows.append((f"line {number}", terms, 1 - constant, np.inf))
        elif len(literals) == 1:
            linear.offset += weight * (1 - constant)
            for place, sign in terms.items():
                linear.objective[place] = linear.objective.get(place, 0) - weight * sign
        else:
            broken = linear.column(f"soft clause in line {number}")
            linear.objective[broken] = weight
            row = {**terms, broken: 1.0}
            linear.rows.append((f"line {number}", row, 1 - constant, np.inf))
    return linear


def _opb(text: str, path: Path) -> Linear:
    """Read pseudo-Boolean constraints: linear terms ``+1 x1`` and ``-2 ~x3``."""
    linear = Linear()
    for number, line in _lines(text, "*"):
        body = line.rstrip().removesuffix(";").strip()
        head = re.match(r"(min|max):", body)
        operator = re.search(r"(<=|>=|=)\s*([+-]?\d+)$", body)
        if head is not None:
            words = body[head.end() :].split()
        elif operator is not None:
            words = body[: operator.start()].split()
        else:
            raise _unread(path, number, line)
        try:
            literals = [
                (float(int(weight)), name.removeprefix("~"), name.startswith("~"))
                for weight, name in zip(words[::2], words[1::2], strict=True)
            ]
        except ValueError:
            raise _unread(path, number, line) from None
        terms, constant = linear.terms(literals)
        if head is not None:
            linear.maximised = head[1] == "max"
            linear.objective, linear.offset = terms, constant
            continue
        assert operator is not None
        side = int(operator[2]) - constant
        low = -np.inf if operator[1] == "<=" else side
        high = np.inf if operator[1] == ">=" else side
        linear.rows.append((f"line {number}", terms, low, high))
    return linear


def _lp(text: str, path: Path) -> Linear:
    """Read an LP or MPS file with HiGHS."""
    import highspy

    reader = highspy.Highs()
    reader.silent()
    if reader.readModel(str(path)) == highspy.HighsStatus.kError:
        raise InvalidInstance(f"{path}: HiGHS cannot read it")
    program = reader.getLp()
    linear = Linear()
    linear.columns = {name: place for place, name in enumerate(program.col_names_)}
    linear.low, linear.high = list(program.col_lower_), list(program.col_upper_)
    kinds = list(program.integrality_) or [highspy.HighsVarType.kContinuous] * len(linear.low)
    linear.integer = [kind == highspy.HighsVarType.kInteger for kind in kinds]
    linear.objective = dict(enumerate(program.col_cost_))
    linear.offset = program.offset_
    linear.maximised = program.sense_ == highspy.ObjSense.kMaximize
    matrix = program.a_matrix_
    by_row: list[dict[int, float]] = [{} for _ in program.row_lower_]
    starts, index, value = list(matrix.start_), list(matrix.index_), list(matrix.value_)
    column_wise = matrix.format_ == highspy.MatrixFormat.kColwise
    for outer, (first, last) in enumerate(pairwise(starts)):
        for inner, weight in zip(index[first:last], value[first:last], strict=True):
            row, column = (inner, outer) if column_wise else (outer, inner)
            by_row[row][column] = weight
    names = list(program.row_names_) or [f"row {row + 1}" for row in range(len(by_row))]
    for name, terms, low, high in zip(
        names, by_row, program.row_lower_, program.row_upper_, strict=True
    ):
        linear.rows.append((name, terms, low, high))
    return linear


def _lines(text: str, mark: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are no comments, with their numbers."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and line.split()[0] != mark and not line.startswith(f"{mark} "):
            yield number, line.strip()


def _unread(path: Path, number: int, line: str) -> InvalidInstance:
    return InvalidInstance(f"{path}, line {number}: cannot be read: {shown(line)}")
