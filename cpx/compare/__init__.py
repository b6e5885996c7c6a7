"""Experiments: many engines on the same problems, scored, with wrong claims found.

:func:`compare` runs every problem with every engine in every setting, each run in a worker of
its own, and returns a :class:`Comparison`. The package can be called itself: ``cpx.compare(...)``.

- ``design``: an experiment as data, or as one TOML file;
- ``sources``, ``plan``: its instances, and the list of its runs;
- ``run``, ``pool``, ``cluster``: making the runs, on this machine or on many;
- ``recorders``, ``store``: where they are kept: in memory, or as lines of a file;
- ``records``: what is kept of a run;
- ``comparison``: all runs together;
- ``cases``, ``scores``, ``statistics``, ``summary``, ``anytime``: what they come to;
- ``encodings``, ``encodings_shown``, ``propagation``: the encodings of one problem;
- ``table``, ``report_tables``, ``plots``, ``report``, ``page``: how it is shown.

The names are imported when they are first used.
"""

from __future__ import annotations

import inspect
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from cpx.support.lazy_imports import lazily

if TYPE_CHECKING:
    from cpx.compare.comparison import Comparison
    from cpx.compare.design import Design
    from cpx.compare.encodings import encodings_table
    from cpx.compare.plan import Task, engine_names
    from cpx.compare.records import Run
    from cpx.compare.run import compare

__all__ = ["Comparison", "Design", "Run", "Task", "compare", "encodings_table", "engine_names"]

_HOMES = {
    "Comparison": "comparison",
    "Design": "design",
    "Run": "records",
    "Task": "plan",
    "compare": "run",
    "encodings_table": "encodings",
    "engine_names": "plan",
}

__getattr__, __dir__ = lazily(__name__, _HOMES)


class _Callable(ModuleType):
    """A package that is called like its function of the same name."""

    def __call__(self, *args: Any, **kwargs: Any) -> Comparison:
        from cpx.compare.run import compare

        return compare(*args, **kwargs)

    @property
    def __signature__(self) -> inspect.Signature:
        from cpx.compare.run import compare

        return inspect.signature(compare)


sys.modules[__name__].__class__ = _Callable
