"""The commands of ``cpx make``: of families, of other packages, and calls that name none."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import pytest

from cpx.cli import groups
from cpx.explainers.doors import kind
from cpx.modelling import registry
from cpx.modelling.instances import load
from cpx.modelling.parameters import Integer, Parameter, ShareOf, parameter, parameters_of
from cpx.models import FAMILIES, PROBLEMS, KMonomial, register
from cpx.models.monomial import FAMILY
from cpx.models.monomial.cli import rule_command
from cpx.models.monomial.cli_row import TrainedModel
from cpx.models.monomial.explainers.question import OBJECTIVES
from cpx.support.families import Family, ShellCommand, families

from .conftest import Run

VERBS = groups.of_families("make")
# Of every problem: what no option of its own is needed for.
_ELSEWHERE = {
    "k": "-k of all rules",
    "rules": "--candidates finds them",
    "lengths": "candidates count as what they are",
    "class_weights": "for Python",
    "weights": "for Python",
    "unit": "by the model",
    "side_constraints": "--where",
}


def _parameters(kind: str) -> dict[str, Parameter]:
    declared = parameters_of(PROBLEMS[kind])
    return {name: p for name, p in declared.items() if p.key is None and name not in _ELSEWHERE}


def _options(verb: str) -> dict[str, str]:
    """Return the names of the options of a command, and their titles in help."""
    found = groups.command(verb, VERBS[verb]).params
    return {p.name: getattr(p, "rich_help_panel", None) or "" for p in found}


def test_every_kind_is_made_by_one_command() -> None:
    made = [kind for entry in VERBS.values() for kind in entry.problems]
    ours = [kind for family in families() for kind in family.problems]
    assert len(ours) > len(FAMILIES)
    assert sorted(made) == sorted(ours)


@pytest.mark.parametrize("verb", list(VERBS))
def test_options_are_called_as_the_parameters_are(verb: str) -> None:
    options = _options(verb)
    for made in VERBS[verb].problems:
        wanted = set(_parameters(made))
        assert wanted <= set(options), (made, wanted - set(options))


@pytest.mark.parametrize("verb", list(VERBS))
def test_a_command_has_a_dozen_options_of_its_own(verb: str) -> None:
    shared = {"Row and model", "Table and model", "Rows", "Model of a file", "Instance"}
    every = ("table", "register")
    own = [name for name, title in _options(verb).items() if title not in shared]
    own = [name for name in own if name not in every]
    assert 1 < len(own) <= 12


def test_defaults_are_those_declared() -> None:
    options = kind("rule").options
    for problem, name in (("max-precision", "min_coverage"), ("max-coverage", "min_precision")):
        default = Fraction(_parameters(problem)[name].default)
        option = options[name].option
        assert option is not None
        assert f"{float(default)}" in option.about, name


# ------------------------------------------------------------- other packages


@dataclass(frozen=True, eq=False)
class Alarmed(KMonomial):
    """Find a rule that gives few alarms."""

    alarm: int = field(default=10, metadata=parameter(Integer(1), "what a false alarm costs"))
    floor: object = field(default=0, metadata=parameter(ShareOf(), "a share"))

    kind: ClassVar[str] = "alarmed"


make_alarmed = rule_command(Alarmed, "cpx make alarmed table.csv --target y --row 3")


@pytest.fixture
def alarmed(monkeypatch: pytest.MonkeyPatch) -> type[Alarmed]:
    entry = ShellCommand(f"{__name__}:make_alarmed", "Few alarms.", ("alarmed",))
    other = Family("alarmed", {}, commands={"make alarmed": entry, "alarm": replace(entry)})
    known = [*families(), other]

    def with_other() -> Iterator[Family]:
        return iter(known)

    monkeypatch.setattr(groups, "families", with_other)
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    return register(Alarmed)


_ASK = ("--target", "y", "--row", 0, "-k", 2, "-m", 50, "--model", "tree")


def test_a_problem_of_another_package_is_made_with_its_own_parameters(
    run: Run, table: Path, alarmed: type[Alarmed]
) -> None:
    limits = ("--min-coverage", "1/10", "--one-per-group")
    own = ("--alarm", 20, "--floor", "1/3")
    done = run("make", "alarmed", table, *_ASK, *limits, *own, "-o", "inst.json")
    assert done.exit_code == 0, done.output
    problem = load("inst.json")
    assert type(problem) is Alarmed
    assert (problem.alarm, problem.floor, problem.k) == (20, Fraction(1, 3), 2)
    assert (problem.min_coverage, problem.one_per_group) == (Fraction(1, 10), True)
    # The samples are those of a problem of cpx.
    run("make", "rule", table, *_ASK, *limits, "--objective", "loss", "-o", "loss.json")
    assert (problem.samples.agreement == load("loss.json").samples.agreement).all()
    told = run("make", "alarmed", "--help").stdout
    for words in (
        "Find a rule that gives few alarms.",
        "cpx make alarmed table.csv --target y --row 3",
        "--alarm N",
        "What a false alarm costs: at least 1.  [default: 10]",
    ):
        assert words in told
    assert re.search(r"\n  alarmed +Few alarms\.\n", run("make", "--help").stdout)
    assert "\n  alarm        Few alarms.\n" in run("--help").stdout


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--alrm", "1"), "No such option: --alrm"),
        (("--alarm", "much"), "Invalid value for '--alarm'"),
        (("--alarm", "0"), "alarm must be at least 1, got 0"),
        (("--floor", "2"), "floor must be"),
        (("--objective", "loss"), "No such option: --objective"),
    ],
)
def test_what_is_wrong_with_the_parameters_of_a_package(
    options: tuple[str, ...], told: str, run: Run, table: Path, alarmed: type[Alarmed]
) -> None:
    done = run("make", "alarmed", table, *_ASK, *options, "-o", "inst.json")
    assert (done.exit_code, told in done.output) == (2, True), done.output
    assert not Path("inst.json").exists()


# --------------------------------------------------------------------- kinds


@pytest.mark.parametrize("objective", list(OBJECTIVES))
def test_an_objective_is_a_kind(run: Run, table: Path, objective: str) -> None:
    made = run("make", "rule", table, *_ASK, "--objective", objective)
    assert made.exit_code == 0, made.output
    assert json.loads(made.stdout)["problem"] == OBJECTIVES[objective].kind
    assert made.stderr == "cpx: training tree on 80 rows\n"


def test_certificates(run: Run, table: Path) -> None:
    asked = ("make", "certificate", table, "--target", "y", "--row", 3, "--model", "tree")
    made = run(*asked, "--epsilon", "1/10", "--forbidden", "0", "-o", "inst.json")
    assert made.exit_code == 0, made.output
    assert "by tree: min-certificate, all 80 rows" in made.stdout
    problem = load("inst.json")
    assert (problem.epsilon, problem.forbidden, problem.name) == (Fraction(1, 10), (0,), "table-3")
    solved = run("solve", "inst.json", "--no-isolate", "-o", "result.json")
    assert solved.exit_code == 0, solved.output
    assert run("check", "inst.json", "result.json").exit_code == 0
    # A rule of those conditions is as precise, and no shorter one is.
    k = len(json.loads(Path("result.json").read_text())["explanation"]["features"])
    assert k > 0
    best = run("make", "rule", *asked[2:], "-k", k, "--objective", "negative-only")
    assert (
        json.loads(best.stdout)["samples"] == json.loads(Path("inst.json").read_text())["samples"]
    )
    wrong = run(*asked, "--epsilon", "2")
    assert (wrong.exit_code, "epsilon must be" in wrong.stderr) == (2, True)


def test_kernel_rules(run: Run, table: Path) -> None:
    asked = ("make", "kernel-rule", table, "--target", "y", "--label", "big", "--cost", 1e6)
    made = run(*asked, "--max-clauses", 1, "--max-literals", 2, "-o", "inst.json")
    assert made.exit_code == 0, made.output
    assert made.stdout.startswith("wrote inst.json: class big: kernel-rule, ")
    solved = run("solve", "inst.json", "--no-isolate", "-o", "result.json")
    assert solved.exit_code == 0, solved.output
    first, *_ = solved.stdout.splitlines()
    assert "colour = red" in first
    assert first.endswith("=> big")
    assert run("check", "inst.json", "result.json").exit_code == 0
    for options, told in (
        (("--max-clauses", 0), "max_clauses"),
        (("--max-literals", 99), "max_literals"),
        (("--cost", "nan"), "cost must be a number > 0"),
        (("--label", "huge"), "unknown class 'huge'"),
    ):
        usual = {"--max-clauses": 1, "--max-literals": 2} | dict([options])
        wrong = run(*asked, *(part for pair in usual.items() for part in pair))
        assert (wrong.exit_code, told in wrong.stderr) == (2, True), wrong.output


# ------------------------------------------------- calls that name no command


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("t.csv --target y --row 3", "cpx make rule t.csv --target y --row 3"),
        ("--target 'the y' t.csv", "cpx make rule --target 'the y' t.csv"),
        ("t.csv", "say what is made (rule, rule-set, "),
        ("ruel t.csv", "Did you mean 'rule'"),
        ("contrasts t.csv --row 3", "Did you mean 'contrast'"),
    ],
)
def test_a_call_says_what_is_made(run: Run, table: Path, call: str, told: str) -> None:
    import shlex

    Path("t.csv").write_bytes(table.read_bytes())
    done = run("make", *shlex.split(call))
    assert (done.exit_code, told in done.output) == (2, True), done.output


def test_a_family_that_is_not_there_makes_nothing(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = replace(FAMILY, commands={"make rule": ShellCommand("no.such:module", "A rule.")})
    monkeypatch.setattr(groups, "families", lambda: iter([broken]))
    assert "  rule  A rule.\n" in run("make", "--help").stdout
    done = run("make", "rule", "--help")
    assert done.exit_code == 1
    assert "the command rule (no.such:module) cannot be loaded" in done.stderr


def test_tables_are_described_once() -> None:
    assert {f.name for f in fields(TrainedModel)} < {*_options("rule")}
    assert {f.name for f in fields(TrainedModel)} < {*_options("certificate")}
