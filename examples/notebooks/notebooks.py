"""The notebooks of the course: written from ``sources``, run with solutions, and marked.

``python examples/notebooks/notebooks.py build`` writes each notebook from its source, a Python
file whose cells begin with ``# %%``. ``solved FOLDER`` writes them with the solutions in place.
``mark FILE.ipynb ...`` runs notebooks and prints which exercises are right: it runs what students
have written, so run it where that can do no harm.

A cell that begins with ``# Exercise 1.1`` is to be changed, and one that begins with
``# Mark of 1.1`` says by its value whether it is right: a verdict of ``cpx.grade``, or a bool.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).parent
SOURCES = tuple(sorted((HERE / "sources").glob("*.py")))
_CELL = re.compile(r"^# %%( \[markdown\])?\n", re.M)
_EXERCISE = re.compile(r"# Exercise (\d+\.\d+)")
_MARK = re.compile(r"# Mark of (\d+\.\d+)")


@dataclass(frozen=True)
class Cell:
    """A cell of a notebook."""

    text: str
    code: bool = True

    def number(self, pattern: re.Pattern[str]) -> str:
        """Return the number of the exercise in the first line; empty where there is none."""
        found = pattern.match(self.text) if self.code else None
        return found[1] if found else ""


def read(source: Path) -> list[Cell]:
    """Return the cells of a source, or those of a notebook."""
    text = source.read_text(encoding="utf-8")
    if source.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        return [Cell("".join(c["source"]), c["cell_type"] == "code") for c in cells]
    _, *parts = _CELL.split(text)
    return [
        Cell(re.sub(r"^# ?", "", body.strip(), flags=re.M) if kind else body.strip(), not kind)
        for kind, body in zip(parts[::2], parts[1::2], strict=True)
    ]


def solved(source: Path) -> list[Cell]:
    """Return the cells with the solutions of all exercises in place."""
    answers = {c.number(_EXERCISE): c for c in read(HERE / "solutions" / source.name)}
    return [answers.get(cell.number(_EXERCISE) or "none", cell) for cell in read(source)]


def notebook(cells: Iterable[Cell]) -> str:
    """Return the text of the file of a notebook, without outputs."""
    made = []
    for i, cell in enumerate(cells):
        more = {"execution_count": None, "outputs": []} if cell.code else {}
        kind = {"cell_type": "code" if cell.code else "markdown", "id": f"cell-{i:02}"}
        made.append({**kind, **more, "metadata": {}, "source": cell.text.splitlines(True)})
    python = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    data = {"cells": made, "metadata": python, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(data, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def path_of(source: Path, folder: Path = HERE) -> Path:
    """Return where the notebook of a source is written."""
    return folder / f"{source.stem.replace('_', '-')}.ipynb"


def values(cells: Iterable[Cell]) -> Iterator[tuple[Cell, Any]]:
    """Run the cells one after the other; yield each one of code with its value."""
    # A module of its own: dataclasses, for one, look for the module of a class.
    module = sys.modules["notebook"] = ModuleType("notebook")
    names = vars(module)
    for cell in cells:
        if not cell.code:
            continue
        tree = ast.parse(cell.text)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "cell", "exec"), names)
        value = None
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        yield cell, value


def marks(cells: Iterable[Cell]) -> Mapping[str, bool]:
    """Run the cells; return of each exercise whether it is right."""
    return {
        number: bool(getattr(value, "right", value))
        for cell, value in values(cells)
        if (number := cell.number(_MARK))
    }


def main(command: str, *names: str) -> None:
    """Do what the command line asks for."""
    if command == "mark":
        for name in names:
            found = marks(read(Path(name)))
            told = ", ".join(
                f"{number} {'yes' if right else 'no'}" for number, right in found.items()
            )
            print(f"{name}: {sum(found.values())} of {len(found)} right: {told}")
        return
    folder = HERE if command == "build" else Path(*names)
    folder.mkdir(parents=True, exist_ok=True)
    for source in SOURCES:
        cells = read(source) if command == "build" else solved(source)
        path_of(source, folder).write_text(notebook(cells), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] not in (["build"], ["solved"], ["mark"]) or sys.argv[1:] == ["solved"]:
        sys.exit(__doc__)
    main(*sys.argv[1:])
