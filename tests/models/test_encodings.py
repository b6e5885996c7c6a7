"""Statements of monomial problems, without any engine but CPMpy's own evaluation."""

from __future__ import annotations

import inspect
import itertools

import cpmpy as cp
import numpy as np
import pulp
import pytest

from cpx import KMonomial, MaxCoverage, MaxPrecision, Samples, solve
from cpx.backends.milp.pulp_solver import CPM_pulp
from cpx.errors import InvalidOption
from cpx.modelling.encodings import find_encoding
from cpx.models import NegativeOnly
from cpx.models.monomial.draw import random_problem
from cpx.models.monomial.encodings.channelling import table1_literal
from cpx.models.monomial.problem import MONOMIAL_ENCODINGS
from cpx.testing.brute import brute_force
from tests.seeds import each

NAMES = [encoding.name for encoding in MONOMIAL_ENCODINGS]


def _assign(statement, values) -> None:
    for name, array in statement.variables.items():
        for variable, value in zip(array, values[name], strict=True):
            variable._value = bool(value) if variable.is_bool() else int(value)


def _limited(seed: int):
    """Return a problem of any kind, with limits or not; of a ratio, its first step."""
    problem = random_problem(seed)
    return problem.first_step() if isinstance(problem, MaxPrecision) else problem


# What has a known rule, K, completes with a better one what it has not; see test_triples.
@pytest.mark.parametrize("encoding", [name for name in NAMES if name != "triples"])
@each(range(40), 10)
def test_complete_assignments_satisfy_the_model_at_the_value_of_the_rule(encoding, seed) -> None:
    problem = _limited(seed)
    if encoding == "table1-literal":
        problem = random_problem(seed, kinds=(KMonomial, NegativeOnly), limited=False)
    statement = problem.model(encoding)
    if "K" in statement.variables:
        return
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
    text = inspect.getdoc(find_encoding(KMonomial, encoding).build)
    assert "Source:" in text
    if encoding != "table1-literal":
        assert "Size:" in text
        assert "minimise" in text


def test_decode_reads_the_chosen_features() -> None:
    problem = random_problem(1, kinds=(KMonomial,))
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


@pytest.mark.parametrize("encoding", [name for name in NAMES if name != "table1-literal"])
@pytest.mark.parametrize(
    "limits",
    [
        {"min_coverage": "2/5"},
        {"max_coverage": "1/2"},
        {"min_precision": "1/2"},
        {"min_coverage": 0.2, "max_coverage": 0.7, "min_precision": 0.4},
    ],
    ids=lambda limits: "-".join(limits),
)
@pytest.mark.parametrize("kind", [KMonomial, NegativeOnly, MaxCoverage, MaxPrecision])
def test_solutions_of_the_model_are_the_rules_within_the_limits(kind, limits, encoding) -> None:
    """Whatever the literals that count rows are: none of them makes a rule pass."""
    rng = np.random.default_rng(3)
    samples = Samples(rng.random((7, 4)) < 0.6, rng.random(7) < 0.5, rng.integers(1, 4, 7))
    # The default of MaxCoverage is more than these rules keep.
    limits = {"min_precision": "1/4", **limits} if kind is MaxCoverage else limits
    problem = kind(samples, k=2, **limits)
    stated = problem.first_step() if kind is MaxPrecision else problem
    statement = stated.model(encoding)
    sign = 1 if stated.sense == "min" else -1
    best = {}

    def note() -> None:
        chosen = tuple(np.flatnonzero([bool(x.value()) for x in statement.variables["X"]]))
        claimed = sign * (statement.model.objective_.value() + statement.offset)
        best[chosen] = min(claimed, best.get(chosen, claimed))

    cp.Model(statement.model.constraints).solveAll(display=note)
    sets = [s for size in range(3) for s in itertools.combinations(range(4), size)]
    found = {s: problem.evaluate(problem.explanation(s)) for s in sets}
    assert set(best) == {s for s in sets if found[s].feasible}
    assert 0 < len(best) < len(sets)
    for chosen, claimed in best.items():
        value = stated.evaluate(stated.explanation(chosen)).objective
        assert claimed == sign * value


@pytest.mark.parametrize("limits", [{"min_coverage": 0.1}, {"min_precision": 0}])
def test_table1_as_printed_takes_no_limits(limits) -> None:
    problem = KMonomial(Samples([[1, 0], [0, 1]], [1, 0]), k=1, **limits)
    message = "'table1-literal' cannot state limits"
    with pytest.raises(InvalidOption, match=message):
        problem.model("table1-literal")
    with pytest.raises(InvalidOption, match=message):
        table1_literal(problem.form())
    with pytest.raises(InvalidOption, match=message):
        solve(problem, "cpsat", encoding="table1-literal", isolate=True)


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


def test_rows_of_pairs_with_numbers_too_large_for_floats_are_left_out() -> None:
    rng = np.random.default_rng(1)
    agreement, same = rng.random((20, 5)) < 0.5, rng.random(20) < 0.5
    counts = []
    for factor in (1, 2**30):
        weights = rng.integers(1, 9, 20) * factor + rng.integers(0, 2, 20) * (factor > 1)
        problem = KMonomial(Samples(agreement, same, weights), k=3)
        statement = problem.model("pairs")
        sums = [c.args[0] for c in statement.model.constraints if c.name == ">="]
        counts.append(len(sums))
        for total in sums:
            assert sum(map(abs, total.args[0])) < 2**20
        assert solve(problem, "cpsat", encoding="pairs").objective == brute_force(problem)[0]
    # k - 1 rows for s, k for r, and one with the least costs.
    assert counts == [2 + 3 + 1, 0]


@pytest.mark.parametrize("seed", range(5))
def test_the_relaxation_of_pairs_is_no_weaker_and_often_stronger(seed) -> None:
    rng = np.random.default_rng(seed)
    problem = KMonomial(Samples(rng.random((40, 8)) < 0.5, rng.random(40) < 0.5), k=3)
    bounds = {}
    for encoding in ("clausal", "sizes", "pairs"):
        compiled = CPM_pulp(problem.model(encoding).model, subsolver="highs")
        for column in compiled.lp.variables():
            column.cat = "Continuous"
        compiled.run(compiled.pulp_solver())
        bounds[encoding] = pulp.value(compiled.lp.objective)
    optimum = brute_force(problem)[0]
    assert bounds["clausal"] + 1 < bounds["pairs"] <= optimum + 1e-6
    assert bounds["clausal"] - 1e-6 <= bounds["sizes"] <= bounds["pairs"] + 1e-6
