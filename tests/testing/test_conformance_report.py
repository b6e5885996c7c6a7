"""Broken engines, one by one, and the check that catches each."""

from __future__ import annotations

import pytest

from cpx import backends
from cpx.backends import register
from cpx.errors import UnknownName
from cpx.processes.calls import call
from cpx.testing import conformance
from cpx.testing.cases import names
from cpx.testing.conformance_report import checks, conform, run_check
from tests.testing import broken_engines
from tests.testing.broken_engines import BROKEN, Overruns, Right

HERE = "tests.testing.broken_engines"


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no other test meet the broken engines."""
    monkeypatch.setattr(backends, "_registered", dict(backends._registered))


@pytest.mark.parametrize(("cls", "check"), BROKEN.items(), ids=lambda x: getattr(x, "name", x))
def test_each_is_caught(cls, check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if cls is Overruns:
        monkeypatch.setattr(conformance, "_PROMPT_SECONDS", 0.5)
    assert run_check(cls.name, check, f"{HERE}:{cls.__name__}")


@pytest.mark.slow
@pytest.mark.parametrize("check", dict.fromkeys(BROKEN.values()))
def test_the_right_one_passes(check: str) -> None:
    assert run_check("right", check, f"{HERE}:Right") == ""


def test_an_import_at_module_level_is_caught() -> None:
    of = "tests.testing.imports_at_once:ImportsAtOnce"
    why = call(run_check, "imports-at-once", "starts_alone", of)
    assert "imports ortools before it solves" in why


def test_one_that_hangs_is_named_and_not_waited_for() -> None:
    found = next(
        found
        for found in conform("hangs", ["learning"], register=f"{HERE}:Hangs", patience=0.03)
        if found.check == "prints_nothing"
    )
    assert found.verdict == "OVERDUE"
    assert "it was killed" in found.why


def test_checks_of_an_engine() -> None:
    register(Right)
    assert "solves monomial" in checks("right")
    assert "stops_when_told" in checks("right")
    assert checks("right", ["rule-set"]) == ["starts_alone", "prints_nothing", "solves rule-set"]
    with pytest.raises(UnknownName, match="did you mean 'rule-set'"):
        checks("right", ["rule-sets"])
    assert set(names()) >= {"monomial", "learning"}
    assert broken_engines.BROKEN
