"""Measure a piece of work in a process of its own: seconds and peak memory."""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable
from typing import Any


def in_own_process(work: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
    """Run ``work(*arguments)`` in a fresh interpreter.

    Returns
    -------
    dict
        ``value``, ``seconds``, and ``memory``, the peak resident size in MB of the whole
        process, interpreter and libraries included.
    """
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_measure, args=(there, work, arguments))
    process.start()
    there.close()
    try:
        return here.recv()
    finally:
        process.join()


def _measure(pipe: Any, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    start = time.perf_counter()
    value = work(*arguments)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    pipe.send({"value": value, "seconds": seconds, "memory": peak})
