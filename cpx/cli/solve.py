"""The commands ``cpx solve`` and ``cpx best``: the best answer to an instance, or the best few."""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cpx.cli import options as opt
from cpx.errors import InvalidOption, OutputError
from cpx.options import TIME_LIMIT
from cpx.processes.interrupts import noted

if TYPE_CHECKING:
    from cpx.answers.result import Result
    from cpx.modelling.base import Problem
    from cpx.options import SolveOptions


def solve(
    inst: opt.Instance,
    backend: opt.Backend = None,
    encoding: opt.Encoding = None,
    time_limit: opt.TimeLimit = TIME_LIMIT,
    seed: opt.Seed = 0,
    threads: opt.Threads = 1,
    gap: opt.Gap = None,
    hint: Annotated[
        str | None,
        typer.Option(
            metavar="HINT",
            help="A known solution: feature indices such as 3,7,12, or a saved result.",
        ),
    ] = None,
    where: opt.Where = None,
    as_json: opt.Json = False,
    output: opt.ResultFile = None,
    isolate: opt.Isolate = True,
    warm_start: Annotated[
        bool,
        typer.Option(
            "--warm-start/--no-warm-start",
            help="Whether the engine may begin with a value, and a statement, that heuristics and "
            "the exact search help to find.",
        ),
    ] = True,
    proof: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also prove the bound, in as long again as the time limit, and write the proof "
            "here, packed when the name ends in .gz.",
            rich_help_panel=opt.ANSWER,
        ),
    ] = None,
) -> None:
    r"""Solve a saved instance and print the checked answer.

    The rule comes with its value, a proven bound and what was proved. Ctrl-C stops the
    solve and prints the best rule found so far.

    \b
    Examples:
      cpx solve inst.json
      cpx solve inst.json --backend maxsat:rc2 --time-limit 10
      cpx solve inst.json --json | jq .objective
      cpx solve inst.json -o result.json && cpx check inst.json result.json
      cpx solve inst.json -o result.json --proof proof.gz

    Exit codes: 0 optimal or infeasible, proved; 3 a rule without proof; 4 no rule within
    the limits; 2 wrong input; 1 anything else.
    """
    from cpx.cli.output import deliver, note, write_result
    from cpx.cli.reading import output_path, read_instance
    from cpx.solving.run import default_engine

    target, proof = output_path(output, inst), output_path(proof, inst)
    if proof is not None and proof == target:
        raise InvalidOption(f"proof: {proof} is where the result is written")
    asked = opt.solve_options(time_limit, threads, seed, gap, encoding, hint)
    chosen = replace(asked, warm_start=warm_start)
    if backend is not None:
        opt.require_engine(backend, None, None)
    problem = read_instance(inst)
    if where:
        problem = problem.where(*where)
    backend = backend or default_engine(problem, encoding)
    if proof is None:
        result = _solved(problem, backend, chosen, isolate)
        raise typer.Exit(deliver(result, as_json, target))
    # Few commands make one, and each would load what makes those of all kinds.
    from cpx.solving.proofs import require_provable, with_proof

    require_provable(problem)
    record: list[object] = []
    result = _solved(problem, backend, chosen, isolate, record)
    if target is not None:
        # The answer is kept whatever ends the program while it makes a proof.
        with suppress(OutputError):
            write_result(result, target)
    result = with_proof(problem, result, chosen.time_limit, record)
    try:
        code = deliver(result, as_json, target)
    finally:
        if result.proof is not None:
            result.proof.save(proof)
            note(f"wrote {proof}")
    raise typer.Exit(code)


def run_solve(
    problem: Problem,
    backend: str,
    chosen: SolveOptions,
    isolate: bool,
    record: list[object] | None = None,
) -> Result:
    """Solve with a progress bar where a person watches."""
    from cpx.cli.progress import solve_progress
    from cpx.solving.run import run

    opt.require_engine(backend, problem, chosen.encoding)
    with solve_progress(backend, chosen.time_limit) as listen:
        return run(problem, backend, chosen, isolate=isolate, listen=listen, record=record)


def _solved(
    problem: Problem,
    backend: str,
    chosen: SolveOptions,
    isolate: bool,
    record: list[object] | None = None,
) -> Result:
    """Solve; where no rule reaches a floor, tell the best that can be had."""
    from cpx.cli.progress import phase
    from cpx.explainers.doors import with_reachable

    result = run_solve(problem, backend, chosen, isolate, record)
    with noted(threading.Event()), phase("looking for the best that can be had"):
        return with_reachable(problem, result)


def best(
    inst: opt.Instance,
    n: Annotated[int, typer.Option("-n", metavar="N", help="How many rules at most.")] = 10,
    optimal: Annotated[
        bool, typer.Option("--optimal", help="Only rules as good as the best: all ties.")
    ] = False,
    backend: opt.ListingBackend = None,
    encoding: opt.Encoding = None,
    time_limit: opt.TimeLimit = TIME_LIMIT,
    threads: opt.Threads = 1,
    seed: opt.Seed = 0,
    as_json: opt.RulesAsJson = False,
) -> None:
    r"""List the best rules of a saved instance, in their order.

    The exact search lists single rules in one go; for other answers, and by another exact engine,
    the instance is solved again and again, each time without the answers that were found. Unless
    an engine is named, it is the one that lists such answers soonest.

    How many rules are nearly as good as the best one, and how they differ, tells how far a
    single rule can be trusted as "the" explanation. Rules with a condition that excludes
    nothing are left out.

    \b
    Examples:
      cpx best inst.json
      cpx best inst.json -n 100
      cpx best inst.json --optimal -n 1000
      cpx best inst.json --backend maxsat
      cpx best inst.json --json | jq '.rules[].text'

    Exit codes: 0 no better rule is missing, proved; 3 a list without that proof; 4 no rule
    within the limits; 2 wrong input; 1 anything else.
    """
    from cpx.cli.output import print_blocks, warn
    from cpx.cli.reading import read_instance
    from cpx.explainers.solutions import solutions

    chosen = opt.solve_options(time_limit, threads, seed, None, encoding, None)
    found = solutions(
        read_instance(inst),
        "optimal" if optimal else n,
        most=n,
        backend=backend,
        encoding=encoding,
        time_limit=chosen.time_limit,
        threads=threads,
        seed=seed,
    )
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=1, allow_nan=False))
    else:
        print_blocks(found.blocks(), spaced=False)
    for text in found.best.warnings:
        warn(text)
    raise typer.Exit(0 if found.complete else 3 if found.rules else 4)
