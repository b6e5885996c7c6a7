"""Rooms import only from rooms below them, and no module imports itself by way of others."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import cpx
from cpx.models import FAMILIES
from cpx.support.families import Family

ROOT = Path(__file__).parents[1]
PACKAGE = Path(cpx.__file__).parent

LAYERS = (
    ("errors", "support", "options", "processes", "compiled"),
    ("data",),
    ("trees",),
    ("answers",),
    ("modelling",),
    ("check",),
    ("backends",),
    ("solving",),
    ("methods",),
    ("explainers",),
    ("compare",),
    ("export",),
    ("testing",),
    ("library",),
    ("cli",),
    ("models",),
    ("",),
    ("__main__",),
)
"""Lowest first; what stands in one line is one layer. The empty name is the package itself."""

PUBLIC = "cpx.models.public"
"""For type checkers alone: nothing imports it when cpx runs."""

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


def _imported_at_once(path: Path) -> Iterator[str]:
    """Modules of cpx that a file imports when it is imported."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module in MODULES:
            yield node.module


@cache
def imports_of_modules() -> dict[str, set[str]]:
    """Modules by those that they import; reading them all takes seconds, at the first test."""
    return {name: set(_imported(path)) - {name} for name, path in MODULES.items()}


def _room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def test_every_room_has_its_layer() -> None:
    assert {_room(name) for name in MODULES} == set(HEIGHT)


def _family(module: str) -> str:
    """Return the family that a module is of, "" for one of the core."""
    parts = module.split(".")
    return parts[2] if len(parts) > 2 and parts[1] == "models" and module != PUBLIC else ""


def test_imports_go_down() -> None:
    against = [
        f"{name} imports {other}"
        for name, others in imports_of_modules().items()
        for other in others
        if _room(name) != _room(other) and HEIGHT[_room(other)] > HEIGHT[_room(name)]
    ]
    assert not against


def test_the_core_imports_no_family() -> None:
    naming = {
        name
        for name, others in imports_of_modules().items()
        if not _family(name) and name not in ("cpx.models", PUBLIC) and any(map(_family, others))
    }
    assert not naming


def test_the_core_has_the_name_of_no_kind() -> None:
    kinds = {kind for family in FAMILIES for kind in _family_of(family).problems}
    naming = {
        name
        for name, path in MODULES.items()
        if not _family(name)
        and any(
            isinstance(node, ast.Constant) and node.value in kinds
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        )
    }
    assert not naming


def test_the_core_says_nowhere_where_a_family_is() -> None:
    """Strings such as "cpx.models.rule_set.cases:cases" are registered by families alone."""
    place = re.compile(rf"cpx\.models\.({'|'.join(FAMILIES)})\.[\w.]+:\w+")
    naming = {
        name
        for name, path in MODULES.items()
        if not _family(name)
        and any(
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and place.fullmatch(node.value)
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        )
    }
    assert not naming


def _family_of(folder: str) -> Family:
    family: Family = import_module(f"cpx.models.{folder}").FAMILY
    return family


def test_families_import_those_before_them() -> None:
    assert {_family(name) for name in MODULES} == {"", *FAMILIES}
    place = {family: i for i, family in enumerate(("", *FAMILIES))}
    against = {
        f"{name} imports {other}"
        for name, others in imports_of_modules().items()
        for other in others
        if _family(name) and place[_family(other)] > place[_family(name)]
    }
    assert not against


@cache
def imports_of_families() -> dict[str, set[str]]:
    """Families by those that they import."""
    found: dict[str, set[str]] = {family: set() for family in FAMILIES}
    for name, others in imports_of_modules().items():
        if family := _family(name):
            found[family] |= set(map(_family, others)) - {"", family}
    return found


_JUDGING = re.compile(r"cpx\.models\.\w+\.(?:\w+_)?(?:judge|proof)\w*")


def test_the_checker_shares_no_code_with_what_it_checks() -> None:
    """Judges and checkers of proofs import NumPy, the standard library and each other."""
    inside = {n for n in MODULES if _room(n) == "check" or _JUDGING.fullmatch(n)}
    assert len(inside) > 30
    others = {other for name in inside for other in imports_of_modules()[name]} - inside
    frame = {"one_thread", "families", "lazy_imports"}
    assert others == {f"cpx.support.{name}" for name in frame}
    # What a package of theirs says of itself is names alone.
    registering = {f"cpx.models.{family}" for family in FAMILIES}
    for name in {*registering, "cpx.models"}:
        loaded = set(_imported_at_once(MODULES[name]))
        assert loaded <= {"cpx.support.families", "cpx.support.lazy_imports"}, name


def test_no_module_imports_itself_by_way_of_others() -> None:
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_modules: list[str] = []
    circles = []

    def visit(name: str) -> None:  # Tarjan's strongly connected components
        order[name] = lowest[name] = len(order)
        open_modules.append(name)
        for other in sorted(imports_of_modules()[name]):
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

    for name in imports_of_modules():
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


def test_docstrings_of_private_helpers_have_no_sections() -> None:
    """What a signature does not say stands in a line: ``rows (n,): which to count``."""
    told = [
        f"{path.relative_to(PACKAGE)}, line {node.lineno}: {node.name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in _private(ast.parse(path.read_text(encoding="utf-8")))
        if "\n----" in (ast.get_docstring(node) or "")
    ]
    assert told == []


def _private(node: ast.AST, inside: bool = False) -> Iterator[ast.FunctionDef | ast.ClassDef]:
    """Yield functions and classes with an underscore, and what is in them or in functions."""
    for child in ast.iter_child_nodes(node):
        named = isinstance(child, ast.FunctionDef | ast.ClassDef)
        own = inside or (named and re.match("_[a-z]", child.name, re.IGNORECASE) is not None)
        if named and own:
            yield child
        yield from _private(child, own or isinstance(child, ast.FunctionDef))
