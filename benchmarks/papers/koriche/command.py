"""The command ``python -m benchmarks koriche``: Table 2 and Figures 1 and 2."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cpx.cli import options as opt

if TYPE_CHECKING:
    from benchmarks.papers.koriche.experiment import Experiment
    from benchmarks.papers.koriche.records import Record, Store, Task
    from benchmarks.papers.sources import Source
    from cpx.backends import Event

__all__ = ["Data", "Datasets", "koriche"]

Data = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Tables as NAME.csv.gz with the column 'target' last, and index.json, which "
        "lists the 'categorical_columns' of each NAME.  [default: fetch from OpenML]",
        show_default=False,
    ),
]
Datasets = Annotated[
    str | None,
    typer.Option(metavar="A,B", help="Names of data sets.  [default: all 25]", show_default=False),
]


def koriche(
    data: Data = None,
    output: opt.Records = Path("koriche"),
    instances: Annotated[
        int, typer.Option("--instances", "-n", metavar="N", help="Per data set; the paper: 100.")
    ] = 5,
    datasets: Datasets = None,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Of cop, sat, anchors, loss, exact, precision.  [default: all]",
            show_default=False,
        ),
    ] = None,
    k: opt.K = 5,
    m: Annotated[
        int | None,
        typer.Option(
            "-m",
            metavar="N",
            help="Samples that all methods find rules on.  [default: 1000; precision: 10000]",
            show_default=False,
        ),
    ] = None,
    time_limit: opt.TimeLimit = 60.0,
    seed: opt.Seed = 0,
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs", "-j", metavar="N", help="Tasks at a time; more than idle cores spoil times."
        ),
    ] = 1,
    figures: Annotated[
        bool,
        typer.Option("--figures", help="Also make the tasks of Figures 1 and 2, and draw them."),
    ] = False,
    show: Annotated[
        bool,
        typer.Option("--show", help="Run nothing: tables and figures of what is there already."),
    ] = False,
) -> None:
    r"""Make Table 2 of Koriche et al. again, with the exact search beside it.

    On 25 data sets, a neural network on binary features is explained by rules of at most k
    conditions, found by the paper's methods (Cop, Sat, Anchors) and by the search of cpx (least
    loss; least loss of exactly k conditions; greatest precision). The precision error is that
    of fresh samples under the rule.

    Each task that ends is one line of DIR/runs.jsonl. After Ctrl-C, repeat the command: it
    makes only the tasks that are missing or failed. With other settings the tasks are others,
    kept in the same file and never mixed. Tables are written to DIR/results.csv and
    DIR/table.md.

    \b
    Examples:
      python -m benchmarks koriche --data tables/ --instances 1 --time-limit 10
      python -m benchmarks koriche --instances 100 --jobs 8 -o koriche/
      python -m benchmarks koriche --datasets compas,vote --figures
      python -m benchmarks koriche -o koriche/ --instances 100 --show

    \b
    Exit codes: 0 all tasks made; 3 interrupted or not all made, the rest stands; 2 wrong
    input; 1 a task failed.
    """
    from benchmarks.papers.koriche.experiment import plan
    from benchmarks.papers.koriche.protocol import Protocol
    from benchmarks.papers.koriche.records import Store
    from benchmarks.papers.sources import Directory, OpenML
    from cpx.answers.axes import require_matplotlib
    from cpx.errors import InvalidOption

    if jobs < 1:
        raise InvalidOption(f"jobs must be at least 1, got {jobs}")
    if figures:
        require_matplotlib()
    source = OpenML() if data is None else Directory(data)
    experiment = plan(
        source,
        opt.split(datasets),
        opt.split(methods),
        instances=instances,
        k=k,
        m=m,
        protocol=Protocol(seed, None if time_limit == math.inf else time_limit),
    )
    store = Store(output)
    tasks = experiment.tasks(figures)
    if not show:
        _run(source, tasks, store, jobs)
    raise typer.Exit(_deliver(experiment, tasks, store, figures))


def _run(source: Source, tasks: list[Task], store: Store, jobs: int) -> None:
    from benchmarks.papers.koriche.running import reproduce
    from cpx.cli.output import note
    from cpx.cli.progress import RunProgress

    todo = sum(not store.finished(task) for task in tasks)
    note(f"{len(tasks)} tasks, {len(tasks) - todo} made before, {todo} to do")
    with RunProgress(todo) as progress:

        def listen(task: Task, event: Event | None) -> None:
            if event is None:
                progress.started(task.key, task.label, task.protocol.time_limit)
            else:
                progress.heard(task.key, event)

        def ended(task: Task, record: Record) -> None:
            progress.ended(task.key, f"{task.label}: {_outcome(record)}")

        if not reproduce(source, tasks, store, jobs=jobs, on_record=ended, listen=listen):
            note("interrupted: repeat the command to go on")


def _outcome(record: Record) -> str:
    if record.failed:
        return f"FAILED: {record.message}"
    error = "no rule" if record.error is None else f"error {record.error:.3f}"
    return f"{record.status}, {error}, {record.seconds:.2f} s"


def _deliver(experiment: Experiment, tasks: list[Task], store: Store, figures: bool) -> int:
    """Print the tables, write all files, and return the exit code."""
    from benchmarks.papers.grids import as_markdown, as_text, renderables
    from benchmarks.papers.koriche.figures import draw
    from benchmarks.papers.koriche.tables import grids, notes, to_csv
    from cpx.cli.output import note
    from cpx.support.files import write_atomic

    tables, lines = grids(experiment, store), notes(experiment, tasks, store)
    if sys.stdout.isatty():
        from rich.console import Console

        console = Console(highlight=False)
        for grid in tables:
            for part in renderables(grid):
                console.print(part)
        for line in lines:
            console.print(line, style="red" if line.startswith("FAILED") else "dim", markup=False)
    else:
        typer.echo(as_text(tables, lines))
    written = [store.directory / "results.csv", store.directory / "table.md"]
    write_atomic(written[0], to_csv(tasks, store).encode())
    write_atomic(written[1], as_markdown(tables, lines).encode())
    if figures:
        written += draw(experiment, store)
    note("wrote " + ", ".join(str(path) for path in written))
    records = [store.get(task) for task in tasks]
    if any(record is not None and record.failed for record in records):
        return 1
    return 3 if None in records else 0
