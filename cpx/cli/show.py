"""The commands ``cpx show``, ``export`` and ``check``: look at an instance or a saved result."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cpx.cli import options as opt
from cpx.errors import InvalidInstance, InvalidOption, UnknownName
from cpx.modelling.encodings import find_encoding

if TYPE_CHECKING:
    from cpx.answers.result import Result
    from cpx.check.proofs import Claim
    from cpx.modelling.base import Problem


def show(
    inst: opt.Instance,
    form: Annotated[
        str,
        typer.Option(
            "--as",
            metavar="FORM",
            help="statement, latex, cpmpy, flat, cnf, wcnf, opb, lp, mps, cp-sat, minizinc, "
            "flatzinc or xcsp3.",
            autocompletion=opt.complete_show_forms,
        ),
    ] = "statement",
    encoding: opt.Encoding = None,
    at_most: opt.AtMost = None,
    full: Annotated[
        bool, typer.Option("--full", help="Everything, however long; default: long forms are cut.")
    ] = False,
    solve: Annotated[
        bool,
        typer.Option("--solve", help="And what an engine that reads the form does with it."),
    ] = False,
) -> None:
    r"""Show what an engine gets to see: the statement, or what it is compiled to.

    The same instance as mathematics, CPMpy code, clauses, linear rows or CP-SAT
    constraints. Best on instances of a few samples. Where an instance has no statement, shows
    what is asked and why there is none, and refuses an encoding or another form.

    \b
    Examples:
      cpx show inst.json
      cpx show inst.json --as cpmpy --encoding channelling
      cpx show inst.json --as wcnf --full | less
      cpx show inst.json --as wcnf --solve

    Exit codes: 0; 2 wrong input; 1 anything else.
    """
    from cpx.cli.reading import read_instance
    from cpx.export import SHOW_FORMS
    from cpx.export import show as text_of

    _known(form, SHOW_FORMS)
    problem = read_instance(inst)
    find_encoding(problem, encoding)
    text = text_of(problem, form, encoding, full=full, at_most=at_most)
    typer.echo(text.rstrip("\n"))
    _warn_of(problem, encoding)
    if solve:
        from cpx.export.solved import solved

        typer.echo(f"\n{solved(problem, form, encoding, at_most=at_most)}")


def _warn_of(problem: Problem, encoding: str | None) -> None:
    """Say on standard error what must be known of an encoding."""
    from cpx.cli.output import warn
    from cpx.export.legend import warnings_of

    for text in warnings_of(problem, encoding or ""):
        warn(text)


def export(
    inst: opt.Instance,
    form: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="FORM",
            help="wcnf, opb, lp, mps, cp-sat, minizinc, flatzinc or xcsp3.",
            autocompletion=opt.complete_export_forms,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write it."),
    ],
    encoding: opt.Encoding = None,
    at_most: opt.AtMost = None,
) -> None:
    r"""Write an instance in the file format of a family of solvers.

    \b
    Examples:
      cpx export inst.json --to wcnf -o inst.wcnf
      cpx export inst.json --to lp --encoding channelling -o inst.lp
      cpx export inst.json --to minizinc -o inst.mzn

    Exit codes: 0 written; 2 wrong input; 1 anything else.
    """
    from cpx.cli.output import say
    from cpx.cli.reading import output_path, read_instance
    from cpx.export import EXPORT_FORMS, export_bytes
    from cpx.support.files import write_atomic

    _known(form, EXPORT_FORMS)
    path = output_path(output, inst)
    assert path is not None
    problem = read_instance(inst)
    find_encoding(problem, encoding)
    data = export_bytes(problem, form, encoding, at_most=at_most)
    write_atomic(path, data)
    _warn_of(problem, encoding)
    stated = find_encoding(problem, encoding).name
    say(f"wrote {path}: {form}, encoding {stated}, {len(data)} bytes")


def check(
    inst: opt.Instance,
    result: Annotated[
        Path, typer.Argument(metavar="RESULT", help="Saved result, from 'cpx solve -o'.")
    ],
    proof: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Proof of its bound, from 'cpx solve --proof'."),
    ] = None,
    prove: Annotated[
        bool, typer.Option("--prove", help="Make a proof of its bound, and check it.")
    ] = False,
    time_limit: Annotated[
        float, opt.seconds_option("Limit for making a proof, not for a check; 'none' for none.")
    ] = math.inf,
) -> None:
    r"""Check a saved result against its instance, independently of all engines.

    Constraints, value, precision, coverage, figures, words and sentences are recomputed from the
    data. A bound is the engine's word, but one that the solution contradicts is a failure. With
    a proof the bound is checked as well, and so is the claim that there is no solution. What is
    taken on trust is printed.

    \b
    Examples:
      cpx solve inst.json -o result.json
      cpx check inst.json result.json
      cpx check inst.json result.json --prove
      cpx check inst.json result.json --proof proof.gz

    Exit codes: 0 confirmed; 3 too much for the checker to decide, no judge for this kind of
    problem, or a proof of less than the result claims; 1 a check fails; 2 wrong input.
    """
    from cpx.answers.result import Result, Status
    from cpx.answers.values import digits, in_words
    from cpx.check import UNDECIDED, UNJUDGED, on_trust, violations
    from cpx.check.proofs import Refused, Undecided, covers
    from cpx.cli.output import say
    from cpx.cli.reading import read_instance, result_object
    from cpx.support.validation import seconds

    if prove and proof is not None:
        raise InvalidOption("--prove makes a proof, and --proof reads one: give one of them")
    limit_seconds = seconds(opt.limit(time_limit))
    problem, data = read_instance(inst), result_object(result)
    instance = problem.to_dict()
    found = violations(instance, data)
    undecided = {UNDECIDED: "UNDECIDED", UNJUDGED: "NOT CHECKED"}
    for violation in found:
        say(f"{undecided.get(violation, 'FAILED')} {violation}")
    if found:
        raise typer.Exit(3 if undecided.keys() >= {*found} else 1)
    answer = Result.from_dict(data)
    claim, wanted, beyond = None, prove or proof is not None, ""
    try:
        if wanted:
            claim = _proved(problem, answer, proof, limit_seconds)
    except Undecided as undecided_proof:
        beyond = str(undecided_proof)
    except Refused as refused:
        say(f"FAILED proof: {refused}")
        raise typer.Exit(1) from None
    values = (answer.objective, answer.bound)
    places = digits(values)
    value, bound = ("" if v is None else in_words(v, places) for v in values)
    known = f"value {value}" if value else "no solution"
    limit = f"bound {bound}" if bound else "no bound"
    say(f"OK {answer.status}, {known}, {limit}: the data confirm it")
    less = wanted and not (claim is not None and covers(claim, data))
    if less:
        none = answer.bound is None and answer.status is not Status.INFEASIBLE
        told = "nothing is claimed" if none else "less is proved than the result claims"
        say(f"UNDECIDED proof: {beyond or told}")
    elif wanted:
        say("OK proof: it proves what is claimed")
    say(f"taken on trust: {', '.join(on_trust(instance, data, claim))}")
    if less:
        raise typer.Exit(3)


def _proved(
    problem: Problem, answer: Result, path: Path | None, seconds: float | None
) -> Claim | None:
    """Return what the proof in a file proves, or one that is made; None where none is."""
    from cpx.check.proofs import proved
    from cpx.solving.proofs import prove

    instance = problem.to_dict()
    if path is None:
        made = prove(problem, answer, seconds, trusted=True)
        return None if made is None else proved(instance, made.to_bytes())
    try:
        with path.open("rb") as stream:
            return proved(instance, stream)
    except OSError as error:
        raise InvalidInstance(f"{path}: cannot be read: {error.strerror}") from error


def _known(form: str, known: tuple[str, ...]) -> None:
    if form not in known:
        raise UnknownName("form", form, known)
