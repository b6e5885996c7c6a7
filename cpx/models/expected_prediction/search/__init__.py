"""Exact search for expected predictions: sums of tables, and known attributes otherwise."""

from cpx.backends.search.form_search import FormSearch
from cpx.models.expected_prediction.search.known_attributes import solve_known_attributes
from cpx.models.expected_prediction.search.table_sums import solve_table_sum

KNOWN_ATTRIBUTES = FormSearch(solve_known_attributes)
TABLE_SUMS = FormSearch(solve_table_sum)
