"""The command ``cpx make rule``, and the commands of other problems of one rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any

import typer

from cpx.cli import options as opt
from cpx.cli.declared import Declared
from cpx.cli.make import Saving
from cpx.cli.option_groups import Group, grouped
from cpx.modelling.parameters import parameters_of
from cpx.models.monomial.cli_row import RowQuestion, RuleOptions, Source
from cpx.models.monomial.problem import MonomialProblem
from cpx.support.validation import integer_in

__all__ = ["make_rule", "rule_command", "stated"]

# An instance has all of its samples from the start.
_IN_ROUNDS = ("epsilon", "delta", "max_queries")

Unseen = Annotated[
    int,
    typer.Option(
        metavar="N",
        help="N more samples, which no engine sees. Precision and coverage on them stand beside "
        "those on the samples wherever the rule is shown.",
        show_default=False,
    ),
]


@grouped(wanted=Group(RuleOptions, *_IN_ROUNDS))
def make_rule(
    *,
    source: Source,
    unseen: Unseen = 0,
    k: opt.OptionalK = None,
    wanted: RuleOptions,
    saving: Saving,
) -> None:
    r"""Make the problem to find the best short rule for one row of a table.

    Trains a classifier, draws samples and labels them, as 'cpx explain' does, and saves the
    problem: the kind is max-precision, or what the --objective says.

    \b
    Examples:
      cpx make rule table.csv --target y --row 17 -k 5 -m 1000 -o inst.json
      cpx make rule table.csv --target y --row 17 --objective loss -o inst.json.gz
      cpx make rule table.csv --target y --row 17 --min-coverage 0.2 --one-per-group

    \b
    Exit codes: 0 written; 2 wrong input; 1 anything else.
    """
    saving.check(source.table)
    integer_in("unseen", unseen, 0)
    problem, title = stated(source, k, wanted, saving.name, unseen)
    saving.write(problem, title(problem))


def stated(
    source: Source, k: int | None, wanted: RuleOptions, name: str | None, unseen: int = 0
) -> tuple[MonomialProblem, Callable[[Any], str]]:
    """Train the model, draw samples and state the problem; return it and what says its title."""
    question = wanted.question(k)
    row = RowQuestion(source)
    size = question.size(row.explainer.distribution.n_features)
    title = name or f"{source.table.name.partition('.')[0]}-{source.row}-k{size}"
    row.check(question)
    return row.problem(replace(question, name=title), unseen), row.title


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
        k: opt.OptionalK = None,
        own: dict[str, Any],
        wanted: RuleOptions,
        saving: Saving,
    ) -> None:
        saving.check(source.table)
        # The samples and limits are those of a problem of least loss, which sets none itself.
        least_loss = replace(wanted, objective="loss")
        problem, title = stated(source, k, least_loss, saving.name)
        made = cls(**{name: getattr(problem, name) for name in shared}, **own)
        saving.write(made, title(made))

    first, *_ = str(cls.__doc__).splitlines()
    shown = "".join(f"\n  {example}" for example in examples)
    make.__doc__ = f"{first}\n\n\\b\nExamples:{shown}\n\n\\b\n{_CODES}" if shown else first
    return grouped(
        make,
        own=Declared(cls, *own_names, title=cls.kind),
        wanted=Group(RuleOptions, "objective", *_IN_ROUNDS),
    )


_CODES = "Exit codes: 0 written; 2 wrong input; 1 anything else."
