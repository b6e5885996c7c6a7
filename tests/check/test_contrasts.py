"""Changes that were saved are judged: what is altered in a file is refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import cpx
import cpx.check
from cpx.errors import InvalidInstance, InvalidOption
from cpx.models.sufficient_reason.change_problem import MinimumChange

RANDOM = np.random.default_rng(7)
X = pd.DataFrame(
    {
        "age": RANDOM.integers(18, 70, 200).astype(float),
        "city": RANDOM.choice(["Ulm", "Kiel", "Bonn"], 200),
        "pay": RANDOM.integers(1, 50, 200) * 1000.0,
        "rooms": RANDOM.choice([1, 2, 3], 200),
    }
)
Y = (
    np.where(X.age > 40, 1, 0) + (X.city == "Ulm") * 1 + (X.pay > 20000) * 1 + (X.rooms > 1) * 1
    > 2
)


@cache
def model() -> Any:
    from sklearn.compose import make_column_transformer

    columns = make_column_transformer(
        (OrdinalEncoder(), ["city", "rooms"]), remainder="passthrough"
    )
    forest = RandomForestClassifier(9, max_depth=4, random_state=0)
    return make_pipeline(columns, forest).fit(X, Y)


@cache
def saved(**asked: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a file has of the question, and of the answer of the door."""
    limits = {"ranges": {"pay": (None, 40000)}, "weights": {"city": 3}, "frozen": ["age"]}
    explainer = cpx.Explainer(model(), X, class_names=["let", "sold"])
    given = {**limits, **asked}
    found = explainer.contrast(5, n=2, **given)
    problem = explainer.problem(5, kind="contrast", **given)
    return json.loads(json.dumps(problem.to_dict())), json.loads(found.result.to_json())


def test_a_saved_change_is_confirmed_with_its_bound() -> None:
    problem, result = saved()
    assert cpx.check.violations(problem, result) == []
    trusted = cpx.check.on_trust(problem, result)
    assert not any(told.startswith("bound ") for told in trusted)
    again = cpx.load(write(problem))
    assert isinstance(again, MinimumChange)
    assert again.to_dict() == problem
    # What was asked is in the file: what may not change, ranges, weights, names.
    names = [a["name"] for a in problem["model"]["attributes"]]
    assert [names[a] for a in problem["parameters"]["frozen"]] == ["age"]
    assert [names[a] for a in problem["parameters"]["ranges"]] == ["pay"]
    assert problem["parameters"]["weights"][names.index("city")] == 3
    assert float.fromhex(problem["model"]["attributes"][names.index("pay")]["upper"]) == 40000
    assert problem["context"]["classes"] == ["let", "sold"]
    assert cpx.solve(again).objective == result["objective"]


def write(problem: dict[str, Any]) -> Path:
    import tempfile

    path = Path(tempfile.mkdtemp()) / "contrast.json"
    path.write_text(json.dumps(problem), encoding="utf-8")
    return path


def _other_value(found: dict[str, Any]) -> None:
    name = next(iter(found["values"]))
    found["values"][name] = {"city": "Paris"}.get(name, 1e7)


def _other_told(found: dict[str, Any]) -> None:
    told = found["told"][0]
    key = "one_of" if "one_of" in told else "value"
    told[key] = ["Paris"] if key == "one_of" else (told[key] or 0) + 1


def _other_interval(found: dict[str, Any]) -> None:
    said = found["rule"]["literals"][0][1]
    said.pop("one_of", said.pop("value", None))
    said["within"] = [[["<=", 0.0]]]


ALTERED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a value": _other_value,
    "no values": lambda found: found.update(values={}),
    "one value more": lambda found: found["values"].update(age=20.0),
    "what is told": _other_told,
    "an interval": _other_interval,
    "what it is now": lambda found: found["rule"]["literals"][0][1].update(now="12345"),
    "the class": lambda found: found["rule"].update(conclusion="let & sold"),
    "the class of x": lambda found: found.update(instead_of="sold & let"),
    "the sets": lambda found: found.update(sets=[[0]]),
    "a set of none": lambda found: found.update(sets=[[]]),
    "sets of nothing": lambda found: found.update(sets=[["city"]]),
    "gains in place of sets": lambda found: found.update(sets=[], gains=True),
    "what competes": lambda found: found["claim"]["over"].update(frozen=2),
    "a figure": lambda found: found["claim"]["figures"].update(reasons=9),
    "another column": lambda found: found.update(features=[0]),
    "the value of another one": lambda found: _other_value(found["others"][0]),
    "the weight of another one": lambda found: found["others"][0]["claim"].update(value=99),
    "another one without a rule": lambda found: found["others"][0].pop("rule"),
}


@pytest.mark.parametrize("what", ALTERED)
def test_what_is_altered_is_refused(what: str) -> None:
    problem, result = saved()
    altered = copy.deepcopy(result)
    ALTERED[what](altered["explanation"])
    found = cpx.check.violations(problem, altered)
    assert found
    assert cpx.check.UNDECIDED not in found


def test_a_result_of_another_question_is_refused() -> None:
    problem, result = saved()
    a = result["explanation"]["features"][0]
    for changes in (
        {"frozen": [a]},
        {"weights": [9] * 4},
        {"weights": None},
        {"target": problem["class"]},
    ):
        other = {**problem, "parameters": {**problem["parameters"], **changes}}
        assert cpx.check.violations(other, result)
    # The bound is beyond what fewer columns can give: sets that showed it do so no more.
    worse = {**result, "objective": result["objective"] + 1, "bound": result["bound"] + 1}
    assert cpx.check.violations(problem, worse)
    assert cpx.check.violations({**problem, "class": not problem["class"]}, result)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"target": "let"}, "target must be one of"),
        ({"frozen": [9]}, "frozen"),
        ({"weights": [1]}, "weights"),
        ({"range": []}, "unknown parameter 'range'"),
    ],
)
def test_a_wrong_problem_is_refused(change: dict[str, Any], told: str) -> None:
    problem, _ = saved()
    wrong = {**problem, "parameters": {**problem["parameters"], **change}}
    with pytest.raises(InvalidInstance, match=told):
        cpx.load(write(wrong))


def test_what_no_file_has_is_told() -> None:
    explainer = cpx.Explainer(model(), X)
    with pytest.raises(InvalidOption, match="plausible is no part of a problem"):
        explainer.problem(5, kind="contrast", plausible=True)
    with pytest.raises(InvalidOption, match="a problem is about one change"):
        explainer.problem(5, kind="contrast", n=2)


def test_a_category_that_is_a_number_stays_one() -> None:
    explainer = cpx.Explainer(model(), X)
    found = explainer.contrast(5, actionable=["rooms", "city", "pay", "age"], weights={"rooms": 1})
    for i in range(12):
        found = explainer.contrast(i)
        changed = X.iloc[[i]].assign(**found.values)
        assert str(model().predict(changed)[0]) == found.rule.conclusion
        if "rooms" in found.values:
            assert type(found.values["rooms"]) is int
