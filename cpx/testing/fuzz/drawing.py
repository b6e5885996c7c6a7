"""Random instances of each kind, as the JSON objects that are saved."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from cpx.testing.random_trees import random_row, random_tree_model
from cpx.trees.form import TreeModel

__all__ = ["KINDS", "draw", "side_constraint"]

Random = np.random.Generator
Instance = dict[str, Any]

_MOST_WEIGHT = 2**40  # of all samples
_MOST_IN_A_RATIO = 2**31
_MOST_MACHINE_WEIGHT = 2**53  # of all support vectors, the signs left out
_MOST_CONDITIONS = 7


def draw(kind: str, rng: Random, scale: int = 1) -> Instance:
    """Return a random instance of a kind.

    Parameters
    ----------
    kind : str
        One of :data:`KINDS`.
    rng : numpy.random.Generator
    scale : int
        1 for what the brute force can try whole; sizes grow with it.

    Examples
    --------
    >>> draw("k-monomial", np.random.default_rng(0))["problem"]
    'k-monomial'
    """
    instance = {"format": "cpx-instance", "version": 1, "problem": kind}
    instance |= KINDS[kind](kind, rng, scale)
    if kind != "rule-set-learning" and _chance(rng, 0.3):
        instance |= _side_constraints(rng, instance)
    return instance


def _chance(rng: Random, share: float) -> bool:
    return bool(rng.random() < share)


def _count(rng: Random, low: int, high: int) -> int:
    """Return an integer from low to high, both included."""
    return int(rng.integers(low, high + 1))


def _bits(rng: Random, rows: int, columns: int, share: float) -> list[str]:
    return [
        "".join("1" if _chance(rng, share) else "0" for _ in range(columns)) for _ in range(rows)
    ]


def _weights(rng: Random, m: int, most: int) -> list[int]:
    """Return positive weights of which the sum is below most: equal, small, mixed or huge."""
    style = _count(rng, 0, 4)
    if style == 0:
        return [1] * m
    if style == 1:
        return [_count(rng, 1, 5) for _ in range(m)]
    if style == 2:
        return [_count(rng, 1, 1000) for _ in range(m)]
    top = most // m - 1
    if style == 3:
        listed = [1, 2, 513, 10**6, 10**6 + 1, 10**9]
        return [min(top, listed[_count(rng, 0, 5)]) for _ in range(m)]
    return [max(1, min(top, int(math.exp2(rng.uniform(0, math.log2(top)))))) for _ in range(m)]


def _samples(rng: Random, m: int, d: int, most: int = _MOST_WEIGHT) -> Instance:
    """Return samples and labels; now and then all alike, of one class, or in pairs."""
    share = 1.0 if _chance(rng, 0.04) else rng.uniform(0.2, 0.95)
    rows = _bits(rng, m, d, share)
    if _chance(rng, 0.15):
        rows = [rows[_count(rng, 0, m // 3)] for _ in range(m)]
    labels = "1" if _chance(rng, 0.06) else "0" if _chance(rng, 0.06) else ""
    found: dict[str, Any] = {
        "samples": rows,
        "labels": labels * m or _bits(rng, 1, m, rng.uniform(0.1, 0.9))[0],
    }
    if _chance(rng, 0.6):
        found["weights"] = _weights(rng, m, most)
    return found


def _choices(rng: Random, n: int, required: float = 0.25, forbidden: float = 0.25) -> Instance:
    """Return required and forbidden features, seldom contradictory."""
    order = rng.permutation(n).tolist()
    found: Instance = {}
    if n and _chance(rng, required):
        found["required"] = sorted(order[: _count(rng, 1, min(2, n))])
    if n and _chance(rng, forbidden):
        kept = order if _chance(rng, 0.15) else order[len(found.get("required", ())) :]
        found["forbidden"] = sorted(kept[-_count(rng, 1, 2) :])
    return found


def _side_constraints(rng: Random, instance: Instance) -> Instance:
    """Return constraints on the numbers of what is chosen from; seldom contradictory."""
    n = _number_of_choices(instance)
    if not n:
        return {}
    return {"where": [{"text": side_constraint(rng, n)} for _ in range(_count(rng, 1, 3))]}


def _number_of_choices(instance: Instance) -> int:
    parameters = instance["parameters"]
    if "rules" in parameters:
        return len(parameters["rules"])
    if "model" not in instance:
        return len(instance["samples"][0])
    if parameters["level"] == "attributes":
        return len(instance["x"])
    return len(_tests_of(instance["model"]))


def side_constraint(rng: Random, n: int) -> str:
    """Return a formula over ``feature[j]``: a clause, a count, a sum, or some of them."""

    def atom(negative: float = 0.3) -> str:
        return "not " * _chance(rng, negative) + f"feature[{_count(rng, 0, n - 1)}]"

    def atoms(most: int) -> list[str]:
        return [atom() for _ in range(_count(rng, 2, most))]

    def total() -> str:
        terms = " + ".join(f"{_count(rng, -3, 5)} * {atom(0)}" for _ in range(_count(rng, 1, 4)))
        return f"{terms} {['<=', '>=', '<', '=='][_count(rng, 0, 3)]} {_count(rng, -2, 5)}"

    style = _count(rng, 0, 6)
    if style == 0:
        return f"not ({' and '.join(atoms(3))})"
    if style == 1:
        return " or ".join(f"({part})" for part in atoms(4))
    if style == 2:
        return f"implies({atom()}, {atom()})"
    if style == 3:
        how = ["at_most", "at_most", "at_least", "exactly"][_count(rng, 0, 3)]
        return f"{how}({_count(rng, 0, 3)}, {', '.join(atoms(5))})"
    if style == 4:
        return f"({atom()} or {atom()}) and ({atom()} or {atom()} and {atom()})"
    if style == 5:
        return f"implies({atom()}, {total()})"
    return total()


# -------------------------------------------------------------------- the kinds


def _monomial(kind: str, rng: Random, scale: int) -> Instance:
    m, d = _count(rng, 1, 16 * scale), _count(rng, 1, 7 * scale)
    most = _MOST_IN_A_RATIO if kind == "max-precision" else _MOST_WEIGHT
    found = _samples(rng, m, d, most)
    parameters: Instance = {"k": _count(rng, 0, d), **_choices(rng, d)}
    if _chance(rng, 0.4):
        found["groups"] = rng.integers(0, max(1, d // 2), d).tolist()
        parameters["one_per_group"] = _chance(rng, 0.6)
    wanted = [_chance(rng, 0.2), _chance(rng, 0.15), _chance(rng, 0.2)]
    if kind == "max-precision":
        wanted[0] = _chance(rng, 0.6)
    if kind == "max-coverage":
        wanted[2] = _chance(rng, 0.7)  # few rules for random labels keep the default
    drawn = (rng.beta(1, 4), min(1.0, 2 * rng.beta(1, 2)), rng.uniform(0.2, 1))
    for name, asked, value in zip(
        ("min_coverage", "max_coverage", "min_precision"), wanted, drawn, strict=True
    ):
        if asked:
            parameters[name] = _share(rng, float(value), m)
    return {"parameters": parameters, **found}


def _share(rng: Random, value: float, m: int) -> str:
    """Return a share in few digits, or one that some samples have exactly."""
    if _chance(rng, 0.4):
        return f"{round(value * m)}/{m}"
    return str(round(value, _count(rng, 1, 3)))


def _certificate(kind: str, rng: Random, scale: int) -> Instance:
    m, d = _count(rng, 1, 14 * scale), _count(rng, 1, 7 * scale)
    parameters = {"epsilon": _share(rng, float(rng.beta(1, 6)), m), **_choices(rng, d)}
    if _chance(rng, 0.5):
        parameters["weights"] = _weights(rng, d, 2**31)
    return {"parameters": parameters, **_samples(rng, m, d)}


def _reason(kind: str, rng: Random, scale: int) -> Instance:
    while True:
        seed = _count(rng, 0, 2**31)
        model = random_tree_model(seed, 4 * scale, _count(rng, 1, 4 * scale))
        row = [None if math.isnan(v) else v for v in random_row(model, seed)]
        instance = _of_model(rng, model.to_dict(), row, _MOST_CONDITIONS * scale)
        if instance is not None:
            return instance


def _of_model(rng: Random, model: Instance, row: list[float | None], most: int) -> Instance | None:
    """Ask for a reason of a model's class; None where the conditions are too many."""
    if model["rule"] != "vote" and _chance(rng, 0.3):
        # Sums of many bits, of both signs: 0.1 and its multiples, or quarters of a large power.
        factor = [0.1, 2.0**24, 2.0**-20, 3.0**20][_count(rng, 0, 3)]
        for part in [model, *model["trees"]]:
            key = "base" if part is model else "values"
            part[key] = [(float.fromhex(v) * factor).hex() for v in part[key]]
    if _chance(rng, 0.2):
        model["cast"] = "float32"
    tests = _tests_of(model)
    tested = {a for tree in model["trees"] for a in tree["attribute"] if a >= 0}
    whole = all(row[a] is not None for a in tested)
    level = "conditions" if whole and _chance(rng, 0.4) else "attributes"
    n = len(tests) if level == "conditions" else len(row)
    if n > most:
        return None
    definitions = ["sufficient", "sufficient", "tree-specific"]
    if model["rule"] == "vote":
        definitions.append("majoritary")
    parameters = {
        "level": level,
        "definition": definitions[_count(rng, 0, len(definitions) - 1)],
        "unit": "0",
        **_choices(rng, n, required=0.4),
    }
    if parameters["definition"] == "tree-specific" and _chance(rng, 0.2):
        parameters["unit"] = ["1/2", "1/4", "1"][_count(rng, 0, 2)]
    if n and _chance(rng, 0.5):
        parameters["weights"] = _weights(rng, n, 2**31)
    return {"parameters": parameters, "x": row, "class": _class(model, row), "model": model}


def _tests_of(model: Instance) -> set[tuple[int, int]]:
    """Return the tests of a model that some value passes and some does not."""
    return {
        (a, j)
        for tree in model["trees"]
        for a, j in zip([a for a in tree["attribute"] if a >= 0], tree["split"], strict=True)
        if 0 <= j < len(model["thresholds"][a])
    }


def _class(model: Instance, row: list[float | None]) -> str:
    """Return the class that a model gives a row; the brute force makes sure of it."""
    values = [math.nan if v is None else v for v in row]
    return str(TreeModel.from_dict(model).predict(values)[0])


def _price(rng: Random) -> str:
    return ["0", "0.01", "1/30", "0.1", "1/7", "1/2"][_count(rng, 0, 5)]


def _losses(rng: Random) -> Instance:
    found: Instance = {"penalty": _price(rng)}
    if _chance(rng, 0.4):
        found["loss"] = "hamming"
    if _chance(rng, 0.2):
        found["class_weights"] = [_count(rng, 0, 2), _count(rng, 1, 2)]
    return found


def _light(found: Instance) -> Instance:
    """Halve the weights, so that those of the classes leave them within what is allowed."""
    if "weights" in found:
        found["weights"] = [max(1, w // 2) for w in found["weights"]]
    return found


def _rule_set(kind: str, rng: Random, scale: int) -> Instance:
    m, d = _count(rng, 1, 12 * scale), _count(rng, 1, 5 * scale)
    candidates = _count(rng, 1, 7 * scale)
    found = _light(_samples(rng, m, d))
    rules = [
        sorted(rng.permutation(d)[: _count(rng, 0, min(3, d))].tolist()) for _ in range(candidates)
    ]
    parameters = {"rules": rules, **_losses(rng), **_choices(rng, candidates, 0.2, 0.2)}
    total = sum(found.get("weights", [1] * m))
    for name, most in (("max_rules", 4), ("max_literals", 8), ("max_overlap", total)):
        if _chance(rng, 0.25):
            parameters[name] = int(rng.integers(0, most + 1))
    if _chance(rng, 0.15):
        parameters["lengths"] = [_count(rng, 0, 4) for _ in rules]
    return {"parameters": parameters, **found}


def _learning(kind: str, rng: Random, scale: int) -> Instance:
    d = _count(rng, 1, 4 * scale)
    most = _count(rng, 1, 2 if d >= 4 else 3)
    found = _light(_samples(rng, _count(rng, 1, 10 * scale), d))
    return {"parameters": {"max_literals": most, **_losses(rng)}, **found}


def _kernel_rule(kind: str, rng: Random, scale: int) -> Instance:
    m, d = _count(rng, 1, 9 * scale), _count(rng, 1, 5 * scale)
    sizes = _weights(rng, m, _MOST_MACHINE_WEIGHT)
    positive = rng.choice([0.0, 0.2, 0.5, 0.8, 1.0], p=[0.22, 0.28, 0.25, 0.15, 0.1])
    weights = [w if _chance(rng, positive) else -w for w in sizes]
    if _chance(rng, 0.1):
        weights[_count(rng, 0, m - 1)] = 0
    return {
        "parameters": {
            "max_clauses": _count(rng, 1, 4),
            "max_literals": _count(rng, 1, min(d, 5)),
        },
        "samples": _bits(rng, m, d, rng.uniform(0, 0.95)),
        "weights": weights,
    }


KINDS: dict[str, Callable[[str, Random, int], Instance]] = {
    "k-monomial": _monomial,
    "negative-only": _monomial,
    "max-precision": _monomial,
    "max-coverage": _monomial,
    "min-certificate": _certificate,
    "sufficient-reason": _reason,
    "rule-set": _rule_set,
    "rule-set-learning": _learning,
    "kernel-rule": _kernel_rule,
}
"""What draws an instance of each kind."""
