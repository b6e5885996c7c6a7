"""Figure 4 of Wang et al.: the time of the beam until each size, by the number of threads."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from benchmarks.papers.grids import Grid
from cpx.models.expected_prediction.evaluator import Evaluator
from cpx.models.expected_prediction.search.known_attributes.beam import beam_levels
from cpx.support.files import write_atomic
from cpx.support.one_thread import one_thread

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.papers.sufficient.experiment import Laboratory

__all__ = ["Seconds", "counts_for", "seconds_by_threads", "seconds_grid"]

_FILE = "threads.json"

_REPEATS = 5
"""Of each run; the fastest counts, as other programs only add to the time."""

_SIZES = (1, 2, 3, 5, 10, 15, 20, 25, 30)


@dataclass(frozen=True)
class Seconds:
    """Seconds by the clock from the start of the beam, mean over the rows.

    Attributes
    ----------
    cores : int
        That the process may use.
    rows : int
    until : mapping of str to tuple of float
        Of each number of threads, the seconds until each size is done, from size 0 on.
    """

    cores: int
    rows: int
    until: Mapping[str, tuple[float, ...]]

    def write(self, directory: Path) -> None:
        """Write the seconds to a file of the directory."""
        write_atomic(directory / _FILE, json.dumps(asdict(self)).encode())

    @classmethod
    def read(cls, directory: Path) -> Self | None:
        """Read what was written; None where nothing was."""
        path = directory / _FILE
        return cls(**json.loads(path.read_bytes())) if path.exists() else None


def counts_for(cores: int) -> tuple[int, ...]:
    """Return the powers of two up to the number of cores, at most the 16 threads of section 6.1.

    Examples
    --------
    >>> counts_for(1), counts_for(6)
    ((1,), (1, 2, 4))
    """
    return tuple(n for n in (1, 2, 4, 8, 16) if n <= cores)


def seconds_by_threads(
    lab: Laboratory, rows: Sequence[int], most: int, width: int, counts: Sequence[int] = ()
) -> Seconds:
    """Measure the beam on some rows of the test part.

    Parameters
    ----------
    lab : Laboratory
    rows : sequence of int
    most, width : int
        Of the beam.
    counts : sequence of int, optional
        Numbers of threads; by default those for the cores that there are.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    counts = counts or counts_for(cores or 1)
    taken: dict[int, list[list[float]]] = {count: [] for count in counts}
    with one_thread():
        for row in rows:
            scores = lab.fitted.problem(lab.split.test.iloc[row], most).scores
            best: dict[int, list[float]] = {}
            for _ in range(_REPEATS):
                for count in counts:
                    # Each run makes its own tables.
                    fresh = Evaluator(scores.leaves, scores.distribution, scores.codes)
                    start, until = time.perf_counter(), list[float]()
                    for _ in beam_levels(fresh, most, width, threads=count):
                        until.append(time.perf_counter() - start)
                    best[count] = min(until, best.get(count, until), key=lambda run: run[-1])
            for count in counts:
                taken[count].append(best[count])
    means = {str(count): tuple(np.mean(runs, axis=0).tolist()) for count, runs in taken.items()}
    return Seconds(cores or 1, len(rows), means)


def seconds_grid(seconds: Seconds) -> Grid:
    """Return the milliseconds until each size, a column for each number of threads."""
    lines = [
        (str(size), *(f"{1e3 * until[size]:.0f}" for until in seconds.until.values()))
        for size in _SIZES
        if all(size < len(until) for until in seconds.until.values())
    ]
    head = ("size", *(f"{n} thread{'' if n == '1' else 's'}, ms" for n in seconds.until))
    title = (
        f"Figure 4: MNIST, time until each size of {seconds.rows} images, {seconds.cores} cores"
    )
    return Grid(title, head, tuple(lines))
