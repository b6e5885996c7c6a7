"""Files that are damaged: what parsing them raises becomes an error of ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cpx.errors import CpxError, ModelError, shortened

__all__ = ["reading"]


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Turn what is raised by content of wrong keys, types or lengths into a ModelError.

    Examples
    --------
    >>> with reading("XGBoost model"):
    ...     {}["learner"]
    Traceback (most recent call last):
    cpx.errors.ModelError: no XGBoost model: the key 'learner' is missing
    """
    try:
        yield
    except CpxError:
        raise
    except KeyError as error:
        raise ModelError(f"no {what}: the key {error} is missing") from error
    except (TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise ModelError(f"no {what}: {shortened(error)}") from error
