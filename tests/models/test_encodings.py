"""Statements of monomial problems, without any engine but CPMpy's own evaluation."""

from __future__ import annotations

import inspect
import itertools

import cpmpy as cp
import numpy as np
import pytest

from cpx import KMonomial, NegativeOnly, Samples, solve
from cpx.models.k_monomial import MONOMIAL_ENCODINGS
from cpx.testing.random_instances import random_problem

NAMES = [encoding.name for encoding in MONOMIAL_ENCODINGS]


def _assign(statement, values) -> None:
    for name, array in statement.variables.items():
        for variable, value in zip(array, values[name], strict=True):
            variable._value = bool(value) if variable.is_bool() else int(value)


@pytest.mark.parametrize("encoding", NAMES)
@pytest.mark.parametrize("seed", range(20))
def test_complete_assignments_satisfy_the_model_at_the_value_of_the_rule(encoding, seed) -> None:
    problem = random_problem(seed)
    statement = problem.model(encoding)
    for size in range(problem.k + 1):
        for chosen in itertools.islice(itertools.combinations(range(problem.n_features), size), 6):
            found = problem.evaluate(problem.explanation(chosen))
            _assign(statement, statement.complete(chosen))
            satisfied = all(bool(c.value()) for c in statement.model.constraints)
            assert satisfied == found.feasible
            value = statement.model.objective_.value() + statement.offset
            assert value == found.objective


@pytest.mark.parametrize("encoding", NAMES)
def test_every_encoding_is_documented(encoding) -> None:
    text = inspect.getdoc(KMonomial.encoding(encoding).build)
    assert "Source:" in text
    if encoding != "table1-literal":
        assert "Size:" in text
        assert "minimise" in text


def test_decode_reads_the_chosen_features() -> None:
    problem = random_problem(1)
    values = problem.model().complete(problem.required)
    assert problem.decode(values).features == problem.required


@pytest.mark.parametrize("kind", [KMonomial, NegativeOnly])
def test_one_sided_claims_are_never_below_the_value(kind) -> None:
    rng = np.random.default_rng(0)
    samples = Samples(rng.random((8, 4)) < 0.5, rng.random(8) < 0.5)
    problem = kind(samples, k=2)
    statement = problem.model("clausal")
    cheapest = {}

    def note() -> None:
        chosen = tuple(np.flatnonzero([bool(x.value()) for x in statement.variables["X"]]))
        claimed = statement.model.objective_.value() + statement.offset
        cheapest[chosen] = min(claimed, cheapest.get(chosen, claimed))

    cp.Model(statement.model.constraints).solveAll(display=note)
    assert len(cheapest) == 1 + 4 + 6
    for chosen, claimed in cheapest.items():
        assert claimed == problem.evaluate(problem.explanation(chosen)).objective


def test_table1_as_printed_falls_into_its_trap() -> None:
    """Section 3 of the paper's Table 1: K above the size of S covers nothing."""
    rng = np.random.default_rng(0)
    agreement = rng.random((200, 8)) < 0.5
    same = np.zeros(200, dtype=bool)
    same[:6] = True
    problem = KMonomial(Samples(agreement, same), k=2)
    right = solve(problem, encoding="channelling")
    assert right.status == "OPTIMAL"
    assert right.objective > 6
    wrong = solve(problem, encoding="table1-literal")
    # The printed model claims to lose only the agreeing samples; no rule does.
    assert wrong.bound == 6
    assert wrong.objective >= right.objective
    assert wrong.status == "FEASIBLE"
    (warning,) = (text for text in wrong.warnings if "table1-literal" in text)
    assert "claims the value 6" in warning
    assert f"has {wrong.objective}" in warning


def test_sizes_of_the_default_encoding() -> None:
    samples = Samples([[1, 0, 1], [0, 0, 1], [1, 1, 1], [0, 1, 0]], [1, 0, 0, 1])
    statement = KMonomial(samples, k=2).model()
    sizes = {name: len(array) for name, array in statement.variables.items()}
    assert sizes == {"X": 3, "C": 2, "U": 2}
    # k, one clause per disagreeing sample, one implication per feature some U differs on.
    assert len(statement.model.constraints) == 1 + 2 + 3
