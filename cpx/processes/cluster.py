"""The client of a Dask cluster, by the address of its scheduler."""

from __future__ import annotations

from typing import Any

from cpx.errors import EngineMissing, InvalidOption, shortened, shown

_SECONDS = 10


def connect(address: str, default: bool = False, seconds: float | None = None) -> Any:
    """Return a client of the cluster whose scheduler has this address; it is closed by ``with``.

    default: Whether joblib finds it.
    seconds: How long to wait for an answer, ten at most.

    Raises EngineMissing, InvalidOption: When Dask is not installed, or there is no cluster.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise EngineMissing("a cluster needs Dask: pip install dask distributed joblib") from error
    try:
        return Client(address, timeout=min(_SECONDS, seconds or _SECONDS), set_as_default=default)
    except (OSError, ValueError) as error:
        raise InvalidOption(f"no cluster at {shown(address)}: {shortened(error)}") from error
