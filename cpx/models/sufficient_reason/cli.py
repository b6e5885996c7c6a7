"""The command ``cpx make reason``: what forces the class that a tree model gives a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cpx.cli import options as opt
from cpx.cli.declared import Declared
from cpx.cli.make import Saving, in_words
from cpx.cli.model_file import ModelFile
from cpx.cli.option_groups import grouped
from cpx.cli.tree_row import Columns, TreeRow
from cpx.errors import DataError, shown
from cpx.models.sufficient_reason.problem import SufficientReason

if TYPE_CHECKING:
    import pandas as pd


@grouped(own=Declared(SufficientReason, "level", "definition", title=Columns.title))
def make_reason(
    *,
    row: TreeRow,
    own: dict[str, Any],
    columns: Columns,
    file: ModelFile,
    saving: Saving,
) -> None:
    r"""Make the problem to find the fewest columns that force the class of a row.

    Whatever the other columns are, the tree model gives the class it gives the row. The model
    is read from a file, or trained on the columns of the table, which must be numbers then.

    \b
    Examples:
      cpx make reason row.csv --model forest.skops -o inst.json
      cpx make reason table.csv --row 17 --model model.json --forbidden age
      cpx make reason table.csv --row 17 --target y --model boosting

    \b
    Exit codes: 0 written; 2 wrong input; 1 anything else.
    """
    from cpx.cli.output import note
    from cpx.explainers.background import fitted_to_rows
    from cpx.modelling.row import fitted_to, refuse_missing_conditions
    from cpx.trees import read_model

    saving.check(row.table)
    row.check(file)
    missing = opt.read_missing(row.missing_in)
    refuse_missing_conditions(own.get("level"), missing)
    asked = row.read(file, _numbers)
    model = asked.model
    if row.trained:
        model, *_ = fitted_to_rows(read_model(model), asked.rows)
    model, notes = fitted_to(model, asked.x, missing, of_data=row.trained)
    for text in notes:
        note(text)
    problem = SufficientReason(
        model,
        asked.x,
        **own,
        required=opt.read_features(columns.required),
        forbidden=opt.read_features(columns.forbidden),
        side_constraints=columns.where or (),  # type: ignore[arg-type]
        name=saving.name or asked.name,
    )
    saving.write(problem, in_words(problem, problem.label, asked.by))


def _numbers(X: pd.DataFrame) -> pd.DataFrame:
    """Return the columns, which must be numbers: a reason speaks of intervals of the columns."""
    from pandas.api.types import is_numeric_dtype

    for name, kind in X.dtypes.items():
        if not is_numeric_dtype(kind):
            raise DataError(
                f"the column {shown(name)} has no numbers, which a tree model of a reason needs: "
                "encode it, or give the file of a model that was trained on numbers"
            )
    return X
