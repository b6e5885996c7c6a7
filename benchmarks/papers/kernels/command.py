"""The command ``python -m benchmarks kernels``: Table 2 of Polato and Aiolli."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cpx.cli import options as opt

if TYPE_CHECKING:
    from benchmarks.papers.kernels.records import Protocol, Run, Task
    from benchmarks.papers.store import Store

__all__ = ["kernels"]


def kernels(
    datasets: Annotated[
        str | None,
        typer.Option(
            metavar="A,B", help="Names of data sets.  [default: all 9]", show_default=False
        ),
    ] = None,
    runs: Annotated[
        int, typer.Option("--runs", "-n", metavar="N", help="Splits of each data set.")
    ] = 5,
    noise: Annotated[
        float,
        typer.Option(metavar="SHARE", help="Share of the training labels to turn around: 0.05."),
    ] = 0.0,
    genetic: Annotated[
        bool,
        typer.Option("--genetic/--no-genetic", help="Also run the genetic algorithm."),
    ] = True,
    operators: Annotated[
        str,
        typer.Option(
            metavar="A+B",
            help="Of the genetic algorithm: shrink+half+distinct, or some of them.  "
            "[default: those of the paper]",
            show_default=False,
        ),
    ] = "",
    time_limit: Annotated[
        float, opt.seconds_option("Limit of the exact search; 'none' for no limit.")
    ] = 10.0,
    seed: opt.Seed = 0,
    output: opt.Records = Path("kernels"),
    figure: Annotated[
        bool,
        typer.Option(
            "--figure",
            help="Instead: Figure 2, the genetic algorithm guided by the machine and by labels "
            "alone, as DIR/guided.svg and DIR/guided.md.",
        ),
    ] = False,
    show: Annotated[
        bool, typer.Option("--show", help="Run nothing: tables of what is there already.")
    ] = False,
) -> None:
    r"""Make Table 2 of Polato and Aiolli again, with the exact search beside it.

    Support vector machines with the kernel of all formulas of at most 10 clauses of at most 5
    literals are trained on 9 data sets, all made in code. Of each machine, the rule of greatest
    weight is found by the exact search, with proof, and sought by the genetic algorithm of the
    paper, which ends after 1000 generations.

    Each run that ends is one line of DIR/runs.jsonl. After Ctrl-C, repeat the command: it makes
    only the runs that are missing. With other settings the runs are others, kept in the same
    file and never mixed; more splits are added to those that are there. The tables are written
    to DIR/table.md.

    \b
    Examples:
      python -m benchmarks kernels
      python -m benchmarks kernels --datasets monks-1,monks-3 --runs 1 --no-genetic
      python -m benchmarks kernels --operators shrink+half+distinct
      python -m benchmarks kernels --noise 0.05 -o noise/
      python -m benchmarks kernels --figure --runs 2
      python -m benchmarks kernels --show

    \b
    Exit codes: 0 all rules proved; 3 some without proof, interrupted or not all made; 2 wrong
    input.
    """
    from benchmarks.papers.kernels.experiment import choose, tasks
    from benchmarks.papers.kernels.records import Protocol, Run
    from benchmarks.papers.store import Store

    limit = None if time_limit == math.inf else time_limit
    protocol = Protocol(runs, noise, limit, genetic, seed, operators)
    if figure:
        _draw_guided(choose(opt.split(datasets)), protocol, output)
        raise typer.Exit(0)
    todo = tasks(choose(opt.split(datasets)), protocol)
    store = Store(output, Run.from_line)
    if not show:
        _make(todo, store)
    made = [store.records[task.key] for task in todo if task.key in store.records]
    _deliver(made, protocol, store.directory)
    raise typer.Exit(0 if len(made) == len(todo) and all(run.exact.proved for run in made) else 3)


def _draw_guided(names: tuple[str, ...], protocol: Protocol, directory: Path) -> None:
    """Run the genetic algorithm with and without the machine; write a figure and its table."""
    from benchmarks.papers.grids import as_markdown
    from benchmarks.papers.kernels.guided import Bred, breed, draw, grid
    from cpx.cli.output import note
    from cpx.support.files import ensure_directory, write_atomic

    ensure_directory(directory)
    bred: list[Bred] = []
    for name in names:
        for number in range(protocol.runs):
            bred += breed(name, number, protocol)
            note(f"{name}, split {number + 1}")
    text = as_markdown([grid(bred)], [])
    typer.echo(text, nl=False)
    write_atomic(directory / "guided.md", text.encode())
    draw(bred, directory / "guided.svg")
    note(f"wrote {directory / 'guided.svg'} and guided.md")


def _make(tasks: list[Task], store: Store[Run]) -> None:
    """Make the runs that are missing, until Ctrl-C."""
    from benchmarks.papers.kernels.experiment import make, preload
    from cpx.cli.output import note
    from cpx.cli.progress import RunProgress

    missing = [task for task in tasks if task.key not in store.records]
    note(f"{len(tasks)} runs, {len(tasks) - len(missing)} made before, {len(missing)} to do")
    if not missing:
        return
    preload()
    with RunProgress(len(missing)) as progress:
        try:
            for task in missing:
                progress.started(task.key, task.label, task.protocol.time_limit)
                run = make(task)
                store.add(run)
                progress.ended(task.key, f"{task.label}: {_told(run)}")
        except KeyboardInterrupt:
            note("interrupted: repeat the command to go on")


def _deliver(runs: list[Run], protocol: Protocol, directory: Path) -> None:
    """Print the tables, and write them."""
    from benchmarks.papers.grids import as_markdown, as_text, renderables
    from benchmarks.papers.kernels.tables import grids, notes
    from cpx.cli.output import note
    from cpx.support.files import write_atomic

    tables, lines = grids(runs, bool(protocol.noise)), notes(protocol)
    if sys.stdout.isatty():
        from rich.console import Console

        console = Console(highlight=False)
        for grid in tables:
            for part in renderables(grid):
                console.print(part)
        for line in lines:
            console.print(line, style="dim", markup=False)
    else:
        typer.echo(as_text(tables, lines))
    path = directory / "table.md"
    write_atomic(path, as_markdown(tables, lines).encode())
    note(f"wrote {path}")


def _told(run: Run) -> str:
    exact = run.exact
    proof = "proved" if exact.proved else f"bound {100 * (exact.bound or 1):.1f} %"
    told = f"exact {100 * exact.share:.1f} %, {proof}, {exact.seconds:.2f} s"
    if run.genetic is not None:
        told += (
            f"; genetic {100 * run.genetic.share:.1f} %, {run.genetic.generations} generations, "
            f"{run.genetic.seconds:.1f} s"
        )
    return told
