"""Models in MiniZinc, asked set by set: flattened to linear rows, with data of each instance.

A model takes what it declares of the arrays of a problem, by the names that encodings in Python
have: ``agreement``, ``k``, and so on, and ``m`` and ``d``, the numbers of samples and features.
Its features are the array ``X``. Arrays and features count from 1, as in MiniZinc.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from cpx.errors import EngineMissing, InvalidInstance, InvalidOption, shortened, shown
from cpx.export.legend import Legend
from cpx.modelling.base import Problem
from cpx.processes.children import Child, scratch
from cpx.support.files import read_text
from cpx.testing.grading import asked, n_features
from cpx.testing.set_models import Chosen
from cpx.testing.written_models import Linear, WrittenModel

__all__ = ["MINIZINC", "MiniZincModel", "read_flat"]

MINIZINC = ".mzn"

_SECONDS = 30.0
_ROW = re.compile(r"constraint (\w+)\((.*?)\)(?: *::.*)?;")
_VARIABLE = re.compile(
    r"var (bool|(?:int|float)|[-+.\deE]+\.\.[-+.\deE]+) *: *(\w+)[^=]*(?:= *(\S+))?;"
)
_ARRAY = re.compile(r"array \[1\.\.\d+\] of (?:int|float) *: *(\w+).*= *(\[.*\]);")
_SOLVE = re.compile(r"solve .*?(satisfy|minimize|maximize) *(\S*) *;")
_OURS = ("X_INTRODUCED", "cpx_")
# p = x + q + r, where q and r are 0: so that each feature has a variable of its own in the rows,
# whatever is known of x when they are made.
_FEATURE = (
    "var 0..3: cpx_p{0}; var 0..1: cpx_q{0}; var 0..1: cpx_r{0};\n"
    "constraint cpx_p{0} = array1d(X)[{1}] + cpx_q{0} + cpx_r{0};\n"
)


class MiniZincModel:
    """A model in MiniZinc, and the rows that it has for an instance.

    path: The file.
    Raises EngineMissing: Where there is no program ``minizinc``.
    Raises InvalidInstance: Naming what is wrong with the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()
        self._lines = read_text(path, InvalidInstance).splitlines()
        with scratch("cpx-mzn-") as folder:
            (folder / "x.mzn").write_text("constraint length(X) >= 0;\n")
            told = self._run(folder, "--model-interface-only")
        self._inputs: dict[str, dict[str, Any]] = json.loads(told)["input"]

    def check(self, problem: Problem, every: bool) -> None:
        """Refuse a model that asks for other data than a problem has.

        every: Whether it must state every instance of the kind, and not one alone.
        Raises InvalidOption: Naming the data.
        """
        known = _known(problem)
        if missing := [name for name in self._inputs if name not in known]:
            raise InvalidOption(
                f"{self._path.name} asks for {shown(missing[0])}: instances have "
                f"{', '.join(sorted(known))}"
            )
        if every and not self._inputs:
            raise InvalidOption(
                f"{self._path.name} asks for no data, so it states one instance: give it as the "
                "problem, or by --instance INST"
            )

    def of(self, problem: Problem) -> WrittenModel:
        """Return the rows of an instance.

        Raises InvalidInstance: With what MiniZinc says.
        """
        n = n_features(problem)
        right = f'"X has \\(length(X)) variables, and the instance {n} features"'
        with scratch("cpx-mzn-") as folder:
            (folder / "x.mzn").write_text(
                f"constraint assert(length(X) = {n}, {right});\n"
                + "".join(_FEATURE.format(j, j + 1) for j in range(n))
            )
            data, flat, paths = folder / "data.dzn", folder / "flat.fzn", folder / "paths.txt"
            data.write_text(self._data(problem))
            names = ("--fzn", flat, "--ozn", folder / "flat.ozn", "--output-paths-to-file", paths)
            written = map(str, (*names, data))
            self._run(folder, "-c", "-G", "linear", "--output-mode", "dzn", *written)
            linear = read_flat(flat.read_text())
            places = paths.read_text() if paths.exists() else ""
        return _Flattened(linear, n, self._path, self._called(places, len(linear.rows)))

    def _data(self, problem: Problem) -> str:
        """Return what the model declares, as a file of data."""
        known = _known(problem)
        return "".join(
            f"{name} = {_written(known[name], kind, n_features(problem))};\n"
            for name, kind in self._inputs.items()
        )

    def _run(self, folder: Path, *options: str) -> str:
        """Run MiniZinc on the file, and return what it prints."""
        program = shutil.which("minizinc")
        if program is None:
            raise EngineMissing(
                f"{self._path.name} needs the program minizinc: see www.minizinc.org, or "
                "apt-get install minizinc, brew install minizinc"
            )
        command = [program, str(self._path), str(folder / "x.mzn"), *options]
        out, errors = folder / "out.txt", folder / "errors.txt"
        with (
            out.open("wb") as stdout,
            errors.open("wb") as stderr,
            Child(
                command,
                folder,
                guarded=True,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
            ) as child,
        ):
            ended = child.wait(_SECONDS)
        if not ended:
            raise InvalidInstance(f"MiniZinc had not ended after {_SECONDS:g} s: it was stopped")
        if child.process.returncode != 0:
            raise InvalidInstance(self._wrong(errors.read_text(errors="replace")))
        return out.read_text(errors="replace")

    def _wrong(self, told: str) -> str:
        """Return what MiniZinc says is wrong, with the line of the file."""
        if "undefined identifier `X'" in told:
            return f"{self._path.name}: there is no array X, with a variable for each feature"
        lines = [line for line in told.splitlines() if line and not line.startswith("Warning")]
        error = next((line for line in lines if "rror:" in line), lines[-1] if lines else "")
        places = re.findall(rf"{re.escape(self._path.name)}:(\d+)", told)
        place = f", line {places[0]}" if places else ""
        return f"{self._path.name}{place}: {shortened(error.removeprefix('Error: '))}"

    def _called(self, places: str, n_rows: int) -> list[tuple[str, str]]:
        """Return of each row the line it comes from and its text; two empty ones for ours."""
        found = [("", "")] * n_rows
        for entry in places.splitlines():
            number, _, path = entry.split("\t", 2)
            own = [part.split("|") for part in path.split(";") if self._path.name in part]
            if number.isdigit() and int(number) < n_rows and own:
                line = int(own[0][1])
                for_each = dict.fromkeys(p[-1] for p in own if re.fullmatch(r"\w+=\w+", p[-1]))
                where = ", ".join([f"line {line}", *for_each])
                found[int(number)] = where, self._lines[line - 1].strip()
        return found


class _Flattened(WrittenModel):
    """The rows of a model. Those of one line, and of one turn of its loops, are one constraint."""

    def __init__(
        self, linear: Linear, n: int, path: Path, called: Sequence[tuple[str, str]]
    ) -> None:
        names = {f"cpx_p{j}": ("X", j) for j in range(n)}
        super().__init__(linear, Legend(names, 1, 0), path)
        self.rows = [name for name in dict.fromkeys(called) if name[0]]
        self._members = [[i for i, c in enumerate(called) if c == row] for row in self.rows]
        self._ours = [i for i, (name, _) in enumerate(called) if not name]

    def _solved(
        self, chosen: Chosen, rows: Sequence[int], objective: Mapping[int, float]
    ) -> float | None:
        kept = [i for row in rows for i in self._members[row]]
        return super()._solved(chosen, [*self._ours, *kept], objective)

    def values(self) -> Mapping[str, Sequence[int | float]]:
        """Return the values of X and of the variables with names, as the last set has them."""
        known = super().values()
        return {name: value for name, value in known.items() if not name.startswith(_OURS)}


def _known(problem: Problem) -> dict[str, Any]:
    """Return the data of an instance by their names."""
    form, samples = asked(problem).form(), getattr(problem, "samples", None)
    known = {f.name: getattr(form, f.name) for f in fields(form)}
    if samples is not None:
        known |= {"same": samples.same, "weights": samples.weights, "m": len(samples.agreement)}
    n = n_features(problem)
    known["d"] = n
    if known.get("groups", ()) is None:  # none, as each feature has its own
        known["groups"] = np.arange(n)
    return {
        name: value
        for name, value in known.items()
        if isinstance(value, int | np.integer | np.ndarray)
        or (isinstance(value, tuple) and all(isinstance(j, int) for j in value))
    }


def _written(value: Any, kind: Mapping[str, Any], n: int) -> str:
    """Write a value as data of a kind."""
    if isinstance(value, tuple):
        if kind.get("set"):
            return f"{{{', '.join(str(j + 1) for j in value)}}}"
        value = np.isin(np.arange(n), value)
    if isinstance(value, np.ndarray) and value.ndim == 2:
        rows = (", ".join(_one(v, kind) for v in row) for row in value)
        return f"[|{' | '.join(rows)}|]"
    if isinstance(value, np.ndarray):
        return f"[{', '.join(_one(v, kind) for v in value)}]"
    return _one(value, kind)


def _one(value: Any, kind: Mapping[str, Any]) -> str:
    return str(bool(value)).lower() if kind.get("type") == "bool" else str(int(value))


def read_flat(text: str) -> Linear:
    """Read linear FlatZinc.

    Raises InvalidInstance: Naming a line that is not linear.
    """
    linear, arrays = Linear(), dict[str, str]()
    assigned = []

    def terms(weights: str, names: str) -> tuple[dict[int, float], float]:
        """Return the weights by columns, and what the constants among the names add up to."""
        found: dict[int, float] = {}
        constant = 0.0
        each = map(float, _items(arrays.get(weights, weights)))
        for weight, name in zip(each, _items(arrays.get(names, names)), strict=True):
            if re.fullmatch(r"[A-Za-z_]\w*", name) and name not in ("true", "false"):
                place = linear.column(name)
                found[place] = found.get(place, 0.0) + weight
            else:
                constant += weight * _number(name)
        return found, constant

    for line in text.splitlines():
        if match := _ARRAY.fullmatch(line):
            arrays[match[1]] = match[2]
        elif match := _VARIABLE.fullmatch(line):
            _variable(linear, match[1], match[2])
            if match[3]:
                row, constant = terms("[1,-1]", f"[{match[2]},{match[3]}]")
                assigned.append(("", row, -constant, -constant))
        elif match := _SOLVE.fullmatch(line.strip()):
            linear.maximised = match[1] == "maximize"
            if match[2]:
                linear.objective, linear.offset = terms("[1]", f"[{match[2]}]")
        elif match := _ROW.fullmatch(line):
            name, arguments = match[1], _arguments(match[2])
            if name == "bool_eq" and arguments == ["false", "true"]:
                linear.rows.append(("", {}, 1.0, np.inf))
                continue
            if not re.fullmatch(r"(int|float|bool)_(lin_)?(le|eq)", name):
                raise InvalidInstance(f"MiniZinc has left {shown(name)}, which is not linear")
            if "lin" not in name:
                arguments = ["[1,-1]", f"[{','.join(arguments)}]", "0"]
            row, constant = terms(arguments[0], arguments[1])
            side = _number(arguments[2]) - constant
            linear.rows.append(("", row, side if name.endswith("eq") else -np.inf, side))
        elif line.strip() and not line.startswith(("predicate", "array")):
            raise InvalidInstance(f"FlatZinc that cannot be read: {shown(line)}")
    linear.rows += assigned  # behind the constraints, which have numbers
    return linear


def _variable(linear: Linear, kind: str, name: str) -> None:
    place = linear.column(name)
    linear.integer[place] = kind != "float" and "." not in kind.replace("..", "")
    if kind in ("int", "float"):
        linear.low[place], linear.high[place] = -np.inf, np.inf
    elif kind != "bool":
        low, high = kind.split("..")
        linear.low[place], linear.high[place] = float(low), float(high)
    if re.match(r"cpx_[qr]\d", name):
        linear.high[place] = 0.0


def _number(text: str) -> float:
    return float({"true": "1", "false": "0"}.get(text, text))


def _items(text: str) -> list[str]:
    """Return the entries of a list."""
    return [item.strip() for item in text.strip().strip("[]").split(",") if item.strip()]


def _arguments(text: str) -> list[str]:
    """Return the arguments of a constraint."""
    return [argument.strip() for argument in re.findall(r"\[[^\]]*\]|[^,\[\]]+", text)]
