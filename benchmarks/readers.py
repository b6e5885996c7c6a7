"""Readers of tree models against the libraries: classes of rows, odd ones among them, compared.

CPX_READERS_ROWS says on how many rows, by default 10,000. Libraries that are not installed are
left out.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.tables import show
from cpx.data.oracle import labels
from cpx.trees import TreeModel, read_model, read_xgboost_dump
from cpx.trees.library_agreement import near_ties

ROWS = int(os.environ.get("CPX_READERS_ROWS", "10000"))

_ODD = (
    *(0.0, -0.0, 5e-324, -1e-40, 1e-40, 1e-36, -1e-36, 1e-35, -1e-35, 1e-30, 0.1, -0.5, 0.5),
    *(float(np.float32(0.1)), 31.0, 31.999999999999996, 32.0, 33.7, 39.0, 63.0, 64.0, 255.0, 1e5),
    *(2.0**24 - 1, 2.0**24, 2.0**24 + 1, 2.0**31, -(2.0**31), 2.0**53, 1e20, -1e20, 3e38, -3e38),
)
_UNSEEN = "Atlantis"
_CITIES = ("Arras", "Bavay", "Cassel", "Douai", "Lens", "Lille", "Roubaix", "Tourcoing")


@dataclass(frozen=True)
class Case:
    """A model of a library, and how it is read and asked.

    make: Returns the fitted classifier.
    options: Of the reader.
    missing: Whether it takes rows with missing values.
    infinite: Whether it takes infinite values.
    frame: Whether it takes frames with categories; and whether categories may be new to it.
    asked: Returns what predicts, of the classifier, the read model being given too.
    source: Returns what is read, of the classifier.
    read: Reads it.
    """

    library: str
    what: str
    make: Callable[[], Any]
    options: dict[str, Any] = field(default_factory=dict)
    missing: bool = True
    infinite: bool = False
    frame: str = ""
    asked: Callable[[Any, TreeModel], Any] = lambda classifier, read: classifier
    source: Callable[[Any], Any] = lambda classifier: classifier
    read: Callable[..., TreeModel] = read_model


def table(n: int = 1500, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return numbers, two columns of codes among them, and classes 0, 1, 2."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    X[:, 1] = np.round(X[:, 1], 1)
    X[:, 3] = rng.integers(0, 40, n)
    X[:, 4] = rng.integers(0, 6, n)
    score = np.isin(X[:, 3], [0, 1, 5, 31, 33, 39]) * 2.0 + (X[:, 4] % 2) + X[:, 0] * X[:, 1]
    return X, np.digitize(score + rng.normal(scale=0.3, size=n), [0.4, 1.8])


def lacking(X: NDArray[np.float64], seed: int = 1) -> NDArray[np.float64]:
    """Return numbers of which a tenth is missing."""
    return np.where(np.random.default_rng(seed).random(X.shape) < 0.1, np.nan, X)


def frame(n: int = 1500, seed: int = 0) -> tuple[Any, NDArray[np.int64]]:
    """Return a frame with two columns of categories, of texts and of numbers, and classes."""
    import pandas as pd

    X, y = table(n, seed)
    city = np.array(_CITIES, dtype=object)[X[:, 3].astype(int) % len(_CITIES)]
    city[::9] = None
    code = np.array([3, 10, 59, 250, 7000, 62000])[X[:, 4].astype(int)]
    columns = {"size": lacking(X)[:, 0], "weight": X[:, 1], "city": pd.Categorical(city)}
    return pd.DataFrame({**columns, "code": pd.Categorical(code)}), y


def odd_rows(read: TreeModel, case: Case, n: int, seed: int = 0) -> NDArray[np.float64]:
    """Return rows of usual numbers, odd ones, codes, and numbers at and next to thresholds."""
    rng = np.random.default_rng(seed)
    d = read.n_attributes
    rows = rng.normal(size=(n, d)) * rng.choice([1, 10, 1000], (n, d))
    codes = rng.random((n, d)) < 0.3
    rows[codes] = rng.integers(-3, 45, int(codes.sum())) + rng.choice([0, 0, 0.5], codes.sum())
    for a in read.used:
        cuts = read.thresholds[a]
        if not len(cuts):
            continue
        at = rng.choice(cuts, n)
        single = at.astype(np.float32)
        near = [at, np.nextafter(at, np.inf), np.nextafter(at, -np.inf)]
        near += [np.nextafter(single, np.float32(end)).astype(float) for end in (np.inf, -np.inf)]
        rows[:, a] = np.where(
            rng.random(n) < 0.25, np.choose(rng.integers(len(near), size=n), near), rows[:, a]
        )
    pool = [*_ODD, *([np.nan] * 5 if case.missing else [])]
    pool += [np.inf, -np.inf] if case.infinite else []
    chosen = rng.random((n, d)) < 0.15
    rows[chosen] = rng.choice(pool, int(chosen.sum()))
    return rows


def odd_frame(case: Case, n: int, seed: int = 0) -> tuple[Any, NDArray[np.float64]]:
    """Return a frame with categories, some new where that may be, and its rows as numbers."""
    import pandas as pd

    X, _ = frame()
    rng = np.random.default_rng(seed)
    rows = X.iloc[rng.integers(len(X), size=n)].reset_index(drop=True)
    for name in ("size", "weight"):
        chosen = rng.random(n) < 0.3
        rows.loc[chosen, name] = rng.choice([*_ODD, np.nan], int(chosen.sum()))
    numbers = rows[["size", "weight"]].to_numpy(dtype=float)
    parts = []
    for name in ("city", "code"):
        column = np.array(rows[name].tolist(), dtype=object)
        column[rng.random(n) < 0.1] = None
        if case.frame == "new":
            column[rng.random(n) < 0.1] = _UNSEEN if name == "city" else 4
        known = list(X[name].cat.categories)
        values = range(len(known)) if name == "city" else known
        value = dict(zip(known, values, strict=True))
        parts.append([value.get(entry, np.nan) for entry in column])
        rows[name] = pd.Categorical(column, None if case.frame == "new" else known)
    return rows, np.column_stack([numbers, *parts]).astype(float)


def compared(case: Case, n: int) -> tuple[TreeModel, int, int, int]:
    """Return the read model, how many rows differ, for how many rounding decides, and classes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classifier = case.make()
        read = case.read(case.source(classifier), **case.options)
        asked = case.asked(classifier, read)
        if case.frame:
            given, rows = odd_frame(case, n)
        else:
            given = rows = odd_rows(read, case, n)
        theirs = labels(asked, given).tolist()
    ours = read.predict(rows).tolist()
    differing = np.flatnonzero([a != b for a, b in zip(ours, theirs, strict=True)])
    near = int(near_ties(read, rows[differing]).sum()) if len(differing) else 0
    return read, len(differing) - near, near, len({*theirs})


# ------------------------------------------------------------------ models


def _sklearn() -> Iterator[Case]:
    from sklearn import ensemble, tree

    X, y = table()
    some = {"random_state": 0}

    def case(what: str, model: Any, rows: Any, classes: Any, **more: Any) -> Case:
        return Case("scikit-learn", what, lambda: model.fit(rows, classes), **more)

    yield case("decision tree", tree.DecisionTreeClassifier(max_depth=8, **some), lacking(X), y)
    yield case("extra tree", tree.ExtraTreeClassifier(max_depth=8, **some), X, y, missing=False)
    forest = ensemble.RandomForestClassifier(15, max_depth=8, **some)
    yield case("random forest", forest, lacking(X), y)
    several = ensemble.RandomForestClassifier(15, max_depth=8, **some)
    yield case(
        "random forest of two outputs, the second", several, X, np.column_stack([y > 0, y]),
        missing=False, options={"output": 1}, asked=lambda classifier, read: _live(read),
    )  # fmt: skip
    trees = ensemble.ExtraTreesClassifier(15, max_depth=8, **some)
    yield case("extra trees", trees, lacking(X), y)
    boosted = ensemble.GradientBoostingClassifier(n_estimators=15, **some)
    yield case("gradient boosting", boosted, X, y, missing=False)

    def histogram(**options: Any) -> Any:
        return ensemble.HistGradientBoostingClassifier(max_iter=15, **options, **some)

    yield case("histogram boosting", histogram(), lacking(X), y, infinite=True)
    yield case(
        "histogram boosting, columns of codes", histogram(categorical_features=[3, 4]),
        lacking(X), y,
    )  # fmt: skip
    yield case("histogram boosting, frame", histogram(), *frame(), frame="new")


def _live(read: TreeModel) -> Any:
    assert read.live is not None
    return read.live.model


def _xgboost() -> Iterator[Case]:
    import xgboost

    X, y = table()
    kinds = {"feature_types": ["q", "q", "q", "c", "c"], "enable_categorical": True}
    dart = {"booster": "dart", "rate_drop": 0.4}

    def case(what: str, rows: Any, classes: Any, model: Any, **more: Any) -> Case:
        model = {"n_estimators": 15, "max_depth": 5, "n_jobs": 1, **model}

        def make() -> Any:
            return xgboost.XGBClassifier(**model).fit(rows, classes)

        return Case("XGBoost", what, make, **more)

    yield case("two classes", lacking(X), y > 0, {})
    yield case("three classes", lacking(X), y, {})
    yield case("vector leaves", X, y, {"multi_strategy": "multi_output_tree"})
    yield case("dart", lacking(X), y, dart)
    one = {**kinds, "max_cat_to_onehot": 50}
    yield case("columns of codes, one at a time", lacking(X), y > 0, one)
    yield case("columns of codes, sets", lacking(X), y > 0, {**kinds, "max_cat_to_onehot": 1})
    yield case("dart, columns of codes", lacking(X), y, {**kinds, **dart, "max_cat_to_onehot": 1})
    own = {"enable_categorical": True, "max_cat_to_onehot": 1}
    yield case("frame", *frame(), own, frame="known")
    yield case(
        "Booster, columns of codes", lacking(X), y > 0, {**kinds, "max_cat_to_onehot": 1},
        source=lambda classifier: classifier.get_booster(),
        asked=lambda classifier, read: _live(read),
    )  # fmt: skip
    for form in ("text", "json"):
        yield case(
            f"dump as {form}, columns of codes", lacking(X), y > 0,
            {**kinds, "max_cat_to_onehot": 1, "base_score": 0.5},
            source=lambda made, form=form: made.get_booster().get_dump("", False, form),
            options={"classes": [False, True], "attributes": 5}, read=read_xgboost_dump,
        )  # fmt: skip
    for strategy in ("one_output_per_tree", "multi_output_tree"):
        yield case(
            f"two outputs, {strategy.replace('_', ' ')}", X, np.column_stack([y > 0, y > 1]) * 1,
            {"multi_strategy": strategy}, options={"output": 1},
            asked=lambda classifier, read: _live(read),
        )  # fmt: skip


def _lightgbm() -> Iterator[Case]:
    import lightgbm

    X, y = table()
    codes = lacking(X)
    codes[::13, 4] = -3

    def case(what: str, rows: Any, classes: Any, model: Any, *columns: int, **more: Any) -> Case:
        model = {"n_estimators": 15, "verbose": -1, "n_jobs": 1, "min_data_per_group": 5, **model}

        def make() -> Any:
            return lightgbm.LGBMClassifier(**model).fit(
                rows, classes, categorical_feature=[*columns] or "auto"
            )

        return Case("LightGBM", what, make, infinite=not more.get("frame"), **more)

    yield case("two classes", lacking(X), y > 0, {})
    yield case("three classes, dart", lacking(X), y, {"boosting_type": "dart"})
    yield case("columns of codes", X, y > 0, {}, 3, 4)
    yield case("columns of codes, missing ones", codes, y, {}, 3, 4)
    yield case("columns of codes, one at a time", codes, y > 0, {"max_cat_to_onehot": 50}, 3, 4)
    yield case("columns of codes, use_missing=False", codes, y > 0, {"use_missing": False}, 3, 4)
    yield case("frame", *frame(), {}, frame="new")
    yield case(
        "Booster, columns of codes", codes, y > 0, {}, 3, 4,
        source=lambda classifier: classifier.booster_,
        asked=lambda classifier, read: _live(read),
    )  # fmt: skip


def _catboost() -> Iterator[Case]:
    import catboost

    X, y = table()

    def case(what: str, rows: Any, classes: Any, model: Any, **more: Any) -> Case:
        quiet = {"verbose": 0, "thread_count": 1, "allow_writing_files": False}
        model = {"iterations": 15, "depth": 5, "random_seed": 0, **quiet, **model}

        def make() -> Any:
            return catboost.CatBoostClassifier(**model).fit(rows, classes)

        return Case("CatBoost", what, make, infinite=True, **more)

    yield case("two classes", lacking(X), y > 0, {})
    yield case("three classes", lacking(X), y, {})
    yield case("none missing in training", X, y, {})
    yield case("missing is most", lacking(X), y > 0, {"nan_mode": "Max"})
    yield case("one against the others", lacking(X), y, {"loss_function": "MultiClassOneVsAll"})
    yield case("grown by depth", lacking(X), y > 0, {"grow_policy": "Depthwise"})
    yield case("grown by loss", lacking(X), y, {"grow_policy": "Lossguide"})


def _onnx() -> Iterator[Case]:
    """Yield models that skl2onnx converts, and onnxruntime answers for."""
    from sklearn import ensemble

    X, y = table()
    some = {"max_depth": 6, "random_state": 0}

    def case(what: str, model: Any, classes: Any) -> Case:
        def make() -> Any:
            from skl2onnx import to_onnx

            fitted = model.fit(X, classes)
            return to_onnx(fitted, X[:1].astype(np.float32), options={"zipmap": False})

        return Case("ONNX", what, make, infinite=True, asked=lambda made, read: _Runtime(made))

    yield case("random forest", ensemble.RandomForestClassifier(15, **some), y)
    yield case("random forest of two classes", ensemble.RandomForestClassifier(15, **some), y > 0)
    yield case("gradient boosting", ensemble.GradientBoostingClassifier(n_estimators=15), y)
    boosted = ensemble.GradientBoostingClassifier(n_estimators=15)
    yield case("gradient boosting of two classes", boosted, y > 0)


class _Runtime:
    """An ONNX model as onnxruntime answers for it."""

    def __init__(self, model: Any) -> None:
        from onnxruntime import InferenceSession

        self._session = InferenceSession(model.SerializeToString())

    def predict(self, rows: Any) -> Any:
        """Return the labels."""
        (name,) = (one.name for one in self._session.get_inputs())
        with np.errstate(over="ignore"):
            return self._session.run(None, {name: rows.astype(np.float32)})[0]


LIBRARIES: dict[str, Callable[[], Iterator[Case]]] = {
    "sklearn": _sklearn,
    "xgboost": _xgboost,
    "lightgbm": _lightgbm,
    "catboost": _catboost,
    "onnxruntime": _onnx,
}


def main() -> None:
    """Print how many rows of each model differ."""
    found = []
    for package, cases in LIBRARIES.items():
        if find_spec(package) is None:
            continue
        for case in cases():
            read, differing, near, classes = compared(case, ROWS)
            sets = sum(map(len, read.sets))
            found.append(
                [case.library, case.what, len(read.trees), sets, ROWS, classes, differing, near]
            )
    show(
        "Rows of read models against the libraries",
        ["library", "model", "trees", "sets", "rows", "classes seen", "different", "rounding"],
        found,
    )


if __name__ == "__main__":
    main()
