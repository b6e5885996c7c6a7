"""Exact search for expected predictions: sums of tables, and known attributes otherwise."""

from cpx.backends.base import Outcome, Progress
from cpx.backends.search.form_search import FormSearch
from cpx.modelling.base import Problem
from cpx.models.expected_prediction.form import ExpectationForm, TableSumForm
from cpx.models.expected_prediction.search.known_attributes import solve_known_attributes
from cpx.models.expected_prediction.search.table_sums import solve_table_sum


def _solve(problem: Problem, form: ExpectationForm | TableSumForm, progress: Progress) -> Outcome:
    """Search the sum of tables where there is one, else sets by their exact scores."""
    tables = form if isinstance(form, TableSumForm) else form.table_sum
    if tables is not None and getattr(form, "likely", None) is None:
        return solve_table_sum(problem, tables, progress)
    assert isinstance(form, ExpectationForm)
    return solve_known_attributes(problem, form, progress)


SEARCH = FormSearch(_solve)
