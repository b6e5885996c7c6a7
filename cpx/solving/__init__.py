"""Solving: the one way from a problem and the name of an engine to a checked result.

Whatever the engine, the objective is recomputed from the data, the status follows from what
was proved, and the independent checker has the last word.

- ``run``: :func:`cpx.solve`, from the first to the last;
- ``warm_start``: the solution that an engine starts from;
- ``dinkelbach``, ``inner_solves``: problems solved by other problems;
- ``conclude``: from what an engine reported to the result;
- ``isolate``, ``worker``: the two ends of a solve in a process of its own; ``servers``: what
  forks them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpx.support.lazy_imports import lazily

if TYPE_CHECKING:
    from cpx.solving.run import solve

__all__ = ["solve"]

# Nothing else is exported: functions and modules have the same names.
__getattr__, __dir__ = lazily(__name__, {"solve": "run"})
