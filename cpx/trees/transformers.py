"""Transformers of scikit-learn: of which column of the table each of their columns is made."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cpx.data.classifiers import MISSING_TEXT, as_text
from cpx.errors import UnsupportedModel, shown
from cpx.support.cells import is_missing
from cpx.support.validation import real
from cpx.trees.dates import Days, width_of_days

MONOTONE = (
    "StandardScaler",
    "MinMaxScaler",
    "MaxAbsScaler",
    "RobustScaler",
    "QuantileTransformer",
    "PowerTransformer",
    "Binarizer",
)
"""Each column of theirs is a monotone function of one column of numbers."""

OTHERS = (
    "SimpleImputer",
    "MissingIndicator",
    "OneHotEncoder",
    "OrdinalEncoder",
    "TargetEncoder",
    "KBinsDiscretizer",
    "FunctionTransformer",
    "ColumnTransformer",
    "FeatureUnion",
    "Pipeline",
    "selectors of columns",
)

_MONOTONE_FUNCTIONS = frozenset(
    {
        *("log", "log2", "log10", "log1p", "exp", "exp2", "expm1", "sqrt", "cbrt"),
        *("arctan", "tanh", "sinh", "arcsinh", "negative", "positive", "sign"),
        *("rint", "floor", "ceil", "trunc", "deg2rad", "rad2deg", "radians", "degrees"),
    }
)


@dataclass(frozen=True)
class Feature:
    """What a column behind transformers is made of.

    column: That of the table.
    change: The transformer that made other numbers of its values, "" where these are themselves.
    bins: Whether it has the number of a bin.
    filled: The text that stands for a missing value.
    group: Of a column for one bin: which bins these are, and the number of this one.
    """

    column: int
    change: str = ""
    bins: bool = False
    group: tuple[int, int] | None = None
    filled: str | None = None


@dataclass
class Walk:
    """Features, followed through transformers, and what these say of the columns of the table.

    categories: The values that encoders know, by column.
    imputed: Columns whose missing values are filled in, or marked, or a category.
    points: Numbers of a column that count as missing.
    special: Columns with another value that counts as missing, and the transformer that says so.
    none: Columns whose missing values encoders know as None.
    dates: The days of columns of dates; what is made of one of these columns may be anything.
    """

    categories: dict[int, list[Any]] = field(default_factory=dict)
    imputed: set[int] = field(default_factory=set)
    points: dict[int, set[float]] = field(default_factory=dict)
    special: dict[int, str] = field(default_factory=dict)
    none: set[int] = field(default_factory=set)
    dates: Mapping[int, Days] = field(default_factory=dict)
    _groups: int = 0

    def through(self, step: Any, given: Sequence[Feature]) -> list[Feature]:
        """Return the features behind a transformer.

        Raises UnsupportedModel: When it is none whose columns are each made of one column.
        """
        if step is None or (isinstance(step, str) and step == "passthrough"):
            return [*given]
        if isinstance(step, Subset):
            return [given[c] for c in step.columns]
        name = kind_of(step)
        if (made := self._made_of_days(step, name, given)) is not None:
            return made
        if name in MONOTONE:
            return [replace(f, change=name, bins=False) for f in given]
        if hasattr(step, "get_support") and not name:
            return [given[c] for c in step.get_support(indices=True)]
        follow: Callable[..., list[Feature]] | None = getattr(self, f"_{name}", None)
        if not name or follow is None:
            raise UnsupportedModel(
                f"{type(step).__name__} is no transformer that cpx follows: each of its columns "
                f"must be made of one of the table; it follows {', '.join((*MONOTONE, *OTHERS))}. "
                "kind='rule' explains any classifier by its predict alone"
            )
        found = follow(step, given)
        # The values of a date are listed: nothing has to be known of bins.
        return [replace(f, bins=False, group=None) if f.column in self.dates else f for f in found]

    def _made_of_days(
        self, step: Any, name: str, given: Sequence[Feature]
    ) -> list[Feature] | None:
        """Return what a transformer of any kind makes of one column of dates, None of others."""
        if len(given) != 1 or given[0].change or given[0].column not in self.dates:
            return None
        if name not in ("", "FunctionTransformer") or getattr(step, "func", step) is None:
            return None
        width = width_of_days(step, self.dates[given[0].column])
        return [replace(given[0], change=type(step).__name__)] * width

    # ------------------------------------------------------------ composition

    def _Pipeline(self, step: Any, given: Sequence[Feature]) -> list[Feature]:
        features = [*given]
        for _, inner in step.steps:
            features = self.through(inner, features)
        return features

    def _ColumnTransformer(self, step: Any, given: Sequence[Feature]) -> list[Feature]:
        places = step._transformer_to_input_indices
        width = max((part.stop for part in step.output_indices_.values()), default=0)
        features: list[Feature | None] = [None] * width
        weights = step.transformer_weights or {}
        for name, inner, _ in step.transformers_:
            part = step.output_indices_[name]
            if part.start == part.stop or (isinstance(inner, str) and inner == "drop"):
                continue
            found = self.through(inner, [given[c] for c in places[name]])
            if name in weights:
                found = [replace(f, change=f.change or "a weight") for f in found]
            if len(found) != part.stop - part.start:
                raise UnsupportedModel(f"{name} of the ColumnTransformer has other columns")
            features[part] = found
        return [f for f in features if f is not None]

    def _FeatureUnion(self, step: Any, given: Sequence[Feature]) -> list[Feature]:
        features = []
        for name, inner in step.transformer_list:
            if not (isinstance(inner, str) and inner == "drop"):
                found = self.through(inner, given)
                weighted = name in (step.transformer_weights or {})
                features += [
                    replace(f, change=f.change or "a weight") if weighted else f for f in found
                ]
        return features

    # ---------------------------------------------------------- missing values

    def _SimpleImputer(self, step: Any, given: Sequence[Feature]) -> list[Feature]:
        self.imputed.update(f.column for f in given)
        if not is_missing(step.missing_values):
            number = real(step.missing_values)
            said = f"SimpleImputer(missing_values={shown(step.missing_values)})"
            for f in given:
                if number is None or not math.isfinite(number) or f.change or f.bins:
                    self.special[f.column] = said
                else:
                    self.points.setdefault(f.column, set()).add(number)
        constant = step.strategy == "constant" and isinstance(step.fill_value, str)
        kept = [replace(f, filled=step.fill_value) for f in given] if constant else [*given]
        if step.strategy != "constant" and not step.keep_empty_features:
            kept = [f for f, filled in zip(given, step.statistics_) if not is_missing(filled)]
        marks = self._MissingIndicator(step.indicator_, given) if step.add_indicator else []
        return kept + marks

    def _MissingIndicator(self, step: Any, given: Sequence[Feature]) -> list[Feature]:
        marked = [given[c] for c in step.features_]
        self.imputed.update(f.column for f in marked)
        return [replace(f, change="MissingIndicator", bins=False) for f in marked]

    # ------------------------------------------------------------- categories

    def _OneHotEncoder(self, step: Any, given: Sequence[Feature]) -> list[Feature]:
        features = []
        for feature, known, width in zip(given, step.categories_, step._n_features_outs):
            features += self._encoded(feature, known, "OneHotEncoder", width)
        return features

    def _OrdinalEncoder(self, step: Any, given: Sequence[Feature]) -> list[Feature]:
        return [
            one
            for feature, known in zip(given, step.categories_)
            for one in self._encoded(feature, known, "OrdinalEncoder", 1)
        ]

    def _TargetEncoder(self, step: Any, given: Sequence[Feature]) -> list[Feature]:
        width = len(step.encodings_) // max(len(step.categories_), 1)
        return [
            one
            for feature, known in zip(given, step.categories_)
            for one in self._encoded(feature, known, "TargetEncoder", width)
        ]

    def _encoded(
        self, feature: Feature, known: Iterable[Any], name: str, width: int
    ) -> list[Feature]:
        """Return what an encoder makes of a column of categories, or of numbers of bins."""
        if feature.column in self.dates:
            return [replace(feature, change=name)] * width
        of_bins = feature.bins and name in ("OneHotEncoder", "OrdinalEncoder")
        if feature.change and not of_bins:
            raise UnsupportedModel(
                f"{name} behind {feature.change} tells numbers apart that are computed; cpx reads "
                "encoders of columns of the table"
            )
        made = replace(feature, change=name, bins=False)
        if feature.bins:
            ordinal = name == "OrdinalEncoder"
            return [replace(made, bins=True)] if ordinal else self._grouped(made, width)
        own = self.categories.setdefault(feature.column, [])
        for value in known:
            value = value.item() if isinstance(value, np.generic) else value
            if is_missing(value):
                self.imputed.add(feature.column)
                self.none |= {feature.column} if value is None else set()
            elif value not in own and value != feature.filled:
                own.append(value)
        return [made] * width

    def _grouped(self, feature: Feature, width: int) -> list[Feature]:
        self._groups += 1
        return [replace(feature, group=(self._groups, place)) for place in range(width)]

    # ---------------------------------------------------------------- numbers

    def _KBinsDiscretizer(self, step: Any, given: Sequence[Feature]) -> list[Feature]:
        features = []
        for feature, width in zip(given, step.n_bins_):
            made = replace(feature, change="KBinsDiscretizer", bins=False)
            if step.encode == "ordinal":
                features.append(replace(made, bins=True))
            else:
                features += self._grouped(made, int(width))
        return features

    def _FunctionTransformer(self, step: Any, given: Sequence[Feature]) -> list[Feature]:
        function = step.func
        if function is None:
            return [*given]
        called = getattr(function, "__name__", type(function).__name__)
        if function is as_text:
            self.imputed.update(f.column for f in given)
            return [replace(f, filled=MISSING_TEXT) for f in given]
        known = isinstance(function, np.ufunc) and called in _MONOTONE_FUNCTIONS
        if not known and step.inverse_func is None:
            raise UnsupportedModel(
                f"FunctionTransformer({called}) can be any function: cpx reads one with an "
                "inverse_func, which makes it monotone, a monotone function of NumPy such as "
                "log1p, or any function of one column of dates of X, given that column alone by a "
                "ColumnTransformer"
            )
        made = f"FunctionTransformer({called})"
        return [replace(f, change=made, bins=False) for f in given]


@dataclass(frozen=True)
class Subset:
    """The step that takes some of the columns, as bagging does."""

    columns: tuple[int, ...]

    def transform(self, X: Any) -> Any:
        """Return these columns."""
        return X.iloc[:, [*self.columns]] if hasattr(X, "iloc") else X[:, [*self.columns]]


def kind_of(step: Any) -> str:
    """Return the name of the class of scikit-learn that a transformer is of, "" for others."""
    known = {*MONOTONE, *OTHERS}
    for cls in type(step).__mro__:
        if cls.__name__ in known and cls.__module__.startswith("sklearn."):
            return cls.__name__
    return ""
