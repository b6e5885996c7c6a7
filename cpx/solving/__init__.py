"""Solving: the one way from a problem and the name of an engine to a checked result.

Whatever the engine, the objective is recomputed from the data, the status follows from what
was proved, and the independent checker has the last word.

- ``running``: :func:`cpx.solve`;
- ``matching``: whether an engine takes a problem, and in which encoding;
- ``concluding``: from what an engine reported to the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpx.support.lazy_imports import lazily

if TYPE_CHECKING:
    from cpx.solving.concluding import conclude
    from cpx.solving.matching import encoding_of, require_kind, require_oracle
    from cpx.solving.running import run, solve

__all__ = ["conclude", "encoding_of", "require_kind", "require_oracle", "run", "solve"]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "conclude": "concluding",
        "encoding_of": "matching",
        "require_kind": "matching",
        "require_oracle": "matching",
        "run": "running",
        "solve": "running",
    },
)
