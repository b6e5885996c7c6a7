"""Encodings of "at most k of these": the right solutions, in clauses and in rows."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from pysat.formula import IDPool
from pysat.solvers import Solver

from cpx import KMonomial, Samples, solve
from cpx.answers.result import Status
from cpx.backends.maxsat.cardinality import AT_MOST
from cpx.backends.maxsat.linear import linear_clauses
from cpx.backends.maxsat.wcnf import compile_statement
from cpx.errors import InvalidOption, UnknownName
from cpx.export import export_bytes, read_legend, show
from tests.export.readers import read

SAMPLES = Samples(
    np.random.default_rng(4).random((14, 6)) < 0.6, np.random.default_rng(5).random(14) < 0.5
)


@pytest.mark.parametrize("at_most", AT_MOST)
@pytest.mark.parametrize("relation", ["<=", ">=", "=="])
def test_exactly_the_solutions(at_most: str, relation: str) -> None:
    holds = {"<=": int.__le__, ">=": int.__ge__, "==": int.__eq__}[relation]
    for n, k, premise in [(2, 1, None), (4, 1, 5), (4, 2, None), (5, 2, 6), (5, 4, None)]:
        terms = [(1, v if v % 2 else -v) for v in range(1, n + 1)]
        pool = IDPool(start_from=n + 2)
        clauses = linear_clauses(terms, relation, k, pool, premise, at_most)
        with Solver("glucose4", bootstrap_with=clauses) as solver:
            for values in product((False, True), repeat=n + 1):
                literals = [v if on else -v for v, on in enumerate(values, 1)]
                true = sum(literals[v - 1] == literal for v, (_, literal) in enumerate(terms, 1))
                right = holds(true, k) or (premise is not None and not values[premise - 1])
                assert solver.solve(assumptions=literals) == right


@pytest.mark.parametrize("at_most", AT_MOST)
def test_files_and_engine_have_the_optimum(at_most: str, tmp_path: object) -> None:
    problem = KMonomial(SAMPLES, k=2)
    optimum = solve(problem, "search").objective
    sizes = set()
    for form in ("wcnf", "opb"):
        data = export_bytes(problem, form, at_most=at_most)
        answer = read(form, data, tmp_path)
        assert answer is not None
        assert read_legend(data).objective(answer[0]) == optimum
        sizes.add(data.count(b"\n"))
    result = solve(problem, f"maxsat{{at_most={at_most}}}", encoding="clausal", warm_start=False)
    assert (result.status, result.objective) == (Status.OPTIMAL, optimum)
    compiled = compile_statement(problem.model(), at_most=at_most)
    assert result.sizes == compiled.sizes
    auxiliary = compiled.top - len(compiled.named_variables())
    assert (auxiliary == 0) == (at_most == "pairwise")


def test_pairwise_is_each_k_and_one_more() -> None:
    clauses = linear_clauses([(1, v) for v in range(1, 8)], "<=", 2, IDPool(), at_most="pairwise")
    assert len(clauses) == comb(7, 3) == len({frozenset(clause) for clause in clauses})
    assert all(len(clause) == 3 and max(clause) < 0 for clause in clauses)


def test_what_cannot_be_is_refused() -> None:
    wide = KMonomial(Samples(np.zeros((2, 60), dtype=bool), [1, 0]), k=8)
    with pytest.raises(InvalidOption, match="at most 8 of 60 literals would be 14,783,142,660"):
        show(wide, "wcnf", at_most="pairwise")
    result = solve(wide, "maxsat{at_most=pairwise}", encoding="clausal", warm_start=False)
    assert result.status is Status.UNKNOWN
    assert any("take another encoding" in text for text in result.warnings)
    with pytest.raises(UnknownName, match="did you mean 'totalizer'"):
        show(wide, "cnf", at_most="totaliser")
    with pytest.raises(InvalidOption, match="lp has no such clauses"):
        export_bytes(wide, "lp", at_most="totalizer")
