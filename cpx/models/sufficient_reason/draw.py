"""Random sufficient reasons of random tree models."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cpx.models.sufficient_reason.features import Features
from cpx.models.sufficient_reason.problem import SufficientReason
from cpx.testing.drawing import Instance, Random, chance, choices, count, side_constraints, weights
from cpx.testing.random_trees import random_row, random_tree_model
from cpx.trees.form import TreeModel

_MOST_CONDITIONS = 7


def random_reason(seed: int, **arguments: Any) -> SufficientReason:
    """Return a random problem on a random model: levels, definitions, weights, restrictions.

    >>> random_reason(3).to_dict() == random_reason(3).to_dict()
    True
    """
    rng = np.random.default_rng(seed + 1000)
    model = random_tree_model(seed)
    x = random_row(model, seed)
    missing = any(x[a] != x[a] for a in model.used)
    level = "conditions" if not missing and rng.random() < 0.4 else "attributes"
    if level == "attributes" and np.random.default_rng([seed, 1]).random() < 0.3:
        level = "intervals"
    definitions = ["tree-specific", "tree-specific", None]
    if model.rule == "vote":
        definitions.append("majoritary")
    if len(model.trees) == 1:
        definitions.append("sufficient")
    asked: dict[str, Any] = {
        "level": level,
        "definition": definitions[int(rng.integers(len(definitions)))],
        **arguments,
    }
    plain = SufficientReason(model, x, **asked)
    order = rng.permutation(plain.n_features).tolist()
    if rng.random() < 0.5 and plain.n_features:
        asked["weights"] = rng.integers(1, 5, plain.n_features).tolist()
    return SufficientReason(
        model,
        x,
        required=order[: int(rng.choice([0, 0, 1]))],
        forbidden=order[1:][: int(rng.choice([0, 0, 1]))],
        **asked,
    )


def draw(kind: str, rng: Random, scale: int) -> Instance:
    """Return the parameters, model and row of a random instance."""
    while True:
        seed = count(rng, 0, 2**31)
        model = random_tree_model(seed, 4 * scale, count(rng, 1, 4 * scale))
        row = [None if math.isnan(v) else v for v in random_row(model, seed)]
        of = _change_of_model if kind == "contrast" else _of_model
        instance = of(rng, model.to_dict(), row, _MOST_CONDITIONS * scale)
        if instance is not None:
            return instance


def _of_model(rng: Random, model: Instance, row: list[float | None], most: int) -> Instance | None:
    """Ask for a reason of a model's class; None where the conditions are too many."""
    if model["rule"] != "vote" and chance(rng, 0.3):
        # Sums of many bits, of both signs: 0.1 and its multiples, or quarters of a large power.
        factor = [0.1, 2.0**24, 2.0**-20, 3.0**20][count(rng, 0, 3)]
        for part in [model, *model["trees"]]:
            key = "base" if part is model else "values"
            part[key] = [(float.fromhex(v) * factor).hex() for v in part[key]]
    if chance(rng, 0.2):
        model["cast"] = "float32"
    tests = _tests_of(model)
    tested = {a for tree in model["trees"] for a in tree["attribute"] if a >= 0}
    whole = all(row[a] is not None for a in tested)
    level = "conditions" if whole and chance(rng, 0.4) else "attributes"
    n = len(tests) if level == "conditions" else len(row)
    if level == "attributes" and chance(rng, 0.4):
        read = TreeModel.from_dict(model)
        values = tuple(math.nan if v is None else v for v in row)
        level, n = "intervals", len(Features(read, values, "intervals"))
    if n > most:
        return None
    definitions = ["sufficient", "sufficient", "tree-specific"]
    if model["rule"] == "vote":
        definitions.append("majoritary")
    parameters = {
        "level": level,
        "definition": definitions[count(rng, 0, len(definitions) - 1)],
        "unit": "0",
        **choices(rng, n, required=0.4),
    }
    if parameters["definition"] == "tree-specific" and chance(rng, 0.2):
        parameters["unit"] = ["1/2", "1/4", "1"][count(rng, 0, 2)]
    if n and chance(rng, 0.5):
        parameters["weights"] = weights(rng, n, 2**31)
    found = {"parameters": parameters, "x": row, "class": _class(model, row), "model": model}
    return found | side_constraints(rng, n)


def _change_of_model(
    rng: Random, model: Instance, row: list[float | None], most: int
) -> Instance | None:
    """Ask for a change of a row of a model; None where the columns are too many."""
    n, own = len(row), _class(model, row)
    others = [label for label in model["classes"] if label != own]
    if n > most or not others:
        return None
    parameters: dict[str, Any] = {"frozen": [a for a in range(n) if chance(rng, 0.2)]}
    if chance(rng, 0.4):
        parameters["target"] = others[count(rng, 0, len(others) - 1)]
    if chance(rng, 0.5):
        parameters["weights"] = weights(rng, n, 2**31)
    return {"parameters": parameters, "x": row, "class": own, "model": model}


def _tests_of(model: Instance) -> set[tuple[int, int]]:
    """Return the tests of a model that some value passes and some does not."""
    return {
        (a, j)
        for tree in model["trees"]
        for a, j in zip([a for a in tree["attribute"] if a >= 0], tree["split"], strict=True)
        if j not in (-1, len(model["thresholds"][a]))
    }


def _class(model: Instance, row: list[float | None]) -> str:
    """Return the class that a model gives a row; the brute force makes sure of it."""
    values = [math.nan if v is None else v for v in row]
    return str(TreeModel.from_dict(model).predict(values)[0])
