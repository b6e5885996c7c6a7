"""The commands ``cpx make certificate`` and ``precise-certificate``: conditions that decide."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from cpx.cli.declared import Declared
from cpx.cli.make import Saving, in_words
from cpx.cli.option_groups import grouped
from cpx.errors import InvalidOption
from cpx.models.certificate.precise import PreciseCertificate
from cpx.models.certificate.problem import MinCertificate
from cpx.models.monomial.cli_row import Source, rule_options, stated

_LIMITS = ("k", "objective", "min_coverage", "max_coverage", "min_precision", "one_per_group")
_SHARED = ("samples", "required", "forbidden", "side_constraints", "name")


@grouped(
    own=Declared(MinCertificate, "epsilon", title="Certificate"), options=rule_options(*_LIMITS)
)
def make_certificate(
    *, source: Source, own: dict[str, Any], options: dict[str, Any], saving: Saving
) -> None:
    r"""Make the problem to find the fewest conditions that leave few samples to disagree.

    Trains a classifier, draws samples and labels them. The samples for which the conditions hold
    and the class is another one weigh at most the share epsilon of all.

    \b
    Examples:
      cpx make certificate table.csv --target y --row 17 -o inst.json
      cpx make certificate table.csv --target y --row 17 --epsilon 0.01

    Exit codes: 0 written; 2 wrong input; 1 anything else.
    """
    saving.check(source.table)
    name = saving.name or f"{source.table.name.partition('.')[0]}-{source.row}"
    drawn, _ = stated(source, options, name)
    problem = MinCertificate(**{name: getattr(drawn, name) for name in _SHARED}, **own)
    saving.write(problem, in_words(problem, drawn.conclusion, f" by {source.model}"))


@grouped(
    own=Declared(PreciseCertificate, "epsilon", title="Certificate"),
    options=rule_options(*_LIMITS),
)
def make_precise_certificate(
    *,
    source: Source,
    own: dict[str, Any],
    whole_domain: Annotated[
        bool,
        typer.Option(
            "--whole-domain",
            help="All rows of the distribution uniform or product, with their probabilities, in "
            "place of samples: the least size is C(f, x, epsilon).",
        ),
    ] = False,
    rounded: Annotated[
        Literal["up", "down"] | None,
        typer.Option(
            "--rounded",
            metavar="WAY",
            help="With --whole-domain, where probabilities are too fine to be counted: errors "
            "rounded up, for certificates, or down, for a lower bound on C(f, x, epsilon).",
            show_default=False,
        ),
    ] = None,
    options: dict[str, Any],
    saving: Saving,
) -> None:
    r"""Make the problem to find the fewest conditions whose rule has a small error.

    Trains a classifier, draws samples and labels them. Of the samples for which the conditions
    hold, at most the share epsilon has another class.

    \b
    Examples:
      cpx make precise-certificate table.csv --target y --row 17 --epsilon 0.05 -o inst.json
      cpx make precise-certificate table.csv --target y --row 17 --distribution uniform \
        --n-bins 2 --whole-domain --epsilon 0

    Exit codes: 0 written; 2 wrong input; 1 anything else.
    """
    from cpx.cli.progress import phase
    from cpx.models.certificate.methods.domain import domain_samples
    from cpx.models.monomial.explainers.classifier_and_rows import asked_of

    saving.check(source.table)
    name = saving.name or f"{source.table.name.partition('.')[0]}-{source.row}"
    drawn, _ = stated(source, options, name)
    given = {name: getattr(drawn, name) for name in _SHARED}
    if rounded and not whole_domain:
        raise InvalidOption("rounded is for --whole-domain")
    if whole_domain:
        with phase("labelling the whole domain"):
            given["samples"] = domain_samples(asked_of(drawn), rounded)
    problem = PreciseCertificate(**given, **own)
    saving.write(problem, in_words(problem, drawn.conclusion, f" by {source.model}"))
