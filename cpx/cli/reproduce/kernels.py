"""The command ``cpx reproduce kernels``: rules of kernel machines, a published table."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cpx.cli import options as opt

if TYPE_CHECKING:
    from cpx.reproduce.kernels.experiment import Run

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
    time_limit: opt.TimeLimit = 10.0,
    seed: opt.Seed = 0,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Also write the tables, as Markdown."),
    ] = None,
) -> None:
    r"""Make Table 2 of Polato and Aiolli again, with the exact search beside it.

    Support vector machines with the kernel of all formulas of at most 10 clauses of at most 5
    literals are trained on 9 data sets, all made in code. Of each machine, the rule of greatest
    weight is found by the exact search, with proof, and sought by the genetic algorithm of the
    paper.

    \b
    Examples:
      cpx reproduce kernels
      cpx reproduce kernels --datasets monks-1,monks-3 --runs 1 --no-genetic
      cpx reproduce kernels --noise 0.05 -o noise.md

    \b
    Exit codes: 0 all rules proved; 3 some without proof, or interrupted; 2 wrong input.
    """
    from cpx.cli.output import note
    from cpx.files import write_atomic
    from cpx.reproduce.grids import as_markdown, as_text, renderables
    from cpx.reproduce.kernels.experiment import Protocol, choose, reproduce
    from cpx.reproduce.kernels.tables import grids, notes

    limit = None if time_limit == math.inf else time_limit
    protocol = Protocol(runs, noise, limit, genetic, seed)
    done: list[Run] = []
    names, whole = choose(opt.split(datasets)), True
    try:
        for run in reproduce(names, protocol):
            done.append(run)
            note(f"{run.name}, split {run.number + 1} of {runs}: {_told(run)}")
    except KeyboardInterrupt:
        whole = False
        note("interrupted: the tables have what was made")
    tables, lines = grids(done, bool(noise)), notes(protocol)
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
    if output is not None:
        write_atomic(output, as_markdown(tables, lines).encode())
        note(f"wrote {output}")
    raise typer.Exit(0 if whole and all(run.exact.proved for run in done) else 3)


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
