"""The command ``cpx make expectation``: what makes a tree model expect its class."""

from __future__ import annotations

from typing import Any

from cpx.cli import options as opt
from cpx.cli.kind_options import OF_ENGINES, KindOptions
from cpx.cli.make import Saving, in_words
from cpx.cli.model_file import ModelFile
from cpx.cli.option_groups import grouped
from cpx.cli.output import note
from cpx.cli.tree_row import TreeRow
from cpx.errors import InvalidOption
from cpx.explainers.options import built
from cpx.models.expected_prediction.base import ExpectedPrediction
from cpx.models.expected_prediction.question import SAMPLED, ExpectationQuestion


@grouped(options=KindOptions("expectation", without=(*OF_ENGINES, "fresh")))
def make_expectation(
    *, row: TreeRow, options: dict[str, Any], file: ModelFile, saving: Saving
) -> None:
    r"""Make the problem to find the columns that make a tree model expect its class most surely.

    Nothing but these columns is known; the others follow a distribution fitted to the table.
    Asked are at most k columns, of the kind mlse, or with --threshold the fewest that reach
    it, of the kind fewest-expected. The model is read from a file, or trained on the table.

    With --measure sampled-probability the question for one size k is made, with the rows drawn,
    as it is where the trees are too many for --prediction decision to be exact, or have so many
    leaves that exact expectations take long; --measure expectation asks for these all the same.

    \b
    Examples:
      cpx make expectation table.csv --row 17 --target y -k 3 -o inst.json
      cpx make expectation rows.csv --row row.csv --model forest.skops -k 3
      cpx make expectation table.csv --row 17 --target y --threshold 0.9

    Exit codes: 0 written; 2 wrong input; 1 anything else.
    """
    saving.check(row.table)
    threshold, measure = (options.get(name) for name in ("threshold", "measure"))
    if measure == "probability-bound" and threshold is None:
        raise InvalidOption(f"--measure {measure} needs --threshold")
    # The fewest columns by rows drawn are found size by size; an instance has one of them.
    sized = measure == SAMPLED and threshold is not None
    k = options.pop("k", None) if sized else options.get("k")
    asked = row.ask("expectation", file, options)
    options["name"] = saving.name or asked.name
    question = built(ExpectationQuestion, options)
    stated, why = asked.explainer.exact_or_drawn(asked.x, question)
    if why:
        note(why)
    if isinstance(stated, ExpectedPrediction):
        problem, label = stated, stated.label
    else:
        size = min(opt.MOST, stated.problem.n_features) if k is None else k
        problem, label = stated.question(size), stated.problem.label
    saving.write(problem, in_words(problem, label, asked.by))
