"""How long ``import cpx`` and ``cpx --help`` take, whole processes."""

from __future__ import annotations

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
}


def main(rounds: int = 11) -> None:
    """Print the table."""
    rows = []
    for name, arguments in COMMANDS.items():
        seconds = []
        for _ in range(rounds + 1):
            start = time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
            seconds.append(time.perf_counter() - start)
        seconds = seconds[1:]
        rows.append([name, min(seconds), statistics.median(seconds), max(seconds)])
    show("Start, whole process", ["command", "min, s", "median, s", "max, s"], rows)


if __name__ == "__main__":
    main()
