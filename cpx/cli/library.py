"""The command ``cpx library``: make instances of named families."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cpx.errors import InvalidOption

if TYPE_CHECKING:
    from cpx.modelling.base import Problem


def library(
    family: Annotated[
        str | None, typer.Argument(metavar="[FAMILY]", help="Name of a family of instances.")
    ] = None,
    m: Annotated[
        int | None, typer.Option("-m", min=1, help="Number of samples, or of trees of a reason.")
    ] = None,
    d: Annotated[
        int | None, typer.Option("-d", min=1, help="Number of features, or of attributes.")
    ] = None,
    k: Annotated[
        int | None,
        typer.Option("-k", min=1, help="Maximum number of conditions, or rules to plant."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Which of the instances of this size.")] = 0,
    suite: Annotated[
        str | None, typer.Option(help="Make all instances of a suite: try or small.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="DIR", help="Save instances here.")
    ] = None,
) -> None:
    r"""Make instances for experiments: named families, three sizes, a seed.

    Without arguments the families and the suites are listed. The same family, sizes and seed
    give the same instance. What is known of an instance, its optimum or the best value and bound,
    is printed beside its file.

    \b
    Examples:
      cpx library
      cpx library planted -m 1000 -d 60 -k 5 --seed 3 -o instances/
      cpx library --suite small -o instances/

    Exit codes: 0 listed or written; 2 wrong input; 1 anything else.
    """
    from cpx.library import make
    from cpx.library import suite as suite_of
    from cpx.support.files import ensure_directory

    if family is None and suite is None:
        if (m, d, k, output) != (None, None, None, None):
            raise InvalidOption("name a family or a --suite; 'cpx library' lists them")
        _list()
        return
    if family is not None and suite is not None:
        raise InvalidOption("a family and a --suite at once: name one of them")
    if suite is not None and (m, d, k) != (None, None, None):
        raise InvalidOption("a suite has sizes of its own: -m, -d and -k go with a family")
    problems: Iterable[Problem]
    if family is not None:
        problems = [make(family, m, d, k, seed)]
    else:
        problems = (entry.problem() for entry in suite_of(str(suite)))
    if output is None:
        raise InvalidOption("--output is missing: the directory for the instances")
    ensure_directory(output)
    for problem in problems:
        _save(problem, output)


def _list() -> None:
    from cpx.library import SUITES, families

    width = max(map(len, [*families(), *SUITES]))
    typer.echo("Families:")
    for family in families().values():
        m, d, k = family.usual
        typer.echo(f"  {family.name:{width}}  {family.words}")
        typer.echo(f"  {'':{width}}  {family.sizes}; usually {m}, {d}, {k}")
    typer.echo("Suites:")
    for name, words in SUITES.items():
        typer.echo(f"  {name:{width}}  {words}")


def _save(problem: Problem, directory: Path) -> None:
    from cpx.answers.values import in_words
    from cpx.cli.output import say
    from cpx.library import best_known
    from cpx.modelling.instances import save

    path = directory / f"{problem.to_dict()['name']}.json.gz"
    save(problem, path)
    known = best_known(problem)
    told = "not solved before"
    if known is not None:
        proof = "optimal" if known.proved else f"bound {known.bound}"
        told = f"value {in_words(known.value)}, {proof}"
    say(f"{path}  {told}")
