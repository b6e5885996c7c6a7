"""The notebooks of the course: current, complete, and marked right with their solutions alone."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

import cpx
import cpx.check
import cpx.modelling.encodings
import cpx.modelling.registry
from tests.docs.prose import sentences

ROOT = Path(__file__).parents[2]


def _module() -> object:
    path = ROOT / "examples" / "notebooks" / "notebooks.py"
    spec = importlib.util.spec_from_file_location("notebooks", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["notebooks"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


notebooks = _module()


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each notebook a folder and time, and let the next one not know what it registers."""
    monkeypatch.chdir(tmp_path)
    # The number of instances ends each grading, and not a busy machine.
    monkeypatch.setattr(cpx, "grade", partial(cpx.grade, time_limit=None))
    for room in (cpx.modelling.registry, cpx.modelling.encodings, cpx.check):
        monkeypatch.setattr(room, "_registered", dict(room._registered))


def _defined(text: str) -> set[str]:
    """Return the names that a cell defines for others."""
    found: set[str] = set()
    todo: list[ast.AST] = [*ast.parse(text).body]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif not isinstance(node, ast.comprehension | ast.Lambda):  # names of their own
            todo += ast.iter_child_nodes(node)
    return {name for name in found if not name.startswith("_")}


@pytest.mark.parametrize("source", notebooks.SOURCES, ids=lambda path: path.stem)
def test_a_notebook_is_current_and_complete(source: Path) -> None:
    cells, answers = notebooks.read(source), notebooks.solved(source)
    path = notebooks.path_of(source)
    assert path.read_text("utf-8") == notebooks.notebook(cells), "run: notebooks.py build"
    assert notebooks.read(path) == cells
    exercises = {cell.number(notebooks._EXERCISE) for cell in cells} - {""}
    assert exercises == {cell.number(notebooks._MARK) for cell in cells} - {""}
    assert len(exercises) >= 2
    changed = {a.number(notebooks._EXERCISE) for a, c in zip(answers, cells) if a != c}
    assert changed == exercises, "each exercise has a solution"
    # Reactive notebooks, as those of marimo, allow one cell for each name.
    names = Counter(name for cell in cells if cell.code for name in _defined(cell.text))
    assert not [name for name, count in names.items() if count > 1]
    text = "\n\n".join(cell.text for cell in cells if not cell.code)
    assert not [s for s in sentences(text) if len(s.split()) > 30]


@pytest.mark.parametrize("state", ["read", "solved"])
@pytest.mark.parametrize(
    "source",
    [
        pytest.param(s, marks=[] if s.name.startswith("02") else pytest.mark.slow)
        for s in notebooks.SOURCES
    ],
    ids=lambda path: path.stem,
)
def test_exercises_are_right_when_they_are_solved(source: Path, state: str) -> None:
    marks = notebooks.marks(getattr(notebooks, state)(source))
    assert len(marks) >= 2
    assert all(right == (state == "solved") for right in marks.values()), marks


def test_students_are_marked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    cells = [
        notebooks.Cell("# Exercise 9.1\nn = 3"),
        notebooks.Cell("# Mark of 9.1\nn == 3"),
        notebooks.Cell("# Mark of 9.2\nn > 3"),
    ]
    path = tmp_path / "mine.ipynb"
    path.write_text(notebooks.notebook(cells), encoding="utf-8")
    notebooks.main("mark", str(path))
    assert capsys.readouterr().out == f"{path}: 1 of 2 right: 9.1 yes, 9.2 no\n"
