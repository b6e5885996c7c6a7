"""The command ``cpx encodings``: one instance in many encodings, measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cpx.cli import options as opt
from cpx.errors import InvalidOption, shown

if TYPE_CHECKING:
    from cpx.compare.encodings_shown import EncodingsTable

_TEXTS = (".md", ".csv", ".json")
_FIGURES = (".png", ".svg", ".pdf")


def encodings(
    inst: opt.Instance,
    encoding: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Encodings; default: all that can state the problem.",
            autocompletion=opt.complete_encodings,
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--as", metavar="A,B", help="Some of wcnf, opb, lp and cp-sat; default: all."
        ),
    ] = None,
    at_most: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Measure wcnf and opb with each of these encodings of 'at most k of these': "
            "pairwise, sequential, totalizer, cardinality-network and adder.",
            autocompletion=opt.complete_at_most,
        ),
    ] = None,
    backends: Annotated[
        str | None,
        typer.Option(
            "--backends",
            "-b",
            metavar="A,B",
            help="Solve it in each encoding with these engines, too.",
            autocompletion=opt.complete_backends,
        ),
    ] = None,
    samples: Annotated[
        int,
        typer.Option(metavar="N", help="Choices of features that unit propagation begins with."),
    ] = 50,
    seed: opt.Seed = 0,
    time_limit: Annotated[
        float,
        opt.seconds_option("Of each linear relaxation and each engine; 'none' for no limit."),
    ] = 10.0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write it as .md, .csv or .json; or a plot, .png, .svg or .pdf.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all figures as JSON.")] = False,
) -> None:
    r"""Show how large, how strong and how fast the encodings of an instance are.

    Variables, constraints by their length and nonzeros are counted in what engines get. The root
    of the linear relaxation is one strength of an encoding; what unit propagation fixes from the
    same random choices of features is another.

    \b
    Examples:
      cpx encodings inst.json
      cpx encodings inst.json --encoding clausal,reified --as wcnf,lp
      cpx encodings inst.json --backends cpsat,milp -o encodings.csv
      cpx encodings inst.json --encoding clausal --as wcnf --at-most sequential,totalizer
      cpx encodings inst.json -o strength.png

    Exit codes: 0; 2 wrong input; 1 anything else.
    """
    from cpx.answers.axes import require_matplotlib
    from cpx.cli.output import note, print_blocks
    from cpx.cli.reading import output_path, read_instance
    from cpx.compare.encodings import encodings_table
    from cpx.options import split_names
    from cpx.support.files import write_atomic

    path = output_path(output, inst)
    if path is not None and path.suffix not in (*_TEXTS, *_FIGURES):
        known = ", ".join((*_TEXTS, *_FIGURES))
        raise InvalidOption(f"{shown(str(path))} must end with one of {known}")
    if path is not None and path.suffix in _FIGURES:
        require_matplotlib()  # before anything is measured
    table = encodings_table(
        read_instance(inst),
        opt.split(encoding),
        opt.split(form),
        at_most=opt.split(at_most),
        engines=split_names(backends or ""),
        samples=samples,
        seed=seed,
        time_limit=opt.limit(time_limit),
    )
    if as_json:
        typer.echo(json.dumps(table.to_dict(), indent=1))
    else:
        print_blocks(table.blocks())
    if path is not None:
        write_atomic(path, _written(table, path.suffix))
        note(f"wrote {path}")


def _written(table: EncodingsTable, ending: str) -> bytes:
    if ending in _FIGURES:
        from io import BytesIO

        from matplotlib.figure import Figure

        stream, figure = BytesIO(), Figure(figsize=(6.4, 4.0), layout="constrained")
        table.plot(figure.add_subplot())
        figure.savefig(stream, format=ending[1:])
        return stream.getvalue()
    if ending == ".csv":
        text = table.to_csv()
    elif ending == ".md":
        text = table.to_markdown()
    else:
        text = json.dumps(table.to_dict(), indent=1) + "\n"
    return text.encode("utf-8")
