"""Linear programs that grow, by HiGHS with one thread. Import lazily: it imports highspy.

HiGHS is called itself: rows are added to a program that is solved already, and the simplex method
goes on from the last basis, for which a modelling layer has no words.
"""

from __future__ import annotations

from typing import Any

import highspy

__all__ = ["empty_program", "run"]

_DUAL = 1  # dual simplex: rows that are added leave the last basis dual feasible


def empty_program(seed: int) -> Any:
    """Return a ``Highs`` without variables and rows, for :func:`run`."""
    highs = highspy.Highs()
    # A new Highs holds itself, by way of the callback of its Python interface, for ever.
    highs.setCallback(None, None)
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    highs.setOptionValue("presolve", "off")
    highs.setOptionValue("simplex_strategy", _DUAL)
    highs.setOptionValue("random_seed", seed % 2**31)
    return highs


def run(highs: Any) -> Any:
    """Solve a program, and return the status of the model."""
    # HiGHS keeps the worker threads of its last run in this thread, and refuses to run with
    # another number of them.
    highspy.Highs.resetGlobalScheduler(True)
    highs.run()
    return highs.getModelStatus()
