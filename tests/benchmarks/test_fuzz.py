"""The fuzzer: a sample of it, its brute force by hand, and that it sees what is wrong."""

from __future__ import annotations

import itertools
import json
import math
import signal
import time
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from benchmarks.fuzz import asking, command, loop
from benchmarks.fuzz.asking import Ask, engines
from benchmarks.fuzz.judging import altered, faults
from benchmarks.fuzz.loop import Case, cases, fuzz, judge, repeat
from benchmarks.fuzz.metamorphic import RELATIONS, Interval, faults_of_a_relation, relation
from benchmarks.fuzz.shrinking import shrunk
from cpx import solve
from cpx.answers.result import Result, Status
from cpx.cli import app
from cpx.modelling import instances
from cpx.testing.random_instances import draw, kinds_drawn, truth
from cpx.testing.truth import subsets
from tests.seeds import some

KINDS = kinds_drawn()

# Ten rows of the page on precision: a, b, c and whether the class is that of x.
TEN: dict[str, Any] = {
    "format": "cpx-instance",
    "version": 1,
    "problem": "max-precision",
    "parameters": {"k": 2, "min_coverage": "3/10"},
    "samples": ["111", "111", "110", "110", "110", "101", "100", "011", "011", "001"],
    "labels": "1111000100",
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_is_right(kind: str, tmp_path: Path) -> None:
    wrong = []
    for case in itertools.islice(cases(2, [kind]), 10):
        # Here nothing depends on the clock, and no process is started.
        how = replace(case.how, how="here", time_limit=20.0 if case.relation else None)
        if how.engine == "genetic":
            how = replace(how, time_limit=0.05)
        _, found = judge(replace(case, how=how), tmp_path)
        wrong += [(case.number, how, found)] if found else []
    assert not wrong


@pytest.mark.parametrize("name", ["portfolio:search+maxsat", "cpsat{linearization_level=0}"])
def test_engines_that_are_asked_by_name_alone_are_asked(name: str) -> None:
    problem = instances.from_dict(TEN)
    assert name not in engines(problem)
    assert engines(problem, name) == [name]
    assert {case.how.engine for case in itertools.islice(cases(0, only=name), 20)} == {name}


def test_a_family_is_all_of_its_members() -> None:
    problem = instances.from_dict(TEN)
    wanted = [name for name in engines(problem) if name.startswith("maxsat:")]
    assert engines(problem, "maxsat") == wanted
    assert len(wanted) > 1
    assert engines(problem, "maxsat:lsu") == ["maxsat:lsu"]
    assert engines(problem, "hitting-sets") == []


def shell(arguments: list[str]) -> tuple[int, str]:
    done = CliRunner().invoke(command.app if arguments[0] == "fuzz" else app, arguments)
    return done.exit_code, done.output


def test_limits_interrupts_workers_and_the_shell(tmp_path: Path) -> None:
    seen = set()
    for case in itertools.islice(cases(10), 32):
        if case.how.how != "here" or case.how.time_limit is not None:
            seen.add(case.how.how)
            assert not judge(case, tmp_path, shell=shell)[1], case
    assert len(seen) > 2


@pytest.mark.parametrize("how", ["here", "cancelled", "interrupted", "shell"])
@pytest.mark.parametrize("by_the_user", [True, False])
def test_an_interrupt_of_the_user_ends_it_and_one_of_its_own_does_not(
    how: str, by_the_user: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = how == "interrupted" and not by_the_user
    case = Case(0, TEN, Ask("search", how=how, after=0.01 if own else 60.0), truth(TEN))
    monkeypatch.setattr(loop, "cases", lambda *_: itertools.repeat(case))
    calls = []

    def run(*_: Any, **__: Any) -> Result:
        calls.append(how)
        with suppress(KeyboardInterrupt):  # as engines do
            if by_the_user:
                signal.raise_signal(signal.SIGINT)
            elif own:
                while True:
                    time.sleep(0.001)
        return solve(instances.from_dict(TEN), "search")

    def aborted(arguments: list[str]) -> tuple[int, str]:
        run()
        return 1, "Aborted!"

    monkeypatch.setattr(asking, "run", run)
    monkeypatch.setattr(asking, "_imported", {("max-precision", "search")})
    said: list[str] = []
    wrong = fuzz(
        tmp_path,
        solves=3,
        say=said.append,
        shell=aborted if how == "shell" and by_the_user else None,
    )
    assert wrong == 0, said
    assert ("interrupted" in said) == by_the_user
    # An interrupt of its own may come before the solve begins.
    assert len(calls) == (1 if by_the_user else 3) or (own and len(calls) < 3)


@pytest.mark.slow
def test_a_minute_is_clean(tmp_path: Path) -> None:
    said: list[str] = []
    assert fuzz(tmp_path, seed=7, shell=shell, say=said.append) == 0, said


def test_the_same_seed_draws_the_same_cases() -> None:
    first, second, other = (
        [(c.instance, c.how) for c in itertools.islice(cases(seed), 30)] for seed in (3, 3, 4)
    )
    assert first == second
    assert first != other
    assert {instance["problem"] for instance, _ in first} >= {"k-monomial", "sufficient-reason"}


# --------------------------------------------------------------- the brute force


def test_ten_samples_by_hand() -> None:
    right = truth(TEN)
    assert right.best == (Fraction(4, 5), (0, 1))
    # The table of the page: precision of each rule, None where it covers too little.
    table = {(): "1/2", (0,): "4/7", (1,): "5/7", (2,): "1/2", (0, 2): "2/3", (1, 2): "3/4"}
    for features, precision in table.items():
        assert right.value(features) == Fraction(precision)
    assert right.value((0, 1, 2)) is None
    losses = truth({**TEN, "problem": "k-monomial", "parameters": {"k": 2}})
    assert [losses.value(S) for S in table] == [5, 4, 2, 5, 4, 3]
    covered = truth({**TEN, "problem": "max-coverage", "parameters": {"k": 2}})
    assert covered.best is None  # no rule has the precision of 19/20 that is usual
    floor = {"k": 2, "min_precision": "75/100"}
    assert truth({**TEN, "problem": "max-coverage", "parameters": floor}).best == (5, (0, 1))


def test_smallest_sets_by_hand() -> None:
    rows = {"samples": ["110", "111", "100", "010", "001"], "labels": "11000"}
    for epsilon, best in (("0", 2), ("1/5", 1), ("3/5", 0)):
        asked = {"problem": "min-certificate", "parameters": {"epsilon": epsilon}, **rows}
        assert truth(asked).optimum == best
    from cpx import SufficientReason
    from cpx.models.sufficient_reason.cases import three_definitions

    for definition, best in (("sufficient", 0), ("tree-specific", 1), ("majoritary", 2)):
        problem = SufficientReason(three_definitions(), (1, 1, 1), definition=definition)
        assert truth(problem.to_dict()).optimum == best


def test_rules_by_hand() -> None:
    rows = {"samples": ["110", "110", "101", "001"], "labels": "1101"}
    asked = {"rules": [[0], [0, 1], [2], [1, 2]], "penalty": "1/8"}
    sets = truth({"problem": "rule-set", "parameters": asked, **rows})
    # In halves of a sample: {ab} misses one sample and costs half of one.
    assert sets.best == (3, (1,))
    assert (sets.value(()), sets.value((1, 2))) == (6, 4)
    learned = truth(
        {"problem": "rule-set-learning", "parameters": {"max_literals": 1, "penalty": "1/8"}}
        | rows
    )
    assert learned.best == (3, (0,))  # the rule without literals, for one error
    machine = {
        "problem": "kernel-rule",
        "parameters": {"max_clauses": 2, "max_literals": 2},
        "samples": ["110", "001", "100", "010"],
        "weights": [3, 2, -4, -1],
    }
    assert truth(machine).optimum == 5
    assert truth(machine).value((0, 1, 5)) == 5
    assert truth(machine).value(()) is None


def test_the_brute_force_has_nothing_of_cpx() -> None:
    from cpx.testing import truth as shared

    package = Path(shared.__file__).parents[1]
    paths = [Path(shared.__file__), *package.glob("models/*/brute.py")]
    assert len(paths) > 5
    for path in paths:
        lines = path.read_text(encoding="utf-8").splitlines()
        ours = [line for line in lines if line.startswith(("import cpx", "from cpx"))]
        assert all(line.startswith("from cpx.testing.truth ") for line in ours), path


# ------------------------------------------------------------ what is wrong is seen


def _answered() -> tuple[Case, Result]:
    case = Case(0, TEN, Ask("search"), truth(TEN))
    return case, solve(instances.from_dict(TEN), "search")


def test_wrong_answers_are_seen() -> None:
    case, result = _answered()
    problem = instances.from_dict(TEN)

    def seen(how: Ask = case.how, **changes: Any) -> list[str]:
        wrong = replace(result, **changes)
        names = [f.partition(":")[0] for f in faults(wrong, problem, case.right, how)]
        # A claim keeps the value, with which what is read from a file agrees.
        return [name for name in names if name != "file" or not changes]

    assert seen() == []
    assert seen(objective=Fraction(9, 10)) == ["value", "optimum"]
    assert seen(bound=Fraction(3, 4)) == ["bound", "optimum"]
    assert seen(explanation=problem.explanation([0]), objective=Fraction(4, 7)) == ["optimum"]
    assert "solution" in seen(explanation=problem.explanation([0, 1, 2]))
    nothing = {"explanation": None, "objective": None, "bound": None}
    assert seen(status=Status.INFEASIBLE, **nothing) == ["infeasible"]
    assert seen(status=Status.UNKNOWN, **nothing) == ["no proof"]
    limited = replace(case.how, time_limit=0.001)
    assert seen(limited, status=Status.UNKNOWN, **nothing) == []
    hinted = replace(limited, hint=[0])
    assert seen(hinted, status=Status.UNKNOWN, **nothing) == ["hint"]
    assert seen(replace(case.how, engine="beam")) == ["claim"]
    assert seen(status=Status.ERROR) == ["error"]
    assert seen(verified=False) == ["check"]


def test_every_alteration_changes_something() -> None:
    case, result = _answered()
    answer = json.loads(result.to_json())
    names = []
    for name, other in altered(answer, TEN, case.right, np.random.default_rng(0)):
        assert other != answer
        names.append(name)
    assert {"objective", "bound", "status", "features"} <= {*names}
    assert "claim figures covered" in names


def test_a_case_is_made_smaller() -> None:
    def wrong(instance: dict[str, Any], how: Ask) -> bool:
        instances.from_dict(instance)
        return "101" in instance["samples"]

    how = Ask("search", hint=[0, 1], time_limit=1.0)
    smaller, simpler = shrunk(TEN, how, wrong)
    assert smaller["samples"] == ["101"]
    assert simpler == Ask("search")


def test_a_wrong_engine_is_found_kept_and_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cpx.answers.result import Termination
    from cpx.backends.base import Outcome
    from cpx.backends.search import Search

    def claims_the_first(self: Any, problem: Any, options: Any, progress: Any) -> Outcome:
        for features in subsets(range(problem.n_features)):
            if progress.found(problem.explanation(features)) is not None:
                value = progress.objective
                return Outcome(True, Termination.COMPLETED, "first", claimed=value)
        return Outcome(False, Termination.COMPLETED, "nothing")

    monkeypatch.setattr(Search, "solve", claims_the_first)
    arguments = ["fuzz", "--solves", "12", "--problem", "negative-only", "--backend", "search"]
    code, told = shell([*arguments, "--keep", str(tmp_path)])
    assert code == 1
    assert "WRONG after" in told
    path = next(p for p in tmp_path.glob("*.json") if "search-error" in p.name)
    assert f"cpx solve {path} --backend search" in told
    assert [fault.partition(":")[0] for fault in repeat(path)] == ["error"]
    monkeypatch.undo()
    assert repeat(path) == []
    assert shell(["fuzz", "--repeat", str(path)]) == (0, "nothing is wrong\n")


def test_wrong_use_is_told(tmp_path: Path) -> None:
    assert "'no-such'" in shell(["fuzz", "--problem", "no-such"])[1]
    assert "no-such" in shell(["fuzz", "--backend", "no-such"])[1]
    told = shell(["fuzz", "--backend", "hitting-sets", "--problem", "kernel-rule"])[1]
    assert "hitting-sets solves no problem of the kinds kernel-rule" in told
    assert "minutes must be" in shell(["fuzz", "--minutes", "0"])[1]
    path = tmp_path / "instance.json"
    instances.save(instances.from_dict(TEN), path)
    code, told = shell(["fuzz", "--repeat", str(path)])
    assert code == 2
    assert "was not kept by the fuzzer" in told


# --------------------------------------------------------- metamorphic relations


@pytest.mark.parametrize("n", some(30, 60))
@pytest.mark.parametrize("kind", KINDS)
def test_relations_hold_by_brute_force(kind: str, n: int) -> None:
    seen = set()
    for number in range(n):
        rng = np.random.default_rng([17, number])
        instance = draw(kind, rng)
        related = relation(instance, rng)
        seen.add(related.name)
        worst = -math.inf if truth(instance).maximised else math.inf
        spans = []
        for changed in related.instances:
            instances.from_dict(changed)
            optimum = truth(changed).optimum
            spans.append(Interval(*([worst if optimum is None else optimum] * 2)))
        own = truth(instance).optimum
        own = worst if own is None else own
        implied = related.read(spans)
        assert implied.low <= own <= implied.high, (number, related.name)
        if related.name != "one more allowed":
            assert implied.low == implied.high
    assert seen == {name for name, (kinds, _) in RELATIONS.items() if kind in kinds}


def test_a_relation_sees_a_wrong_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.fuzz import metamorphic

    def overlooks(problem: Any, engine: str, options: Any, **_: Any) -> Result:
        if engine == "cpsat":
            problem = replace(problem, forbidden=(1,))
        return solve(problem, "search")

    instance = {**TEN, "problem": "k-monomial", "parameters": {"k": 2}}
    related = relation(instance, np.random.default_rng(0), "samples reordered")
    assert faults_of_a_relation(instance, related, Ask("search"), ("cpsat",))[1] == []
    monkeypatch.setattr(metamorphic, "run", overlooks)
    found = faults_of_a_relation(instance, related, Ask("search"), ("cpsat",))[1]
    assert found[0].startswith("check: ")
    monkeypatch.setattr(metamorphic.check, "violations", lambda *arguments: [])
    found = faults_of_a_relation(instance, related, Ask("search"), ("cpsat",))[1]
    assert [fault.partition(":")[0] for fault in found] == ["samples reordered"]
