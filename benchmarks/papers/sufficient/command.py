"""The command ``python -m benchmarks sufficient``: tables and figures of Wang et al."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cpx.cli import options as opt

if TYPE_CHECKING:
    from benchmarks.papers.sources import Source
    from benchmarks.papers.store import Store
    from benchmarks.papers.sufficient.records import Row, Task
    from benchmarks.papers.sufficient.threads import Seconds

__all__ = ["sufficient"]


def sufficient(
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Directory with mnist_3v5.csv.gz, adult.csv.gz and index.json, as for "
            "'koriche'.  [default: Adult from OpenML; the digits need a directory]",
            show_default=False,
        ),
    ] = None,
    tables: Annotated[
        str,
        typer.Option(metavar="A,B", help="mnist, adult, or both."),
    ] = "adult,mnist",
    rows: Annotated[
        int, typer.Option("--rows", "-n", metavar="N", help="Rows of each test part.")
    ] = 50,
    distribution: Annotated[
        str, typer.Option(metavar="NAME", help="What is fitted to the training part.")
    ] = "mixture{components=20}",
    samples: Annotated[
        int, typer.Option(metavar="N", help="Rows drawn for each probability of the decision.")
    ] = 10_000,
    width: Annotated[int, typer.Option(metavar="N", help="Of the beam.")] = 5,
    anchors: Annotated[
        bool,
        typer.Option("--anchors/--no-anchors", help="Also ask Anchors, where it is installed."),
    ] = True,
    seed: opt.Seed = 0,
    output: opt.Records = Path("sufficient"),
    show: Annotated[
        bool, typer.Option("--show", help="Run nothing: tables of what is there already.")
    ] = False,
    figures: Annotated[
        bool, typer.Option("--figures", help="Also draw the figures, of the digits.")
    ] = False,
) -> None:
    r"""Make Tables 1 and 2 and Figures 2 to 4 of Wang et al. again, beside proved optima.

    A boosted model of 6 trees is trained on digits 3 against 5 and on Adult, a distribution is
    fitted to the training part, and rows of the test part are explained: by the beam search of
    the paper, by Anchors, on Adult by minimum sufficient reasons, and, under independent
    attributes, by sets that are proved to be the best. Figure 4 times the beam on the digits.

    Each row that ends is one line of DIR/runs.jsonl. After Ctrl-C, repeat the command: it makes
    only what is missing, and Figure 4. The tables are written to DIR/table.md, the figures
    beside it.

    \b
    Examples:
      python -m benchmarks sufficient --data tables/
      python -m benchmarks sufficient --data tables/ --tables adult --rows 10
      python -m benchmarks sufficient --data tables/ --show --figures

    \b
    Exit codes: 0 all made; 3 interrupted; 2 wrong input.
    """
    from benchmarks.papers.anchor_package import installed
    from benchmarks.papers.sources import Directory, OpenML
    from benchmarks.papers.store import Store
    from benchmarks.papers.sufficient.records import Row
    from benchmarks.papers.sufficient.tasks import NAMES
    from benchmarks.papers.sufficient.threads import Seconds
    from cpx.cli.output import note
    from cpx.errors import UnknownName
    from cpx.support.validation import positive_integer

    names = opt.split(tables) or []
    for name in names:
        if name not in NAMES:
            raise UnknownName("table", name, NAMES)
    for what, value in (("rows", rows), ("samples", samples), ("width", width)):
        positive_integer(what, value)
    if anchors and not installed():
        note("Anchors is not installed and is left out: pip install 'cpx-explain[anchors]'")
        anchors = False
    source = OpenML() if data is None else Directory(data)
    store = Store(output, Row.from_line)
    made: list[Row] = []
    whole = True
    for name in names:
        asked = (name, rows, distribution, samples, width, anchors, seed)
        if not show:
            whole &= _make(source, store, *asked)
        made += _latest(store, asked)
    seconds = Seconds.read(store.directory) if "mnist" in names else None
    _deliver(made, seconds, store.directory)
    if figures:
        from benchmarks.papers.sufficient.figures import draw

        for path in draw(made, seconds, store.directory):
            note(f"wrote {path}")
    raise typer.Exit(0 if whole else 3)


def _latest(store: Store[Row], asked: tuple[Any, ...]) -> list[Row]:
    """Return what was measured as it is asked for, each row once: with Anchors, if it was."""
    name, _, distribution, samples, width, _, seed = asked
    found: dict[int, Row] = {}
    for row in store.records.values():
        task = row.task
        same = (task.table, task.distribution, task.samples, task.width, task.seed)
        older = found.get(task.row)
        if same == (name, distribution, samples, width, seed) and (
            older is None or task.anchors or not older.task.anchors
        ):
            found[task.row] = row
    return [*found.values()]


def _make(
    source: Source,
    store: Store[Row],
    name: str,
    rows: int,
    distribution: str,
    samples: int,
    width: int,
    anchors: bool,
    seed: int,
) -> bool:
    """Make what is missing of a table; return whether all is there."""
    from benchmarks.papers.sufficient.experiment import SIZES, Laboratory
    from benchmarks.papers.sufficient.records import Task
    from benchmarks.papers.sufficient.threads import seconds_by_threads
    from cpx.cli.output import note
    from cpx.cli.progress import RunProgress

    note(f"{name}: preparing")
    lab = Laboratory.of(name, source, seed, distribution)
    note(
        f"{name}: {len(lab.split.train)} training rows, accuracy {lab.split.accuracy:.4f} on "
        f"{len(lab.split.test)} test rows, {sum(t.n_leaves for t in lab.fitted.model.trees)} "
        "leaves"
    )
    tasks = [
        Task(name, row, seed, distribution, samples, width, anchors)
        for row in lab.split.drawn(rows, seed).tolist()
    ]
    missing: list[Task] = [task for task in tasks if task.key not in store.records]
    note(f"{name}: {len(tasks)} rows, {len(missing)} to do")
    with RunProgress(len(missing)) as progress:
        try:
            for task in missing:
                progress.started(task.key, f"{name} row {task.row}", None)
                store.add(lab.measure(task))
                progress.ended(task.key, f"{name} row {task.row}")
        except KeyboardInterrupt:
            note("interrupted: repeat the command to go on")
            return False
    if name == "mnist":
        note("mnist: timing the beam by threads")
        timed = [task.row for task in tasks]
        seconds_by_threads(lab, timed, max(SIZES[name]), width).write(store.directory)
    return True


def _deliver(rows: list[Row], seconds: Seconds | None, directory: Path) -> None:
    """Print the tables, and write them."""
    from benchmarks.papers.grids import as_markdown, as_text, renderables
    from benchmarks.papers.sufficient.tables import grids
    from cpx.cli.output import note
    from cpx.support.files import write_atomic

    tables = grids(rows, seconds)
    if sys.stdout.isatty():
        from rich.console import Console

        console = Console(highlight=False)
        for grid in tables:
            for part in renderables(grid):
                console.print(part)
    else:
        typer.echo(as_text(tables, []))
    path = directory / "table.md"
    write_atomic(path, as_markdown(tables, []).encode())
    note(f"wrote {path}")
