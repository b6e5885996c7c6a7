"""Packages whose public names are imported on first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["lazily"]


def lazily(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package : str
        Its name.
    homes : mapping of str to str
        Each public name, and the module that has it: one of the package, or of another room
        by its full name. A module that is what the name means has its own full name.

    Examples
    --------
    >>> get, names = lazily("cpx.trees", {"Tree": "tree"})
    >>> get("Tree").__module__, "Tree" in names()
    ('cpx.trees.tree', True)
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name] if homes[name].startswith("cpx.") else f"{package}.{homes[name]}"
        module = import_module(home)
        value = module if home == f"{package}.{name}" else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return get, names
