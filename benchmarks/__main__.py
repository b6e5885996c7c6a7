"""``python -m benchmarks [name ...]``: run all benchmarks, or the named ones.

``python -m benchmarks mutate [options]`` is a tool of its own, see :mod:`benchmarks.mutate`.
"""

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
)


def main(names: list[str]) -> int:
    """Run the benchmarks in order."""
    if names[:1] == ["mutate"]:
        from benchmarks import mutate

        return mutate.main(names[1:])
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
