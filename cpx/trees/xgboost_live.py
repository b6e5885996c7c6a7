"""Live models of XGBoost as they are asked: a Booster, or a model up to some round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cpx.errors import UnsupportedModel, shown
from cpx.trees.xgboost_objectives import NUMBERS


def refuse_other_missing(name: str, missing: Any) -> None:
    """Raise where another value than NaN is missing; None is NaN to the library."""
    if missing is None or (isinstance(missing, float | np.floating) and np.isnan(missing)):
        return
    raise UnsupportedModel(
        f"{name}: missing={shown(missing)} is not supported, only NaN. The same trees are read "
        "after model.set_params(missing=float('nan')), and then rows have NaN where they had "
        f"{shown(missing)}"
    )


@dataclass(frozen=True)
class BoosterAnswers:
    """A Booster, which predicts probabilities or numbers, as a classifier or regressor."""

    booster: Any
    objective: str
    several: bool = False

    @property
    def feature_names_in_(self) -> Any:
        """The columns it was trained with."""
        return self.booster.feature_names

    def _said(self, rows: Any, **options: Any) -> Any:
        from xgboost import DMatrix

        kinds = None if hasattr(rows, "dtypes") else self.booster.feature_types
        table = DMatrix(
            rows,
            feature_names=self.booster.feature_names,
            feature_types=kinds,
            enable_categorical=True,
        )
        return self.booster.predict(table, **options)

    def predict_proba(self, rows: Any, **options: Any) -> Any:
        """Return what it predicts; None where that is classes."""
        return None if self.objective == "multi:softmax" else self._said(rows, **options)

    def predict(self, rows: Any, **options: Any) -> Any:
        """Return the class that is most probable, of two the second beyond .5; or numbers."""
        said = self._said(rows, **options)
        if self.objective in NUMBERS:
            return said
        if said.ndim == 2 and not self.several:
            return said.argmax(axis=1)
        return said.astype(int) if self.objective == "multi:softmax" else (said > 0.5).astype(int)


@dataclass(frozen=True)
class UpTo:
    """A model as it predicts with its first rounds."""

    model: Any
    rounds: int

    @property
    def feature_names_in_(self) -> Any:
        """The columns it was trained with."""
        return self.model.feature_names_in_

    def predict(self, rows: Any) -> Any:
        """Return the classes."""
        return self.model.predict(rows, iteration_range=(0, self.rounds))

    def predict_proba(self, rows: Any) -> Any:
        """Return the probabilities."""
        return self.model.predict_proba(rows, iteration_range=(0, self.rounds))
