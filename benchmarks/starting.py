"""Start-up time: importing cpx, the command, and loading the exact search.

The kernels of the search are compiled once; here they are loaded from their files. The
processor's time is that of the process and its children, and the least of all rounds: other
work on the machine does not count.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

from benchmarks.tables import show

COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import cpx": ["-c", "import cpx"],
    "cpx --help": ["-m", "cpx.cli", "--help"],
    "cpx solve --help": ["-m", "cpx.cli", "solve", "--help"],
    "import the problems": ["-c", "import cpx.models"],
    "load the search": ["-c", "from cpx.backends.search import Search; Search._preload()"],
}


def main(rounds: int = 11) -> None:
    """Print the table."""
    rows = []
    for name, arguments in COMMANDS.items():
        _run(arguments)
        seconds, processor = zip(*(_run(arguments) for _ in range(rounds)), strict=True)
        figures = min(seconds), statistics.median(seconds), max(seconds), min(processor)
        rows.append([name, *figures])
    show("Start, whole process", ["command", "min, s", "median, s", "max, s", "CPU, s"], rows)


def _run(arguments: list[str]) -> tuple[float, float]:
    """Run Python; return the seconds that passed, and those of the processor."""
    start, before = time.perf_counter(), os.times()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    spent = after.children_user + after.children_system
    return time.perf_counter() - start, spent - before.children_user - before.children_system


if __name__ == "__main__":
    main()
