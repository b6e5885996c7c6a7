"""The options of ``cpx make`` that are parameters of problems are those that are declared."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction

import pytest

from cpx.cli import make, make_rule_set
from cpx.cli import options as opt
from cpx.cli.row_question import RuleOptions
from cpx.models import PROBLEMS
from cpx.models.parameters import Choice, Parameter, parameters_of

# Options that have another name than the parameter, because they take conditions in words.
_NAMES = {"required": "require", "forbidden": "forbid", "one_per_group": "one_per_column"}
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
    wanted = {_NAMES.get(name, name) for name in _parameters(kind)}
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
