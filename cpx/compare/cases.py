"""The runs of a comparison as one table: what competes, on what, and what came out.

A *configuration* is what competes: an engine with its options, and its encoding where one was
chosen. A *case* is what it competes on: an instance with a seed and the limits. A run of an
engine that ignores the seed is one of each seed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cpx.answers.result import Status
from cpx.answers.values import Value
from cpx.compare.anytime import SILENT, Curve, relative_distance
from cpx.compare.records import Run, contradictions

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Cases:
    """What all scores are computed from.

    runs: The last run of each configuration on each case. That of an engine that ignores the seed
        stands for each seed, with the seed of the case.
    frame: A row for each run; see the page on scores. Columns: ``configuration``, ``problem`` and
        ``case`` (numbers), ``again`` (the run is that of an earlier row, for another seed),
        ``solved``, ``proved``, ``wrong``, ``failed``, ``place`` (0 for the best known value, 1 for
        the next, and so on), ``answer`` (the less, the better), ``seconds``, ``limit`` (infinite
        where there was none), ``cpu_limit`` (that of processor time, or else the same),
        ``horizon``, ``quality``, ``gap``, ``par2``, ``cpu``, ``par2_cpu``, ``from_start``,
        ``primal_integral``, ``dual_integral``, ``to_best``, ``to_target``, ``to_proof``.
    curves: How the value and the bound of each run came near the best known value.
    problems: Name and fingerprint of each instance.
    reference: The best known value of each instance.
    refuted: Runs with a claim that is refuted, and what is wrong with it.
    configurations: In the order in which they first occur.
    """

    runs: tuple[Run, ...]
    frame: pd.DataFrame
    curves: list[Curve]
    problems: list[tuple[str, str]]
    reference: list[Value | None]
    refuted: dict[int, str]
    configurations: list[str]

    @property
    def ranked(self) -> list[str]:
        """The configurations without a refuted claim."""
        wrong = {self.frame["configuration"].iloc[i] for i in self.refuted}
        return [name for name in self.configurations if name not in wrong]

    @cached_property
    def labels(self) -> dict[str, str]:
        """What tables and figures call each configuration: with the encoding that was solved.

        ``cpsat clausal/sizes`` is an engine that chose by instance.
        """
        solved: dict[str, set[str]] = {name: set() for name in self.configurations}
        for name, run in zip(self.frame["configuration"], self.runs, strict=True):
            # One that was asked for is part of the configuration.
            if not run.result.options.get("encoding"):
                solved[str(name)].add(run.result.encoding)
        return {
            name: f"{name} {'/'.join(sorted(encodings - {''}))}".rstrip()
            for name, encodings in solved.items()
        }

    def per_case(self, column: str, names: Sequence[str]) -> FloatArray:
        """Return a column as an array, cases by configurations, NaN where there is no run."""
        wide = self.frame.pivot(index="case", columns="configuration", values=column)
        return wide.reindex(columns=list(names)).to_numpy(np.float64, na_value=np.nan)

    def per_problem(self, column: str, names: Sequence[str]) -> FloatArray:
        """Return the mean of a column over the cases of each instance, as an array."""
        means = self.frame.groupby(["problem", "configuration"])[column].mean().unstack()
        return means.reindex(columns=list(names)).to_numpy(np.float64)

    def by_problem(self, per_case: FloatArray) -> FloatArray:
        """Return the means over the cases of each instance of what has a row for each case."""
        problem = self.frame.groupby("case")["problem"].first().to_numpy()
        return pd.DataFrame(per_case).groupby(problem).mean().to_numpy()


def cases_of(
    runs: Sequence[Run], *, known: Mapping[str, Value] | None = None, target: float = 0.01
) -> Cases:
    """Arrange the runs of a comparison for scoring.

    known: Best known values by the names of instances; where a run has a better one, that counts.
    target: Relative distance from the best known value that is near enough.
    """
    kept, again = _for_each_seed(_latest(runs))
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for i, (_, run) in enumerate(kept):
        groups[run.instance, run.fingerprint].append(i)
    rows: list[dict[str, Any]] = [{} for _ in kept]
    refuted: dict[int, str] = {}
    curves, reference = [SILENT] * len(kept), []
    for problem, ((name, _), members) in enumerate(groups.items()):
        here = [kept[i][1] for i in members]
        elsewhere = (known or {}).get(name)
        wrong = _refuted(here, elsewhere)
        refuted |= {members[i]: sentence for i, sentence in wrong.items()}
        values = _values(here, wrong)
        maximised = here[0].sense == "max"
        candidates = {*values, elsewhere}
        order = sorted((v for v in candidates if v is not None), reverse=maximised)
        reference.append(order[0] if order else None)
        infeasible = any(
            run.result.status is Status.INFEASIBLE and i not in wrong for i, run in enumerate(here)
        )
        for i, (member, run, value) in enumerate(zip(members, here, values, strict=True)):
            row = _row(run, value, i in wrong)
            row["problem"] = problem
            row["place"] = 0 if value is None else order.index(value)
            row["quality"] = _quality(value, reference[-1], maximised, row["solved"])
            rows[member] = row
            if not row["wrong"] and not row["failed"]:
                curves[member] = Curve.of(run.result, reference[-1], infeasible)
    numbers: dict[Hashable, int] = {}
    for row, (label, run), repeated in zip(rows, kept, again, strict=True):
        row["configuration"], row["again"] = label, repeated
        row["case"] = numbers.setdefault(_case(run), len(numbers))
    frame = pd.DataFrame(rows, columns=list(_TYPES)).astype(_TYPES)
    worse = frame["place"].max() + 1
    unproved, unsolved = ~frame["proved"], ~frame["solved"]
    frame["answer"] = frame["place"] + worse * unproved + worse * unsolved
    _add_times(frame, curves, target)
    configurations = list(dict.fromkeys(label for label, _ in kept))
    records = tuple(run for _, run in kept)
    return Cases(records, frame, curves, list(groups), reference, refuted, configurations)


_TYPES = {
    "configuration": object,
    "problem": int,
    "case": int,
    "again": bool,
    "solved": bool,
    "proved": bool,
    "wrong": bool,
    "failed": bool,
    "place": int,
    "seconds": float,
    "cpu": float,
    "from_start": bool,
    "limit": float,
    "cpu_limit": float,
    "quality": float,
    "gap": float,
}


def _latest(runs: Sequence[Run]) -> list[tuple[str, Run]]:
    """Return the runs with their labels; of one that was made twice, the last."""
    last: dict[Hashable, tuple[str, Run]] = {}
    for run in runs:
        last[run.configuration, _case(run)] = (run.configuration, run)
    return list(last.values())


def _for_each_seed(
    latest: Sequence[tuple[str, Run]],
) -> tuple[list[tuple[str, Run]], list[bool]]:
    """Let runs of engines that ignore the seed stand for the seeds that they did not run with.

    Also return which runs are there again.
    """
    heeded: dict[Hashable, dict[int, None]] = defaultdict(dict)
    ignored: dict[Hashable, dict[int, None]] = defaultdict(dict)
    own: dict[tuple[str, Hashable], dict[int, int]] = defaultdict(dict)
    for i, (label, run) in enumerate(latest):
        group = _but_seed(run)
        (heeded if run.heeds_seed else ignored)[group][run.seed] = None
        if not run.heeds_seed:
            own[label, group][run.seed] = i
    kept, copies = list(latest), []
    for (label, limits), places in own.items():
        wanted = heeded.get(limits) or ignored[limits]
        # A seed that no engine here needs makes no case of its own, if another one lacks a run.
        spare = [seed for seed in places if seed not in wanted]
        missing = [seed for seed in wanted if seed not in places]
        place = places[(spare or list(places))[-1]]
        if spare and missing:
            kept[place] = label, _with_seed(latest[place][1], missing.pop(0))
        copies += [(label, _with_seed(latest[place][1], seed)) for seed in missing]
    return kept + copies, [False] * len(kept) + [True] * len(copies)


def _with_seed(run: Run, seed: int) -> Run:
    options = {**run.result.options, "seed": seed}
    return replace(run, result=replace(run.result, options=options))


_LIMITS = ("time_limit", "cpu_limit", "threads", "gap")


def _case(run: Run) -> Hashable:
    return _but_seed(run), run.result.options.get("seed")


def _but_seed(run: Run) -> tuple[Hashable, ...]:
    options = run.result.options
    limits = tuple(options.get(name) for name in _LIMITS)
    return (run.instance, run.fingerprint, *limits)


def _refuted(runs: Sequence[Run], known: Value | None) -> dict[int, str]:
    """Return what is wrong with the claims of runs on one instance, by position."""
    wrong = contradictions(runs)
    sign = 1 if runs[0].sense == "min" else -1
    for i, run in enumerate(runs):
        bound = None if run.result.status is Status.ERROR else run.result.bound
        if bound is not None and known is not None and sign * bound > sign * known:
            told = f"{run.configuration} (seed {run.seed}) claims the bound {bound}, "
            wrong.setdefault(i, f"{told}but the value {known} is known")
    return wrong


def reason(run: Run) -> str:
    """Return why a run failed, in one line."""
    if run.result.error:
        return run.result.error.splitlines()[0]
    return run.result.raw_status


def _values(runs: Sequence[Run], wrong: Mapping[int, str]) -> list[Value | None]:
    """Return the values that count: those that the checker confirmed.

    A problem of another package may have no judge. Where no answer is confirmed, all count.
    """
    anyway = not any(run.result.verified for run in runs)
    return [
        run.result.objective
        if (run.result.verified or anyway)
        and i not in wrong
        and run.result.status is not Status.ERROR
        else None
        for i, run in enumerate(runs)
    ]


def _row(run: Run, value: Value | None, wrong: bool) -> dict[str, Any]:
    result = run.result
    closed = result.status is Status.INFEASIBLE and not wrong
    proved = closed or (result.status is Status.OPTIMAL and value is not None)
    limit, cpu_limit = (result.options.get(name) for name in ("time_limit", "cpu_limit"))
    gap = 0.0 if proved else 1.0 if value is None or result.gap is None else min(1.0, result.gap)
    return {
        "solved": value is not None or closed,
        "proved": proved,
        "wrong": wrong,
        "failed": result.status is Status.ERROR and not wrong,
        "seconds": result.times.total,
        "cpu": result.times.cpu,
        "from_start": run.from_start,
        "limit": np.inf if limit is None else float(limit),
        "cpu_limit": float(next((v for v in (cpu_limit, limit) if v is not None), np.inf)),
        "gap": gap,
    }


def _quality(value: Value | None, reference: Value | None, maximised: bool, solved: bool) -> float:
    """Return the score of the incomplete tracks of the MaxSAT Evaluation."""
    if value is None or reference is None:
        return float(solved)
    if maximised or value < 0 or reference < 0:
        return 1.0 - relative_distance(value, reference)
    return float((reference + 1) / (value + 1))


def _add_times(frame: pd.DataFrame, curves: Sequence[Curve], target: float) -> None:
    """Add the columns that are measured in seconds."""
    finite = np.isfinite(frame["limit"])
    longest = frame.groupby("case")["seconds"].transform("max")
    frame["horizon"] = frame["limit"].where(finite, longest)
    unproved = (2 * frame["limit"]).where(finite)
    frame["par2"] = frame["seconds"].where(frame["proved"], unproved)
    unproved = (2 * frame["cpu_limit"]).where(np.isfinite(frame["cpu_limit"]))
    frame["par2_cpu"] = frame["cpu"].where(frame["proved"], unproved)
    pairs = list(zip(curves, frame["horizon"], strict=True))
    frame["primal_integral"] = [curve.value.integral(end) for curve, end in pairs]
    frame["dual_integral"] = [curve.bound.integral(end) for curve, end in pairs]
    # What the engine was given it has not found.
    given = frame["from_start"]
    for column, distance in (("to_best", 0.0), ("to_target", target)):
        first = pd.Series([curve.value.first(distance) for curve in curves], dtype=float)
        frame[column] = first.where(~given, np.inf)
    frame["to_proof"] = frame["seconds"].where(frame["proved"], np.inf)
