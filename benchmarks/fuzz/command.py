"""The loop of the fuzzer: draw, solve, judge, and save the failures."""

from __future__ import annotations

import argparse
import itertools
import json
import shlex
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fuzz.asking import Ask, ask, draw_ask, engines
from benchmarks.fuzz.brute import Truth, truth
from benchmarks.fuzz.drawing import KINDS, draw
from benchmarks.fuzz.judging import faults, faults_of_the_check
from benchmarks.fuzz.shrinking import shrunk
from cpx import instances
from cpx.answers.result import Result, Status
from cpx.errors import CpxError

__all__ = ["Case", "cases", "judge", "main", "repeat"]

Instance = dict[str, Any]

_SOLVES = 4
"""Ways in which each instance is solved."""
_KEPT = 3
"""Files of the same fault of the same engine."""
_CHECKED = 0.5
"""Share of the answers that the checker sees again, as they are and altered."""


@dataclass
class Case:
    """An instance, what is right about it, a way to solve it, and the number of its drawing."""

    number: int
    instance: Instance
    how: Ask
    right: Truth = field(repr=False)


def cases(seed: int, kinds: list[str] | None = None, only: str = "") -> Iterator[Case]:
    """Yield cases without end; the same seed gives the same ones.

    Parameters
    ----------
    seed : int
    kinds : list of str, optional
        Kinds of problem to draw from.
    only : str
        An engine, or a family of engines.
    """
    for number in itertools.count():
        rng = np.random.default_rng([seed, number])
        listed = kinds or list(KINDS)
        instance = draw(listed[number % len(listed)], rng)
        problem, right = instances.from_dict(instance), truth(instance)
        able = [e for e in engines(problem) if not only or only in (e, e.partition(":")[0])]
        for engine in rng.permutation(able)[:_SOLVES].tolist():
            yield Case(number, instance, draw_ask(rng, problem, right, engine), right)


def judge(case: Case, folder: Path, seed: int = 0) -> tuple[Result | None, list[str]]:
    """Solve a case; return the answer and what is wrong."""
    problem = instances.from_dict(case.instance)
    saved = json.loads(instances.dumps(problem))
    if instances.loads(json.dumps(saved)).to_dict() != saved:
        return None, ["file: the saved instance is another one"]
    try:
        result = ask(problem, case.how, folder)
        if result is None:
            return None, []
        found = faults(result, problem, case.right, case.how)
        rng = np.random.default_rng([seed, case.number])
        if not found and result.status is not Status.UNKNOWN and rng.random() < _CHECKED:
            found = faults_of_the_check(saved, result, case.right, rng)
    except CpxError as error:
        return None, [f"refused: {type(error).__name__}: {error}"]
    except Exception:
        return None, ["traceback: " + traceback.format_exc(limit=-6)]
    return result, found


# ------------------------------------------------------------------------ files


def _keep(case: Case, found: list[str], keep: Path, seed: int, folder: Path) -> Path:
    """Write an instance, made smaller where that is easy, with the way it was solved."""
    fault = found[0].partition(":")[0]

    def wrong(instance: Instance, how: Ask) -> bool:
        smaller = Case(case.number, instance, how, truth(instance))
        return any(f.partition(":")[0] == fault for f in judge(smaller, folder, seed)[1])

    instance, how = shrunk(case.instance, case.how, wrong)
    told = {"solve": how.to_dict(), "faults": found, "seed": seed, "case": case.number}
    instance = {**instance, "context": {"fuzz": told}}
    keep.mkdir(parents=True, exist_ok=True)
    name = f"{instance['problem']}-{how.engine.replace(':', '-')}-{fault.replace(' ', '-')}"
    path = next(p for n in itertools.count(1) if not (p := keep / f"{name}-{n}.json").exists())
    instances.save(instances.from_dict(instance), path)
    return path


def repeat(path: Path) -> list[str]:
    """Solve a kept instance as it was solved; return what is wrong."""
    instance = json.loads(path.read_text(encoding="utf-8"))
    told = instance["context"]["fuzz"]
    case = Case(told["case"], instance, Ask(**told["solve"]), truth(instance))
    with tempfile.TemporaryDirectory() as folder:
        return judge(case, Path(folder), told["seed"])[1]


# ------------------------------------------------------------------------ table


def _table(counts: dict[tuple[str, str], Counter[str]]) -> str:
    columns = ("optimal", "feasible", "infeasible", "unknown", "wrong")
    lines = [f"{'kind':18}{'engine':18}{'solves':>8}" + "".join(f"{c:>11}" for c in columns)]
    total: Counter[str] = Counter()
    for (kind, engine), row in sorted(counts.items()):
        total += row
        lines.append(f"{kind:18}{engine:18}" + _figures(row, columns))
    return "\n".join([*lines, f"{'all':36}" + _figures(total, columns)])


def _figures(row: Counter[str], columns: tuple[str, ...]) -> str:
    return f"{row['solves']:8}" + "".join(f"{row[c]:11}" for c in columns)


# ---------------------------------------------------------------------- command


def main(arguments: list[str]) -> int:
    """Fuzz for some minutes; return 1 when something was wrong."""
    asked = _parser().parse_args(arguments)
    if asked.repeat:
        found = repeat(asked.repeat)
        print("\n".join(found) or "nothing is wrong")
        return int(bool(found))
    counts: dict[tuple[str, str], Counter[str]] = {}
    kept: Counter[tuple[str, str]] = Counter()
    start = shown = time.monotonic()
    end = start + 60 * asked.minutes
    with tempfile.TemporaryDirectory() as folder:
        for solves, case in enumerate(cases(asked.seed, asked.kind, asked.engine)):
            now = time.monotonic()
            if now > end or solves == asked.solves:
                break
            if now > shown + 30:
                shown = now
                print(
                    f"{now - start:.0f} s, {case.number} instances\n{_table(counts)}\n", flush=True
                )
            result, found = judge(case, Path(folder), asked.seed)
            row = counts.setdefault((case.instance["problem"], case.how.engine), Counter())
            row["solves"] += 1
            if found:
                row["wrong"] += 1
                what = found[0].partition(":")[0]
                # The checker does not know who answered.
                by = "check" if what.startswith("altered") else case.how.engine
                kept[by, what] += 1
                if kept[by, what] <= _KEPT:
                    _tell(
                        _keep(case, found, asked.keep, asked.seed, Path(folder)),
                        found,
                        now - start,
                    )
            elif result is not None:
                row[str(result.status).lower()] += 1
    print(f"{time.monotonic() - start:.0f} s, seed {asked.seed}\n{_table(counts)}")
    for (engine, fault), times in kept.most_common():
        print(f"{times:6} times  {engine}: {fault}")
    return int(bool(kept))


def _tell(path: Path, found: list[str], seconds: float) -> None:
    how = Ask(**json.loads(path.read_text(encoding="utf-8"))["context"]["fuzz"]["solve"])
    print(f"WRONG after {seconds:.1f} s: {'; '.join(found)[:600]}")
    print(f"  cpx solve {shlex.quote(str(path))} {shlex.join(how.arguments())}")
    print(f"  python -m benchmarks fuzz --repeat {shlex.quote(str(path))}\n", flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long (default: 1)")
    parser.add_argument("--solves", type=int, help="end after so many solves")
    parser.add_argument("--seed", type=int, default=0, help="the same seed draws the same cases")
    parser.add_argument("--kind", action="append", choices=list(KINDS), help="may be repeated")
    parser.add_argument("--engine", default="", help="one engine, such as milp:cbc, or a family")
    parser.add_argument(
        "--keep", type=Path, default=Path("fuzz"), help="where wrong cases are written (fuzz)"
    )
    parser.add_argument("--repeat", type=Path, metavar="FILE", help="solve a kept case again")
    return parser
