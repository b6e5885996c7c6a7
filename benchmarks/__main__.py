"""``python -m benchmarks [name ...]``: run all benchmarks, or the named ones.

Commands of their own, each with ``--help``: ``fuzz``, which solves random instances with every
engine and compares with brute force; ``mutate``,
which alters the code and runs its tests; and the published experiments ``koriche``, ``ads`` and
``kernels``.
"""

from __future__ import annotations

import sys
from importlib import import_module

from cpx.errors import UnknownName

NAMES = (
    "starting",
    "compiling",
    "limits",
    "memory",
    "engines",
    "searching",
    "published",
    "subgroups",
    "boosted",
    "reasons",
    "peers.sufficient_reasons",
    "rule_sets",
    "learning",
    "rule_learners",
    "structure",
    "cpmpy_suite",
)
TOOLS = ("fuzz", "mutate")
PAPERS = ("koriche", "ads", "kernels")


def main(names: list[str]) -> int:
    """Run the benchmarks in order."""
    if names and names[0] in TOOLS:
        return int(import_module(f"benchmarks.{names[0]}").main(names[1:]))
    if names and names[0] in PAPERS:
        from benchmarks.papers.commands import run

        run(names)
    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        print(f"unknown: {', '.join(unknown)}; known: {', '.join(NAMES)}", file=sys.stderr)
        return 2
    try:
        for name in names or NAMES:
            import_module(f"benchmarks.{name}").main()
    except UnknownName as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
