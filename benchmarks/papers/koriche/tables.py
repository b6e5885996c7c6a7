"""Tables of the experiment of Koriche et al., as text and CSV."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchmarks.papers.datasets import Dataset, Published
from benchmarks.papers.grids import Grid
from benchmarks.papers.koriche.experiment import Experiment
from benchmarks.papers.koriche.methods import Method
from benchmarks.papers.koriche.records import Record, Store, Task
from benchmarks.papers.koriche.summary import Cell, cell
from cpx.support.files import csv_text

__all__ = ["COLUMNS", "grids", "notes", "to_csv"]

_COLUMNS = """
    dataset openml_id instance row method problem backend encoding k m parameters error agreeing
    drawn status termination objective bound gap seconds solving size rule precision coverage
    predicted d accuracy message
"""
COLUMNS = tuple(_COLUMNS.split())
"""Columns of the CSV file, in their order."""


def grids(experiment: Experiment, store: Store) -> list[Grid]:
    """Return the tables of an experiment: errors, times, proofs."""
    tasks: dict[tuple[str, str], list[Task]] = {}
    for task in experiment.table_tasks():
        tasks.setdefault((task.dataset.name, task.method.name), []).append(task)
    cells = {key: cell(group, store) for key, group in tasks.items()}
    return [_errors(experiment, cells), _times(experiment, cells), _proofs(experiment, cells)]


def notes(experiment: Experiment, tasks: Iterable[Task], store: Store) -> list[str]:
    """Say what the columns are, which methods are absent and which tasks failed."""
    protocol = experiment.protocol
    limit = "none" if protocol.time_limit is None else f"{protocol.time_limit:g} s"
    lines = [
        f"{len(experiment.datasets)} data sets, {experiment.instances} instances each, "
        f"k = {experiment.k}, limit {limit}, "
        f"{protocol.fresh} fresh samples, seed {protocol.seed}; paper: Koriche et al., Table 2, "
        "100 instances."
    ]
    for method in experiment.methods:
        why = experiment.absent.get(method.name)
        told = f"{method.title}: {method.describe()}"
        if method.samples:
            told += f", m = {experiment.samples(method)}"
        lines.append(f"{told}{'' if why is None else '; ' + why}.")
    for task in tasks:
        record = store.get(task)
        if record is not None and record.failed:
            lines.append(f"FAILED: {task.label}: {record.message}")
    return lines


def _errors(experiment: Experiment, cells: dict[tuple[str, str], Cell]) -> Grid:
    header = ["data set", "d", "accuracy"]
    for method in experiment.methods:
        header += [method.title, *["paper"] * (method.published is not None)]
    rows = []
    for dataset in experiment.datasets:
        row = [dataset.name, *_facts(dataset, experiment, cells)]
        for method in experiment.methods:
            why = experiment.absent.get(method.name)
            if why is None:
                row.append(_error(cells[dataset.name, method.name]))
            else:
                row.append(why.partition(":")[0])
            published = _published(dataset, method)
            if published is not None:
                row.append(f"{published.error:.2f}")
        rows.append(tuple(row))
    total = _mean_row(experiment, cells)
    return Grid(
        "Precision error: mean and standard deviation", tuple(header), (*rows, total), True
    )


def _mean_row(experiment: Experiment, cells: dict[tuple[str, str], Cell]) -> tuple[str, ...]:
    """Return means over the data sets on which every method that is there has an answer."""
    common = [
        dataset
        for dataset in experiment.datasets
        if all(cells[dataset.name, method.name].errors for method in experiment.present)
    ]
    row = [f"mean of {len(common)}", "", ""]
    for method in experiment.methods:
        found = [cells[d.name, method.name].error for d in common if method in experiment.present]
        known = [error for error in found if error is not None]
        row.append(f"{sum(known) / len(known):.2f}" if known else "-")
        if method.published is not None:
            theirs = [p.error for d in common if (p := _published(d, method)) is not None]
            row.append(f"{sum(theirs) / len(theirs):.2f}" if theirs else "-")
    return tuple(row)


def _times(experiment: Experiment, cells: dict[tuple[str, str], Cell]) -> Grid:
    header = ["data set"]
    for method in experiment.methods:
        header += [method.title, *["paper"] * _timed(method)]
    rows = []
    for dataset in experiment.datasets:
        row = [dataset.name]
        for method in experiment.methods:
            found = cells.get((dataset.name, method.name))
            row.append(_number(None if found is None else found.seconds))
            published = _published(dataset, method)
            if published is not None and _timed(method):
                row.append(_number(published.seconds))
        rows.append(tuple(row))
    return Grid("Seconds: mean", tuple(header), tuple(rows))


def _proofs(experiment: Experiment, cells: dict[tuple[str, str], Cell]) -> Grid:
    header = ("data set", *(method.title for method in experiment.methods))
    rows = []
    for dataset in experiment.datasets:
        found = (cells.get((dataset.name, method.name)) for method in experiment.methods)
        rows.append((dataset.name, *(_proof(one) for one in found)))
    return Grid("Share of proved answers, and mean gap of the others", header, tuple(rows))


def _facts(
    dataset: Dataset, experiment: Experiment, cells: dict[tuple[str, str], Cell]
) -> tuple[str, str]:
    for method in experiment.present:
        for record in cells[dataset.name, method.name].answers:
            if record.d is not None and record.accuracy is not None:
                return str(record.d), f"{record.accuracy:.2f}"
    return "-", "-"


def _error(found: Cell) -> str:
    """Return mean and deviation, and whatever is not as it should be."""
    texts = []
    if found.error is not None:
        spread = f" ±{found.deviation:.2f}" if len(found.errors) > 1 else ""
        texts.append(f"{found.error:.2f}{spread}")
    if found.ruleless:
        texts.append(f"{found.ruleless} no rule")
    if found.failed:
        texts.append(f"{found.failed} FAILED")
    if found.missing:
        texts.append(f"{found.missing} to do")
    return ", ".join(texts)


def _proof(found: Cell | None) -> str:
    if found is None or found.proved is None:
        return "-"
    gap = "" if found.gap is None else f", gap {_percent(found.gap)}"
    return f"{_percent(found.proved)}{gap}"


def _published(dataset: Dataset, method: Method) -> Published | None:
    theirs = {"cop": dataset.cop, "sat": dataset.sat, "anchors": dataset.anchors}
    return None if method.published is None else theirs[method.published]


def _timed(method: Method) -> bool:
    return method.published in ("cop", "sat")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}" if value < 10 else f"{value:.0f}"


def _percent(value: float) -> str:
    return f"{value:.0%}".replace("%", " %")


def to_csv(tasks: Iterable[Task], store: Store) -> str:
    """Return one row per task that was made, as CSV text with a header."""
    kept = ((task, store.get(task)) for task in tasks)
    return csv_text(COLUMNS, [_flat(task, record) for task, record in kept if record is not None])


def _flat(task: Task, record: Record) -> dict[str, Any]:
    own = {
        "dataset": task.dataset.name,
        "openml_id": task.dataset.openml_id,
        "instance": task.instance,
        "method": task.method.name,
        "problem": task.method.kind,
        "backend": task.method.backend,
        "encoding": task.method.encoding,
        "k": task.k,
        "m": task.m,
        "parameters": " ".join(f"{key}={v}" for key, v in task.method.parameters.items()),
        "error": None if record.error is None else round(record.error, 6),
        "size": None if record.features is None else len(record.features),
    }
    return {name: own[name] if name in own else getattr(record, name) for name in COLUMNS}
