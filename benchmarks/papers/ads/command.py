"""The command ``python -m benchmarks ads``: a decision set for a neural network on Adult."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from cpx.cli import options as opt

__all__ = ["ads"]


def ads(
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Directory with adult.csv.gz and index.json, as for 'koriche'.  "
            "[default: fetch from OpenML]",
            show_default=False,
        ),
    ] = None,
    output: opt.Records = Path("ads"),
    penalty: Annotated[
        float, typer.Option(metavar="L", help="Gain of fidelity that is worth a rule.")
    ] = 0.0005,
    beta: Annotated[float, typer.Option(metavar="B", help="Width of the intervals.")] = 0.02,
    queries: Annotated[
        int, typer.Option(metavar="N", help="Synthetic instances asked, at most.")
    ] = 2000,
    iterations: Annotated[int, typer.Option(metavar="N", help="Of the local search.")] = 200,
    per_iteration: Annotated[
        int,
        typer.Option(
            metavar="N", help="Queries in one iteration, at most; the paper names no limit."
        ),
    ] = 20,
    runs: Annotated[
        int, typer.Option(metavar="N", help="Splits, each with a network, to take means of.")
    ] = 5,
    epochs: Annotated[
        int,
        typer.Option(metavar="N", help="Of training a network; scikit-learn's default is 200."),
    ] = 30,
    rows: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Training rows that decision sets are given.  [default: all]",
            show_default=False,
        ),
    ] = None,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact", help="Also the exact loop; on all rows half a minute per 100 queries."
        ),
    ] = False,
    others: Annotated[
        bool,
        typer.Option(
            "--others",
            help="Also ADS+, BRS and SBRL with and without more rows, SP-Anchor, DT-Extract, SVM, "
            "DNN, and CART and forest with more rows; what is not installed is left out.",
        ),
    ] = False,
    sweep: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Instead: F1 by the number of rules, over penalties and beta, on the first "
            "split; a table and a figure in DIR.",
            show_default=False,
        ),
    ] = None,
    seed: opt.Seed = 0,
) -> None:
    r"""Make the experiment of Lu and Ester on Adult again.

    A network of five hidden layers is trained on 90 % of the rows. Active Decision Set
    Induction imitates it by rules, without queries and with them, and so do sets of no more
    rules by column generation; CART and a random forest say how hard that is. Figures are
    measured on the other rows, the network's labels being the truth, and stand above those of
    the paper. All is done on several splits. Takes a quarter of an hour.

    Each method that ends is one line of DIR/runs.jsonl, and the table of what is there is written
    to DIR/table.md. After Ctrl-C, repeat the command: it trains the networks again and runs only
    what is missing. What other settings made is kept in the same file and never mixed.

    \b
    Examples:
      python -m benchmarks ads --data tables/
      python -m benchmarks ads --data tables/ --runs 1 --epochs 200 --others
      python -m benchmarks ads --data tables/ --sweep curves/ --per-iteration 2000
      python -m benchmarks ads --data tables/ --rows 300 --penalty 0.005 --queries 500 --exact

    \b
    Exit codes: 0 made; 3 interrupted; 2 wrong input.
    """
    from benchmarks.papers.ads.experiment import Settings, surrogates
    from benchmarks.papers.ads.faithfulness import Faithfulness, means
    from benchmarks.papers.ads.network import DATASET, Network, train
    from benchmarks.papers.ads.records import Row, keeping
    from benchmarks.papers.ads.table import grid, notes
    from benchmarks.papers.grids import as_markdown, as_text, renderables
    from benchmarks.papers.sources import Directory, OpenML
    from benchmarks.papers.store import Store
    from cpx.cli.output import note
    from cpx.support.files import write_atomic

    settings = Settings(
        penalty, beta, queries, iterations, per_iteration, runs, epochs, seed, rows, exact, others
    )
    source = OpenML() if data is None else Directory(data)
    if sweep is not None:
        from benchmarks.papers.ads.sweep import curves

        curves(source, settings, sweep)
        raise typer.Exit(0)
    table, store = source.load(DATASET), Store(output, Row.from_line)
    path = store.directory / "table.md"
    networks: list[Network] = []
    whole: list[list[Faithfulness]] = []  # splits of which all is measured
    made, lines, code = grid([]), list[str](), 0
    try:
        for split in range(seed, seed + runs):
            note(f"seed {split}: training the network")
            networks.append(train(table, split, epochs))
            found: list[Faithfulness] = []
            for row in surrogates(networks[-1], settings, split, keeping(store, settings, split)):
                note(f"seed {split}: {row.name}: accuracy {row.accuracy:.3f}, F1 {row.f1:.3f}")
                found.append(row)
                if not whole:
                    made = grid(means([found]))
                    write_atomic(path, as_markdown([made], []).encode())
            whole.append(found)
            averages = means(whole)
            made, lines = grid(averages), notes(networks, settings, averages)
            write_atomic(path, as_markdown([made], lines).encode())
    except KeyboardInterrupt:
        note("interrupted: repeat the command to go on")
        code = 3
    if sys.stdout.isatty():
        from rich.console import Console

        console = Console(highlight=False)
        for part in renderables(made):
            console.print(part)
        for line in lines:
            console.print(line, style="dim", markup=False)
    else:
        typer.echo(as_text([made], lines))
    note(f"wrote {path}")
    raise typer.Exit(code)
