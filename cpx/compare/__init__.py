"""Comparisons: many engines on the same problems, with a table and contradictions found.

:func:`compare` runs every problem on every engine, each in its own worker process, and
returns a :class:`Comparison`. The names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpx.support.lazy_imports import lazily

if TYPE_CHECKING:
    from cpx.compare.comparison import Comparison
    from cpx.compare.plan import Task, engine_names
    from cpx.compare.records import Run
    from cpx.compare.run import compare

__all__ = ["Comparison", "Run", "Task", "compare", "engine_names"]

_HOMES = {
    "Comparison": "comparison",
    "Run": "records",
    "Task": "plan",
    "compare": "run",
    "engine_names": "plan",
}

__getattr__, __dir__ = lazily(__name__, _HOMES)
