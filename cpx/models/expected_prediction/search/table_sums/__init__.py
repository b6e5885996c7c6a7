"""Exact choice of features by a sum of tables: branch and bound with Lagrangian bounds, anytime.

- ``value_and_penalty``: both as one integer, and which of two sets is better, with proofs;
- ``beam``: the first good sets;
- ``terms``: the tables as arrays; features are decided;
- ``ascent``: the bound, with its proof, and the kernel that improves it;
- ``branch_and_bound``: the tree;
- ``search``: the greatest value of k features; the fewest features, or the least penalty, of a
  value.
"""

from __future__ import annotations

from cpx.answers.result import Termination
from cpx.backends.base import Outcome, Progress
from cpx.modelling.base import Problem
from cpx.models.expected_prediction.form import TableSumForm

__all__ = ["solve_table_sum"]


def solve_table_sum(problem: Problem, form: TableSumForm, progress: Progress) -> Outcome:
    """Search for the best set of features; see :class:`~cpx.backends.base.Backend`."""
    from cpx.models.expected_prediction.search.table_sums.search import (
        fewest_features,
        greatest_value,
        least_penalty,
    )

    sizes = {
        "features": form.n_features,
        "tables": len(form.tables),
        "entries": sum(table.size for table in form.tables),
    }
    required = {*form.required}
    if len(required) > form.k or required & {*form.forbidden}:
        return Outcome(
            True, Termination.COMPLETED, "the required features contradict", sizes=sizes
        )
    if form.target is None:
        search = greatest_value
    else:
        search = least_penalty if form.likeliest else fewest_features
    return search(problem, form, progress, sizes)
