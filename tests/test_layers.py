"""Rooms import only from rooms below them, and no module imports itself by way of others."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import cpx

ROOT = Path(__file__).parents[1]
PACKAGE = Path(cpx.__file__).parent

LAYERS = (
    ("errors", "options", "support", "processes", "compiled"),
    ("data",),
    ("trees",),
    ("answers",),
    ("models",),
    ("instances",),
    ("check",),
    ("backends",),
    ("solving",),
    ("methods",),
    ("explainers",),
    ("boolean_kernels",),
    ("compare",),
    ("export",),
    ("testing",),
    ("library",),
    ("",),
    ("cli", "__main__"),
)
"""Lowest first; what stands in one line is one layer. The empty name is the package itself."""

HEIGHT = {room: height for height, rooms in enumerate(LAYERS) for room in rooms}


def _modules() -> dict[str, Path]:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = ["cpx", *path.relative_to(PACKAGE).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = _modules()


def _imported(path: Path) -> Iterator[str]:
    """Modules of cpx that a file imports anywhere: at the top, in functions, for types only."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert not node.level, f"{path}: a relative import"
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in MODULES else node.module for name in inside]
        else:
            continue
        yield from (name for name in names if name in MODULES)


@cache
def _imports() -> dict[str, set[str]]:
    """Modules by those that they import; reading them all takes seconds, at the first test."""
    return {name: set(_imported(path)) - {name} for name, path in MODULES.items()}


def _room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def test_every_room_has_its_layer() -> None:
    assert {_room(name) for name in MODULES} == set(HEIGHT)


def test_imports_go_down() -> None:
    against = [
        f"{name} imports {other}"
        for name, others in _imports().items()
        for other in others
        if _room(name) != _room(other) and HEIGHT[_room(other)] > HEIGHT[_room(name)]
    ]
    assert not against


def test_the_checker_shares_no_code_with_what_it_checks() -> None:
    inside = {name for name in MODULES if _room(name) == "check"}
    others = {other for name in inside for other in _imports()[name]} - inside
    assert others == {"cpx.support.one_thread"}


def test_no_module_imports_itself_by_way_of_others() -> None:
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_modules: list[str] = []
    circles = []

    def visit(name: str) -> None:  # Tarjan's strongly connected components
        order[name] = lowest[name] = len(order)
        open_modules.append(name)
        for other in sorted(_imports()[name]):
            if other not in order:
                visit(other)
            if other in open_modules:
                lowest[name] = min(lowest[name], lowest[other])
        if lowest[name] == order[name]:
            start = open_modules.index(name)
            circle = open_modules[start:]
            del open_modules[start:]
            if len(circle) > 1:
                circles.append(sorted(circle))

    for name in _imports():
        if name not in order:
            visit(name)
    assert not circles


def test_contributors_are_told_the_layers_in_their_order() -> None:
    """A row of the table in CONTRIBUTING.md is one layer, or a few that follow each other."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    told = [re.findall(r"`(\w+)(?:/|\.py)`", row) for row in rows]
    heights = [[HEIGHT[room] for room in row] for row in told]
    assert {room for row in told for room in row} == set(HEIGHT) - {"", "__main__"}
    in_order = [height for row in heights for height in row]
    assert in_order == sorted(in_order)


@pytest.mark.parametrize("room", ["models", "backends"])
def test_links_at_the_top_lead_to_the_rooms(room: str) -> None:
    link = ROOT / room
    listed = subprocess.run(
        ["git", "ls-files", "--stage", room], cwd=ROOT, capture_output=True, text=True
    )
    if listed.returncode:
        pytest.skip("not a checkout of git")
    assert listed.stdout.startswith("120000 "), listed.stdout
    target = str(link.readlink()) if link.is_symlink() else link.read_text(encoding="utf-8")
    assert target == f"cpx/{room}"
    assert (ROOT / target / "__init__.py").is_file()
