"""The command ``cpx make rule``, and the commands of other problems of one rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from cpx.cli.declared import Declared
from cpx.cli.make import Saving
from cpx.cli.option_groups import grouped
from cpx.modelling.parameters import parameters_of
from cpx.models.monomial.cli_row import Source, rule_options, stated
from cpx.models.monomial.problem import MonomialProblem
from cpx.support.validation import integer_in

__all__ = ["make_rule", "rule_command"]

Unseen = Annotated[
    int,
    typer.Option(
        metavar="N",
        help="N more samples, which no engine sees. Precision and coverage on them stand beside "
        "those on the samples wherever the rule is shown.",
        show_default=False,
    ),
]


@grouped(options=rule_options())
def make_rule(
    *,
    source: Source,
    unseen: Unseen = 0,
    options: dict[str, Any],
    saving: Saving,
) -> None:
    r"""Make the problem to find the best short rule for one row of a table.

    Trains a classifier, draws samples and labels them, as 'cpx explain' does, and saves the
    problem: the kind is max-precision, or what the --objective says.

    \b
    Examples:
      cpx make rule table.csv --target y --row 17 -k 5 -m 1000 -o inst.json
      cpx make rule table.csv --target y --row 17 --objective loss -o inst.json.gz
      cpx make rule table.csv --target y --row 17 --min-coverage 0.2

    Exit codes: 0 written; 2 wrong input; 1 anything else.
    """
    saving.check(source.table)
    integer_in("unseen", unseen, 0)
    problem, row = stated(source, options, saving.name, unseen)
    saving.write(problem, row.title(problem))


def rule_command(cls: type[MonomialProblem], *examples: str) -> Callable[..., None]:
    """Return the command that makes a problem of one rule, with the parameters of its class.

    Those that all problems of one rule have are the options of ``cpx make rule``; those that the
    class declares beside them are options by their names.

    Parameters
    ----------
    cls : type
        The class of the problem.
    *examples : str
        Calls that the help shows.
    """
    shared = parameters_of(MonomialProblem)
    own_names = [name for name in parameters_of(cls) if name not in shared]

    def make(
        *,
        source: Source,
        own: dict[str, Any],
        options: dict[str, Any],
        saving: Saving,
    ) -> None:
        saving.check(source.table)
        # The samples and limits are those of a problem of least loss, which sets none itself.
        problem, row = stated(source, {**options, "objective": "loss"}, saving.name)
        made = cls(**{name: getattr(problem, name) for name in shared}, **own)
        saving.write(made, row.title(made))

    first, *_ = str(cls.__doc__).splitlines()
    shown = "".join(f"\n  {example}" for example in examples)
    make.__doc__ = f"{first}\n\n\\b\nExamples:{shown}\n\n{_CODES}" if shown else first
    return grouped(
        make,
        own=Declared(cls, *own_names, title=cls.kind),
        options=rule_options("objective"),
    )


_CODES = "Exit codes: 0 written; 2 wrong input; 1 anything else."
