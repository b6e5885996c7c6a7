"""The command ``cpx make certificate``: conditions that leave few samples to disagree."""

from __future__ import annotations

from typing import Any

from cpx.cli.declared import Declared
from cpx.cli.make import Saving, in_words
from cpx.cli.option_groups import grouped
from cpx.models.certificate.problem import MinCertificate
from cpx.models.monomial.cli_row import Source, rule_options, stated

_LIMITS = ("k", "objective", "min_coverage", "max_coverage", "min_precision", "one_per_group")


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
    shared = ("samples", "required", "forbidden", "side_constraints", "name")
    problem = MinCertificate(**{name: getattr(drawn, name) for name in shared}, **own)
    saving.write(problem, in_words(problem, drawn.conclusion, f" by {source.model}"))
