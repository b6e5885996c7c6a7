"""The best values known of the library's instances, made anew: written to its JSON file."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import cpx.library
from cpx import solve
from cpx.answers.values import to_json
from cpx.library import SUITES, suite
from cpx.modelling.instances import fingerprint

LIMIT = 60.0
PLACE = Path(cpx.library.__file__).with_name("known.json")


def main(arguments: list[str]) -> int:
    """Solve all instances of the suites, by the search where it takes them, and write down."""
    if arguments:
        print(f"{__doc__}\nNo arguments; a few minutes.")
        return 0
    known: dict[str, list[int | str | None]] = {}
    for name in SUITES:
        for entry in suite(name):
            problem = entry.problem()
            mark = fingerprint(problem)
            if mark in known:
                continue
            engine = "cpsat" if entry.family == "reason" else "search"
            result = solve(problem, engine, time_limit=LIMIT)
            if not result.verified:
                raise SystemExit(f"{entry.name}: {result.error or result.warnings}")
            print(entry.name, result.status, result.objective, result.bound, flush=True)
            known[mark] = [to_json(result.objective), to_json(result.bound)]
    lines = [f"{json.dumps(mark)}: {json.dumps(values)}" for mark, values in known.items()]
    PLACE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
