"""The options of ``cpx make`` that are parameters of problems are those that are declared."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import pytest

from cpx.cli import make
from cpx.cli import options as opt
from cpx.cli.row_question import RuleOptions
from cpx.modelling import registry
from cpx.modelling.instances import load
from cpx.modelling.parameters import Choice, Integer, Parameter, ShareOf, parameter, parameters_of
from cpx.models import PROBLEMS, KMonomial, register
from cpx.models.monomial.explainers.question import OBJECTIVES
from cpx.models.rule_set import cli_make as make_rule_set

from .conftest import Run

# Of every problem: what no option of its own is needed for.
_ELSEWHERE = {
    "k": "-k of all rules",
    "rules": "--candidates finds them",
    "lengths": "candidates count as what they are",
    "class_weights": "for Python",
    "weights": "for Python",
    "unit": "by the model",
}


def _parameters(kind: str) -> dict[str, Parameter]:
    declared = parameters_of(PROBLEMS[kind])
    return {name: p for name, p in declared.items() if p.key is None and name not in _ELSEWHERE}


@pytest.mark.parametrize(
    ("kind", "asked"),
    [
        ("max-precision", RuleOptions),
        ("rule-set", make_rule_set.RuleSetOptions),
        ("sufficient-reason", make.ReasonOptions),
    ],
)
def test_every_parameter_has_an_option(kind: str, asked: type) -> None:
    options = {field.name for field in (*fields(asked), *fields(RuleOptions))}
    wanted = {*_parameters(kind)}
    assert wanted
    assert wanted <= options


@pytest.mark.parametrize(
    ("kind", "name", "known"),
    [
        ("rule-set", "loss", make_rule_set.LOSSES),
        ("rule-set-learning", "loss", make_rule_set.LOSSES),
        ("sufficient-reason", "level", opt.LEVELS),
        ("sufficient-reason", "definition", opt.DEFINITIONS),
    ],
)
def test_choices_are_those_declared(kind: str, name: str, known: tuple[str, ...]) -> None:
    declared = _parameters(kind)[name].kind
    assert isinstance(declared, Choice)
    assert declared.known == known


def test_defaults_are_those_declared() -> None:
    learning = _parameters("rule-set-learning")
    assert Fraction(make_rule_set._PENALTY) == Fraction(learning["penalty"].default)
    assert make_rule_set.LOSSES[0] == learning["loss"].default
    assert opt.LEVELS[0] == _parameters("sufficient-reason")["level"].default
    help_of = {f.name: str(RuleOptions.__annotations__[f.name]) for f in fields(RuleOptions)}
    for kind, name in (("max-precision", "min_coverage"), ("max-coverage", "min_precision")):
        default = Fraction(_parameters(kind)[name].default)
        assert f"{default}" in help_of[name] or f"{float(default)}" in help_of[name], name


@dataclass(frozen=True, eq=False)
class Alarmed(KMonomial):
    """Of another package."""

    alarm: int = field(default=10, metadata=parameter(Integer(1), "what a false alarm costs"))
    floor: object = field(default=0, metadata=parameter(ShareOf(), "a share", needed=True))

    kind: ClassVar[str] = "alarmed"


@pytest.fixture
def alarmed(monkeypatch: pytest.MonkeyPatch) -> type[Alarmed]:
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    return register(Alarmed)


_ASK = ("--target", "y", "--row", 0, "-k", 2, "-m", 50, "--model", "tree")


def test_a_problem_of_another_package_is_made_with_its_own_parameters(
    run: Run, table: Path, alarmed: type[Alarmed]
) -> None:
    limits = ("--min-coverage", "1/10", "--one-per-group")
    own = ("--problem", "alarmed", "--set", "alarm=20", "--set", "floor=1/3")
    done = run("make", table, *_ASK, *limits, *own, "-o", "inst.json")
    assert done.exit_code == 0, done.output
    problem = load("inst.json")
    assert type(problem) is Alarmed
    assert (problem.alarm, problem.floor, problem.k) == (20, Fraction(1, 3), 2)
    assert (problem.min_coverage, problem.one_per_group) == (Fraction(1, 10), True)
    # The samples are those of a problem of cpx.
    run("make", table, *_ASK, *limits, "--objective", "loss", "-o", "loss.json")
    assert (problem.samples.agreement == load("loss.json").samples.agreement).all()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--problem", "alarmde"), "unknown problem 'alarmde'"),
        (("--problem", "alarmed"), "--set floor=... is missing: a share, 0 to 1"),
        (("--problem", "alarmed", "--set", "alrm=1"), "did you mean 'alarm'"),
        (("--problem", "alarmed", "--set", "alarm"), "--set takes NAME=VALUE, got 'alarm'"),
        (("--problem", "alarmed", "--set", "k=1"), "unknown parameter of alarmed 'k'"),
        (("--problem", "alarmed", "--objective", "loss"), "--objective is not for --problem"),
        (("--problem", "alarmed", "--level", "conditions"), "--level is for --problem"),
        (("--problem", "rule-set", "--set", "alarm=1"), "--set is for --problem of another"),
        (("--set", "alarm=1"), "--set is for --problem of another package"),
        (("--problem", "alarmed", "--set", "floor=0", "--set", "alarm=0"), "alarm must be at"),
    ],
)
def test_what_is_wrong_with_the_parameters_of_a_package(
    options: tuple[str, ...], told: str, run: Run, table: Path, alarmed: type[Alarmed]
) -> None:
    done = run("make", table, *_ASK, *options, "-o", "inst.json")
    assert (done.exit_code, told in done.output) == (2, True), done.output
    assert not Path("inst.json").exists()


@pytest.mark.parametrize("objective", list(OBJECTIVES))
def test_the_kinds_that_cpx_prints_are_problems(run: Run, table: Path, objective: str) -> None:
    row = ("make", table, "--target", "y", "--row", 0, "--model", "tree", "-m", 50, "-k", 2)
    kind = OBJECTIVES[objective].kind
    made = run(*row, "--problem", kind)
    assert made.exit_code == 0, made.output
    assert json.loads(made.stdout)["problem"] == kind
    assert made.stdout == run(*row, "--objective", objective).stdout
    assert made.stderr == "cpx: training tree on 80 rows\n"
    other = next(name for name in OBJECTIVES if name not in (objective, "precision"))
    refused = run(*row, "--problem", kind, "--objective", other)
    assert refused.exit_code == 2
    assert f"--problem {kind} has the objective {objective}" in refused.stderr


@pytest.mark.parametrize("kind", list(PROBLEMS))
def test_no_kind_is_unknown(run: Run, table: Path, kind: str) -> None:
    done = run("make", table, "--target", "y", "--problem", kind)
    assert "unknown problem" not in done.stderr
