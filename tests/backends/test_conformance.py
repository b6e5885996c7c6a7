"""Every engine of ours, in every encoding, through the public conformance suite."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from cpx.testing import conformance
from tests.engines import DELETERS, ENGINES, HEURISTICS, OF_REASONS
from tests.seeds import of_each

STATING = [name for name in ENGINES if name != "search"]  # of the encodings that search ignores


def product(engines: Sequence[str], stated: Sequence[tuple[conformance.Case, str]]) -> list:
    """Return each engine with each case and its encodings, what may be left out marked slow.

    That each engine solves each case in its default encoding, and each other encoding is solved
    by one engine, is not slow. The engines take turns, so that each meets each encoding.
    """
    found = []
    for number, case in enumerate(dict.fromkeys(case for case, _ in stated)):
        for engine in engines:
            turns = [STATING[(number + at) % len(STATING)] for at in range(len(case.encodings))]
            now = [e for at, e in enumerate(case.encodings) if at == 0 or turns[at] == engine]
            later = [e for e in case.encodings if e not in now]
            found.append(pytest.param(engine, case, now, id=f"{engine}-{case}"))
            if later:
                name = f"{engine}-{case}-others"
                found.append(pytest.param(engine, case, later, id=name, marks=pytest.mark.slow))
    return found


@pytest.mark.parametrize(("engine", "case", "encodings"), product(ENGINES, conformance.STATED))
@of_each("encoding")
def test_optimum(engine: str, encoding: str, case: conformance.Case) -> None:
    conformance.check_case(engine, case, encoding)


@pytest.mark.parametrize(
    ("engine", "case", "encodings"), product(STATING, conformance.MINIMUM_SUBSETS_STATED)
)
@of_each("encoding")
def test_smallest_sets(engine: str, encoding: str, case: conformance.Case) -> None:
    conformance.check_case(engine, case, encoding)


@pytest.mark.parametrize(
    ("engine", "case", "encodings"), product(ENGINES, conformance.RULE_SETS_STATED)
)
@of_each("encoding")
def test_rule_sets(engine: str, encoding: str, case: conformance.Case) -> None:
    conformance.check_case(engine, case, encoding)


@pytest.mark.parametrize(
    ("engine", "case", "encodings"), product(STATING, conformance.EXPECTED_STATED)
)
@of_each("encoding")
def test_expected_predictions(engine: str, encoding: str, case: conformance.Case) -> None:
    result = conformance.check_case(engine, case, encoding)
    if result.explanation is not None:
        assert result.explanation.proved.endswith("no other one is more likely")


@pytest.mark.parametrize("case", conformance.EXPECTED, ids=str)
def test_expected_predictions_by_search(case: conformance.Case) -> None:
    result = conformance.check_case("search", case)
    if result.explanation is not None:
        assert result.explanation.proved.endswith("no other one is more likely")


@pytest.mark.parametrize("case", conformance.KERNEL_RULES, ids=str)
@pytest.mark.parametrize("engine", ["search", "cpsat"])
def test_kernel_rules(engine: str, case: conformance.Case) -> None:
    conformance.check_case(engine, case)


@pytest.mark.parametrize("case", conformance.SIDE_CONSTRAINTS, ids=str)
@pytest.mark.parametrize("engine", ENGINES)
def test_side_constraints(engine: str, case: conformance.Case) -> None:
    conformance.check_case(engine, case)


@pytest.mark.parametrize("case", conformance.LEARNING, ids=str)
@pytest.mark.parametrize("engine", ["column-generation", *ENGINES])
def test_learning(engine: str, case: conformance.Case) -> None:
    conformance.check_case(engine, case)


@pytest.mark.parametrize("case", conformance.CASES, ids=str)
@pytest.mark.parametrize("name", HEURISTICS)
def test_value_of_a_heuristic(name: str, case: conformance.Case) -> None:
    result = conformance.check_case(name, case)
    assert (result.objective is None) == (case.optimum is None)


@pytest.mark.parametrize("case", [*conformance.MINIMUM_SUBSETS, *conformance.FULL], ids=str)
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
    from cpx.testing.minimum_subset import least_weight
    from cpx.testing.rule_sets import best_set

    for case in (*conformance.CASES, *conformance.SIDE_CONSTRAINTS):
        best = brute_force(case.problem)
        assert (best and best[0]) == case.optimum, case.name

    for case in (*conformance.MINIMUM_SUBSETS, *conformance.FULL):
        assert least_weight(case.problem) == case.optimum, case.name

    for case in (*conformance.RULE_SETS, *conformance.LEARNING):
        assert best_set(case.problem) == case.optimum, case.name
