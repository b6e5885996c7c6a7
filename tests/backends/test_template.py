"""The template is a working backend: the conformance suite passes."""

from __future__ import annotations

import pytest

from cpx.backends import names, register
from cpx.backends.TEMPLATE import Exhaustive
from cpx.testing import conformance


@pytest.fixture(scope="module", autouse=True)
def _registered():
    register(Exhaustive)
    yield
    from cpx.backends import _registered

    del _registered["exhaustive"]


@pytest.mark.parametrize("case", conformance.CASES, ids=str)
def test_optimum(case) -> None:
    conformance.check_case("exhaustive", case)


def test_it_is_listed_once_registered() -> None:
    assert "exhaustive" in names()


@pytest.mark.parametrize(
    "behaviour",
    [conformance.takes_a_hint, conformance.keeps_a_short_limit, conformance.stops_when_told],
)
def test_behaviour(behaviour) -> None:
    behaviour("exhaustive")
