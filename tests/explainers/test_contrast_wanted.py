"""Changes to a class that is named, within ranges, plausible, several: against all changes."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import cpx
from cpx.errors import (
    CheckFailed,
    DataError,
    InvalidInstance,
    InvalidOption,
    UnsupportedModel,
)
from cpx.models.sufficient_reason import change_problem, seen_values
from cpx.models.sufficient_reason.contrast import ContrastExplainer
from cpx.models.sufficient_reason.judge_change import Change, no_lighter
from cpx.models.sufficient_reason.methods.smallest_change import contrastive
from cpx.trees import read_model

RANDOM = np.random.default_rng(3)
X = pd.DataFrame(RANDOM.integers(0, 4, (200, 4)).astype(float), columns=list("abcd"))
Y = ((X["a"] + X["b"] * X["c"]) % 5).astype(int).map(dict(enumerate("vwxyz"))).to_numpy()
MODELS = [
    DecisionTreeClassifier(max_depth=5, random_state=0).fit(X, Y),
    RandomForestClassifier(7, max_depth=4, random_state=0).fit(X, Y),
    GradientBoostingClassifier(n_estimators=3, random_state=0).fit(X, Y),
]
VALUES = (-0.5, 0.5, 1.5, 2.5, 3.5)
"""One value in each cell of whole numbers from 0 to 3, and none that is a threshold."""


def every_change(
    model: Any, x: np.ndarray, target: str | None, allowed: dict[int, tuple[float, float]]
) -> dict[tuple[int, ...], bool]:
    """Return whether a change of each set of columns gives what is wanted."""
    rows = pd.DataFrame(product(*([own, *VALUES] for own in x)), columns=X.columns)
    changes = np.array([*product(*([False] + [True] * len(VALUES) for _ in x))])
    said = model.predict(rows)
    wanted = said == target if target else said != said[0]  # the first row is x
    for c, (low, high) in allowed.items():
        wanted &= rows.iloc[:, c].between(low, high) | ~changes[:, c]
    return {
        columns: bool(wanted[~np.delete(changes, columns, axis=1).any(axis=1)].any())
        for size in range(1, 5)
        for columns in combinations(range(4), size)
    }


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("ranged", [False, True])
def test_none_that_is_wanted_is_lighter(model: Any, ranged: bool) -> None:
    explainer = cpx.Explainer(model, X)
    for i in (0, 11):
        x = X.iloc[i].to_numpy()
        own = model.predict(X.iloc[[i]])[0]
        weights = RANDOM.integers(1, 4, 4).tolist()
        # The range of b may leave out the value of x, which may stay all the same.
        ranges = {"a": (0, 2.5), "b": (1, None)} if ranged else None
        allowed = {0: (0.0, 2.5), 1: (1.0, 9.0)} if ranged else {}
        for target in sorted({*Y} - {own}):
            gives = every_change(model, x, target, allowed)
            costs = [sum(weights[c] for c in s) for s, yes in gives.items() if yes]
            asked = {"target": target, "ranges": ranges, "weights": weights}
            if not costs:
                assert f"gives {target}" in explainer.contrast(i, **asked).why
                continue
            found = explainer.contrast(i, **asked)
            assert found.result.proved
            assert found.weight == min(costs)
            assert found.rule.conclusion == target
            row = X.iloc[[i]].assign(**found.values)
            assert model.predict(row)[0] == target
            changed = np.flatnonzero(row.to_numpy()[0] != x)
            assert sum(weights[c] for c in changed) == found.weight
            for c in changed:
                low, high = allowed.get(c, (-np.inf, np.inf))
                assert low <= row.iloc[0, c] <= high
            assert "; checked by" in found.proved or "the engine's word" in found.summary()


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_several_are_all_of_the_minimal_ones(model: Any) -> None:
    explainer = cpx.Explainer(model, X)
    x, own = X.iloc[3].to_numpy(), model.predict(X.iloc[[3]])[0]
    for target in (None, *sorted({*Y} - {own})[:2]):
        gives = every_change(model, x, target, {})
        minimal = {
            s for s, yes in gives.items()
            if yes and not any(gives[t] for t in gives if {*t} < {*s})
        }  # fmt: skip
        found = explainer.contrast(3, target=target, n=20)
        listed = [found, *found.others]
        assert {one.rule.features for one in listed} == minimal
        assert [one.weight for one in listed] == sorted(map(len, minimal))
        assert f"{len(minimal)} change" in found.notes[-1]
        assert len(explainer.contrast(3, target=target, n=2).others) == min(len(minimal), 2) - 1


def test_a_plausible_change_has_values_of_the_table() -> None:
    iris, y = load_iris(return_X_y=True, as_frame=True)
    forest = RandomForestClassifier(15, max_depth=4, random_state=0).fit(iris, y)
    explainer = cpx.Explainer(forest, iris)
    bare = explainer.contrast(0, target=2)
    rare = []
    for least in (0.02, 0.3):
        found = explainer.contrast(0, target=2, plausible=least)
        row = iris.iloc[[0]].assign(**found.values)
        assert forest.predict(row)[0] == 2
        assert all(value in iris[name].to_numpy() for name, value in found.values.items())
        assert found.weight >= bare.weight
        told = next(note for note in found.notes if "as rare or rarer" in note)
        share = int(told.split("; ")[1].split(" %")[0])
        assert share >= 100 * least - 1
        rare.append(found.weight)
    assert rare == sorted(rare)
    with pytest.raises(InvalidOption, match="plausible needs X"):
        cpx.explain(forest, None, iris.iloc[0], kind="contrast", plausible=True)


def test_no_plausible_change_is_smaller() -> None:
    # In the table a and b are the same: one alone may not change, though the tree tests a only.
    a = np.repeat([0.0, 1.0], 100)
    rows = pd.DataFrame({"a": a, "b": a, "c": np.tile([0.0, 1.0], 100)})
    tree = DecisionTreeClassifier(random_state=0).fit(rows[["a", "b", "c"]], a)
    explainer = cpx.Explainer(tree, rows)
    assert explainer.contrast(0).weight == 1
    tested = explainer.contrast(0).rule.features
    assert tested == (0,) or tested == (1,)
    # The other column is tested by nothing: it stays, and the pair is one that is never seen.
    none = explainer.contrast(0, plausible=0.4)
    assert none.result.proved
    assert "no change of columns that is as plausible gives another class" in none.why


@pytest.mark.parametrize("n_classes", [2, 3])
def test_groups_of_values_lose_no_plausible_change(
    n_classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A sum of columns of 40 values each, in six groups: against all rows with values of these.
    monkeypatch.setattr(seen_values, "_MOST_GROUPS", 6)
    random = np.random.default_rng(1)
    rows = pd.DataFrame(random.normal(size=(40, 3)).round(2), columns=list("abc"))
    rows.loc[rows["a"] > 0, "b"] += 1
    score = rows["a"] - rows["b"] + 0.4 * rows["c"]
    model = LogisticRegression().fit(rows, np.digitize(score, [-0.6, 0.4][-n_classes + 1 :]))
    explainer = ContrastExplainer(model, rows)
    weights = set()
    for i in range(5):
        x, own = rows.to_numpy()[i], model.predict(rows.iloc[[i]])[0]
        every = np.stack(np.meshgrid(*([v, *set(c)] for v, c in zip(x, rows.to_numpy().T))), -1)
        every = every.reshape(-1, 3)
        rarity = explainer.seen.rarity(explainer.model, x.tolist(), 0.3)
        likely = rarity.log_likelihood(every) >= rarity.least
        said = model.predict(pd.DataFrame(every, columns=rows.columns))
        for target in (None, *{*range(n_classes)} - {own})[: 1 + n_classes % 2]:
            wanted = likely & (said != own if target is None else said == target)
            found = explainer.answer(i, plausible=0.3, target=target).result
            if not found.proved:
                assert (n_classes, target is None) == (3, False)
            elif found.explanation is None:
                assert not wanted.any()
            else:
                weights.add(found.objective)
                assert found.objective == (every != x)[wanted].sum(axis=1).min()
    assert {1, 2} <= weights


def test_numbers_are_reached_too() -> None:
    numbers = 10.0 * X["a"] + X["b"]
    tree = DecisionTreeRegressor(max_depth=5, random_state=0).fit(X, numbers)
    explainer = cpx.Explainer(tree, X, between=(10, 19))
    for i in range(4):
        if not 10 <= tree.predict(X.iloc[[i]])[0] <= 19:
            found = explainer.contrast(i, target="between 10 and 19")
            assert 10 <= tree.predict(X.iloc[[i]].assign(**found.values))[0] <= 19


# ------------------------------------------------------------ any classifier


TEXTS = X.assign(city=np.array(["Ulm", "Kiel", "Jena"])[RANDOM.integers(0, 3, 200)])


def approved(rows: pd.DataFrame) -> Any:
    return np.where((rows["city"] == "Kiel") & (rows["a"] >= 2) | (rows["b"] > 2), "yes", "no")


def test_a_search_finds_changes_of_any_classifier() -> None:
    explainer = cpx.Explainer(approved, TEXTS)
    for i in np.flatnonzero(approved(TEXTS) == "no")[:4].tolist():
        found = explainer.contrast(i, n=2)
        row = TEXTS.iloc[[i]].assign(**found.values)
        assert approved(row)[0] == "yes"
        assert len(found.values) == 1
        assert not found.result.proved
        assert "found by a search on rows: that none is smaller is not proved" in found.proved
        (other,) = found.others
        assert approved(TEXTS.iloc[[i]].assign(**other.values))[0] == "yes"
        assert {*found.values, *other.values} > {"b"}
        held = explainer.contrast(i, frozen=["b"], ranges={"city": ["Kiel"], "a": (3, None)})
        assert held.values.get("a", 3.0) == 3.0
        assert held.values.get("city", "Kiel") == "Kiel"
    none = explainer.contrast(0 if approved(TEXTS)[0] == "no" else 1, actionable=["d"])
    assert "was found by a search on rows; one may be there" in none.why


def test_a_search_counts_weights_and_names_classes() -> None:
    i = int(np.flatnonzero((approved(TEXTS) == "no") & (TEXTS["a"] >= 2))[0])
    explainer = cpx.Explainer(approved, TEXTS, class_names={"no": "refused", "yes": "granted"})
    found = explainer.contrast(i, weights={"b": 9}, target="granted")
    assert found.values == {"city": "Kiel"}
    assert str(found).endswith("gives granted in place of refused")
    with pytest.raises(InvalidOption, match="target is the class of x"):
        explainer.contrast(i, target="no")
    with pytest.raises(InvalidOption, match="plausible is for tree models"):
        explainer.contrast(i, plausible=True)
    with pytest.raises(DataError, match="frozen: 'e' is no column of X"):
        explainer.contrast(i, frozen=["e"])


def test_a_model_of_another_kind_is_searched_and_told() -> None:
    neighbours = KNeighborsClassifier().fit(X, Y)
    found = cpx.explain(neighbours, X, 0, kind="contrast")
    assert neighbours.predict(X.iloc[[0]].assign(**found.values))[0] == found.rule.conclusion
    assert any("not read as trees" in note for note in found.notes)
    with pytest.raises(UnsupportedModel, match="with X a change is searched for on its rows"):
        cpx.explain(neighbours, None, X.iloc[0], kind="contrast")


# ------------------------------------------------------------------ its judge


def judged(**changed: Any) -> Change:
    model, x = read_model(MODELS[1]), X.iloc[0].tolist()
    found = contrastive(model, x)
    row = list(x)
    for a in found.attributes or ():
        column = np.tile(x, (len(VALUES), 1))
        column[:, a] = VALUES
        cells = model.cells(column)[:, a]
        row[a] = VALUES[int(np.flatnonzero(cells == (found.cells or ())[a])[0])]
    own = model.predict([x])[0]
    data: dict[str, Any] = {"model": model.to_dict(), "x": x, "row": row, "kept": ()}
    data |= {"wanted": [c for c in model.classes if c != own], "weights": [1] * 4}
    data["chosen"] = [a for a in range(4) if row[a] != x[a]]
    return Change(**(data | changed))


def test_the_judge_refuses_what_is_no_change() -> None:
    fine = judged()
    size = len(fine.columns)
    assert fine.violations(size) == []
    assert "weighs" in fine.violations(size + 1)[0]
    assert "may not change" in judged(kept=fine.columns).violations(size)[0]
    assert "the changed row gets" in judged(wanted=["none"]).violations(size)[-1]
    assert "the changed row gets" in judged(row=fine.x).violations(size)[-1]
    assert "changes, too" in judged(chosen=()).violations(0)[0]
    limited = {
        **fine.model,
        "attributes": [{**a, "upper": (-1.0).hex()} for a in fine.model["attributes"]],
    }
    assert "cannot be" in judged(model=limited).violations(size)[0]


def test_the_judge_confirms_a_bound_by_true_sets_only() -> None:
    model, x = read_model(MODELS[1]), X.iloc[0].tolist()
    found, fine = contrastive(model, x), judged()
    assert found.upper is not None
    assert fine.showing(found.reasons, found.upper, 9) is not None
    assert fine.showing(found.reasons, found.upper + 1, 9) is None
    # Sets that no change need meet confirm nothing.
    changed = found.attributes or ()
    wrong = [[a] for a in range(4) if a not in changed]
    assert fine.showing([*wrong, *found.reasons[:0]], found.upper + 1, 9) is None
    assert fine.showing([[]], 9, 9) is None


@pytest.mark.parametrize("seed", range(30))
def testno_lighter_set_meets_all(seed: int) -> None:
    random = np.random.default_rng(seed)
    weights = random.integers(1, 4, 6).tolist()
    sets = [
        frozenset(random.choice(6, random.integers(1, 4), False).tolist())
        for _ in range(random.integers(1, 6))
    ]
    least = min(
        sum(weights[a] for a in chosen)
        for size in range(7)
        for chosen in combinations(range(6), size)
        if all(s & {*chosen} for s in sets)
    )
    assert no_lighter(sets, weights, least, float("inf"))
    assert not no_lighter(sets, weights, least + 1, float("inf"))


def test_a_wrong_change_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        change_problem, "new_values", lambda model, x, ranges, seen: {a: x[a] for a in ranges}
    )
    with pytest.raises((CheckFailed, UnsupportedModel)):
        cpx.Explainer(read_model(MODELS[1]).with_missing("auto"), X).contrast(0)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"target": "q"}, "target: there is no class 'q'"),
        ({"ranges": {"a": 3}}, r"ranges: 'a' must have \(least, greatest\) or a list"),
        ({"ranges": {"a": (3, 1)}}, "ranges: 'a': 3 is more than 1"),
        ({"ranges": {"a": ("low", 1)}}, "ranges: 'a' must have"),
        ({"n": 0}, "n must be"),
        ({"plausible": 2}, "plausible must be"),
    ],
)
def test_what_is_asked_wrongly(asked: dict[str, Any], told: str) -> None:
    with pytest.raises((InvalidOption, InvalidInstance), match=told):
        cpx.Explainer(MODELS[0], X).contrast(0, **asked)


def test_a_saved_change_reads_back() -> None:
    found = cpx.Explainer(MODELS[0], X).contrast(0, n=3)
    again = type(found).from_dict(found.to_dict())
    assert again == found
    assert again.summary().splitlines()[0] == str(found)
