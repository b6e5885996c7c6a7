"""Objectives of XGBoost that are read, and what each decides of a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from cpx.errors import ModelError, UnsupportedModel, shown

OBJECTIVES = ("binary:logistic", "multi:softprob", "multi:softmax")
"""Objectives whose models are read as classifiers."""

NUMBERS = tuple(
    f"reg:{name}"
    for name in (
        *("squarederror", "squaredlogerror", "absoluteerror", "pseudohubererror"),
        "quantileerror",
    )
)
"""Objectives whose models predict the sum itself."""

FLOAT32 = {"cast": "float32", "sums": "float32", "strict": True}
"""Rows and sums are in single precision, as the library has them."""


def decided_by(objective: str, classes: int) -> dict[str, Any]:
    """Return the fields of TreeModel that the objective decides, and refuse other objectives.

    Raises UnsupportedModel: Naming the objective.
    """
    if objective not in OBJECTIVES:
        raise UnsupportedModel(
            f"the objective {shown(objective)} is not supported; cpx reads "
            f"{', '.join((*OBJECTIVES, *NUMBERS))}"
        )
    binary = objective == "binary:logistic"
    if binary and classes != 2:
        raise ModelError(f"the objective {objective} is for two classes, there are {classes}")
    return {
        "rule": "sum",
        "decision": "positive" if binary else "first",
        **FLOAT32,
    }


def start_margin(objective: str, base_score: float) -> float:
    """Return the score that all rows start from, in float32.

    With ``binary:logistic`` the base score is a probability, and the start its log odds.

    >>> start_margin("binary:logistic", 0.5), start_margin("multi:softprob", 0.5)
    (0.0, 0.5)
    """
    score = np.float32(base_score)
    if objective != "binary:logistic":
        return float(score)
    if not 0 < score < 1:
        raise ModelError(f"base_score must be a probability between 0 and 1, got {base_score}")
    # The formula and the precision are those of the library.
    return float(-np.log(np.float32(1) / score - np.float32(1)) + np.float32(0))
