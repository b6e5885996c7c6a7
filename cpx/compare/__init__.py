"""The same problems over many backends: runs, the table, contradictions.

:func:`compare` runs every problem on every engine, each in its own worker process, and
returns a :class:`Comparison`. The names are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cpx.compare.comparison import Comparison
    from cpx.compare.records import Run
    from cpx.compare.runner import Task, compare, engine_names

__all__ = ["Comparison", "Run", "Task", "compare", "engine_names"]

_HOMES = {
    "Comparison": "comparison",
    "Run": "records",
    "Task": "runner",
    "compare": "runner",
    "engine_names": "runner",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
