"""Warnings attributed to the line of the user's code, however deep in cpx they arise."""

from __future__ import annotations

import sys
import warnings

from cpx.errors import printable

_PACKAGE = __name__.partition(".")[0]


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, with the innermost line outside of cpx as the place.

    The number of frames in between differs with the way that was taken: an estimator of
    :mod:`cpx.methods` may be fitted by a person or by another estimator.

    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     warn("the rows are few")
    >>> said[0].category.__name__, str(said[0].message)
    ('UserWarning', 'the rows are few')
    """
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and _ours(str(frame.f_globals.get("__name__", ""))):
        frame, level = frame.f_back, level + 1
    warnings.warn(printable(message), category, stacklevel=level)


def _ours(module: str) -> bool:
    return module == _PACKAGE or module.startswith(f"{_PACKAGE}.")
