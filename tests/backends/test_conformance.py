"""Every engine of ours, in every encoding, through the public conformance suite."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from cpx.testing import conformance
from tests.engines import DELETERS, ENGINES, HEURISTICS, OF_REASONS
from tests.seeds import Test, of_each

STATING = [name for name in ENGINES if name != "search"]  # of the encodings that search ignores
SMALLEST = conformance.stated("stated-reason", "certificate")
EXPECTED = conformance.stated("expected-prediction")


def all_of(cases: Sequence[conformance.Case]) -> Callable[[Test], Test]:
    """Run a test for all cases, one after the other."""
    return lambda test: pytest.mark.parametrize("cases", [cases], ids=["all"])(
        of_each("case")(test)
    )


def product(engines: Sequence[str], stated: Sequence[tuple[conformance.Case, str]]) -> list:
    """Return each engine with all cases and their encodings, what may be left out marked slow.

    That each engine solves each case in its default encoding, and each other encoding is solved
    by one engine, is not slow. The engines take turns, so that each meets each encoding.
    """
    now: dict[str, list] = {engine: [] for engine in engines}
    later: dict[str, list] = {engine: [] for engine in engines}
    for number, case in enumerate(dict.fromkeys(case for case, _ in stated)):
        for at, encoding in enumerate(case.encodings):
            turn = STATING[(number + at) % len(STATING)]
            for engine in engines:
                (now if at == 0 or turn == engine else later)[engine].append((case, encoding))
    return [
        *(pytest.param(engine, pairs, id=engine) for engine, pairs in now.items()),
        *(
            pytest.param(engine, pairs, id=f"{engine}-others", marks=pytest.mark.slow)
            for engine, pairs in later.items()
        ),
    ]


@pytest.mark.parametrize(("engine", "pairs"), product(ENGINES, conformance.stated("monomial")))
@of_each("pair")
def test_optimum(engine: str, pair: tuple[conformance.Case, str]) -> None:
    conformance.check_case(engine, *pair)


@pytest.mark.parametrize(("engine", "pairs"), product(STATING, SMALLEST))
@of_each("pair")
def test_smallest_sets(engine: str, pair: tuple[conformance.Case, str]) -> None:
    conformance.check_case(engine, *pair)


@pytest.mark.parametrize(("engine", "pairs"), product(ENGINES, conformance.stated("rule-set")))
@of_each("pair")
def test_rule_sets(engine: str, pair: tuple[conformance.Case, str]) -> None:
    conformance.check_case(engine, *pair)


@pytest.mark.parametrize(("engine", "pairs"), product(STATING, EXPECTED))
@of_each("pair")
def test_expected_predictions(engine: str, pair: tuple[conformance.Case, str]) -> None:
    result = conformance.check_case(engine, *pair)
    if result.explanation is not None:
        assert result.explanation.proved.endswith("no other one is more likely")


@all_of(conformance.cases("expected-prediction"))
def test_expected_predictions_by_search(case: conformance.Case) -> None:
    result = conformance.check_case("search", case)
    if result.explanation is not None:
        assert result.explanation.proved.endswith("no other one is more likely")


@pytest.mark.parametrize("engine", ["search", "cpsat"])
@all_of(conformance.cases("kernel-rule"))
def test_kernel_rules(engine: str, case: conformance.Case) -> None:
    conformance.check_case(engine, case)


@pytest.mark.parametrize("engine", ENGINES)
@all_of(conformance.cases("side-constraints"))
def test_side_constraints(engine: str, case: conformance.Case) -> None:
    conformance.check_case(engine, case)


@pytest.mark.parametrize("engine", ["column-generation", *ENGINES])
@all_of(conformance.cases("learning"))
def test_learning(engine: str, case: conformance.Case) -> None:
    conformance.check_case(engine, case)


@pytest.mark.parametrize("name", HEURISTICS)
@all_of(conformance.cases("monomial"))
def test_value_of_a_heuristic(name: str, case: conformance.Case) -> None:
    result = conformance.check_case(name, case)
    assert (result.objective is None) == (case.optimum is None)


@pytest.mark.parametrize("name", DELETERS)
@all_of(
    [
        case
        for case in conformance.cases("stated-reason", "certificate", "sufficient-reason")
        if case.problem.kind != "precise-certificate"  # an error may grow as features are added
    ]
)
def test_value_of_a_deletion(name: str, case: conformance.Case) -> None:
    result = conformance.check_case(name, case)
    assert (result.objective is None) == (case.optimum is None)


@all_of(conformance.cases("sufficient-reason"))
def test_full_reasons(case: conformance.Case) -> None:
    conformance.check_case("hitting-sets", case)


@pytest.mark.parametrize("behaviour", conformance.BEHAVIOURS, ids=lambda b: b.__name__)
@pytest.mark.parametrize("engine", [*ENGINES, *HEURISTICS, *OF_REASONS])
def test_behaviour(engine, behaviour) -> None:
    behaviour(engine)


def test_cases_are_right() -> None:
    from cpx.testing.brute import optimum
    from cpx.testing.cases import names

    sets = {*names()} - {"expected-prediction", "kernel-rule"}  # whose tests do so
    for case in conformance.cases(*sorted(sets)):
        assert optimum(case.problem) == case.optimum, case.name
