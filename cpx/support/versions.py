"""The version of cpx, and those of installed distributions."""

from __future__ import annotations

from functools import cache

__version__ = "0.1.0"


@cache
def installed_version(distribution: str) -> str | None:
    """Return the version of a distribution, None when it is not installed.

    Reading it takes a millisecond, which is a good part of an easy solve: it is read once.

    >>> installed_version("no-such-distribution") is None
    True
    """
    # Imported here: ``import cpx`` loads no modules that files beside an instance may shadow.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
