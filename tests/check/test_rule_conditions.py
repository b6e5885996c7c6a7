"""Conditions of columns that a rule is printed with: right ones pass, altered ones do not."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pandas as pd

import cpx
from cpx.data import Binarizer
from cpx.models.monomial.judge_conditions import wrong_conditions

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "a": RNG.integers(0, 9, 60) / 4,
        "a = b": np.where(RNG.random(60) < 0.2, np.nan, RNG.integers(0, 9, 60)),
        "c": np.where(RNG.random(60) < 0.2, None, RNG.choice([*"xyz"], 60)),
        "one": np.full(60, 0.5),
    }
)


def test_what_literals_mean_together_is_right_and_nothing_else() -> None:
    binarizer = Binarizer(4).fit(TABLE)
    rows = binarizer.transform(TABLE)
    refused = 0
    for bits in rows:
        names = binarizer.literal_names(bits)
        features = sorted(RNG.choice(len(names), RNG.integers(1, 6), replace=False).tolist())
        said = [one.to_json() for one in binarizer.said(bits, features)]
        assert wrong_conditions(said, features, names) == []
        for i, one in enumerate(said):
            altered = deepcopy(said)
            if "within" in one:
                altered[i]["within"][0][0][1] += 0.01
            elif "one_of" in one:
                altered[i]["one_of"] = ["w"]
            else:
                altered[i]["value"] = 7.0
            for other in (
                altered,
                said[:i] + said[i + 1 :] + [{"column": "c", "value": 7.0}],
                [*said[:i], {**one, "not": not one.get("not", False)}, *said[i + 1 :]],
                [*said[:i], {**one, "column": "d"}, *said[i + 1 :]],
                [*said[:i], {**one, "now": "7"}, *said[i + 1 :]],
            ):
                assert wrong_conditions(other, features, names), (one, other, features)
                refused += 1
    assert refused > 500


def test_a_saved_rule_with_another_interval_is_refused() -> None:
    rows = TABLE[["a", "one"]]
    x = rows.iloc[int(rows["a"].argmax())]
    explainer = cpx.Explainer(lambda X: np.asarray(X["a"] > 1, dtype=int), rows)
    problem = explainer.problem(x, k=2, m=60)
    saved = explainer.rule(x, k=2, m=60).result.to_dict()
    instance = problem.to_dict()
    assert cpx.check.violations(instance, saved) == []
    (said,) = saved["explanation"]["rule"]["conditions"]
    said["within"] = [[[">", 0.1]]]
    assert any("conditions" in told for told in cpx.check.violations(instance, saved))
