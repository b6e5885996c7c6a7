"""The command ``cpx make expectation``: what makes a tree model expect its class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cpx.cli import options as opt
from cpx.cli.make import Saving, in_words
from cpx.cli.model_file import ModelFile
from cpx.cli.option_groups import grouped
from cpx.cli.tree_row import Columns, TreeRow, encoded
from cpx.errors import InvalidOption
from cpx.models.expected_prediction.cli import (
    ExpectationOptions,
    ExplainedRow,
    explainer_of,
)

if TYPE_CHECKING:
    import pandas as pd

    from cpx.modelling.base import Problem


@grouped
def make_expectation(
    *,
    row: TreeRow,
    k: Annotated[
        int | None,
        typer.Option(
            "-k",
            metavar="N",
            help="Maximum number of columns.  [default: all]",
        ),
    ] = None,
    distribution: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What is fitted to the table: factorised, mixture, chow-liu, naive-bayes, or "
            "fitted for the best of these. Options in braces: mixture{components=5}.",
            autocompletion=opt.choices(opt.FITTED),
        ),
    ] = "mixture",
    expected: ExpectationOptions,
    columns: Columns,
    file: ModelFile,
    saving: Saving,
) -> None:
    r"""Make the problem to find the columns that make a tree model expect its class most surely.

    Nothing but these columns is known; the others follow a distribution fitted to the table.
    Asked are at most k columns, of the kind mlse, or with --threshold the fewest that reach
    it, of the kind fewest-expected. The model is read from a file, or trained on the table.

    \b
    Examples:
      cpx make expectation table.csv --row 17 --target y -k 3 -o inst.json
      cpx make expectation rows.csv --row row.csv --model forest.skops -k 3
      cpx make expectation table.csv --row 17 --target y --threshold 0.9

    \b
    Exit codes: 0 written; 2 wrong input; 1 anything else.
    """
    saving.check(row.table)
    row.check(file)
    expected.check()
    if k is not None and expected.threshold is not None and not expected.of_rows_drawn:
        raise InvalidOption("-k and --threshold: give one, for the fewest columns have no k")
    if expected.threshold is None and expected.measure is not None:
        raise InvalidOption(f"--measure {expected.measure} needs --threshold")
    groups: dict[str, list[str]] = {}

    def with_groups(X: pd.DataFrame) -> pd.DataFrame:
        table, texts = encoded(X)
        groups.update(texts)
        return table

    asked = row.read(file, with_groups)
    missing = opt.read_missing(row.missing_in)
    explainer = explainer_of(asked.model, asked.rows, distribution, groups, row.seed, missing)
    known = ExplainedRow(explainer, asked.x, saving.name or asked.name, asked.by)
    problem: Problem
    if expected.of_rows_drawn:
        drawn = expected.sampled(known, columns)
        size = min(opt.MOST, drawn.problem.n_features) if k is None else k
        problem, label = drawn.question(size), drawn.problem.label
    else:
        problem = found = expected.problem(known, k, columns)
        label = found.label
    saving.write(problem, in_words(problem, label, asked.by))
