"""The command ``python -m benchmarks equal-calls``: all methods at equal numbers of calls."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchmarks.papers.koriche.command import Data, Datasets
from cpx.cli import options as opt

if TYPE_CHECKING:
    from benchmarks.papers.koriche.records import Record, Task

__all__ = ["equal_calls"]


def equal_calls(
    data: Data = None,
    output: opt.Records = Path("equal-calls"),
    calls: Annotated[
        str,
        typer.Option(
            metavar="A,B", help="Numbers of calls; 'anchors' for as many as Anchors takes."
        ),
    ] = "1000,10000",
    instances: Annotated[
        int, typer.Option("--instances", "-n", metavar="N", help="Per data set.")
    ] = 10,
    datasets: Datasets = None,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Of cop, sat, precision, adaptive, certificates, anchors, anchors-99, "
            "anchors-01.  [default: all]",
            show_default=False,
        ),
    ] = None,
    k: opt.K = 5,
    fresh: Annotated[
        int, typer.Option(metavar="N", help="Fresh samples that an error is measured on.")
    ] = 10_000,
    time_limit: opt.TimeLimit = 20.0,
    seed: opt.Seed = 0,
    figures: Annotated[
        bool,
        typer.Option(
            "--figures", help="Also Figures 1 and 2: errors by calls, and by k at 1000 calls."
        ),
    ] = False,
    show: Annotated[
        bool, typer.Option("--show", help="Run nothing: the tables of what is there already.")
    ] = False,
) -> None:
    r"""Compare the methods of 'koriche' where each may ask the classifier equally often.

    Cop's and Sat's losses and the greatest precision are the proved optima of as many samples
    as calls are allowed. The adaptive method draws in rounds, the noise stabilising
    certificates spend all calls on their walk down the tree, and Anchors is stopped when its
    calls are spent: its answer is then the surest rule that it had sampled. 'anchors-99' and
    'anchors-01' are two readings of the paper's settings: ten beams, precision 99.5 %, and a
    tolerance of .99 or .01.

    Each task that ends is one line of DIR/runs.jsonl; after Ctrl-C, repeat the command. The
    tables are those of the instances on which all chosen methods have a rule. They are written
    to DIR/table.md.

    \b
    Examples:
      python -m benchmarks equal-calls --data tables/ -n 2
      python -m benchmarks equal-calls --data tables/ -n 100 --methods cop,sat,precision
      python -m benchmarks equal-calls --calls anchors --fresh 50000 --methods adaptive,precision
      python -m benchmarks equal-calls --calls 1000,10000,100000 --show

    \b
    Exit codes: 0 all tasks made; 3 interrupted; 2 wrong input; 1 a task failed.
    """
    from benchmarks.papers.anchor_package import installed
    from benchmarks.papers.datasets import choose
    from benchmarks.papers.grids import as_markdown, as_text
    from benchmarks.papers.koriche.equal_calls.experiment import ANCHORS, Experiment, run
    from benchmarks.papers.koriche.equal_calls.methods import METHODS
    from benchmarks.papers.koriche.equal_calls.tables import grids
    from benchmarks.papers.koriche.figures import draw
    from benchmarks.papers.koriche.methods import choose_methods
    from benchmarks.papers.koriche.protocol import Protocol
    from benchmarks.papers.koriche.records import Store
    from benchmarks.papers.sources import Directory, OpenML
    from cpx.answers.axes import require_matplotlib
    from cpx.cli.output import note
    from cpx.errors import EngineMissing
    from cpx.support.files import write_atomic
    from cpx.support.validation import positive_integer

    if figures:
        require_matplotlib()
    wanted, numbers = choose_methods(opt.split(methods), METHODS), _numbers(calls)
    if not (show or installed()):
        pip = "pip install 'cpx-explain[anchors]'"
        wanted = tuple(method for method in wanted if method.backend != "anchors")
        if ANCHORS in numbers or not wanted:
            raise EngineMissing(f"Anchors is not installed: {pip}")
        note(f"Anchors is not installed and is left out: {pip}")
    source = OpenML() if data is None else Directory(data)
    chosen = choose(opt.split(datasets))
    limit = None if time_limit == math.inf else time_limit
    experiment = Experiment(
        chosen,
        {dataset.name: source.identity(dataset) for dataset in chosen},
        wanted,
        numbers,
        positive_integer("instances", instances),
        positive_integer("k", k),
        Protocol(seed, limit, fresh),
        figures,
    )
    store = Store(output)
    failed = False

    def told(task: Task, record: Record) -> None:
        nonlocal failed
        failed = failed or record.failed
        error = "no rule" if record.error is None else f"error {record.error:.4f}"
        what = f"FAILED: {record.message}" if record.failed else error
        note(f"{task.label}: {what}, {record.calls} calls, {record.seconds:.2f} s")

    done = show or run(experiment, source, store, told)
    if not done:
        note("interrupted: repeat the command to go on")
    tables = grids(experiment, store)
    notes = [
        f"k = {k}, {fresh} fresh samples given each rule, seed {seed}; Cop's and Sat's losses and "
        "the precision are optima of the samples, by the search.",
    ]
    typer.echo(as_text(tables, notes))
    written = store.directory / "table.md"
    write_atomic(written, as_markdown(tables, notes).encode())
    drawn = draw(experiment, store) if figures else []
    note("wrote " + ", ".join(str(path) for path in [written, *drawn]))
    raise typer.Exit(1 if failed else 0 if done else 3)


def _numbers(text: str) -> tuple[int | str, ...]:
    from benchmarks.papers.koriche.equal_calls.experiment import ANCHORS
    from cpx.cli.options import split
    from cpx.errors import InvalidOption
    from cpx.support.validation import positive_integer

    found: list[int | str] = []
    for part in split(text) or [""]:
        if part == ANCHORS:
            found.append(part)
        elif part.isdecimal():
            found.append(positive_integer("calls", int(part)))
        else:
            raise InvalidOption(f"calls must be numbers or {ANCHORS!r}, got {part!r}")
    return tuple(found)
