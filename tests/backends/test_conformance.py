"""Every engine of ours, in every encoding, through the public conformance suite."""

from __future__ import annotations

import pytest

from cpx.testing import conformance
from tests.engines import DELETERS, ENGINES, HEURISTICS, OF_REASONS


@pytest.mark.parametrize(("case", "encoding"), conformance.STATED, ids=str)
@pytest.mark.parametrize("engine", ENGINES)
def test_optimum(engine: str, encoding: str, case: conformance.Case) -> None:
    conformance.check_case(engine, case, encoding)


@pytest.mark.parametrize(("case", "encoding"), conformance.SMALLEST_STATED, ids=str)
@pytest.mark.parametrize("engine", [name for name in ENGINES if name != "search"])
def test_smallest_sets(engine: str, encoding: str, case: conformance.Case) -> None:
    conformance.check_case(engine, case, encoding)


@pytest.mark.parametrize(("case", "encoding"), conformance.RULE_SETS_STATED, ids=str)
@pytest.mark.parametrize("engine", ENGINES)
def test_rule_sets(engine: str, encoding: str, case: conformance.Case) -> None:
    conformance.check_case(engine, case, encoding)


@pytest.mark.parametrize("case", conformance.LEARNING, ids=str)
@pytest.mark.parametrize("engine", ["column-generation", *ENGINES])
def test_learning(engine: str, case: conformance.Case) -> None:
    conformance.check_case(engine, case)


@pytest.mark.parametrize("case", conformance.CASES, ids=str)
@pytest.mark.parametrize("name", HEURISTICS)
def test_value_of_a_heuristic(name: str, case: conformance.Case) -> None:
    result = conformance.check_case(name, case)
    assert (result.objective is None) == (case.optimum is None)


@pytest.mark.parametrize("case", [*conformance.SMALLEST, *conformance.FULL], ids=str)
@pytest.mark.parametrize("name", DELETERS)
def test_value_of_a_deletion(name: str, case: conformance.Case) -> None:
    result = conformance.check_case(name, case)
    assert (result.objective is None) == (case.optimum is None)


@pytest.mark.parametrize("case", conformance.FULL, ids=str)
def test_full_reasons(case: conformance.Case) -> None:
    conformance.check_case("hitting-sets", case)


@pytest.mark.parametrize("behaviour", conformance.BEHAVIOURS, ids=lambda b: b.__name__)
@pytest.mark.parametrize("engine", [*ENGINES, *HEURISTICS, *OF_REASONS])
def test_behaviour(engine, behaviour) -> None:
    behaviour(engine)


def test_cases_are_right() -> None:
    from cpx.testing.brute import brute_force
    from cpx.testing.rule_sets import best_set
    from cpx.testing.smallest import least_weight

    for case in conformance.CASES:
        best = brute_force(case.problem)
        assert (best and best[0]) == case.optimum, case.name

    for case in (*conformance.SMALLEST, *conformance.FULL):
        assert least_weight(case.problem) == case.optimum, case.name

    for case in (*conformance.RULE_SETS, *conformance.LEARNING):
        assert best_set(case.problem) == case.optimum, case.name
