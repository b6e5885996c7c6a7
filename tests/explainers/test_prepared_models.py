"""What is known of a tree model is found once, and not for each row that is explained."""

from __future__ import annotations

import gc

import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import GradientBoostingClassifier

import cpx
from cpx.models.sufficient_reason.sufficiency.workspace import PreparedModel


@pytest.mark.parametrize("named", [False, True])
def test_reasons_of_several_rows_prepare_their_model_once(
    monkeypatch: pytest.MonkeyPatch, named: bool
) -> None:
    prepared = list[int]()
    make = PreparedModel.__init__

    def counted(self: PreparedModel, model: cpx.trees.TreeModel) -> None:
        prepared.append(len(model.trees))  # not the model, which would live on
        make(self, model)

    monkeypatch.setattr(PreparedModel, "__init__", counted)
    X, y = load_wine(return_X_y=True, as_frame=True)
    trained = X if named else X.to_numpy()
    model = GradientBoostingClassifier(n_estimators=2 + named, random_state=0).fit(trained, y)
    explainer = cpx.Explainer(model, X)
    for row in (0, 70, 150):
        explainer.reason(row)
        gc.collect()  # what a model of one row alone would not outlive
    assert len(prepared) == 1
