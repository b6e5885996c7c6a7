"""Networks at the doors of reasons and contrasts: pipelines, words, what is refused by name."""

from __future__ import annotations

import itertools
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import typer.testing
from sklearn.compose import make_column_transformer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer, OneHotEncoder, StandardScaler

import cpx
from cpx.answers.explanations import Unanswered
from cpx.cli.app import app
from cpx.errors import CpxError, Infeasible, InvalidOption, UnsupportedModel
from cpx.models.sufficient_reason.networks.contrast import _Asked
from cpx.models.sufficient_reason.networks.network import Column, Layer, Network
from cpx.trees import Attribute

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@cache
def _table() -> tuple[pd.DataFrame, Any]:
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": random.integers(18, 80, 200).astype(float),
            "city": random.choice(["Lens", "Lille", "Arras"], 200),
            "pay": random.normal(30, 9, 200).round(1),
            "old": random.integers(0, 2, 200),
        }
    )
    y = np.where(X.age / 20 + 2 * (X.city == "Lens") + X.pay / 15 + X.old > 6, "yes", "no")
    return X, y


@cache
def _model(**options: Any) -> Any:
    X, y = _table()
    front = make_column_transformer(
        (StandardScaler(), ["age", "pay"]), (OneHotEncoder(), ["city"]), remainder="passthrough"
    )
    network = MLPClassifier((7,), random_state=0, max_iter=400, **options)
    return make_pipeline(front, network).fit(X, y)


def test_a_pipeline_is_explained_in_the_words_of_its_table() -> None:
    X, _ = _table()
    ex = cpx.Explainer(_model(), X, class_names={"yes": "granted"}, words={"age": "Age"})
    told = str(ex.reason(0))
    assert "Age" in told or "city" in told
    grid = [sorted(X.city.unique()), [0, 1]]
    numbers = [np.linspace(X[c].min(), X[c].max(), 7) for c in ("age", "pay")]
    rows = pd.DataFrame(
        [*itertools.product(numbers[0], grid[0], numbers[1], grid[1])], columns=X.columns
    )
    for place in range(0, 200, 50):
        found, x = ex.reason(place), X.iloc[place]
        assert found.verified
        assert found.minimum
        same = rows.copy()
        kept = [X.columns[j] for j in found.rule.features]
        same[kept] = x[kept].tolist()
        assert {*_model().predict(same)} == {_model().predict(X.iloc[[place]])[0]}
        change = ex.contrast(place)
        assert change.minimum
        assert change.sets
        other = X.iloc[[place]].copy()
        for name, value in change.values.items():
            other[name] = value
        assert _model().predict(other)[0] != _model().predict(X.iloc[[place]])[0]
        # No column of fewer has another class at any of the values of the grid.
        for free in itertools.combinations(X.columns, len(change.values) - 1):
            near = rows.copy()
            rest = [c for c in X.columns if c not in free]
            near[rest] = x[rest].tolist()
            assert len({*_model().predict(near)}) == 1


def test_what_may_change_is_heard() -> None:
    X, _ = _table()
    ex = cpx.Explainer(_model(), X)
    change = ex.contrast(0, actionable=["city", "age"], ranges={"age": (20, 70)})
    assert {*change.values} <= {"city", "age"}
    assert 20 <= change.values.get("age", 20) <= 70
    own = X.city[0]
    none = ex.contrast(0, actionable="city", ranges={"city": [own]})
    assert isinstance(none, Unanswered)
    assert isinstance(none.error, Infeasible)
    several = ex.contrast(0, n=3)
    sets = [{*one.rule.features} for one in (several, *several.others)]
    assert not any(a <= b for a, b in itertools.combinations(sets, 2))
    label = _model().predict(X.iloc[[0]])[0]
    assert str(ex.contrast(0, target="no" if label == "yes" else "yes").rule) == str(
        ex.contrast(0).rule
    )


def test_the_class_that_is_wanted_among_three() -> None:
    X = pd.DataFrame(np.random.default_rng(0).random((150, 3)).round(2), columns=[*"abc"])
    y = np.where(X.a > 0.6, "low", np.where(X.b + X.c > 1, "mid", "high"))
    model = MLPClassifier((4,), random_state=0, max_iter=800, solver="lbfgs").fit(X, y)
    ex, axis = cpx.Explainer(model, X), np.linspace(0, 1, 21)
    grid = pd.DataFrame(list(itertools.product(axis, axis, axis)), columns=X.columns)
    grid = X.min() + grid * (X.max() - X.min())
    i = 0
    for wanted in ("low", "mid", "high"):
        if model.predict(X.iloc[[i]])[0] == wanted:
            continue
        found = ex.contrast(i, target=wanted, time_limit=None)
        assert found.claim.optimal
        assert found.rule.conclusion == wanted
        assert model.predict(X.iloc[[i]].assign(**found.values))[0] == wanted
        for free in itertools.combinations(X.columns, len(found.values) - 1):
            near = grid.copy()
            rest = [c for c in X.columns if c not in free]
            near[rest] = X.loc[i, rest].tolist()
            assert wanted not in model.predict(near)


@pytest.mark.parametrize("activation", ["relu", "identity"])
def test_a_class_against_the_rest_has_the_same_scores(activation: Any) -> None:
    random = np.random.default_rng(1)
    for classes in (3, 4, 6):
        sizes = [2, 3, 2, classes]
        layers = [
            Layer(random.normal(size=(m, n)), random.normal(size=m))
            for n, m in itertools.pairwise(sizes)
        ]
        columns = [
            Column(Attribute(a, lower=-1, upper=1), (i,), (-1, 1)) for i, a in enumerate("ab")
        ]
        network = Network(layers, columns, [*range(classes)], "first", activation)
        for k, point in itertools.product(range(classes), random.normal(size=(3, 2)).tolist()):
            scores = [*network.scores(point)]
            own = scores.pop(k)
            assert network.against_rest(k).scores(point) == (own, max(scores))


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda X: cpx.explain(_model(), None, X.iloc[0], kind="reason"), "give X"),
        (lambda X: cpx.explain(_model(), X, 0, kind="reason", level="intervals"), "tree models"),
        (
            lambda X: cpx.explain(_model(), X, 0, kind="contrast", ranges={"age": ("a", 9)}),
            "least",
        ),
        (lambda X: cpx.explain(_model(), X, 0, kind="contrast", frozen="agee"), "no column"),
        (
            lambda X: cpx.explain(_model(), X, 0, kind="contrast", ranges={"age": (0, 1)}),
            "out of its range",
        ),
        (lambda X: cpx.explain(_model(), X, 0, kind="expectation", k=1), "is a network"),
        (lambda X: cpx.read_model(_model()), "kind='reason' and kind='contrast'"),
        (lambda X: cpx.explain(_model(activation="tanh"), X, 0, kind="reason"), "tanh"),
        (lambda X: cpx.explain(MLPClassifier(), X, 0, kind="reason"), "not fitted"),
        (lambda X: cpx.explain(_model(), X, 0, kind="reason", above=3), "numbers"),
        (lambda X: cpx.explain(_model(), X.assign(age=np.nan), 0, kind="reason"), "age"),
    ],
)
def test_what_is_not_read_or_asked_is_refused_by_name(ask: Any, told: str) -> None:
    with pytest.raises(CpxError, match=told):
        ask(_table()[0])


def test_steps_are_listed_and_a_model_that_answers_otherwise_is_refused() -> None:
    X, y = _table()
    numbers = X[["age", "pay"]].to_numpy()
    steps = make_pipeline(Binarizer(threshold=40), MLPClassifier((3,), random_state=0))
    steps.fit(numbers, y)
    problem = cpx.Explainer(steps, numbers).problem(numbers[0], kind="reason")
    assert [len(column.listed) for column in problem.network.columns] == [2, 2]

    class Contrary(MLPClassifier):  # type: ignore[misc]
        def predict(self, rows: Any) -> Any:
            return np.full(len(rows), "no")

    contrary = Contrary((3,), random_state=0, max_iter=60).fit(numbers / 50, y)
    x = next(x for x in numbers / 50 if MLPClassifier.predict(contrary, [x])[0] == "yes")
    with pytest.raises(UnsupportedModel, match=r"Contrary\.predict gives x the class 'no'"):
        cpx.explain(contrary, numbers / 50, x, kind="reason")


def test_a_change_is_brought_near_in_short_numbers() -> None:
    X, _ = _table()
    ex = cpx.Explainer(_model(), X)
    by, question = ex.of("contrast"), ex.of("contrast").asks[0]()
    asked = _Asked(by.network, question, X.iloc[0])
    change = ex.contrast(0, frozen="city")
    row = [*asked.x]
    for j in change.rule.features:
        row[j] = change.values[X.columns[j]]
    assert asked._changes(row)
    assert all(len(repr(float(v))) < 12 for v in change.values.values())


def test_plausible_changes_are_the_fewest_columns_of_seen_values() -> None:
    X, _ = _table()
    model, ex = _model(), cpx.Explainer(_model(), X)
    values = {name: X[name].unique() for name in X}
    for i, rarest in ((0, 0.4), (4, 0.05)):
        x = X.iloc[[i]]
        change = ex.contrast(i, plausible=rarest)
        seen = ex.of("contrast").seen
        rarity = seen.rarity(ex.of("contrast").network.columns, seen.numbers[i], rarest)
        assert all(v in values[name] for name, v in change.values.items())
        least = 0
        for S in itertools.chain(*(itertools.combinations(X, k) for k in (1, 2))):
            rows = pd.DataFrame(itertools.product(*(values[n] for n in S)), columns=S)
            rows = rows.assign(**{n: x[n].item() for n in X if n not in S})[[*X]]
            rows = rows[model.predict(rows) != model.predict(x)[0]]
            numbers = rows.replace({"city": {"Arras": 0.0, "Lens": 1.0, "Lille": 2.0}})
            if (
                len(rows)
                and (rarity.log_likelihood(numbers.to_numpy(float)) >= rarity.least).any()
            ):
                least = len(S)
                break
        assert change.minimum
        assert change.claim.value == least


def test_the_shell_explains_and_saves(tmp_path: Path) -> None:
    import joblib

    X, y = _table()
    joblib.dump(_model(), tmp_path / "m.joblib")
    X.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    table = [str(tmp_path / "t.csv"), "--target", "y", "--row", "0"]
    model = ["--model", str(tmp_path / "m.joblib"), "--trust"]

    def run(*args: str) -> str:
        done = typer.testing.CliRunner().invoke(app, args)
        assert done.exit_code == 0, done.output
        return done.output

    told = run("explain", *table, *model, "--kind", "reason")
    assert "whatever the other" in told
    assert "by predict alone" not in told
    saved, result = str(tmp_path / "p.json"), str(tmp_path / "r.json")
    run("make", "reason", *table, *model, "-o", saved)
    assert json.loads(Path(saved).read_text())["problem"] == "network-reason"
    run("solve", saved, "-o", result)
    assert "OK OPTIMAL" in run("check", saved, result)


def test_no_option_of_readers_is_passed_over() -> None:
    X, _ = _table()
    with pytest.raises(InvalidOption, match="rounds is no option of networks"):
        cpx.explain(_model(), X, 0, kind="reason", rounds=3)
