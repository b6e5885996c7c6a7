"""Names that are imported on first use: of a package, and of what an entry point leads to."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any


def lazily(
    package: str,
    homes: Mapping[str, str],
    registered: Callable[[], Iterable[tuple[str, str]]] = tuple,
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package.

    package: Its name.
    homes: Each public name, and the module that has it: one of the package, or of another room by
        its full name. A module that is what the name means has its own full name.
    registered: Yields further names, and where they are: ``"module:attribute"``.

    >>> get, names = lazily("cpx.trees", {"Tree": "tree"})
    >>> get("Tree").__module__, "Tree" in names()
    ('cpx.trees.tree', True)
    """

    def get(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            value = _registered(name)
        else:
            home = home if home.startswith("cpx.") else f"{package}.{home}"
            module = import_module(home)
            value = module if home == f"{package}.{name}" else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    def _registered(name: str) -> Any:
        for known, place in () if name.startswith("_") else registered():
            module, _, attribute = place.partition(":")
            if known == name and module != package:
                return getattr(import_module(module), attribute)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def names() -> list[str]:
        known = (name for name, _ in registered())
        return sorted({*vars(sys.modules[package]), *homes, *known})

    return get, names


def named_object(value: str, told: str, error: type[Exception]) -> Any:
    """Return what an entry point leads to.

    value: ``"module:attribute"``.
    told: What it is, for messages.
    error: Raised where the module cannot be imported, or has no such attribute.

    >>> named_object("math:tau", "the constant", ValueError)
    6.283185307179586
    """
    module, _, attribute = value.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as reason:
        raise error(f"{told} ({value}) cannot be loaded: {reason}") from reason
