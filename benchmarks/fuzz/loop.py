"""The loop of the fuzzer: draw, solve, judge, and save what is wrong."""

from __future__ import annotations

import itertools
import json
import shlex
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fuzz.asking import Ask, Shell, ask, draw_ask, engines, interrupts_of_the_user
from benchmarks.fuzz.judging import faults, faults_of_the_check
from benchmarks.fuzz.metamorphic import faults_of_a_relation, relation
from benchmarks.fuzz.shrinking import shrunk
from cpx.answers.result import Result, Status
from cpx.backends import backend
from cpx.errors import CpxError, InvalidInstance, InvalidOption, UnknownName
from cpx.modelling import instances
from cpx.support.files import parse_json, read_text
from cpx.testing.random_instances import draw, kinds_drawn, truth
from cpx.testing.truth import Truth

__all__ = ["Case", "cases", "fuzz", "judge", "repeat"]

Instance = dict[str, Any]

_SOLVES = 4
"""Ways in which each tiny instance is solved."""
_LARGER_EVERY, _MOST_SCALE, _LARGER_LIMIT = 5, 8, 1.0
"""Every fifth instance is up to eight times as large, and each engine has a second for it."""
_TRIED = 5
"""Instances of each kind until an engine that takes none of them is refused."""
_KEPT = 3
"""Files of the same fault of the same engine."""
_CHECKED = 0.5
"""Share of the answers that the checker sees again, as they are and altered."""


@dataclass
class Case:
    """An instance and a way to solve it.

    Attributes
    ----------
    number : int
        Of its drawing.
    instance : dict
        The JSON object that is saved.
    how : Ask
    right : Truth, optional
        What is right about a tiny instance, by brute force.
    relation : str
        Of a larger instance: the metamorphic relation that judges it.
    others : tuple of str
        The engines that solve what the relation makes of it.
    """

    number: int
    instance: Instance
    how: Ask
    right: Truth | None = field(default=None, repr=False)
    relation: str = ""
    others: tuple[str, ...] = ()


def cases(seed: int, kinds: Sequence[str] = (), only: str = "") -> Iterator[Case]:
    """Yield cases without end; the same seed gives the same ones.

    Parameters
    ----------
    seed : int
    kinds : sequence of str
        Kinds of problem to draw from; all when empty.
    only : str
        An engine, or a family of engines.

    Raises
    ------
    InvalidOption
        When it takes none of the first instances of each kind.
    """
    listed = list(kinds) or kinds_drawn()
    taken = False
    for number in itertools.count():
        rng = np.random.default_rng([seed, number])
        kind = listed[number % len(listed)]
        larger = number // len(listed) % _LARGER_EVERY == _LARGER_EVERY - 1
        instance = draw(kind, rng, int(rng.integers(2, _MOST_SCALE + 1)) if larger else 1)
        problem = instances.from_dict(instance)
        able = engines(problem, only)
        taken = taken or bool(able)
        if not taken and number >= _TRIED * len(listed):
            raise InvalidOption(f"{only} solves no problem of the kinds {', '.join(listed)}")
        if larger:
            able = [engine for engine in able if backend(engine).exact]
            if able:
                first, *others = rng.choice(able, 3).tolist()
                how = Ask(first, time_limit=_LARGER_LIMIT)
                name = relation(instance, rng).name
                yield Case(number, instance, how, relation=name, others=tuple(others))
            continue
        right = truth(instance)
        for engine in rng.permutation(able)[:_SOLVES].tolist():
            yield Case(number, instance, draw_ask(rng, problem, right, engine), right)


def judge(
    case: Case, folder: Path, seed: int = 0, shell: Shell | None = None
) -> tuple[Result | None, list[str]]:
    """Solve a case; return the answer and what is wrong.

    Examples
    --------
    >>> case = next(cases(0, ["negative-only"], "search"))
    >>> result, wrong = judge(case, Path())
    >>> wrong
    []
    """
    problem = instances.from_dict(case.instance)
    saved = json.loads(instances.dumps(problem))
    if instances.loads(json.dumps(saved)).to_dict() != saved:
        return None, ["file: the saved instance is another one"]
    rng = np.random.default_rng([seed, case.number])
    try:
        if case.right is None:
            changed = relation(case.instance, rng, case.relation)
            return faults_of_a_relation(case.instance, changed, case.how, case.others)
        result = ask(problem, case.how, folder, shell)
        if result is None:
            return None, []
        found = faults(result, problem, case.right, case.how)
        if not found and result.status is not Status.UNKNOWN and rng.random() < _CHECKED:
            found = faults_of_the_check(saved, result, case.right, rng)
    except CpxError as error:
        return None, [f"refused: {type(error).__name__}: {error}"]
    except Exception:
        return None, ["traceback: " + traceback.format_exc(limit=-6)]
    return result, found


def fuzz(
    keep: Path,
    *,
    minutes: float = 1.0,
    solves: int | None = None,
    seed: int = 0,
    kinds: Sequence[str] = (),
    engine: str = "",
    shell: Shell | None = None,
    say: Callable[[str], None] = print,
) -> int:
    """Solve random cases for some minutes; save what is wrong, and return how often it was.

    Parameters
    ----------
    keep : Path
        Folder for the instances that show a fault, made smaller.
    minutes : float
        How long.
    solves : int, optional
        End after so many cases.
    seed : int
        The same seed draws the same cases.
    kinds : sequence of str
        Kinds of problem; all when empty.
    engine : str
        One engine, such as ``"milp:cbc"``, or a family; empty for all.
    shell : callable, optional
        Runs the command ``cpx``.
    say : callable
        Takes a line every 30 seconds, each fault, and the table.

    Raises
    ------
    UnknownName
        When a kind is not known.
    """
    for kind in kinds:
        if kind not in kinds_drawn():
            raise UnknownName("problem", kind, kinds_drawn())
    counts: dict[tuple[str, str], Counter[str]] = {}
    kept: Counter[tuple[str, str]] = Counter()
    start = shown = time.monotonic()
    with (
        tempfile.TemporaryDirectory() as name,
        suppress(KeyboardInterrupt),
        interrupts_of_the_user() as stopped,
    ):
        folder = Path(name)
        for done, case in enumerate(cases(seed, kinds, engine)):
            now = time.monotonic()
            if now > start + 60 * minutes or done == solves:
                break
            if now > shown + 30:
                shown = now
                wrong = kept.total()
                say(f"{now - start:.0f} s, {case.number} instances, {done} solves, {wrong} wrong")
            result, found = judge(case, folder, seed, shell)
            if stopped.is_set():
                say("interrupted")
                break
            row = counts.setdefault((case.instance["problem"], case.how.engine), Counter())
            row["solves"] += 1
            if found:
                row["wrong"] += 1
                what = found[0].partition(":")[0]
                # The checker does not know who answered.
                by = "check" if what.startswith("altered") else case.how.engine
                kept[by, what] += 1
                if kept[by, what] <= _KEPT:
                    path = _keep(case, found, keep, seed, folder, shell)
                    say(
                        f"WRONG after {now - start:.1f} s: {'; '.join(found)[:600]}\n{_told(path)}"
                    )
            elif result is not None:
                row[str(result.status).lower()] += 1
    say(f"{time.monotonic() - start:.0f} s, seed {seed}\n{_table(counts)}")
    for (by, fault), times in kept.most_common():
        say(f"{times:6} times  {by}: {fault}")
    return kept.total()


# ------------------------------------------------------------------------ files


def _keep(
    case: Case, found: list[str], keep: Path, seed: int, folder: Path, shell: Shell | None
) -> Path:
    """Write an instance, made smaller where that is easy, with the way it was solved."""
    fault = found[0].partition(":")[0]

    def wrong(instance: Instance, how: Ask) -> bool:
        smaller = Case(case.number, instance, how, None, case.relation, case.others)
        if not case.relation:
            smaller.right = truth(instance)
        again = judge(smaller, folder, seed, shell)[1]
        return any(f.partition(":")[0] == fault for f in again)

    instance, how = shrunk(case.instance, case.how, wrong, 5.0 if case.right else 60.0)
    told = {
        "solve": how.to_dict(),
        "faults": found,
        "seed": seed,
        "case": case.number,
        "relation": case.relation,
        "others": list(case.others),
    }
    instance = {**instance, "context": {"fuzz": told}}
    keep.mkdir(parents=True, exist_ok=True)
    name = f"{instance['problem']}-{how.engine.replace(':', '-')}-{fault.replace(' ', '-')}"
    path = next(p for n in itertools.count(1) if not (p := keep / f"{name}-{n}.json").exists())
    instances.save(instances.from_dict(instance), path)
    return path


def repeat(path: Path, shell: Shell | None = None) -> list[str]:
    """Solve a kept instance as it was solved; return what is wrong.

    Raises
    ------
    InvalidInstance
        When the file is no instance that the fuzzer has kept.
    """
    case, seed = _kept_case(path)
    with tempfile.TemporaryDirectory() as folder:
        return judge(case, Path(folder), seed, shell)[1]


def _kept_case(path: Path) -> tuple[Case, int]:
    instance = parse_json(read_text(path, InvalidInstance), InvalidInstance)
    instances.from_dict(instance)
    try:
        told = instance["context"]["fuzz"]
        name, others = told["relation"], tuple(told["others"])
        right = None if name else truth(instance)
        return Case(told["case"], instance, Ask(**told["solve"]), right, name, others), told[
            "seed"
        ]
    except (KeyError, TypeError) as error:
        raise InvalidInstance(f"{path}: this instance was not kept by the fuzzer") from error


def _told(path: Path) -> str:
    """Return the commands that show a kept fault again."""
    case, _ = _kept_case(path)
    return (
        f"  cpx solve {shlex.quote(str(path))} {shlex.join(case.how.arguments())}\n"
        f"  python -m benchmarks fuzz --repeat {shlex.quote(str(path))}\n"
    )


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
