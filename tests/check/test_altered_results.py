"""Whatever is altered in a saved result, the checker complains or says that it trusts it."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

import cpx.check
from cpx import (
    KernelRule,
    KMonomial,
    MaxCoverage,
    MaxPrecision,
    MinCertificate,
    RuleSetSelection,
    Samples,
    SufficientReason,
    solve,
)
from cpx.answers.result import Result, Status
from cpx.check.proofs import Claim
from cpx.cli import app
from cpx.modelling import instances
from cpx.modelling.base import Problem
from cpx.models import PROBLEMS, NegativeOnly, PreciseCertificate, RuleSetLearning
from cpx.models.monomial.explainers.question import Question
from cpx.models.monomial.explainers.rule import RuleExplainer
from cpx.models.sufficient_reason.change_problem import MinimumChange
from cpx.models.sufficient_reason.networks.cases import two_or_one
from cpx.testing.cases import cases
from cpx.trees import Attribute, Tree, TreeModel
from tests.seeds import every_other

ROWS = ["1101", "1110", "1011", "0111", "1001", "0110", "1100", "0011"]
BITS = [[bit == "1" for bit in row] for row in ROWS]
NAMES = ("a <= 1", "b = red", "c", "d > 2")
SAMPLES = Samples(
    BITS, [1, 1, 0, 0, 1, 0, 1, 0], weights=[1, 2, 3, 1, 1, 2, 1, 1], features=NAMES,
    groups=(0, 0, 1, 1), context={"class": "1"},
)  # fmt: skip
MIXED = Samples(BITS, [1, 0, 0, 1, 1, 0, 1, 0], features=NAMES)


def below(number: float) -> float:
    """Return the threshold of the test "less than a number" in single precision."""
    return float(np.nextafter(np.float32(number), np.float32(-np.inf)))


# Two thresholds per column, a listed column, a missing value; scores that need all of them.
_FIRST = Tree([0, 0, -1, -1, 1, -1, -1], [1, 0, 0, 0, 0, 0, 0], [1] * 7,
              [[-2.0], [3.0], [-3.0], [2.0]], (0,))  # fmt: skip
_SECOND = Tree([2, 1, -1, -1, -1], [0, 1, 0, 0, 0], [1] * 5, [[1.0], [-1.0], [-1.5]], (0,))
LIMITS = [[below(0.1), below(2.5)], [below(2.5), below(3.5)], [below(0.5)], []]
SUM = TreeModel(
    [
        Attribute("size (cm)", missing=True),
        Attribute("doors", "integer", lower=2, upper=5),
        Attribute("tint", "categorical", values=(0, 1, 2)),
        Attribute("idle"),
    ],
    ["no", "yes"], [_FIRST, _SECOND], LIMITS,
    "sum", "positive", [-0.25], cast="float32", strict=True,
)  # fmt: skip


def votes(*columns: int) -> TreeModel:
    """Return trees that each vote by one column, of three classes."""
    trees = [Tree([j, -1, -1], [0] * 3, [0] * 3, [[1, 0], [0, 1]], (0, 2)) for j in columns]
    attributes = [Attribute(name) for name in "abc"]
    return TreeModel(
        attributes, [0, 1, 2], trees, [[1e-4], [0.0], [1e16]], "vote", "first", [0.0, 0.0, 0.0]
    )


VOTES = votes(0, 1, 2, 0, 1)

RULES = ((0,), (0, 3), (1, 2), (2,), (3,), ())

PROBLEMS_ASKED: dict[str, tuple[Problem, str]] = {
    "loss": (
        KMonomial(SAMPLES, k=1, required=(3,), min_coverage="1/10", max_coverage=1), "search",
    ),
    "loss, limits": (
        KMonomial(SAMPLES, k=3, forbidden=(0,), one_per_group=True, min_precision=0), "search",
    ),
    "negative": (NegativeOnly(SAMPLES, k=1, min_coverage="1/3", max_coverage="9/10"), "search"),
    "precision": (MaxPrecision(SAMPLES, k=1), "search"),
    "precision, floor": (MaxPrecision(MIXED, k=2, min_precision="2/3"), "cpsat"),
    "coverage": (MaxCoverage(SAMPLES, k=2, min_precision="3/4"), "search"),
    "loss, one sample": (KMonomial(Samples([[1, 0]], [1]), k=1), "search"),
    "certificate, one sample": (MinCertificate(Samples([[1, 0]], [1])), "cpsat"),
    "kernel, zeros": (KernelRule([[1, 0], [0, 1], [1, 1]], [2, 0, 0], 1, 1), "search"),
    "kernel, one sample": (KernelRule([[1, 0]], [2], 1, 1), "search"),
    "certificate": (MinCertificate(SAMPLES, "1/10"), "cpsat"),
    "certificate, weights": (
        MinCertificate(MIXED, "0.25", weights=(3, 1, 2, 2), required=(0,), forbidden=(3,)),
        "cpsat",
    ),
    "precise certificate": (PreciseCertificate(MIXED, "1/4"), "search"),
    "selection": (RuleSetSelection(MIXED, RULES, "1/20", required=(1, 3)), "search"),
    "selection, none": (RuleSetSelection(MIXED, RULES, "1/2"), "search"),
    "selection, limits": (
        RuleSetSelection(
            MIXED, RULES, "1/30", loss="hamming", max_rules=2, max_literals=4, max_overlap=3,
            required=(2,), forbidden=(0,), class_weights=(2, 1), lengths=(1, 2, 2, 3, 1, 0),
        ),
        "search",
    ),
    "learning": (RuleSetLearning(SAMPLES, 2, "1/20"), "column-generation"),
    "kernel": (KernelRule(BITS, [-4, 4, -1, 3, 4, -3, -1, -4], 2, 2, unit="1/3"), "search"),
    "kernel, all": (KernelRule(BITS[:2], [3, 2], 2, 2, context={"class": "pos"}), "search"),
    "reason, sum": (SufficientReason(SUM, [1.0, 4, 1, 7]), "cpsat"),
    "reason, missing": (SufficientReason(SUM, [None, 2, 0, 7], unit="1/8"), "cpsat"),
    "reason, sufficient": (
        SufficientReason(SUM, [1.0, 4, 1, 7], definition="sufficient"), "hitting-sets",
    ),
    "network": (two_or_one(), "hitting-sets"),
    "network, two": (replace(two_or_one(), weights=(1, 1, 3)), "hitting-sets"),
    "reason, two": (SufficientReason(SUM, [3.0, 5, 1, 7]), "cpsat"),
    "reason, conditions": (SufficientReason(SUM, [3.0, 5, 1, 7], "conditions"), "cpsat"),
    "reason, votes": (
        SufficientReason(VOTES, [1, 1, 0], weights=(1, 2, 2), context={"class": "1"}), "cpsat",
    ),
    "reason, required": (SufficientReason(VOTES, [0, 0, 1e16], required=("c",)), "maxsat"),
    "reason, deletion": (SufficientReason(VOTES, [0, 0, 3e16], forbidden=("c",)), "cpsat"),
    "contrast": (MinimumChange(SUM, [1.0, 4, 1, 7], weights=(2, 1, 1, 1)), "hitting-sets"),
    "contrast, target": (
        MinimumChange(VOTES, [1, 1, 0], 0, context={"classes": ["p", "q", "r"]}), "hitting-sets",
    ),
    "contrast, missing": (MinimumChange(SUM, [None, 2, 0, 7], frozen=("tint",)), "hitting-sets"),
}  # fmt: skip
_KINDS = {problem.kind for problem, _ in PROBLEMS_ASKED.values()}
PROBLEMS_ASKED |= {  # of a kind that is new, its cases
    case.name: (case.problem, "cpsat")
    for case in cases("monomial")
    if case.problem.kind not in _KINDS
}
PROBLEMS_ASKED |= {
    case.name: (case.problem, "search")
    for case in cases("expected-prediction")[::5]
    if case.optimum is not None
}
UNSOLVABLE: dict[str, Problem] = {
    "loss": KMonomial(SAMPLES, k=1, required=(1, 2)),
    "certificate": MinCertificate(SAMPLES, forbidden=(0, 1, 2, 3)),
    "precise certificate": PreciseCertificate(SAMPLES, forbidden=(0, 1, 2, 3)),
    "selection": RuleSetSelection(SAMPLES, RULES, required=(1,), max_rules=0),
    "reason": SufficientReason(VOTES, [0, 0, 3e16], forbidden=("a", "b")),
    "contrast": MinimumChange(VOTES, [0, 0, 3e16], frozen=("a", "b")),
}


ALSO_TRUE = [("reason, two", 2.5), ("reason, two", 3.5)]
"""Bounds that force the class as well: of four or five doors, of three to five."""


@cache
def solved(name: str) -> Result:
    """Return a result that the solve has verified."""
    result = solve(*PROBLEMS_ASKED[name])
    assert result.verified, result.warnings
    return result


@cache
def answered(name: str, bound: str = "met") -> tuple[dict[str, Any], dict[str, Any]]:
    """Return an instance and its saved result; or the same with a bound that is open, or none."""
    problem, _ = PROBLEMS_ASKED[name]
    result = solved(name)
    found, value = result.explanation, result.objective
    assert found is not None
    assert value is not None
    if bound != "met":
        away = Fraction(1, 7) if isinstance(value, Fraction) else 1
        limit = value + (away if problem.sense == "max" else -away) if bound == "open" else None
        found = problem._conclude(found, False, value, limit)
        result = replace(
            result, status=Status.FEASIBLE, bound=limit, trace=result.trace[:0], explanation=found
        )
    return problem.to_dict(), json.loads(result.to_json())


def nodes(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield all values with the paths to them, containers first."""
    yield path, value
    if isinstance(value, dict | list):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in parts:
            yield from nodes(part, (*path, key))


def changed(value: Any) -> list[Any]:
    """Return other values of the same type, which could stand there."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [other for other in (value + 1, value - 1, -value - 1) if other != value]
    if isinstance(value, str):
        swapped = value.translate(str.maketrans("0123456789", "1234567890"))
        some = {value + " of all rows", "other", swapped, value.replace("at most", "at least")}
        return sorted(some - {value})
    if isinstance(value, list):
        return (
            [[*value, *value[:1]], *[value[1:]] * (len(value) > 1)] if value else [["some"], [1]]
        )
    return ["something", "1/2", 1, {"low": 0.5}] if value is None else []


def put(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return a copy with another value at a path."""
    if not path:
        return value
    out = copy.copy(data)
    out[path[0]] = put(data[path[0]], path[1:], value)
    return out


def decided(path: tuple[Any, ...], instance: dict[str, Any], result: Any) -> bool:
    """Say whether a field is not among those that are taken on trust."""
    trusted = cpx.check.on_trust(instance, result)
    names = path[1:2] if path[0] == "explanation" and len(path) > 1 else path[:1]
    if path[1:3] in (("rule", "conditions"), ("rule", "literals")) or path[1:2] in (
        ("claim",),
        ("expectation",),
    ):
        names = path[2:3]
    return not any(said.split()[0] == names[0] for said in trusted)


@pytest.mark.parametrize(
    ("name", "bound"),
    [
        given
        for given in every_other(PROBLEMS_ASKED, ("met", "open", "none"))
        # The value of some rules of kernels shows that it is the greatest.
        if given.values[1] != "open"
        or given.values[0] not in ("kernel, all", "kernel, zeros", "kernel, one sample")
    ],
)
def test_what_is_altered_is_complained_about_or_named_as_trusted(name: str, bound: str) -> None:
    instance, result = answered(name, bound)
    assert cpx.check.violations(instance, result) == []
    missed = []
    for path, value in nodes(result):
        for other in changed(value):
            altered = put(result, path, other)
            told = cpx.check.violations(instance, altered)
            if path == ("explanation", "text") or (path[-1], other) == (
                "best_of_ties",
                False,
            ):  # for people, made of the rest
                assert told == []
            elif path[:2] == ("explanation", "sets"):
                # Others may show the bound as well.
                assert told or cpx.check.on_trust(instance, altered)[0].split()[0] != "bound"
            elif not told and decided(path, instance, altered) and (name, other) not in ALSO_TRUE:
                missed.append((path, value, other))
    assert missed == []


@pytest.mark.parametrize("name", PROBLEMS_ASKED)
def test_another_status_is_complained_about(name: str) -> None:
    for bound, own in (("met", "OPTIMAL"), ("none", "FEASIBLE")):
        instance, result = answered(name, bound)
        assert result["status"] == own
        for status in {"OPTIMAL", "FEASIBLE", "INFEASIBLE", "UNKNOWN"} - {own}:
            told = cpx.check.violations(instance, result | {"status": status})
            assert any(status in text for text in told), (status, told)
        # An error claims nothing: what is said of the answer is confirmed, no more.
        error = result | {"status": "ERROR"}
        told = cpx.check.violations(instance, error)
        assert ("bound: an ERROR has none" in told) == (result["bound"] is not None)
        error = cpx.Result.from_dict(error).to_dict()
        assert cpx.check.violations(instance, error) == []
        assert cpx.check.on_trust(instance, error)[0] == "status ERROR (the engine's word)"


def test_every_kind_is_altered() -> None:
    asked = {problem.kind for problem, _ in PROBLEMS_ASKED.values()}
    assert asked == {*PROBLEMS}


@pytest.mark.parametrize("name", UNSOLVABLE)
def test_no_solution_and_no_figures(name: str) -> None:
    problem = UNSOLVABLE[name]
    instance, result = problem.to_dict(), json.loads(solve(problem, "cpsat").to_json())
    assert result["status"] == "INFEASIBLE"
    assert cpx.check.violations(instance, result) == []
    for key, value in (("objective", 1), ("gap", 0.5), ("status", "OPTIMAL"), ("status", "BEST")):
        assert cpx.check.violations(instance, result | {key: value})
    # That nothing satisfies the constraints is decided, but of rules of k features.
    first, *_ = cpx.check.on_trust(instance, result)
    assert (first == "status INFEASIBLE (the engine's word)") == (name == "loss")
    unknown = result | {"status": "UNKNOWN"}
    assert cpx.check.on_trust(instance, unknown)[0] == "status UNKNOWN (the engine's word)"


def test_what_a_proof_leaves_to_be_trusted() -> None:
    instance = {"problem": "k-monomial"}
    result = {"status": "FEASIBLE", "objective": 5, "bound": 3, "explanation": {"rule": {}}}
    for claim, trusted in (
        (None, ["bound 3 (the engine's word)"]),
        (Claim(None), ["bound 3 (the engine's word)"]),
        (Claim(2), ["bound 3 (the engine's word, proved is 2)"]),
        (Claim(4), []),
    ):
        assert cpx.check.on_trust(instance, result, claim) == trusted
    # No bound is none to be trusted.
    assert cpx.check.on_trust(instance, result | {"bound": None}) == []
    assert cpx.check.on_trust(instance, result | {"bound": None}, Claim(4)) == []


def test_fresh_samples_are_trusted_unless_all_there_are_were_counted() -> None:
    result = {"status": "FEASIBLE", "objective": 5, "bound": None}
    fresh = {"agreeing": 7, "drawn": 9, "low": 0.5, "high": 0.9}
    for confidence, trusted in ((0.95, ["fresh (7 of 9 samples)"]), (1, [])):
        found = {"rule": {}, "fresh": {**fresh, "confidence": confidence}}
        asked = result | {"explanation": found}
        assert cpx.check.on_trust({"problem": "k-monomial"}, asked) == trusted


def test_what_is_said_of_other_rows_is_trusted() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    explainer = RuleExplainer(tree, X, distribution="product")
    asked = {"objective": "loss", "epsilon": 0.2, "delta": 0.1}
    result = explainer.explain(X.iloc[60], 2, fresh=100, **asked).result
    instance, saved = explainer.problem(X.iloc[60], 2, **asked).to_dict(), result.to_dict()
    assert cpx.check.violations(instance, saved) == []
    trusted = [said.split()[0] for said in cpx.check.on_trust(instance, saved)]
    assert trusted[:3] == ["bound", "beyond", "fresh"]
    fresh = saved["explanation"]["fresh"]
    for wrong in ({"low": 1.01}, {"high": 0.0}, {"agreeing": 101}, {"drawn": 0}, {"low": -0.1},
                  {"confidence": 1}, {"high": 1.1}, {"drawn": "100"},
                  # Limits that the counts do not give.
                  {"low": fresh["low"] + 0.001}, {"confidence": 0.99},
                  {"drawn": 99, "agreeing": 98}):  # fmt: skip
        (told,) = cpx.check.violations(instance, saying(saved, fresh=fresh | wrong))
        assert told.startswith("fresh: must be counts and limits around their ratio")


def test_a_whole_bound_on_a_precision_is_written_as_such() -> None:
    problem, _ = PROBLEMS_ASKED["precision"]
    instance, result = answered("precision")
    found = problem.explanation(result["explanation"]["features"])
    told = problem._conclude(found, False, Fraction(5, 8), Fraction(1))
    assert told.proved.endswith("has a precision above 1")
    open_one = {"status": "FEASIBLE", "bound": "1", "gap": 0.375, "explanation": told.to_dict()}
    assert cpx.check.violations(instance, result | open_one) == []


def test_values_are_integers_or_fractions_as_the_kind_has_them() -> None:
    instance, result = answered("loss")
    assert cpx.check.violations(instance, result | {"bound": "8"}) == ["bound: '8' is no integer"]
    instance, result = answered("precision")
    assert cpx.check.violations(instance, result | {"bound": 1}) == ["bound: 1 is no fraction"]


def test_a_rule_of_three_more_features_refutes_infeasibility_by_itself() -> None:
    rows = [[1, 1, 1], [0, 1, 1], [1, 0, 1], [1, 1, 0]]
    problem = KMonomial(Samples(rows, [1, 0, 0, 0]), k=3, max_coverage="1/4")
    result = solve(problem, "search").to_dict()
    assert result["explanation"]["features"] == [0, 1, 2]
    told = cpx.check.violations(problem.to_dict(), result | {"status": "INFEASIBLE"})
    assert "explanation: an infeasible problem has none" in told


def test_one_clause_that_is_too_long_is_enough() -> None:
    instance, result = answered("kernel")
    altered = put(result, ("explanation", "features"), [0, 1, 2, 4])
    told = cpx.check.violations(instance, altered)
    assert "features: a clause has more than 2" in told


def test_other_kinds_of_problems_are_told() -> None:
    instance, result = answered("loss")
    for kind in ("sorting", None, ["k-monomial"]):
        told = cpx.check.violations(instance | {"problem": kind}, result)
        assert told == [cpx.check.UNJUDGED]


# ---------------------------------------------------------------- any JSON at all

_JUNK: list[Any] = [
    None, True, False, 0, -1, 10**30, 10**400, 0.5, float("nan"), float("inf"), -float("inf"),
    "", "x", "1/0", "1/2/3", "0x1p-3", "9" * 500, [], [[]], [[[]]], {}, {"a": []}, ["x"], [None],
    [float("nan")], [[0, "x"]], [[0, 0, 0]], [["a", "b", "c", "d"]], [[1, 1, 1, float("nan")]],
    [-1], [10**9], [True], {"literals": [], "figures": 1},
]  # fmt: skip


def cut(data: Any, path: tuple[Any, ...]) -> Any:
    """Return a copy without what is at a path."""
    out = copy.copy(data)
    if len(path) == 1:
        del out[path[0]]
    else:
        out[path[0]] = cut(data[path[0]], path[1:])
    return out


@pytest.mark.parametrize("name", PROBLEMS_ASKED)
def test_the_checker_takes_any_json(name: str) -> None:
    instance, result = answered(name)
    pick = random.Random(name)
    for path, _ in nodes(result):
        if path and pick.random() < 0.5:  # other fields of other problems
            continue
        gone = path and pick.random() < 0.5  # of so many problems, some field by field either way
        other = cut(result, path) if gone else put(result, path, pick.choice(_JUNK))
        said = cpx.check.violations(instance, other)
        assert all(isinstance(text, str) and len(text) < 1000 for text in said)
    for junk in _JUNK:
        assert cpx.check.violations(instance, junk)
    deep: list[Any] = []
    for _ in range(10**5):
        deep = [deep]
    for junk in (deep, 10**5000):
        for claim in ({"over": {"k": junk}}, {"figures": {"total": junk}}):
            assert cpx.check.violations(instance, claiming(result, **claim))


Run = Callable[..., Any]


def test_the_command_takes_any_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pick = random.Random(1)
    for name, (problem, _) in PROBLEMS_ASKED.items():
        _, result = answered(name)
        instances.save(problem, "inst.json")
        places = [path for path, _ in nodes(result) if path]
        for path in pick.sample(places, 1):
            junk = pick.choice(_JUNK)
            data = put(result, path, junk) if pick.random() < 0.8 else cut(result, path)
            Path("result.json").write_text(json.dumps(data))
            done = CliRunner().invoke(app, ["check", "inst.json", "result.json"])
            assert done.exit_code in (0, 1, 2), (name, path, junk, done.output)
            assert (done.exit_code == 2) == (path in (("format",), ("version",)))
            lines = done.stdout.splitlines()
            if done.exit_code == 0:
                assert lines[0].startswith("OK ")
                assert lines[1].startswith("taken on trust: ")
            else:
                assert all(line.startswith("FAILED ") for line in lines)


# ----------------------------------------------------------- what was said and is false


def saying(result: Any, **explanation: Any) -> Any:
    """Return a result whose explanation says something else."""
    return result | {"explanation": result["explanation"] | explanation}


def claiming(result: Any, **claim: Any) -> Any:
    """Return a result of which something else is claimed."""
    return saying(result, claim=result["explanation"]["claim"] | claim)


@pytest.mark.parametrize("name", PROBLEMS_ASKED)
def test_words_change_nothing(name: str) -> None:
    """Not what is checked, and not what is printed: also not those of earlier versions."""
    instance, result = answered(name)
    lies = {
        "text": "(always) => positive",
        "proved": "it is optimal: no other one is better",
        "guarantee": "holds for all rows",
        "notes": ["true of all support vectors"],
    }
    altered = saying(result, **lies)
    assert cpx.check.violations(instance, altered) == []
    assert str(Result.from_dict(altered)) == str(Result.from_dict(result)) == str(solved(name))
    old = saying(result, **lies)
    del old["explanation"]["claim"]
    assert cpx.check.violations(instance, old) == []
    told = str(Result.from_dict(old))
    assert not any(lie in told for lie in (*map(str, lies.values()), *lies["notes"]))
    found = result["explanation"]
    for conclusion in ("another class", f"class {found['rule']['conclusion']}"):  # words, no name
        altered = saying(result, rule=found["rule"] | {"conclusion": conclusion})
        assert any("conclusion" in told for told in cpx.check.violations(instance, altered))


@pytest.mark.parametrize("name", PROBLEMS_ASKED)
def test_a_claim_of_more_is_refused(name: str) -> None:
    instance, result = answered(name)
    claim = result["explanation"]["claim"]
    fewer = [{k: v for k, v in claim["over"].items() if k != gone} for gone in claim["over"]]
    for over in (*fewer, claim["over"] | {"more": 1}):
        assert cpx.check.violations(instance, claiming(result, over=over))
    for more in ({"best_of_ties": True}, {"beyond": {"precision": 0.99}}, {"proved": "all"}):
        altered = claiming(result, **more)
        told = cpx.check.violations(instance, altered)
        trusted = cpx.check.on_trust(instance, altered)
        assert told or any(said.split()[0] == "best_of_ties" in more for said in trusted)
    open_instance, open_result = answered(name, "none")
    told = cpx.check.violations(open_instance, claiming(open_result, best_of_ties=True))
    assert any("best_of_ties" in text for text in told)
    # A claim that is part of no result says the same as the result, or is refused.
    own = {"optimal": True, "value": result["objective"], "bound": result["bound"]}
    assert cpx.check.violations(instance, claiming(result, **own)) == []
    for field, value in own.items():
        for other in changed(value):
            assert cpx.check.violations(instance, claiming(result, **{field: other}))


@cache
def drawn(objective: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return an instance of samples that were drawn, and an answer with a guarantee."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    explainer = RuleExplainer(tree, X, distribution="product")
    problem = explainer.problem(X.iloc[60], 2, objective=objective, m=300)
    question = Question(k=2, objective=objective, m=300)
    result = explainer.conclude(solve(problem, "search"), problem, question)
    return problem.to_dict(), json.loads(result.to_json())


@pytest.mark.parametrize("objective", ["loss", "negative-only", "precision", "coverage"])
def test_numbers_of_a_guarantee_are_recomputed(objective: str) -> None:
    instance, result = drawn(objective)
    beyond = result["explanation"]["claim"]["beyond"]
    assert cpx.check.violations(instance, result) == []
    # What is claimed of the rule is decided, and of others what the rules at hand say.
    stronger = {"precision": 0.003, "coverage": 0.003, "loss_above": -0.003}
    stronger |= {"most_coverage": -0.003, "more_precise": -0.2, "most_precision": -0.2}
    known = stronger.keys() & beyond.keys()
    assert known
    wrong = [{name: round(min(1, max(0, beyond[name] + stronger[name])), 3)} for name in known]
    wrong = [change for change in wrong if change.items() - beyond.items()]
    wrong += [{"rows": "another table"}, {"samples": 301}, {"delta": 0.001}, {"delta": 0}]
    wrong += [{"delta": 1.5}, {"rounds": False}, {"unheard": 1}, {"precision": True}]
    wrong += [{"coverage": "1"}, {"loss_above": -1}, {"most_coverage": None}]
    for change in wrong:
        altered = claiming(result, beyond=beyond | change)
        told = cpx.check.violations(instance, altered)
        assert any(text.startswith("claim: beyond: ") for text in told), change
    # That all rows were used is not so; and without a bound less follows.
    whole = {"rows": beyond["rows"], "samples": beyond["samples"]}
    told = cpx.check.violations(instance, claiming(result, beyond=whole))
    assert told == ["claim: beyond: the samples are not all rows"]
    open_one = claiming(result, best_of_ties=False)
    open_one |= {"status": "FEASIBLE", "bound": None, "gap": None, "trace": []}
    needed = known & {"loss_above", "more_precise", "most_precision", "most_coverage"}
    assert bool(cpx.check.violations(instance, open_one)) == bool(needed)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), "4", None, [1], 1.5, True])
def test_figures_that_are_no_numbers_are_a_complaint(bad: Any) -> None:
    instance, result = answered("selection")
    altered = put(result, ("explanation", "rule", "figures", 0, 1), bad)
    (told,) = cpx.check.violations(instance, altered)
    assert told.startswith("figures: must be a list of four integers each, got [[")


def test_intervals_are_decided_and_not_only_their_columns() -> None:
    instance, result = answered("reason, sum")
    found = result["explanation"]
    size, doors = {"column": "size (cm)"}, {"column": "doors"}
    above, below = [">=", 0.1], ["<", 2.5]
    assert found["rule"]["conditions"] == [{**size, "within": [[above, below]]}]
    assert found["text"] == "0.1 <= size (cm) < 2.5 => yes"
    for conditions, what in (
        ([{**size, "within": [[below]]}], "do not force the class"),
        ([{**size, "within": [[above]]}], "do not force the class"),
        ([{**size, "within": []}], "do not force the class"),
        ([{**size, "within": [[above, ["<", 3.5]]]}], "are not true of x"),
        ([{**size, "within": [[["<", 0.1]]]}], "are not true of x"),
        ([{**size, "value": 1.0}], "are not true of x"),
        (
            [{**size, "within": [[above, below]]}, {**doors, "within": [[[">=", 3.5]]]}],
            "are not true",
        ),
        ([{**size, "within": [[above, below]]}, "doors >= 3.5"], "are not true of x"),
        ([{**size, "within": [[["=", 0.1]]]}], "conditions: must be"),
    ):
        altered = saying(result, rule=found["rule"] | {"conditions": conditions})
        assert any(what in told for told in cpx.check.violations(instance, altered)), conditions


def test_words_of_earlier_versions_are_read_and_named_as_trusted() -> None:
    for kind in ("sufficient-reason", "kernel-rule", "rule-set", "rule-set-learning", "mlse"):
        names = (name for name, (problem, _) in PROBLEMS_ASKED.items() if problem.kind == kind)
        found = next(
            found for found in map(answered, names) if found[1]["explanation"]["features"]
        )
        instance, result = found
        explanation = cpx.Result.from_dict(result).explanation
        assert explanation is not None
        rule = explanation.rule
        old: dict[str, Any] = {"literals": [[one.feature, one.text] for one in rule.literals]}
        if rule.conditions:
            old["conditions"] = [*rule.words]
        altered = saying(result, rule=result["explanation"]["rule"] | old)
        assert cpx.check.violations(instance, altered) == []
        read = cpx.Result.from_dict(altered).explanation
        assert read is not None
        assert read.rule.words == rule.words
        trusted = [said.split()[0] for said in cpx.check.on_trust(instance, altered)]
        assert {*trusted} & {"literals", "conditions"}
        new = [said.split()[0] for said in cpx.check.on_trust(instance, result)]
        assert not {*new} & {"literals", "conditions"}


def test_the_words_of_features_are_right_where_no_intervals_are_given() -> None:
    """Before it is concluded, an explanation has the cells of x in words."""
    for name in ("reason, sum", "reason, missing", "reason, votes"):
        problem, _ = PROBLEMS_ASKED[name]
        instance, result = answered(name)
        plain = problem.explanation(result["explanation"]["features"]).to_dict()
        assert not plain["rule"]["conditions"]
        assert cpx.check.violations(instance, result | {"explanation": plain}) == []
