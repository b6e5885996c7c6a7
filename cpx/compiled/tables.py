"""The C declarations that follow from Python: ``tables.h`` in each folder with kernels.

A kernel's table, as :mod:`~cpx.compiled.kernel` fills it, is a C struct: its arguments in their
order, then its results. Named tuples are structs as well. Public integer constants of the modules
that declare them are defined too, so that C and Python cannot come to differ.

Run ``python -m cpx.compiled.tables`` after a change of a kernel's arguments, of a named tuple or
of a constant. A test compares the files with what this module makes of the declarations.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from cpx.compiled import kernel as kernels
from cpx.compiled.kernel import Kernel

_ROOT = Path(__file__).parents[2]
_KEYWORDS = {"auto", "const", "default", "double", "float", "int", "long", "short", "union"}
_NUMBERS = {int: "int64_t", bool: "int64_t", float: "double"}
_ARRAYS = {
    hint: name for name, hint in vars(kernels).items() if get_origin(hint) is Annotated
}  # by annotation


def headers(made: list[Kernel]) -> dict[Path, str]:
    """Return the text of each ``tables.h`` for some kernels."""
    tuples: dict[Any, None] = {}  # those that others hold come first
    for one in made:
        for hint in one.hints.values():
            tuples.update(dict.fromkeys(_tuples(hint)))
    folders: dict[Path, list[Any]] = {}
    for declared in (*tuples, *made):
        folders.setdefault(_folder(declared), []).append(declared)
    return {folder / "tables.h": _header(folder, own) for folder, own in folders.items()}


def all_kernels() -> list[Kernel]:
    """Return the kernels of all modules."""
    for path in sorted((_ROOT / "cpx").rglob("*.py")):
        if "\n@kernel\n" in path.read_text(encoding="utf-8"):
            import_module(".".join(path.relative_to(_ROOT).with_suffix("").parts))
    return sorted(kernels.registered, key=lambda one: one.__module__)


def _folder(declared: Any) -> Path:
    return Path(sys.modules[declared.__module__].__file__ or "").parent


def _tuples(hint: Any) -> Iterator[Any]:
    """Yield the named tuples of an argument, each after those that it holds."""
    if hasattr(hint, "_fields"):
        for member in get_type_hints(hint, include_extras=True).values():
            yield from _tuples(member)
        yield hint


def _header(folder: Path, declared: list[Any]) -> str:
    place = folder.relative_to(_ROOT).as_posix()
    guard = f"{place.replace('/', '_').upper()}_TABLES_H"
    used = {
        _folder(held): None
        for one in declared
        for hint in (one.hints if isinstance(one, Kernel) else get_type_hints(one)).values()
        for held in _tuples(hint)
    }
    seen: set[str] = set()
    includes = sorted(f'"{f.relative_to(_ROOT).as_posix()}/tables.h"' for f in used if f != folder)
    lines = [
        "/* Written by python -m cpx.compiled.tables from the declarations in Python. */",
        "",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        *[f"#include {name}" for name in ('"cpx/compiled/kernel.h"', *includes)],
    ]
    module = ""
    for one in declared:  # in an order in which each finds those that it holds
        if one.__module__ != module:
            module = one.__module__
            lines += ["", f"/* {module} */"]
            if module not in seen:
                lines += [
                    f"static const int64_t {name} = INT64_C({n});"
                    for name, n in _constants(module)
                ]
            seen.add(module)
        lines += ["", *(_table(one) if isinstance(one, Kernel) else _tuple(one))]
    return "\n".join([*lines, "", "#endif", ""])


def _constants(module: str) -> Iterator[tuple[str, int]]:
    """Yield the public integers that a module gives their values, and does not import."""
    text = Path(sys.modules[module].__file__ or "").read_text(encoding="utf-8")
    assigned = {
        name
        for line in text.splitlines()
        if not line.startswith(" ") and " = " in line
        for name in line.split(" = ")[0].split(", ")
    }
    for name, value in vars(sys.modules[module]).items():
        if type(value) is int and name.isupper() and name in assigned and name[0] != "_":
            yield name, value


def _tuple(made: Any) -> list[str]:
    members = get_type_hints(made, include_extras=True)
    return ["typedef struct {", *_members(members), f"}} {made.__name__};"]


def _table(made: Kernel) -> list[str]:
    members = dict(made.hints)
    returned = members.pop("return")
    if get_origin(returned) is tuple:
        members |= {f"result_{x}": kind for x, kind in enumerate(get_args(returned))}
    elif returned is not type(None):
        members["result"] = returned
    return [f"struct {made.symbol} {{", *_members(members), "};"]


def _members(members: dict[str, Any]) -> list[str]:
    return [
        f"    {_c_type(hint)} {name}{'_' if name in _KEYWORDS else ''};"
        for name, hint in members.items()
    ]


def _c_type(hint: Any) -> str:
    return _NUMBERS.get(hint) or _ARRAYS.get(hint) or str(hint.__name__)


if __name__ == "__main__":
    for path, text in headers(all_kernels()).items():
        path.write_text(text, encoding="utf-8", newline="\n")
