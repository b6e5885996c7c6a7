"""Tables of errors at equal numbers of calls, with paired tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from benchmarks.papers.grids import Grid
from benchmarks.papers.koriche.equal_calls.experiment import ANCHORS, UNLIMITED, Experiment
from benchmarks.papers.koriche.equal_calls.methods import METHODS
from cpx.compare.statistics import holm, signed_rank

if TYPE_CHECKING:
    from benchmarks.papers.koriche.methods import Method
    from benchmarks.papers.koriche.records import Record, Store

__all__ = ["PRECISE", "grids"]

PRECISE = 0.95
"""What Anchors asks of a rule by default."""

_LEVEL = 0.05

Made = dict[str, dict[int, "Record"]]
"""Records of a data set by method and instance."""


def grids(experiment: Experiment, store: Store) -> list[Grid]:
    """Return, for each number of calls, the errors and the tests of each pair of methods."""
    found = []
    for calls in experiment.calls:
        made = {
            dataset.name: _records(experiment, store, calls, dataset.name)
            for dataset in experiment.datasets
        }
        methods = _shown(experiment, calls)
        found += [_errors(calls, methods, made), _pairs(calls, methods, made)]
        if calls == ANCHORS:
            found.append(_beside_anchors(methods, made))
    return found


def _shown(experiment: Experiment, calls: int | str) -> list[Method]:
    if calls != ANCHORS:
        return list(experiment.methods)
    others = [m for m in experiment.methods if m.name != "anchors"]
    return [METHODS["anchors"], *others]


def _records(experiment: Experiment, store: Store, calls: int | str, name: str) -> Made:
    found: Made = {}
    dataset = next(d for d in experiment.datasets if d.name == name)
    for instance in range(experiment.instances):
        for task in experiment.tasks(dataset, instance, calls, store):
            record = store.get(task)
            if record is None or record.failed or record.error is None:
                continue
            if task.m == UNLIMITED and record.message:
                continue  # stopped by the time
            found.setdefault(task.method.name, {})[instance] = record
    return found


def _common(made: Made, names: Sequence[str]) -> list[int]:
    """Return the instances on which all of these methods have a rule."""
    return sorted(set.intersection(*(set(made.get(name, ())) for name in names)))


def _mean(made: Made, name: str, instances: Sequence[int]) -> float:
    return fmean(made[name][i].error or 0.0 for i in instances)


def _errors(calls: int | str, methods: Sequence[Method], made: dict[str, Made]) -> Grid:
    names = [method.name for method in methods]
    rows, columns = [], []
    for dataset, found in made.items():
        instances = _common(found, names)
        if not instances:
            rows.append((dataset, "0", *["-"] * len(names)))
            continue
        means = [_mean(found, name, instances) for name in names]
        columns.append(means)
        rows.append((dataset, str(len(instances)), *(f"{mean:.3f}" for mean in means)))
    if columns:
        averages = np.mean(columns, axis=0)
        rows.append((f"mean of {len(columns)}", "", *(f"{mean:.3f}" for mean in averages)))
        used = [_calls(made, name, names) for name in names]
        rows.append(("calls, mean", "", *used))
    title = f"Precision error at {_told(calls)}: means over the same instances"
    return Grid(title, ("data set", "instances", *(m.title for m in methods)), tuple(rows))


def _calls(made: dict[str, Made], name: str, names: Sequence[str]) -> str:
    used = [found[name][i].calls or 0 for found in made.values() for i in _common(found, names)]
    return f"{fmean(used):.0f}"


@dataclass(frozen=True)
class _Test:
    """Two methods on one data set: mean difference of the errors, and its p-value."""

    difference: float
    p: float


def _pairs(calls: int | str, methods: Sequence[Method], made: dict[str, Made]) -> Grid:
    header = (
        "errors of",
        "less those of",
        "data sets",
        "mean difference",
        "less on",
        "equal",
        "more on",
        "signif. less",
        "signif. more",
        "p over data sets",
    )
    rows = []
    for first, second in _compared(methods):
        tests = [test for found in made.values() if (test := _test(found, first, second))]
        if not tests:
            continue
        corrected = holm(np.array([test.p for test in tests]))
        differences = np.array([test.difference for test in tests])
        significant = corrected <= _LEVEL
        rows.append(
            (
                first.title,
                second.title,
                str(len(tests)),
                f"{differences.mean():+.3f}",
                str(int((differences < 0).sum())),
                str(int((differences == 0).sum())),
                str(int((differences > 0).sum())),
                str(int((significant & (differences < 0)).sum())),
                str(int((significant & (differences > 0)).sum())),
                f"{signed_rank(differences):.2g}",
            )
        )
    title = f"Paired differences at {_told(calls)}: Wilcoxon, Holm over the data sets"
    return Grid(title, header, tuple(rows))


def _compared(methods: Sequence[Method]) -> Iterator[tuple[Method, Method]]:
    """Yield the pairs to compare: precision and adaptive with all others."""
    for first in methods:
        if first.name not in ("precision", "adaptive"):
            continue
        for second in methods:
            if second is not first and (first.name, second.name) != ("precision", "adaptive"):
                yield first, second


def _test(made: Made, first: Method, second: Method) -> _Test | None:
    instances = _common(made, (first.name, second.name))
    if not instances:
        return None
    differences = np.array(
        [
            (made[first.name][i].error or 0.0) - (made[second.name][i].error or 0.0)
            for i in instances
        ]
    )
    return _Test(float(differences.mean()), signed_rank(differences))


def _beside_anchors(methods: Sequence[Method], made: dict[str, Made]) -> Grid:
    """Return each method beside Anchors, task by task: errors, coverage, precise rules."""
    header = (
        "method",
        "tasks",
        "mean error",
        "less than Anchors on",
        "signif.",
        "more on",
        "signif.",
        "mean coverage",
        f"precision at least {PRECISE}",
    )
    rows = []
    for method in methods:
        both = [
            (found[method.name][i], found["anchors"][i])
            for found in made.values()
            for i in _common(found, (method.name, "anchors"))
        ]
        if not both:
            continue
        p = holm(np.array([_proportions(ours, theirs) for ours, theirs in both]))
        less = np.array([(a.error or 0.0) - (b.error or 0.0) for a, b in both])
        known = [ours for ours, _ in both]
        precise = sum((one.error or 0.0) <= 1 - PRECISE for one in known)
        coverages = [2.0 ** -len(one.features or ()) for one in known]
        rows.append(
            (
                method.title,
                str(len(both)),
                f"{fmean(one.error or 0.0 for one in known):.4f}",
                str(int((less < 0).sum())),
                str(int(((less < 0) & (p <= _LEVEL)).sum())),
                str(int((less > 0).sum())),
                str(int(((less > 0) & (p <= _LEVEL)).sum())),
                f"{fmean(coverages):.3f}",
                f"{precise} of {len(both)}",
            )
        )
    title = "Beside Anchors, task by task: tests of two shares of fresh rows, Holm over the tasks"
    return Grid(title, header, tuple(rows))


def _proportions(first: Record, second: Record) -> float:
    """Return the p-value of the shares of two rules being one (Fisher's exact test)."""
    if first.features == second.features:
        return 1.0
    table = np.array(
        [[one.agreeing or 0, (one.drawn or 0) - (one.agreeing or 0)] for one in (first, second)]
    )
    return float(stats.fisher_exact(table).pvalue)


def _told(calls: int | str) -> str:
    return "the number of calls that Anchors took" if calls == ANCHORS else f"{calls} calls"
