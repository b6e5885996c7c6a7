"""``python -m benchmarks [NAME ...]``: run all benchmarks, or the named ones.

Commands of their own, each with ``--help``:

- ``fuzz`` solves random problems with every engine and looks for wrong answers;
- ``mutate`` alters the code and runs its tests;
- ``library`` solves the instances of the library anew and notes what is known of them;
- ``koriche``, ``equal-calls``, ``ads``, ``kernels``, ``sufficient`` and ``published-circuit``
  reproduce published experiments.
"""

from __future__ import annotations

import sys
from importlib import import_module

from cpx.errors import UnknownName

NAMES = (
    "starting",
    "compiling",
    "stating",
    "limits",
    "memory",
    "engines",
    "comparing",
    "searching",
    "growth",
    "published",
    "published_engines",
    "side_constraints",
    "proofs",
    "subgroups",
    "boosted",
    "boosted_tables",
    "reasons",
    "reason_engines",
    "readers",
    "peers",
    "intervals",
    "contrasts",
    "rule_sets",
    "rule_set_engines",
    "learning",
    "rule_learners",
    "rule_sets_unseen",
    "guarantees",
    "certificates",
    "expected_prediction",
    "five-kinds",
    "structure",
    "cpmpy_engines",
    "engine_encodings",
    "unseen-engines",
    "portfolio",
    "cpmpy_overhead",
    "cpmpy_suite",
    "reports",
    "pipelines",
    "networks",
    "relaxations",
)
# Benchmarks that are not a module of this package by the same name.
ELSEWHERE = {
    "peers": "peers.sufficient_reasons",
    "contrasts": "peers.contrasts",
    "intervals": "peers.intervals",
    "five-kinds": "five_kinds",
    "unseen-engines": "unseen_engines",
}
TOOLS = ("fuzz", "mutate", "library")
PAPERS = ("koriche", "equal-calls", "ads", "kernels", "sufficient", "published-circuit")


def main(names: list[str]) -> int:
    """Run the benchmarks in order."""
    if names and names[0] in TOOLS:
        return int(import_module(f"benchmarks.{names[0]}").main(names[1:]) or 0)
    if names and names[0] in PAPERS:
        from benchmarks.papers.commands import run

        run(names)
    if names in (["-h"], ["--help"]):
        print(f"{__doc__}\nBenchmarks: {', '.join(NAMES)}")
        return 0
    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        known = ", ".join((*NAMES, *TOOLS, *PAPERS))
        print(f"unknown: {', '.join(unknown)}; known: {known}", file=sys.stderr)
        return 2
    try:
        for name in names or NAMES:
            import_module(f"benchmarks.{ELSEWHERE.get(name, name)}").main()
    except UnknownName as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
