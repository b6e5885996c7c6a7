"""Problems and judges are found by their entry points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path
from pkgutil import walk_packages

import pytest
from typer.testing import CliRunner

import cpx
from cpx import KMonomial, Samples, check, solve
from cpx.cli import app
from cpx.errors import InvalidInstance, UnknownName
from cpx.modelling import instances, registry
from cpx.modelling.bare_model import BareModel
from cpx.modelling.ratio import RatioStep
from cpx.models import PROBLEMS, Problem, problem_class, register
from cpx.models.rule_set.listing import RuleChoice
from cpx.support import families
from cpx.support.families import Family

DATA = Samples([[1, 0], [0, 1]], [1, 0], features=("a", "b"))


def _classes(cls: type[Problem]) -> Iterator[type[Problem]]:
    for heir in cls.__subclasses__():
        yield heir
        yield from _classes(heir)


def test_every_problem_of_ours_is_registered_exported_and_judged() -> None:
    """One that is written and not registered, or judged under another name, fails here."""
    for module in walk_packages(cpx.models.__path__, "cpx.models."):
        import_module(module.name)
    ours = {
        cls.kind: cls
        for cls in _classes(Problem)
        if cls.__module__.startswith("cpx.") and "kind" in vars(cls)
        # What is never saved: models from outside, and what solves make for themselves.
        if not issubclass(cls, RatioStep | BareModel | RuleChoice)
        and not cls.__name__.startswith("_")
    }
    assert len(ours) > 8
    assert {kind: registry.PROBLEMS[kind] for kind in ours} == ours
    assert {cls.__name__: getattr(cpx.models, cls.__name__, None) for cls in ours.values()} == {
        cls.__name__: cls for cls in ours.values()
    }
    assert {kind for family in families._ours() for kind in family.judges} == {*ours}


def test_nothing_of_ours_needs_an_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    """No metadata of a package is read to load and check problems of our own kinds."""
    problem = KMonomial(DATA, 1)
    result = solve(problem).to_dict()

    def unread(**wanted: object) -> None:
        raise AssertionError(f"read: {wanted}")

    monkeypatch.setattr("importlib.metadata.entry_points", unread)
    families._others.cache_clear()
    assert problem_class("k-monomial") is KMonomial
    assert check.violations(problem.to_dict(), result) == []


def test_every_kind_is_that_of_its_class() -> None:
    for kind, cls in PROBLEMS.items():
        assert problem_class(kind) is cls
        assert cls.kind == kind
    for kind in ("k-monomail", 3, ["k"], None):
        with pytest.raises(UnknownName, match="unknown problem"):
            problem_class(kind)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("cpx.nowhere:Toy", "cannot be loaded: No module named"),
        ("cpx.models:Toy", "cannot be loaded: .* has no attribute 'Toy'"),
        ("cpx.models:KMonomial", "is no cpx.models.Problem of that kind"),
        ("cpx.models:problem_class", "is no cpx.models.Problem of that kind"),
    ],
)
def test_an_entry_point_that_leads_nowhere(
    value: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    toys = Family("toys", problems={"toy": value})
    monkeypatch.setattr(families, "_others", lambda: (toys,))
    with pytest.raises(InvalidInstance, match=f"problem 'toy' .{value}. {why}"):
        problem_class("toy")


@dataclass(frozen=True, eq=False)
class Heir(KMonomial):
    """Of the kind of its parent."""


@dataclass(frozen=True, eq=False)
class Stranger(KMonomial):
    """Of a kind of its own."""

    kind = "stranger"


def test_a_class_that_is_not_registered_is_refused_by_name(tmp_path: Path) -> None:
    told = "Heir cannot be saved: its kind 'k-monomial' is that of KMonomial"
    with pytest.raises(InvalidInstance, match=told):
        cpx.save(Heir(DATA, 1), tmp_path / "heir.json")
    with pytest.raises(InvalidInstance, match="Stranger cannot be saved: its kind 'stranger'"):
        instances.dumps(Stranger(DATA, 1))
    assert not [*tmp_path.iterdir()]


def test_registered_for_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    monkeypatch.setattr(check, "_registered", {})
    assert register(Stranger) is Stranger
    again = instances.loads(instances.dumps(Stranger(DATA, 1)))
    assert type(again) is Stranger
    # Of the registered kind, and still another class.
    with pytest.raises(InvalidInstance, match="is that of Stranger"):
        instances.dumps(type("Other", (Stranger,), {})(DATA, 1))
    result = solve(again)
    assert not result.verified
    assert result.warnings == (f"not independently checked: {check.UNJUDGED}",)

    seen = []

    def judge(instance: dict) -> object:
        seen.append(instance)
        return lambda result: ["too late"] * (result["objective"] != 0)

    check.register("stranger", judge)
    assert solve(again).verified
    # What a judge reads is the saved form, also where a solve hands over its arrays.
    assert seen == [again.to_dict()]
    wrong = solve(again).to_dict() | {"objective": 1}
    assert check.violations(again.to_dict(), wrong) == ["too late"]


def test_the_command_says_that_nothing_was_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_registered", {**registry._registered, "stranger": Stranger})
    problem = Stranger(DATA, 1)
    inst, result = tmp_path / "inst.json", tmp_path / "result.json"
    cpx.save(problem, inst)
    result.write_text(solve(problem).to_json(), encoding="utf-8")
    done = CliRunner().invoke(app, ["check", str(inst), str(result)])
    assert (done.exit_code, done.stdout) == (3, f"NOT CHECKED {check.UNJUDGED}\n")


def test_a_judge_that_cannot_be_loaded_confirms_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    named = f"{Stranger.__module__}:Stranger"
    judges = {"stranger": "cpx.nowhere:judge"}
    strangers = Family("strangers", problems={"stranger": named}, judges=judges)
    monkeypatch.setattr(families, "_others", lambda: (strangers,))
    check._named.cache_clear()
    try:
        result = solve(Stranger(DATA, 1))
    finally:
        check._named.cache_clear()
    assert str(result.status) == "ERROR"
    assert "judge of stranger (cpx.nowhere:judge) cannot be loaded: No module" in str(
        result.warnings
    )


def test_a_family_that_cannot_be_loaded_is_told_and_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    points = [EntryPoint("gone", "cpx.nowhere:FAMILY", families.GROUP)]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: points)
    families._others.cache_clear()
    try:
        with pytest.warns(UserWarning, match="the family gone .cpx.nowhere:FAMILY. cannot be"):
            assert not families._others()
    finally:
        families._others.cache_clear()
