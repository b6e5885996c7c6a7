"""Tree models behind transformers and in ensembles, as they are read, against their ``predict``.

CPX_PIPELINES_ROWS says on how many rows, by default 10,000.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)
from sklearn.tree import DecisionTreeClassifier

from benchmarks.tables import show
from cpx.modelling.row import table_in
from cpx.trees import TreeModel, read_model
from cpx.trees.library_agreement import near_ties

ROWS = int(os.environ.get("CPX_PIPELINES_ROWS", "10000"))

_NUMBERS, _CITIES = ["age", "size"], ("Arras", "Bavay", "Cassel", "Douai", "Lens", "Lille")
_UNSEEN = ("Atlantis", " Lens", "lille", "")


def table(n: int = 1500) -> tuple[pd.DataFrame, Any]:
    """Return a table of numbers and categories, some missing, and classes."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": rng.integers(17, 90, n).astype(float),
            "size": np.exp(rng.normal(0, 1, n)).round(3),
            "city": rng.choice(_CITIES, n),
            "code": rng.choice([59, 62, 75, 80], n),
        }
    )
    signal = X.age / 20 - X["size"] + (X.city < "D") - (X.code == 62) + rng.normal(0, 1, n)
    X.loc[rng.random(n) < 0.1, "age"] = np.nan
    X.loc[rng.random(n) < 0.1, "city"] = np.nan
    return X, np.where(signal > 2, "yes", "no")


def _front(numbers: Any, words: Any = None) -> Any:
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_column_transformer((numbers, _NUMBERS), (words or encoder, ["city", "code"]))


def cases() -> dict[str, Any]:
    """Return models that are not fitted, by what they are called."""
    bins = {"n_bins": 6, "quantile_method": "averaged_inverted_cdf"}
    onehot = KBinsDiscretizer(encode="onehot-dense", **bins)
    numbered = KBinsDiscretizer(encode="ordinal", **bins)
    ordinal = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    forest = RandomForestClassifier(15, max_depth=6, random_state=0)
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    standard = make_pipeline(_front(make_pipeline(SimpleImputer(), StandardScaler())), forest)
    behind = {
        "standard": make_pipeline(SimpleImputer(), StandardScaler()),
        "min-max, marks": make_pipeline(SimpleImputer(add_indicator=True), MinMaxScaler()),
        "robust, then imputed": make_pipeline(RobustScaler(), SimpleImputer(strategy="median")),
        "greatest, missing passes": MaxAbsScaler(),
        "quantiles": QuantileTransformer(n_quantiles=100),
        "quantiles, normal": QuantileTransformer(output_distribution="normal"),
        "power": make_pipeline(SimpleImputer(), PowerTransformer()),
        "logarithm": make_pipeline(SimpleImputer(), FunctionTransformer(np.arcsinh)),
        "bins": make_pipeline(SimpleImputer(), onehot),
        "numbers of bins": make_pipeline(SimpleImputer(), numbered),
    }
    return {
        **{name: make_pipeline(_front(numbers), forest) for name, numbers in behind.items()},
        "ordinal codes": make_pipeline(_front(StandardScaler(), ordinal), forest),
        "means of the target": make_pipeline(_front(StandardScaler(), TargetEncoder()), forest),
        "histogram boosting": make_pipeline(
            _front(StandardScaler()), HistGradientBoostingClassifier(max_iter=15)
        ),
        "gradient boosting": make_pipeline(
            _front(SimpleImputer()), GradientBoostingClassifier(n_estimators=15)
        ),
        "search": GridSearchCV(standard, {"randomforestclassifier__max_depth": [3, 5]}, cv=2),
        "soft vote": VotingClassifier(
            [("a", standard), ("b", make_pipeline(_front(MaxAbsScaler()), tree))],
            voting="soft",
            weights=[2, 1],
        ),
        "hard vote": VotingClassifier(
            [
                ("a", make_pipeline(_front(MaxAbsScaler()), tree)),
                ("b", make_pipeline(_front(MinMaxScaler(), ordinal), tree)),
            ]
        ),
        "bags": make_pipeline(
            _front(SimpleImputer()), BaggingClassifier(tree, 15, max_features=0.5)
        ),
        "AdaBoost": make_pipeline(
            _front(SimpleImputer()), AdaBoostClassifier(tree, n_estimators=15)
        ),
        "calibrated": CalibratedClassifierCV(standard, ensemble=False),
        "threshold": FixedThresholdClassifier(standard, threshold=0.3),
    }


def odd_rows(model: TreeModel, X: pd.DataFrame) -> pd.DataFrame:
    """Return rows with values at cuts and next to them, zeros, large, missing, unseen ones."""
    rng = np.random.default_rng(1)
    rows = X.iloc[rng.integers(len(X), size=ROWS)].reset_index(drop=True)
    for a, name in enumerate(X.columns[:2]):
        cuts = np.append(model.thresholds[a], [0.0, -0.0, 5e-324, 1e12, -1e12, 0.1, 2.0**24 + 1])
        steps = rng.choice([-np.inf, 0, np.inf], ROWS)
        at = rng.choice(cuts, ROWS)
        at = np.where(steps == 0, at, np.nextafter(at, steps))
        rows[name] = np.where(rng.random(ROWS) < 0.6, at, rows[name])
        rows.loc[rng.random(ROWS) < 0.05, name] = np.nan
    rows["city"] = rows["city"].astype(object)
    unseen = rng.random(ROWS) < 0.1
    rows.loc[unseen, "city"] = rng.choice(_UNSEEN, unseen.sum())
    rows.loc[rng.random(ROWS) < 0.05, "code"] = 61
    return rows


def results() -> Iterator[tuple[object, ...]]:
    """Return a line for each model."""
    X, y = table()
    for name, classifier in cases().items():
        classifier.fit(X, y)
        started = time.process_time()
        model = read_model(classifier)
        seconds = time.process_time() - started
        rows = odd_rows(model, X)
        numbers, _ = table_in(model, rows, "rows")
        theirs = np.asarray(classifier.predict(rows))
        differing = np.flatnonzero(model.predict(numbers) != theirs)
        rounding = near_ties(model, numbers[differing]).sum() if differing.size else 0
        cuts = sum(map(len, model.thresholds))
        yield (
            *(name, len(model.trees), cuts, seconds, len(rows)),
            *(len({*theirs}), len(differing) - rounding, rounding),
        )


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    show(
        "Pipelines and ensembles",
        *(
            ("model", "trees", "cuts", "seconds", "rows", "classes seen", "different", "rounding"),
            [*results()],
        ),
    )
