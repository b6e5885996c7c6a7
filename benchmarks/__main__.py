"""``python -m benchmarks [name ...]``: run all benchmarks, or the named ones."""

from __future__ import annotations

import sys
from importlib import import_module

from cpx.errors import UnknownName

NAMES = (
    "starting",
    "compiling",
    "limits",
    "engines",
    "searching",
    "published",
    "subgroups",
    "boosted",
    "reasons",
    "peers",
    "rule_sets",
    "learning",
    "rule_learners",
    "cpmpy_suite",
)


def main(names: list[str]) -> int:
    """Run the benchmarks in order."""
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
