"""The command ``cpx compare``: experiments, as a table and files."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from cpx.cli import options as opt
from cpx.cli.dashes import as_given
from cpx.cli.option_groups import grouped
from cpx.errors import InvalidOption, OutputError, shown

if TYPE_CHECKING:
    from cpx.compare import Comparison, Design


@dataclass(frozen=True)
class Runs:
    """Which runs are made of each instance."""

    title: ClassVar[str] = opt.ENGINE

    backends: Annotated[
        str | None,
        typer.Option(
            "--backends",
            "-b",
            metavar="A,B",
            help="Engines: 'maxsat' is the family's default solver, 'maxsat:*' all of its "
            "solvers, 'all' all exact ones that are installed, 'cpsat{cut_level=0}' one with "
            "an option of its own.  [default: every exact family]",
            autocompletion=opt.complete_backends,
        ),
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Encodings, each with every engine that needs one.  [default: the engine's "
            "choice for the problem]",
            autocompletion=opt.complete_encodings,
        ),
    ] = None
    time_limit: Annotated[
        str | None,
        typer.Option(
            "--time-limit",
            "-t",
            metavar="SECONDS",
            help="Hard limit for stating, compiling and solving; 'none' for no limit; several "
            "with commas.  [default: 60]",
        ),
    ] = None
    cpu_limit: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Limit of processor time, beside the other one."),
    ] = None
    seeds: Annotated[
        str | None,
        typer.Option(metavar="N,N", help="Seeds, each with every engine.  [default: 0]"),
    ] = None
    threads: Annotated[
        int | None,
        typer.Option(metavar="N", help="Threads the engine may use.  [default: 1]"),
    ] = None
    gap: opt.Gap = None
    warm_start: Annotated[
        bool | None,
        typer.Option(
            "--warm-start/--no-warm-start",
            help="Whether engines may be handed a start of another method.  [default: no]",
        ),
    ] = None


@dataclass(frozen=True)
class Machines:
    """Where the runs are made."""

    title: ClassVar[str] = "Machines"

    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            metavar="N",
            help="Runs at a time; more than idle cores spoil times.  [default: 1]",
        ),
    ] = None
    memory: Annotated[
        float | None, typer.Option(metavar="MB", help="Memory each run may use.")
    ] = None
    shard: Annotated[
        str | None,
        typer.Option(metavar="I/N", help="Make the I-th of N parts of the runs, such as 3/10."),
    ] = None
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Make the runs on this Dask cluster, such as tcp://host:8786."
        ),
    ] = None


@dataclass(frozen=True)
class Kept:
    """What is kept of the runs."""

    title: ClassVar[str] = "Records"

    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="DIR", help="Keep runs.jsonl and results.csv here."
        ),
    ] = None
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="DIR has results: keep its finished runs, make only those missing."
        ),
    ] = False
    merge: Annotated[
        bool,
        typer.Option("--merge", help="Put the runs of several directories into --output."),
    ] = False
    logs: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep what each engine prints here, its log included."),
    ] = None


@grouped
def compare(
    *,
    inst: Annotated[
        list[Path],
        typer.Argument(
            metavar="INST",
            help="Saved instances, .json or .json.gz, directories or patterns of them; or one "
            ".toml file with the whole design; with --merge, directories of results.",
        ),
    ],
    runs: Runs,
    machines: Machines,
    kept: Kept,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object: scores, and a row for each run.")
    ] = False,
) -> None:
    r"""Solve the same instances with many engines and print who found and proved what.

    Every run has a worker process of its own with hard limits. Each run is added to the
    directory when it ends, so nothing is lost, whatever happens: repeat the command with
    --resume to go on. A directory that has results already is refused without --resume.
    Wrong claims are flagged and not ranked.

    \b
    Examples:
      cpx compare inst.json --backends cpsat,maxsat,milp --time-limit 20
      cpx compare *.json.gz --backends all --jobs 2 --seeds 0,1,2 -o results/
      cpx compare inst.json --backends cpsat --encoding clausal,reified
      cpx compare inst.json --backends 'cpsat,cpsat{linearization_level=2}'
      cpx compare design.toml -o part3/ --shard 3/10
      cpx compare --merge part1/ part2/ part3/ -o results/

    Exit codes: 0 all runs made; 3 interrupted, the rest stands; 2 wrong input; 1 a run
    failed or engines contradict each other.
    """
    from cpx.compare import Comparison

    given = {
        "backends": runs.backends,
        "encodings": opt.split(runs.encoding),
        "time_limit": _limits(runs.time_limit),
        "cpu_limit": runs.cpu_limit,
        "seeds": _seeds(runs.seeds),
        "threads": runs.threads,
        "gap": runs.gap,
        "warm_start": runs.warm_start,
        "jobs": machines.jobs,
        "memory": _bytes(machines.memory),
    }
    if kept.merge:
        if kept.output is None:
            raise InvalidOption("--merge needs --output, the directory that gets all runs")
        comparison = Comparison.merge(inst, kept.output)
    else:
        comparison = _run(_design(inst, given), machines, kept)
    if as_json:
        typer.echo(json.dumps(summary(comparison), indent=1))
    else:
        print_comparison(comparison)
    _tell(comparison, kept.output)
    raise typer.Exit(1 if comparison.failed else 0 if comparison.complete else 3)


def _design(inst: list[Path], given: dict[str, Any]) -> Design:
    """Return the design of the arguments; those of the command take precedence over a file."""
    from cpx.compare import Design

    chosen = {name: value for name, value in given.items() if value is not None}
    if not any(path.suffix == ".toml" for path in inst):
        return Design(inst, **chosen)
    if len(inst) > 1:
        raise InvalidOption("a .toml file names the whole design: give it alone")
    # What comes by standard input lies beside nothing.
    folder = Path() if as_given(inst[0]) != str(inst[0]) else None
    return replace(Design.load(inst[0], folder), **chosen)


def _run(design: Design, machines: Machines, kept: Kept) -> Comparison:
    from cpx.cli.progress import CompareProgress
    from cpx.compare import compare as compare_engines
    from cpx.compare.cluster import connected

    with connected(machines.cluster), CompareProgress() as progress:
        return compare_engines(
            design,
            output=kept.output,
            resume=kept.resume,
            shard=machines.shard,
            logs=kept.logs,
            on_begin=progress.begin,
            on_result=lambda run, _: progress.finished(run),
            listen=None if machines.cluster else progress.listen,
        )


def _tell(comparison: Comparison, output: Path | None) -> None:
    """Say what was left out, and where the rest is."""
    from cpx.cli.output import note

    # A design of many encodings and options leaves out many pairs for few reasons.
    reasons: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for pair in comparison.skipped:
        engines, instances = reasons.setdefault(pair.reason, ({}, {}))
        engines[pair.configuration] = instances[pair.instance] = None
    for reason, (engines, instances) in reasons.items():
        what, *others = engines
        if not what:
            note(f"passed over: {_files(list(instances))}: {reason}")
            continue
        if others:
            what += f" and {len(others)} more"
        on = f"{len(instances)} instances" if len(instances) > 1 else next(iter(instances))
        note(f"skipped: {what} on {on}: {reason}")
    if comparison.unsaved:
        raise OutputError(comparison.unsaved)
    if output is not None:
        note(f"wrote {output / 'results.csv'} and runs.jsonl")
    if output is not None and comparison.contradictions:
        note(f"instances with wrong claims are in {output / 'disagreements'}")


def _files(names: list[str]) -> str:
    return ", ".join(names[:3]) + f" and {len(names) - 3} more" * (len(names) > 3)


def summary(comparison: Comparison) -> dict[str, Any]:
    """Return what is printed of a comparison as plain JSON values: its scores, and its runs."""
    scores = comparison.scores().reset_index()
    rows = comparison.to_frame()
    return {
        "format": "cpx-comparison-summary",
        "version": 1,
        "complete": comparison.complete,
        "contradictions": comparison.contradictions,
        "skipped": [asdict(pair) for pair in comparison.skipped],
        # What is not known or infinite is null.
        **{
            name: json.loads(frame.to_json(orient="records", double_precision=15))
            for name, frame in (("scores", scores), ("runs", rows))
        },
    }


def print_comparison(comparison: Comparison) -> None:
    """Print the tables: in colour on a terminal, as plain text in a pipe."""
    from cpx.cli.output import print_blocks

    print_blocks(comparison.blocks())


def _limits(text: str | None) -> list[float | None] | None:
    return None if text is None else [opt.limit(opt.seconds(part)) for part in text.split(",")]


def _seeds(text: str | None) -> list[int] | None:
    if text is None:
        return None
    found = []
    for part in opt.split(text) or []:
        if not part.isdecimal() or len(part) > 10 or int(part) >= 2**31:
            raise InvalidOption(f"seeds must be integers from 0 to below 2**31, got {shown(part)}")
        found.append(int(part))
    if not found:
        raise InvalidOption("seeds must not be empty")
    return found


def _bytes(memory: float | None) -> int | None:
    from cpx.compare.design import in_bytes

    return None if memory is None else in_bytes(memory)
