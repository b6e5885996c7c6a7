"""Sufficient reasons: arguments, rows, words, files, and what the checker finds wrong."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from cpx import SufficientReason, load, save, solve
from cpx.answers.result import Status
from cpx.check import violations
from cpx.data.condition import OneOf
from cpx.errors import DataError, InvalidInstance, InvalidOption
from cpx.export import show
from cpx.modelling import instances
from cpx.models.sufficient_reason.cases import least_weight, stump, three_definitions
from cpx.models.sufficient_reason.draw import random_reason
from cpx.trees import Attribute, Tree, TreeModel, read_model
from tests.seeds import each

X_ONE = (1, 1, 1)


def _sum(*trees: Tree, attributes: Any = None, **more: Any) -> TreeModel:
    names = attributes or [Attribute(name) for name in "abc"]
    return TreeModel(
        names, ["no", "yes"], trees, [[0.5]] * len(names), "sum", "positive", [0.0], **more
    )


SUM = _sum(stump(0, [-1], [1]), stump(1, [-1], [1]), stump(2, [-0.5], [0.5]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tree_model": "tree"}, "tree_model must be a TreeModel, got str"),
        (
            {"level": "columns"},
            "level must be one of attributes, intervals, conditions, got 'columns'",
        ),
        ({"definition": "minimal"}, "definition must be one of sufficient, .* got 'minimal'"),
        ({"definition": "majoritary"}, "majoritary is for models that vote, this one has sum"),
        ({"label": "no"}, "label is 'no', and the model gives x 'yes'"),
        ({"label": 1}, "label is 1, and the model gives x 'yes'"),
        ({"required": ("d",)}, "required: 'd' names no attribute of the model"),
        ({"required": 2}, "required must be a list"),
        ({"forbidden": (3,)}, "forbidden has the feature 3, indices go from 0 to 2"),
        ({"forbidden": (1, "b")}, "forbidden names a feature twice"),
        ({"weights": (1, 2)}, "weights must have 3 positive integers, got 2"),
        ({"weights": (1, 0, 1)}, r"weights\[1\] must be an integer of at least 1, got 0"),
        ({"weights": (1, 2**31, 1)}, r"weights must have a sum below 2\*\*31"),
        ({"weights": "abc"}, "weights must be a list of positive integers"),
        ({"unit": -1}, "unit must be a fraction of at least 0, got -1"),
        ({"unit": "small"}, "unit must be a fraction of at least 0, got 'small'"),
        ({"name": 3}, "name must be a string, got 3"),
        ({"context": 3}, "context must be an object, got 3"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInstance, match=message):
        SufficientReason(**{"tree_model": SUM, "x": X_ONE, **arguments})


def test_a_unit_is_for_sums_of_leaves() -> None:
    with pytest.raises(InvalidInstance, match="unit is for tree-specific reasons, got 2"):
        SufficientReason(three_definitions(), X_ONE, unit=2)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ((1, 1), "x must have 3 values, got 2"),
        ((1, 1, 1, 1), "x must have 3 values, got 4"),
        ({"a": 1, "b": 1}, "x lacks 'c', columns of the model"),
        ({"a": 1, "b": 1, "c": 1, "d": 1}, "x has 'd', no columns of the model"),
        (pd.DataFrame({"a": [1, 2], "b": 1, "c": 1}), "x must be one row, got a table of 2"),
        (pd.Series({"a": 1, "b": 1, "e": 1}), "x lacks 'c'"),
        ((1, "red", 1), "x: 'b' must be a finite number or missing, got 'red'"),
        ((1, np.inf, 1), "x: 'b' must be a finite number or missing, got inf"),
        ("abc", "x must be a row of numbers, got 'abc'"),
        (np.ones((2, 3)), r"x must be one row, got an array of shape \(2, 3\)"),
        ((1, None, 1), "x: 'b' is missing, and its attribute says that no value is"),
    ],
)
def test_wrong_rows(x: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        SufficientReason(SUM, x)


def test_rows_of_all_kinds() -> None:
    given = [X_ONE, [1.0, 1.0, 1.0], np.ones(3), np.ones((1, 3)), {"c": 1, "b": True, "a": 1}]
    given += [pd.Series({"b": 1, "a": 1, "c": 1}), pd.DataFrame({"c": [1], "a": [1], "b": [1]})]
    assert {SufficientReason(SUM, x).x for x in given} == {(1.0, 1.0, 1.0)}


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        (Attribute("b", lower=0, upper=2), 3),
        (Attribute("b", "integer"), 1.5),
        (Attribute("b", "boolean"), 2),
        (Attribute("b", "categorical", values=(1.0, 4.0)), 2),
    ],
)
def test_values_that_an_attribute_cannot_have(attribute: Attribute, value: float) -> None:
    model = SUM.with_attributes([Attribute("a"), attribute, Attribute("c")])
    with pytest.raises(DataError, match=f"x: 'b' is {value:g}, no value of the attribute"):
        SufficientReason(model, (1, value, 1))


def test_a_missing_value_where_the_model_refuses_it() -> None:
    tree = Tree([1, -1, -1], [0] * 3, [-1, 0, 0], [[-1.0], [1.0]], (0,))
    with pytest.raises(DataError, match="'b' is missing, and the model has no branch for that"):
        SufficientReason(_sum(tree), (1, np.nan, 1))
    # A column that no tree tests may be missing, if it may be missing.
    model = _sum(tree).with_attributes([Attribute("a", missing=True), *SUM.attributes[1:]])
    assert solve(SufficientReason(model, (np.nan, 1, 1))).objective == 1


def test_a_missing_value_is_kept_as_missing() -> None:
    tree = Tree([1, -1, -1], [0] * 3, [1, 0, 0], [[-1.0], [1.0]], (0,))
    model = _sum(tree).with_attributes([Attribute(n, missing=True) for n in "abc"])
    result = solve(SufficientReason(model, (1, np.nan, 1)))
    assert str(result.explanation) == "b is missing => yes"
    assert result.verified


# ------------------------------------------------------------ right answers


def test_the_definitions_differ() -> None:
    model = three_definitions()
    sizes = {}
    for definition in ("sufficient", "tree-specific", "majoritary"):
        problem = SufficientReason(model, X_ONE, definition=definition)
        sizes[definition] = least_weight(problem)
        if definition != "sufficient":
            assert solve(problem).objective == sizes[definition]
    assert sizes == {"sufficient": 0, "tree-specific": 1, "majoritary": 2}


def test_the_default_definition_is_that_of_the_model() -> None:
    vote = three_definitions()
    one = TreeModel(vote.attributes, vote.classes, vote.trees[:1], vote.thresholds, "vote",
                    "first", vote.base)  # fmt: skip
    found = [SufficientReason(m, (0, 1, 1)).definition for m in (vote, one)]
    assert [*found, SufficientReason(SUM, X_ONE).definition] == [
        "majoritary",
        "sufficient",
        "tree-specific",
    ]


def test_several_trees_have_no_statement_of_the_full_definition() -> None:
    problem = SufficientReason(SUM, X_ONE, definition="sufficient")
    for backend in ("cpsat", "maxsat", "milp"):
        with pytest.raises(InvalidOption, match="sufficient is stated for one tree"):
            solve(problem, backend)
    assert problem.evaluate(problem.explanation([0, 1])).feasible
    assert not problem.evaluate(problem.explanation([0])).feasible
    words = show(problem, "statement")
    assert "Not shown: the definition sufficient is stated for one tree" in words
    assert all(name in words for name in problem.feature_names)
    with pytest.raises(InvalidOption, match="sufficient is stated for one tree"):
        show(problem, "statement", "order")


@pytest.mark.parametrize("backend", ["search", "beam"])
def test_engines_of_rules_refuse_it(backend: str) -> None:
    problem = SufficientReason(SUM, X_ONE)
    for isolate in (False, True):
        with pytest.raises(InvalidOption, match="cannot solve problems of kind"):
            solve(problem, backend, isolate=isolate)


def test_a_contradiction_is_infeasible() -> None:
    result = solve(SufficientReason(SUM, X_ONE, required=("a",), forbidden=("a",)))
    assert result.status is Status.INFEASIBLE
    assert "required and forbidden contradict: features [0] are in both" in result.warnings


def test_what_is_degenerate_is_said() -> None:
    leaf = Tree([-1], [0], [0], [[1.0]], (0,))
    alone = solve(SufficientReason(_sum(leaf), X_ONE))
    assert (alone.objective, str(alone.explanation)) == (0, "(always) => yes")
    assert alone.warnings == ("the model tests nothing: every row has the same class",)
    assert alone.explanation is not None
    assert alone.explanation.guarantee == "yes in every case: no other class is ever given"
    idle = SufficientReason(_sum(stump(0, [-1], [1])), X_ONE, required=("c",))
    assert idle._notes() == ("required and never tested by the model: c",)
    assert str(solve(idle).explanation) == "a > 0.5 and c = 1 => yes"


def test_hints_and_bounds() -> None:
    problem = SufficientReason(SUM, X_ONE)
    assert solve(problem, hint=[0, 1]).objective == 2
    assert any("hint breaks" in told for told in solve(problem, hint=[0]).warnings)
    with pytest.raises(InvalidOption, match="hint has the feature 3"):
        solve(problem, hint=[3])


def test_rounding_is_safe_and_said() -> None:
    trees = [stump(a, [-v], [v + 2.0**-50]) for a, v in enumerate((1.0, 1.0, 0.5))]
    model = _sum(*trees)
    rounded, exact = SufficientReason(model, X_ONE), SufficientReason(model, X_ONE, unit=0)
    coarse = SufficientReason(model, X_ONE, unit=3)
    assert rounded.unit > 0 == exact.unit
    assert least_weight(rounded) == least_weight(exact) == 2
    # What a set loses is rounded up, what may be lost down: more is needed, never less.
    assert least_weight(coarse) == 3
    for problem in (rounded, exact, coarse):
        result = solve(problem)
        assert result.verified
        assert result.objective == least_weight(problem)
        assert bool(problem.unit) == ("rounded" in result.explanation.proved)
    with pytest.raises(InvalidInstance, match="unit 0 is too small: losses of 3 trees up to"):
        SufficientReason(_sum(stump(0, [-1], [1]), stump(1, [-1], [2.0**-80 + 0]),
                              stump(2, [-3e9], [4e9])), X_ONE, unit=0)  # fmt: skip


# -------------------------------------------------------------------- words


def test_sides_that_matter() -> None:
    """In the tree, b above 1 and at most 3 is yes, and so is a above 2."""
    tree = Tree(
        [0, 1, -1, 1, -1, -1, -1],
        [0, 0, 0, 1, 0, 0, 0],
        [0] * 7,
        [[-1.0], [1.0], [-1.0], [1.0]],
        (0,),
    )
    names = [Attribute("a"), Attribute("b")]
    model = TreeModel(names, ["no", "yes"], [tree], [[2], [1, 3]], "sum", "positive", [0])
    assert str(solve(SufficientReason(model, (0, 2))).explanation) == "1 < b <= 3 => yes"
    assert str(solve(SufficientReason(model, (5, 0))).explanation) == "a > 2 => yes"
    no = solve(SufficientReason(model, (0, 0)))
    assert str(no.explanation) == "a <= 2 and b <= 1 => no"
    assert no.explanation.guarantee == "a <= 2 and b <= 1 force no"


@each(range(80), 20)
def test_what_is_printed_is_true_of_all_rows_in_it(seed: int) -> None:
    """Rows in the printed intervals, not only those in the cells of x, get the class."""
    problem = random_reason(seed, level="attributes")
    result = solve(problem)
    if result.explanation is None:
        return
    grid = np.arange(-1, 7, 0.5)
    columns = []
    rule = result.explanation.rule
    parts = dict(zip(rule.features, rule.conditions or [one.means for one in rule.literals]))
    for a, attribute in enumerate(problem.tree_model.attributes):
        listed = attribute.values or ((0.0, 1.0) if attribute.kind == "boolean" else grid)
        values = [v for v in listed if attribute.interval[0] <= v <= attribute.interval[1]]
        if attribute.kind == "integer":
            values = [v for v in values if v == round(v)]
        if attribute.missing:
            values.append(np.nan)
        columns.append([v for v in values if a not in parts or _true(parts[a], attribute, v)])
        assert columns[-1]
    rows = np.stack([g.ravel() for g in np.meshgrid(*columns, indexing="ij")], axis=1)
    assert (problem.tree_model.predict_index(rows) == problem.label_index).all()


def _true(said: object, attribute: Attribute, value: float) -> bool:
    if isinstance(said, OneOf):
        return not np.isnan(value) and attribute.called(value) in said.labels
    if "missing" in str(said):
        return bool(np.isnan(value)) != ("not" in str(said))
    return bool(eval(str(said).replace(" = ", " == "), {attribute.name: value}))


# -------------------------------------------------------------------- files


@each(range(40), 15)
def test_saved_and_loaded(seed: int, tmp_path) -> None:
    problem = random_reason(seed)
    save(problem, tmp_path / "reason.json.gz")
    again = load(tmp_path / "reason.json.gz")
    assert isinstance(again, SufficientReason)
    assert again.to_dict() == problem.to_dict()
    assert again.tree_model == problem.tree_model
    assert instances.fingerprint(again) == instances.fingerprint(problem)


def test_instances_fit_the_schema() -> None:
    validator = pytest.importorskip("jsonschema").Draft202012Validator(instances.schema())
    for seed in range(20):
        validator.validate(json.loads(instances.dumps(random_reason(seed))))


def _saved() -> dict[str, Any]:
    return json.loads(instances.dumps(SufficientReason(SUM, X_ONE, weights=(1, 2, 3))))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("x"), "the key 'x' is missing"),
        (lambda d: d.pop("model"), "the key 'model' is missing"),
        (lambda d: d["parameters"].pop("definition"), "the key 'definition' is missing"),
        (lambda d: d["parameters"].update(k=3), "unknown parameter 'k'"),
        (lambda d: d.update(samples=["1"]), "unknown key 'samples'"),
        (lambda d: d["model"].update(rule="sums"), "model: rule must be one of"),
        (lambda d: d.update(x=[1, 2]), "x must have 3 values, got 2"),
        (lambda d: d.update(x="111"), "x must be a list"),
        (lambda d: d.update({"class": "no"}), "label is 'no', and the model gives x 'yes'"),
    ],
)
def test_wrong_files(change: Any, message: str, tmp_path) -> None:
    data = _saved()
    change(data)
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(data))
    with pytest.raises(InvalidInstance, match=message):
        load(path)


# ------------------------------------------------------------------ checker


def _set(key: str, value: Any) -> Any:
    return lambda result: result.update({key: value})


@pytest.mark.parametrize(
    ("corrupt", "message"),
    [
        (_set("objective", 1), "objective: the result says 1, the data give 2"),
        (lambda r: r["explanation"].update(features=[0, 2, 1]), "objective|can be left out"),
        (lambda r: r["explanation"].update(features=[0]), "not enough|objective"),
        (lambda r: r["explanation"].update(features=[0, 0]), "names a feature twice"),
        (lambda r: r["explanation"].update(features=[0, 3]), "not all indices from 0 to 2"),
        (lambda r: r.update(status="INFEASIBLE", explanation=None), "are enough together"),
        (_set("status", "INFEASIBLE"), "are enough together"),
        (_set("explanation", None), "OPTIMAL without an explanation"),
        (_set("bound", 3), "bound: 3 is beyond"),
        (
            lambda r: r["explanation"]["rule"]["literals"][0][1].update(column="z"),
            "'z', .* is not what feature 1 says",
        ),
    ],
)
def test_the_checker_finds_what_is_wrong(corrupt: Any, message: str) -> None:
    problem = SufficientReason(SUM, X_ONE)
    result = solve(problem).to_dict()
    assert violations(problem.to_dict(), result) == []
    corrupt(result)
    found = violations(problem.to_dict(), result)
    assert found
    assert re.search(message, " ".join(found)), found


def test_the_checker_knows_a_larger_answer_from_a_minimum() -> None:
    problem = SufficientReason(SUM, X_ONE)
    large = solve(SufficientReason(SUM, X_ONE, required=("a", "b", "c"))).to_dict()
    # That what was required was so is another claim.
    del large["explanation"]["claim"]["over"]["required"]
    found = violations(problem.to_dict(), large)
    assert found == ["status: OPTIMAL, but the feature 0 can be left out"]
    instance = problem.to_dict() | {"class": "no"}
    assert violations(instance, large) == ["class: the instance says 'no', the model gives 'yes'"]


# -------------------------------------------------------------- real models


def test_a_tree_of_scikit_learn_on_a_real_table() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = read_model(DecisionTreeClassifier(random_state=0).fit(X, y))
    for level in ("attributes", "conditions"):
        problem = SufficientReason(model, X.iloc[0], level=level)
        values = {solve(problem, engine).objective for engine in ("cpsat", "maxsat", "milp")}
        assert values == {3}


@pytest.mark.slow
def test_a_forest_and_its_definitions() -> None:
    """Every tree-specific reason is one in the full sense, by both oracles."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    forest = RandomForestClassifier(15, max_depth=4, random_state=0).fit(X, y)
    model = read_model(forest)
    for i in range(0, 150, 10):
        problem = SufficientReason(model, X.iloc[i])
        found = {engine: solve(problem, engine) for engine in ("cpsat", "maxsat", "milp")}
        assert len({result.objective for result in found.values()}) == 1
        assert all(result.verified for result in found.values())
        full = SufficientReason(model, X.iloc[i], definition="sufficient")
        explanation = found["cpsat"].explanation
        assert explanation is not None
        assert full.evaluate(explanation).feasible
