"""The command ``cpx tree``: draw the branch and bound tree of a small instance."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cpx.cli import options as opt
from cpx.errors import InvalidOption, shown


def tree(
    inst: opt.Instance,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to draw it, as SVG."),
    ] = None,
) -> None:
    r"""Draw the branch and bound tree of a small instance, and print its steps.

    A node is the features chosen so far. It shows what they cost, and the bound of the exact
    search on all sets that begin with them. The open node of the least bound comes next.

    \b
    Examples:
      cpx tree inst.json
      cpx tree inst.json -o tree.svg

    Exit codes: 0; 2 wrong input, or a tree of more than 200 nodes; 1 anything else.
    """
    from cpx.answers.values import plural
    from cpx.cli.output import say
    from cpx.cli.reading import output_path, read_instance
    from cpx.models.monomial.branching_tree import search_tree
    from cpx.support.files import write_atomic

    path = output_path(output, inst)
    if path is not None and path.suffix != ".svg":
        raise InvalidOption(f"{shown(str(path))} must end with .svg")
    found = search_tree(read_instance(inst))
    typer.echo(str(found))
    if path is not None:
        write_atomic(path, found.svg().encode())
        say(f"wrote {path}: {plural(len(found.nodes), 'node')}")
