"""The data of a problem of one rule, item by item: features, samples, objective."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cpx.answers.text import one_line
from cpx.data.bits import string_of
from cpx.models.base import Listing

if TYPE_CHECKING:
    from cpx.data.samples import Samples
    from cpx.models.monomial.form import WeightedMonomial

__all__ = ["listings_of", "objective_in_words"]

_WIDTH, _MOST_LINES = 96, 6


def listings_of(
    samples: Samples, form: WeightedMonomial, objective: Sequence[str]
) -> Iterator[Listing]:
    """Yield features, samples with what they cost in the form, and the objective."""
    m, d = form.shape
    title = "Features j: literal, samples that agree with x on it"
    yield Listing(title, _features(samples), d, "features")
    title = "Samples i: a_i0 a_i1 ..., class, weight, cost, features that differ"
    yield Listing(title, _samples(samples, form), m, "samples")
    yield Listing("", objective, len(objective), "")


def _features(samples: Samples) -> Iterator[str]:
    agreeing = samples.agreement.sum(axis=0)
    for j, literal in enumerate(samples.features):
        group = "" if samples.groups is None else f", group {samples.groups[j]}"
        yield f"  {j:>4}  {one_line(literal)}: {agreeing[j]}{group}"


def _samples(samples: Samples, form: WeightedMonomial) -> Iterator[str]:
    for i, row in enumerate(form.agreement):
        same = "same " if samples.same[i] else "other"
        costs = [
            f"{cost} {when}"
            for cost, when in (
                (form.cost_covered[i], "if covered"),
                (form.cost_uncovered[i], "if not covered"),
            )
            if cost
        ]
        differs = ", ".join(map(str, np.flatnonzero(~row))) or "none"
        words = " and ".join(costs) or "no cost"
        yield (
            f"  {i:>4}  {string_of(row)}  {same}  {samples.weights[i]:>3}  {words:<16}  "
            f"{{{differs}}}".replace("{none}", "none")
        )


def objective_in_words(form: WeightedMonomial, claim: str, greatest: int | None) -> list[str]:
    """Return the objective spelled out; ``greatest`` is what costs are taken from, if they are."""
    pairs = zip(form.cost_covered.tolist(), form.cost_uncovered.tolist(), strict=True)
    terms = [
        f"{cost if cost > 1 else ''}[{i} {what}]".strip()
        for i, (on, off) in enumerate(pairs)
        for cost, what in ((on, "covered"), (off, "not covered"))
        if cost
    ]
    text = f"minimise {claim}(S) = {' + '.join(terms) or '0'}"
    if greatest is not None:
        costs = f" - ({' + '.join(terms)})" if terms else ""
        text = f"maximise {claim}(S) = {greatest}{costs}"
    lines = textwrap.wrap(text, _WIDTH, subsequent_indent="    ", break_long_words=False)
    if len(lines) > _MOST_LINES:
        lines = [*lines[:_MOST_LINES], f"    ... {len(terms):,} terms in all"]
    return ["Objective: [i covered] is 1 when a_ij = 1 for all j in S, else 0", *lines]
