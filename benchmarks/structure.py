"""Size and structure of the package: lines, files, circles of imports, the path of one call."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import cpx
from benchmarks.tables import show

ROOT = Path(cpx.__file__).parent


def main() -> None:
    """Print the table."""
    files = sorted(ROOT.rglob("*.py"))
    core, families = (
        sum(path.read_text(encoding="utf-8").count("\n") for path in files if family(path) is own)
        for own in (False, True)
    )
    entered, changes = one_call()
    show(
        "Structure",
        ("of cpx/", "number"),
        [
            ("files", len(files)),
            ("lines of the core", core),
            ("lines of families", families),
            ("circles of imports", len(circles(files))),
            ("files entered by one cpx.explain", entered),
            ("changes of file by one cpx.explain", changes),
        ],
    )


def family(path: Path) -> bool:
    """Say whether a file belongs to a family of problems."""
    return path.is_relative_to(ROOT / "models") and path.parent != ROOT / "models"


def one_call() -> tuple[int, int]:
    """Return how many files one call of ``cpx.explain`` enters, and how often it changes file.

    It is the second such call of the process: what is imported or compiled once is not counted.
    A change of file is a call of a function of cpx from a function of cpx in another file.
    """
    data = load_breast_cancer(as_frame=True)
    forest = RandomForestClassifier(10, random_state=0).fit(data.data, data.target)
    root, files, changes = str(ROOT), set(), 0

    def watch(frame: FrameType, event: str, argument: object) -> None:
        nonlocal changes
        name = frame.f_code.co_filename
        if event != "call" or not name.startswith(root):
            return
        files.add(name)
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(root):
            caller = caller.f_back
        changes += caller is not None and caller.f_code.co_filename != name

    for profile in (None, watch):
        sys.setprofile(profile)
        try:
            cpx.explain(forest, data.data, data.data.iloc[19], k=3, min_coverage=0.5)
        finally:
            sys.setprofile(None)
    return len(files), changes


def circles(files: list[Path]) -> list[list[str]]:
    """Return the groups of modules that import each other, typing imports included."""
    modules = {}
    for path in files:
        parts = ["cpx", *path.relative_to(ROOT).with_suffix("").parts]
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    imports = {name: set(_imports(path, modules)) - {name} for name, path in modules.items()}
    reach = {name: _reached(name, imports) for name in imports}
    found = {tuple(sorted(b for b in reach[a] if a in reach[b])) for a in imports if a in reach[a]}
    return [list(group) for group in sorted(found)]


def _imports(path: Path, modules: dict[str, Path]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in modules else node.module for name in inside]
        yield from (name for name in names if name in modules)


def _reached(start: str, imports: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    ahead = list(imports[start])
    while ahead:
        name = ahead.pop()
        if name not in seen:
            seen.add(name)
            ahead += imports[name]
    return seen


if __name__ == "__main__":
    main()
