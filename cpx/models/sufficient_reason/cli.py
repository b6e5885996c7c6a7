"""The commands ``cpx make reason`` and ``cpx make contrast``: about the class of a row."""

from __future__ import annotations

from typing import Any

from cpx.cli.kind_options import OF_ENGINES, KindOptions
from cpx.cli.make import Saving, in_words
from cpx.cli.model_file import ModelFile
from cpx.cli.option_groups import grouped
from cpx.cli.tree_row import TreeRow


@grouped(options=KindOptions("reason", without=OF_ENGINES))
def make_reason(*, row: TreeRow, options: dict[str, Any], file: ModelFile, saving: Saving) -> None:
    r"""Make the problem to find the fewest columns that force the class of a row.

    Whatever the other columns are, the tree model gives the class it gives the row. The model
    is read from a file, or trained on the columns of the table, which must be numbers then.

    \b
    Examples:
      cpx make reason row.csv --model forest.skops -o inst.json
      cpx make reason table.csv --row 17 --model model.json --forbidden age
      cpx make reason table.csv --row 17 --target y --model boosting

    Exit codes: 0 written; 2 wrong input; 1 anything else.
    """
    from cpx.cli.output import note

    saving.check(row.table)
    asked = row.ask("reason", file, options)
    _, notes = asked.explainer.fitted(asked.x, options.get("level", "attributes"))
    for text in notes[len(asked.explainer.notes) :]:
        note(text)
    problem = asked.explainer.problem(asked.x, **options, name=saving.name or asked.name)
    saving.write(problem, in_words(problem, problem.label, asked.by))


@grouped(options=KindOptions("contrast", without=("n", "plausible")))
def make_contrast(
    *, row: TreeRow, options: dict[str, Any], file: ModelFile, saving: Saving
) -> None:
    r"""Make the problem to find the fewest columns whose change gives a row another class.

    The tree model is read from a file, or trained on the columns of the table.

    \b
    Examples:
      cpx make contrast row.csv --model forest.skops -o inst.json
      cpx make contrast table.csv --row 17 --model model.json --frozen age
      cpx make contrast table.csv --row 17 --target y --model forest --range "age=18:70"

    Exit codes: 0 written; 2 wrong input; 1 anything else.
    """
    saving.check(row.table)
    asked = row.ask("contrast", file, options)
    problem = asked.explainer.problem(asked.x, **options, name=saving.name or asked.name)
    saving.write(problem, in_words(problem, problem.label, asked.by))
