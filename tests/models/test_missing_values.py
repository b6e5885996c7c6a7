"""Which values rows may lack is part of what a reason says, for all readers."""

from __future__ import annotations

import copy
import itertools
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

import cpx
from cpx import check
from cpx.errors import DataError, InvalidOption
from cpx.modelling import instances
from cpx.models.sufficient_reason.methods import contrastive
from cpx.trees import TreeModel, read_model, read_sklearn

NAMES = ["income", "phone", "age"]
REASON: dict[str, Any] = {"kind": "reason", "time_limit": None}


def learners(seed: int = 0) -> dict[str, Any]:
    """Return small models of all libraries that are there, not fitted."""
    found: dict[str, Any] = {
        "tree": DecisionTreeClassifier(max_depth=4, random_state=seed),
        "extra tree": ExtraTreeClassifier(max_depth=4, random_state=seed),
        "forest": RandomForestClassifier(3, max_depth=3, random_state=seed),
        "extra forest": ExtraTreesClassifier(3, max_depth=3, random_state=seed),
        "histograms": HistGradientBoostingClassifier(
            max_iter=3, max_depth=3, min_samples_leaf=2, early_stopping=False
        ),
    }
    try:
        import lightgbm
        import xgboost
    except ImportError:
        return found
    shape: dict[str, Any] = {"n_estimators": 3, "max_depth": 3, "n_jobs": 1}
    own: dict[str, Any] = {"min_child_samples": 2, "verbose": -1, "min_data_in_bin": 1}
    found["lightgbm"] = lightgbm.LGBMClassifier(**shape, **own)
    found["xgboost"] = xgboost.XGBClassifier(**shape)
    return found


LEARNERS = [*learners()]


def table(seed: int, gaps: Sequence[str] = ("phone",), n: int = 150) -> tuple[pd.DataFrame, Any]:
    """Return a table of the numbers 0 to 2 with gaps, which tell of the class."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 3, (n, 3)).astype(float), columns=NAMES)
    y = (X.income > 0) & (X.age + X.phone > rng.integers(0, 3, n))
    for name in gaps:
        gone = rng.random(n) < 0.25
        X.loc[gone, name] = np.nan
        y &= ~gone | (X.age == 2)
    return X, y.to_numpy().astype(int)


def fitted(which: str, X: Any, y: Any, seed: int = 0) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return learners(seed)[which].fit(X, y)


def rows_that_agree(x: Any, chosen: Sequence[int], lacking: set[str]) -> np.ndarray[Any, Any]:
    """Return all rows of the numbers 0 to 2 with the values of x in some columns."""
    columns = [
        [x[a]] if a in chosen else [0.0, 1.0, 2.0, *([np.nan] if name in lacking else [])]
        for a, name in enumerate(NAMES)
    ]
    return np.array([*itertools.product(*columns)])


def smallest(model: Any, x: Any, lacking: set[str]) -> int:
    """Return the size of a smallest reason, by asking the library about all rows."""
    (label,) = predicted(model, x.to_numpy()[None])
    return next(
        size
        for size in range(len(NAMES) + 1)
        for chosen in itertools.combinations(range(len(NAMES)), size)
        if (predicted(model, rows_that_agree(x.tolist(), chosen, lacking)) == label).all()
    )


def predicted(model: Any, rows: Any) -> Any:
    return model.predict(pd.DataFrame(rows, columns=NAMES))


def policies(shown: set[str]) -> Iterator[tuple[Any, set[str]]]:
    """Yield what can be said of missing values, and the columns that may then lack them."""
    yield "auto", shown
    yield "never", set()
    yield "always", {*NAMES}
    yield ["age", "phone"], {"age", "phone"}


@pytest.mark.parametrize("which", LEARNERS)
def test_reasons_are_smallest_for_all_rows_that_they_speak_of(which: str) -> None:
    """The library is asked about every row, with and without the values that may be missing."""
    for seed in range(2):
        X, y = table(seed, ["phone"] if seed % 2 else ["phone", "age"])
        model = fitted(which, X, y, seed)
        shown = {a.name for a in read_model(model).attributes if a.missing}
        assert shown <= {*X.columns[X.isna().any()]}
        x = X.dropna().iloc[seed]
        label = predicted(model, x.to_numpy()[None])[0]
        for missing, lacking in policies(shown):
            found = cpx.explain(model, None, x, missing=missing, **REASON)
            assert found.verified
            assert found.weight == smallest(model, x, lacking)
            rows = rows_that_agree(x.tolist(), found.features, lacking)
            assert (predicted(model, rows) == label).all()
            told = str(found)
            others = {*NAMES} - {NAMES[a] for a in found.features}
            if lacking >= others:
                assert "only" not in told
                assert "none of" not in told
            elif lacking & others:
                named = [name for name in NAMES if name in lacking & others]
                assert (
                    f"of which only {', '.join(named)} may be missing" in told
                    or not {*(NAMES[a] for a in read_model(model).used)} & others - lacking
                )


@pytest.mark.parametrize("definition", ["majoritary", "tree-specific"])
def test_other_definitions(definition: Any) -> None:
    for seed in range(4):
        X, y = table(seed)
        model = fitted("forest", X, y, seed)
        trees = read_model(model, rule="vote" if definition == "majoritary" else "average")
        assert [a.name for a in trees.attributes if a.missing] in (["phone"], [])
        x = X.dropna().iloc[0]
        for missing, lacking in policies({a.name for a in trees.attributes if a.missing}):
            named = trees.with_missing(missing)
            (label,) = named.predict(x.to_numpy())
            try:
                found = cpx.explain(named, None, x, definition=definition, **REASON)
            except cpx.errors.EngineError:  # there is no majoritary reason
                continue
            rows = rows_that_agree(x.tolist(), found.features, lacking)
            assert found.verified
            assert (named.predict(rows) == label).all()


@pytest.mark.parametrize("which", LEARNERS)
def test_what_models_show_of_missing_values(which: str) -> None:
    """A column without gaps is never said to have them; gaps that matter mostly show."""
    seen = {"phone": 0, "age": 0, "income": 0}
    for seed in range(8):
        for attribute in read_model(fitted(which, *table(seed), seed)).attributes:
            seen[attribute.name] += attribute.missing
        complete = read_model(fitted(which, *table(seed, []), seed))
        assert not any(a.missing for a in complete.attributes)
    assert seen["income"] == seen["age"] == 0
    assert (seen["phone"] > 0) == (which != "xgboost")
    assert which not in ("forest", "histograms", "lightgbm") or seen["phone"] > 5


def test_a_missing_value_that_decides() -> None:
    """The rows of the class 1 are those of whom a phone is told."""
    X, _ = table(3)
    y = ((X.income > 0) & X.phone.notna()).to_numpy().astype(int)
    x = X[y == 1].iloc[0]
    for which in LEARNERS:
        model = fitted(which, X, y)
        gone = x.copy()
        gone["phone"] = np.nan
        found = cpx.explain(model, None, x, missing="always", **REASON)
        if predicted(model, gone.to_numpy()[None])[0] == 0:
            assert 1 in found.features
        if which == "tree":
            assert str(found) == (
                "income > 0.5 and phone is not missing force class 1, whatever the other column is"
            )
            told = "income > 0.5 forces class 1, whatever the other 2 columns are, none of them"
            assert str(cpx.explain(model, None, x, missing="never", **REASON)) == f"{told} missing"
            of_gone = cpx.explain(model, None, gone, **REASON)
            assert str(of_gone.rule) == "phone is missing => class 0"


def test_contrasts() -> None:
    """A value that goes missing is a change, where the model shows that it may."""
    X, _ = table(3)
    y = ((X.income > 0) & X.phone.notna()).to_numpy().astype(int)
    trees = read_model(fitted("tree", X, y))
    x = X[y == 1].iloc[0].to_numpy()
    kept = {"must_keep": [0]}
    assert contrastive(trees, x, **kept).attributes == (1,)
    assert contrastive(trees, x, **kept).cells[1] == -1
    assert contrastive(trees.with_missing("never"), x, **kept).attributes is None


def test_files_show_what_their_models_do(tmp_path: Path) -> None:
    X, y = table(1)
    for which in ("tree", "forest", "histograms"):
        model = fitted(which, X, y)
        joblib.dump(model, tmp_path / "model.joblib")
        of_file = read_model(tmp_path / "model.joblib", trusted=True)
        assert of_file == read_model(model)
        assert of_file.attributes[1].missing
        assert TreeModel.from_dict(of_file.to_dict()).attributes[1].missing
    pytest.importorskip("lightgbm")
    model = fitted("lightgbm", X, y)
    model.booster_.save_model(tmp_path / "model.txt")
    assert [a.missing for a in read_model(tmp_path / "model.txt").attributes] == [0, 1, 0]
    trees = read_model(tmp_path / "model.txt", missing=["age"])
    assert [a.missing for a in trees.attributes] == [0, 0, 1]


def test_attributes_that_are_declared_stay_so() -> None:
    X, y = table(1)
    declared = [cpx.trees.Attribute(name) for name in NAMES]
    model = fitted("tree", X, y)
    assert not any(a.missing for a in read_sklearn(model, attributes=declared).attributes)
    assert read_sklearn(model, attributes=NAMES).attributes[1].missing


def test_the_data_say_what_may_be_missing() -> None:
    """XGBoost records nothing, and its directions for missing values are always there."""
    pytest.importorskip("xgboost")
    X, y = table(1)
    model, x = fitted("xgboost", X, y), X.dropna().iloc[0]
    alone = cpx.explain(model, None, x, **REASON)
    assert any("neither x nor the model shows any" in note for note in alone.notes)
    for background in (X, X[NAMES[::-1]], X.to_numpy()):
        found = cpx.explain(model, background, x, **REASON)
        assert found.weight == smallest(model, x, {"phone"})
        assert not any("neither" in note for note in found.notes)
    with pytest.raises(DataError, match="the background lacks 'age'"):
        cpx.explain(model, X.drop(columns="age"), x, **REASON)


def test_wrong_arguments() -> None:
    X, y = table(1)
    model, x = fitted("tree", X, y), X.iloc[0].copy()
    x["age"] = np.nan
    for missing, told in (
        ("never", "missing is 'never', and x has no value of 'age'"),
        (["phone"], r"missing is \['phone'\], and x has no value of 'age'"),
        ("often", "missing must be one of auto, never, always, or a list of names, got 'often'"),
        (["phones"], r"missing: 'phones' is no attribute \(did you mean 'phone'"),
        (3, "missing must be a list of names of attributes, got 3"),
    ):
        with pytest.raises(InvalidOption, match=told):
            cpx.explain(model, None, x, missing=missing, **REASON)
    boosted = GradientBoostingClassifier(n_estimators=2).fit(X.dropna(), y[X.notna().all(axis=1)])
    with pytest.raises(InvalidOption, match="no branch for missing values of 'income'"):
        read_model(boosted, missing=["income"])
    assert "missing" not in str(cpx.explain(boosted, None, X.dropna().iloc[0], **REASON))
    with pytest.raises(InvalidOption, match="level conditions is for rows without missing"):
        cpx.explain(model, None, X.iloc[0], level="conditions", missing="always", **REASON)


def test_the_statement_is_saved_and_judged() -> None:
    X, y = table(1)
    model, x = fitted("tree", X, y), X.dropna().iloc[0]
    for missing in ("never", ["phone"], "always"):
        trees = read_model(model, missing=missing)
        problem = cpx.SufficientReason(trees, x)
        again = instances.loads(instances.dumps(problem))
        assert again.tree_model.attributes == trees.attributes
        result = cpx.solve(again).to_dict()
        saved = again._to_check()
        assert check.violations(saved, result) == []
        right = result["explanation"]["claim"]["figures"]["missing"]
        for told in ("refused", "all", [], ["phone"]):
            other = copy.deepcopy(result)
            other["explanation"]["claim"]["figures"]["missing"] = told
            assert (check.violations(saved, other) == []) == (told == right)
    narrow = cpx.solve(cpx.SufficientReason(read_model(model, missing="never"), x)).to_dict()
    wide = cpx.SufficientReason(read_model(model, missing="always"), x)
    assert check.violations(wide._to_check(), narrow) != []


# ------------------------------------------------------------------ expectations


def expectation(model: Any, x: Any, X: Any, missing: Any = "auto", **more: Any) -> Any:
    options = {"kind": "expectation", "distribution": "factorised", "k": 2, "missing": missing}
    return cpx.explain(model, X, x, **options | more)


def told_of_missing(found: Any) -> list[str]:
    return [note.removeprefix("missing values: ") for note in found.notes if "missing v" in note]


@pytest.mark.parametrize("which", ["tree", "lightgbm"])
def test_expectations_say_which_values_may_be_missing(which: str) -> None:
    if which == "lightgbm":
        pytest.importorskip("lightgbm")
    X, y = table(1)
    model, x = fitted(which, X, y), X.dropna().iloc[0]
    none = ["none; rows that lack a value are left out"]
    some = "of {} only, as often as the distribution says"
    assert told_of_missing(expectation(model, x, X)) == [some.format("phone")]
    assert told_of_missing(expectation(model, x, X.dropna())) == none
    never = expectation(model, x, X, "never")
    assert told_of_missing(never) == none
    left_out = f"{int(X.phone.isna().sum())} of {len(X)} rows of the background are left out"
    assert any(left_out in note for note in never.notes)
    assert never.expected == expectation(model, x, X.dropna()).expected
    assert told_of_missing(expectation(model, x, X, ["age"])) == [some.format("age")]
    assert told_of_missing(expectation(model, x, X, "always")) == [
        some.format("income, phone, age")
    ]
    gone = x.copy()
    gone["age"] = np.nan
    with pytest.raises(DataError, match="'age' is missing, and its attribute says that no value"):
        expectation(model, gone, X, "never")
    assert "age is missing" in str(expectation(model, gone, X, "always", required="age").rule)
    with pytest.raises(DataError, match="missing is 'never': each row of the background lacks"):
        expectation(model, x, X[X.phone.isna()], "never")


def test_the_statement_of_an_expectation_is_judged() -> None:
    X, y = table(1)
    found = expectation(fitted("tree", X, y), X.dropna().iloc[0], X)
    saved, result = found.problem._to_check(), found.result.to_dict()
    assert check.violations(saved, result) == []
    assert any(note.startswith("missing values: of phone") for note in found.notes)
    for told in (["phone"], [], "refused"):
        other = copy.deepcopy(result)
        other["explanation"]["claim"]["figures"]["missing"] = told
        assert (check.violations(saved, other) == []) == (told == ["phone"])
