"""The command ``cpx compare``: many engines on the same instances, as a table and files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cpx.cli import options as opt
from cpx.errors import InvalidOption, OutputError, shown
from cpx.support.validation import positive_integer

if TYPE_CHECKING:
    from cpx.compare import Comparison, Run

__all__ = ["compare", "print_comparison"]


def compare(
    inst: Annotated[
        list[Path], typer.Argument(metavar="INST", help="Saved instances, .json or .json.gz.")
    ],
    backends: Annotated[
        str | None,
        typer.Option(
            "--backends",
            "-b",
            metavar="A,B",
            help="Engines: 'maxsat' is the family's default solver, 'maxsat:*' all of its "
            "solvers, 'all' all exact ones that are installed.  [default: every exact family]",
            autocompletion=opt.complete_backends,
            show_default=False,
        ),
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Encodings, each with every engine.  [default: the problem's first]",
            autocompletion=opt.complete_encodings,
            show_default=False,
        ),
    ] = None,
    time_limit: opt.TimeLimit = 60.0,
    seeds: Annotated[
        str, typer.Option(metavar="N,N", help="Seeds, each with every engine.")
    ] = "0",
    threads: opt.Threads = 1,
    gap: opt.Gap = None,
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs", "-j", metavar="N", help="Runs at a time; more than idle cores spoil times."
        ),
    ] = 1,
    memory: Annotated[
        float | None, typer.Option(metavar="MB", help="Address space each run may use.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="DIR", help="Write results.csv and results.json here."
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="DIR has results: keep its finished runs, make only those missing."
        ),
    ] = False,
) -> None:
    r"""Solve the same instances with many engines and print who found and proved what.

    Every run has a worker process of its own with a hard limit. Files are brought up to
    date after each run, so Ctrl-C loses nothing: repeat the command with --resume to go
    on. A directory that has results already is refused without --resume. Proofs that a
    solution of another engine refutes are flagged and not ranked.

    \b
    Examples:
      cpx compare inst.json --backends cpsat,maxsat,milp --time-limit 20
      cpx compare *.json.gz --backends all --jobs 2 --seeds 0,1,2 -o results/
      cpx compare inst.json --backends cpsat --encoding clausal,channelling,reified

    \b
    Exit codes: 0 all runs made; 3 interrupted, the rest stands; 2 wrong input; 1 a run
    failed or engines contradict each other.
    """
    from cpx.cli.output import note, warn
    from cpx.cli.progress import CompareProgress
    from cpx.cli.reading import read_instances
    from cpx.compare import compare as run_all
    from cpx.compare import engine_names
    from cpx.compare.run import plan

    limit = None if time_limit == math.inf else time_limit
    forms, chosen = opt.split(encoding), _seeds(seeds)
    # Whatever is wrong is found here, before the directory is made.
    engine_names(backends)
    opt.solve_options(time_limit, threads, 0, gap, None)
    positive_integer("jobs", jobs)
    space = _bytes(memory)
    problems = read_instances(inst)
    tasks = plan(
        problems,
        backends,
        encodings=forms,
        seeds=chosen,
        time_limit=limit,
        threads=threads,
        gap=gap,
    )
    known = None if output is None else _known(output, resume)

    failures: list[OutputError] = []

    def save(so_far: Comparison) -> bool:
        if output is not None:
            try:
                so_far.save(output)
            except OutputError as error:
                failures.append(error)
                return False
        return True

    with CompareProgress(len(tasks)) as progress:

        def keep(run: Run, so_far: Comparison) -> None:
            progress.finished(run)
            # A full disk loses no result: warned of once, tried again, printed at the end.
            if not save(so_far) and len(failures) == 1:
                warn(str(failures[0]))

        comparison = run_all(
            problems,
            backends,
            encodings=forms,
            seeds=chosen,
            time_limit=limit,
            threads=threads,
            gap=gap,
            jobs=jobs,
            memory=space,
            resume=known,
            on_result=keep,
            listen=progress.listen,
        )
    saved = save(comparison)
    print_comparison(comparison)
    if not saved:
        raise failures[-1]
    if output is not None:
        note(f"wrote {output / 'results.csv'} and results.json")
    raise typer.Exit(1 if comparison.failed else 0 if comparison.complete else 3)


def print_comparison(comparison: Comparison) -> None:
    """Print the tables: in colour on a terminal, as plain text in a pipe."""
    from cpx.cli.output import print_blocks

    print_blocks(comparison.blocks())


def _known(directory: Path, resume: bool) -> Comparison | None:
    from cpx.compare import Comparison
    from cpx.compare.comparison import CSV_NAME, JSON_NAME
    from cpx.support.files import ensure_directory, ensure_writable

    folder = ensure_directory(directory)
    for name in (CSV_NAME, JSON_NAME):
        ensure_writable(folder / name)
    if not (folder / JSON_NAME).exists() and not (folder / CSV_NAME).exists():
        return None
    if not resume:
        raise OutputError(
            f"{folder} has results already: --resume keeps them and makes the missing runs, "
            "another directory starts anew"
        )
    return Comparison.load(folder)


def _seeds(text: str) -> list[int]:
    found = []
    for part in opt.split(text) or []:
        if not part.isdecimal() or len(part) > 10 or int(part) >= 2**31:
            raise InvalidOption(f"seeds must be integers from 0 to below 2**31, got {shown(part)}")
        found.append(int(part))
    if not found:
        raise InvalidOption("seeds must not be empty")
    return found


def _bytes(memory: float | None) -> int | None:
    if memory is None:
        return None
    if not math.isfinite(memory) or memory <= 0:
        raise InvalidOption(f"memory must be a number of MB > 0, got {memory}")
    return round(memory * 1e6)
