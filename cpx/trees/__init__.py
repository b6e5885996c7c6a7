"""Tree models in one exact form, and readers of scikit-learn, XGBoost, LightGBM, CatBoost, ONNX.

Names are imported on first use, so that ``import cpx`` loads none of the libraries; the
readers load only the one they need, if any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpx.support.lazy_imports import lazily

if TYPE_CHECKING:
    from cpx.trees.additive import read_additive
    from cpx.trees.attribute import Attribute
    from cpx.trees.catboost import read_catboost
    from cpx.trees.decision_list import DecisionList
    from cpx.trees.form import TreeModel
    from cpx.trees.imodels import read_imodels
    from cpx.trees.library_agreement import Agreement, agreement
    from cpx.trees.lightgbm import read_lightgbm
    from cpx.trees.load import read_model
    from cpx.trees.onnx import read_onnx
    from cpx.trees.sklearn import read_sklearn
    from cpx.trees.tree import MISSING, Boxes, Tree
    from cpx.trees.xgboost import read_xgboost
    from cpx.trees.xgboost_dump import read_xgboost_dump

__all__ = [
    "MISSING",
    "Agreement",
    "Attribute",
    "Boxes",
    "DecisionList",
    "Tree",
    "TreeModel",
    "agreement",
    "read_additive",
    "read_catboost",
    "read_imodels",
    "read_lightgbm",
    "read_model",
    "read_onnx",
    "read_sklearn",
    "read_xgboost",
    "read_xgboost_dump",
]

_HOME = {
    "MISSING": "tree",
    "Agreement": "library_agreement",
    "Attribute": "attribute",
    "Boxes": "tree",
    "DecisionList": "decision_list",
    "Tree": "tree",
    "TreeModel": "form",
    "agreement": "library_agreement",
    "read_additive": "additive",
    "read_catboost": "catboost",
    "read_imodels": "imodels",
    "read_lightgbm": "lightgbm",
    "read_model": "load",
    "read_onnx": "onnx",
    "read_sklearn": "sklearn",
    "read_xgboost": "xgboost",
    "read_xgboost_dump": "xgboost_dump",
}

__getattr__, __dir__ = lazily(__name__, _HOME)
