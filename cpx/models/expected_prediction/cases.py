"""Expected predictions for tests: random instances, brute force, and cases with known optimum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from cpx.data.coding import Coding
from cpx.data.fitted.circuit import Circuit
from cpx.data.fitted.distribution import StateDistribution
from cpx.data.fitted.tree_mixture import ONE, TreeMixture
from cpx.errors import InvalidInstance
from cpx.models.expected_prediction.base import ExpectedPrediction
from cpx.models.expected_prediction.fewest import FewestExpected
from cpx.models.expected_prediction.problem import MLSE
from cpx.testing.brute import brute_force
from cpx.testing.random_trees import random_row, random_tree_model
from cpx.trees.attribute import Attribute
from cpx.trees.form import TreeModel
from cpx.trees.tree import Tree

STRUCTURES = ("factorised", "mixture", "chow-liu", "mixture of chow-liu trees", "circuit")


def best_set(problem: ExpectedPrediction) -> tuple[int, int, tuple[int, ...]] | None:
    """Return the optimum, the least penalty, and the first set that has both; or None.

    >>> best_set(random_expectation(5))
    (1014673263059, 3528897, (1,))
    """
    found = brute_force(problem)
    return None if found is None else (int(found[0]), problem.tie(found[1]), found[1])


def random_mixture(
    seed: int, cardinalities: Sequence[int], structure: str = "factorised"
) -> TreeMixture:
    """Return a random distribution of a structure over attributes of so many states each.

    >>> random_mixture(0, [2, 3], "chow-liu").structure
    'chow-liu'
    """
    rng = np.random.default_rng(seed)
    components = int(rng.integers(2, 4)) if "mixture" in structure else 1
    parents = np.full((components, len(cardinalities)), -1)
    if "chow-liu" in structure:
        for c in range(components):
            order = rng.permutation(len(cardinalities))
            for i in range(1, len(order)):
                if i == 1 or rng.random() < 0.8:
                    parents[c, order[i]] = order[int(rng.integers(i))]
    tables = tuple(
        tuple(
            _shares(rng, cardinalities[parent] if (parent := parents[c, a]) >= 0 else 1, size)
            for a, size in enumerate(cardinalities)
        )
        for c in range(components)
    )
    return TreeMixture(_shares(rng, 1, components)[0], parents, tables)


def random_circuit(seed: int, cardinalities: Sequence[int]) -> Circuit:
    """Return a random smooth decomposable circuit; nodes are shared, some probabilities are 0.

    >>> random_circuit(0, [2, 3, 2])
    <Circuit: 56 nodes, 3 attributes>
    """
    rng = np.random.default_rng(seed)
    nodes: list[dict[str, Any]] = []
    known: dict[tuple[int, ...], list[int]] = {}

    def add(node: dict[str, Any]) -> int:
        nodes.append(node)
        return len(nodes) - 1

    def node_over(scope: tuple[int, ...]) -> int:
        made = known.setdefault(scope, [])
        if made and (len(made) > 3 or rng.random() < 0.4):
            return int(rng.choice(made))
        children = [_part(rng, scope, cardinalities, add, node_over) for _ in range(3)]
        count = int(rng.integers(1, 4))
        weights = _shares(rng, 1, count)[0].tolist()
        made.append(
            children[0] if count == 1 else add({"sum": children[:count], "weights": weights})
        )
        return made[-1]

    top = node_over(tuple(range(len(cardinalities))))
    return Circuit(nodes[: top + 1])


def _part(
    rng: np.random.Generator, scope: tuple[int, ...], sizes: Sequence[int], add: Any, over: Any
) -> int:
    """Return a leaf over one attribute, a product of random parts of several."""
    if len(scope) == 1:
        table = _shares(rng, 1, sizes[scope[0]])[0]
        if len(table) > 1 and rng.random() < 0.2:
            table[0], table[-1] = table[0] + table[-1], 0
        return int(add({"attribute": scope[0], "probabilities": table.tolist()}))
    order = rng.permutation(scope).tolist()
    cut = int(rng.integers(1, len(order)))
    parts = [tuple(sorted(order[:cut])), tuple(sorted(order[cut:]))]
    return int(add({"product": [over(part) for part in parts]}))


def _shares(rng: np.random.Generator, rows: int, size: int) -> Any:
    """Return rows of random probabilities over 2**30; one in three is very uneven."""
    power = 4 if rng.random() < 0.3 else 1
    shares = rng.random((rows, size)) ** power + 1e-6
    table = np.maximum(1, (shares / shares.sum(axis=1, keepdims=True) * ONE).astype(np.int64))
    table[:, 0] += ONE - table.sum(axis=1)
    return table


def random_states(model: TreeModel, seed: int, x: tuple[float, ...]) -> Coding:
    """Return states of the columns of a model, the last two of them together as one attribute."""
    rows = np.array([random_row(model, 1000 * seed + i) for i in range(30)] + [x])
    names = [attribute.name for attribute in model.attributes]
    groups = {"both": names[-2:]} if len(names) > 2 and seed % 2 else None
    return Coding.fit(rows, names=names, cuts=model.thresholds, groups=groups, max_states=3)


def random_expectation(
    seed: int,
    structure: str = "factorised",
    dual: bool = False,
    several: bool = True,
    **arguments: Any,
) -> MLSE | FewestExpected:
    """Return a random small problem: all rules, missing values, groups, required attributes.

    several: Whether a model may add up a score for each of several classes.

    >>> random_expectation(3).to_dict() == random_expectation(3).to_dict()
    True
    """
    rng = np.random.default_rng(seed)
    for attempt in range(100):
        model = random_tree_model(100 * seed + attempt, most_attributes=6, most_trees=5)
        x = random_row(model, seed)
        try:
            coding = random_states(model, seed, x)
            mixture: StateDistribution = (
                random_circuit(seed + attempt, coding.cardinalities)
                if structure == "circuit"
                else random_mixture(seed, coding.cardinalities, structure)
            )
            A = coding.n_attributes
            order = rng.permutation(A).tolist()
            asked: dict[str, Any] = {
                "required": order[: int(rng.choice([0, 0, 1]))],
                "forbidden": order[1:][: int(rng.choice([0, 0, 1]))],
                **arguments,
            }
            k = int(rng.integers(0, A + 1))
            if not several and model.rule == "sum" and len(model.classes) > 2:
                continue
            plain = MLSE(model, x, coding, mixture, k, **asked)
            if not dual:
                return plain
            return _dual(rng, plain, asked)
        except InvalidInstance:
            continue  # scores of three classes, or x at a tie
    raise AssertionError(f"no model for seed {seed}")


def _dual(rng: np.random.Generator, plain: MLSE, asked: dict[str, Any]) -> FewestExpected:
    """Return the dual with a threshold that some sets reach, or just one, or none."""
    A, scores = plain.n_features, plain.scores
    bounded = rng.random() < 0.4 and scores.greatest(range(A)) > plain.leaves.threshold
    asked = {"unit": plain.unit, "measure": "expectation", **asked}
    if bounded:
        asked["measure"] = "probability-bound"
    inside = [a for a in range(A) if rng.random() < 0.5]
    reached = scores.bound(inside) if bounded else scores.expected(inside)
    tau = reached + Fraction(int(rng.integers(-1, 2)), 64)
    if bounded:
        tau = min(Fraction(1), max(Fraction(1, 100), tau))
    of = plain.tree_model, plain.x, plain.coding, plain.distribution
    return FewestExpected(*of, tau, **asked)


# ---------------------------------------------------------------------- cases


def expected_prediction_cases() -> Iterator[tuple[str, ExpectedPrediction, int | None]]:
    """Yield name, problem and optimum."""
    plain = _model([_stump(0, 0, 2), _stump(1, 0, 1)], -1)
    # EP is -1 + 2 p + q where nothing is known: 0.5; in units of a quarter.
    even = _independent([0.5] * 3)
    of = plain, (1, 1, 1), _states(), even
    quarter: dict[str, Any] = {"unit": "1/4"}
    yield "mlse", MLSE(*of, 1, **quarter), 6
    yield "mlse_k_zero", MLSE(*of, 0, **quarter), 2
    yield "mlse_k_all", MLSE(*of, 3, **quarter), 8
    yield "mlse_required", MLSE(*of, 2, required=("c",), **quarter), 6
    yield "mlse_forbidden", MLSE(*of, 2, forbidden=("a",), **quarter), 4
    yield "mlse_all_forbidden", MLSE(*of, 2, forbidden=(0, 1, 2), **quarter), 2
    yield "mlse_contradiction", MLSE(*of, 2, required=(0,), forbidden=(0,), **quarter), None
    yield "mlse_required_too_many", MLSE(*of, 1, required=(0, 1), **quarter), None
    negative = _model([_stump(0, 2, 0), _stump(1, 1, 0)], -1)
    # a and b speak against yes: the score of no is 1 - 0 where both are known.
    yield "mlse_negative", MLSE(negative, (1, 1, 1), *of[2:], 2, **quarter), 4
    # Known alone, a and b give as much, and b is the likelier one.
    twins = _model([_stump(0, 0, 2), _stump(1, 0, 4)], -1), *of[1:3]
    yield "mlse_tie", MLSE(*twins, _independent([0.5, 0.75, 0.5]), 1, **quarter), 16
    both = _model([_pair(0, 1, 4), _stump(2, 0, 1)], -1)
    # Known alone, a or b give 2 of the 4 together; c gives 1/2.
    yield "mlse_two_only_together", MLSE(both, *of[1:], 2, **quarter), 14
    harms = _model([_stump(0, 2, 0), _stump(1, 0, 3)], -1)
    yield "mlse_one_harms", MLSE(harms, *of[1:], 2, **quarter), 12
    yield "mlse_nothing_tested", MLSE(_model([_leaf(3)], -1), *of[1:], 2, **quarter), 8
    yield "fewest", FewestExpected(*of, "3/2", **quarter), 1
    yield "fewest_two", FewestExpected(*of, "7/4", **quarter), 2
    yield "fewest_none_needed", FewestExpected(*of, "1/2", **quarter), 0
    yield "fewest_not_reached", FewestExpected(*of, "9/4", **quarter), None
    yield "fewest_forbidden", FewestExpected(*of, "3/2", forbidden=(0,), **quarter), None
    yield "fewest_required", FewestExpected(*of, "3/2", required=(2,), **quarter), 2
    bound: dict[str, Any] = {"measure": "probability-bound", **quarter}
    yield "fewest_bound", FewestExpected(*of, "3/4", **bound), 1
    yield "fewest_bound_sure", FewestExpected(*of, 1, **bound), 2
    contradiction = FewestExpected(*of, 1, required=(1,), forbidden=(1,), **bound)
    yield "fewest_contradiction", contradiction, None


def _states() -> Coding:
    rows = np.array([[0, 0, 0], [1, 1, 1]])
    return Coding.fit(rows, names=["a", "b", "c"], cuts=[[0.5]] * 3)


def _independent(ones: Sequence[float]) -> TreeMixture:
    """Return bits that are independent, with the probabilities of 1."""
    tables = tuple(np.array([[ONE - int(p * ONE), int(p * ONE)]]) for p in ones)
    return TreeMixture(np.array([ONE]), np.full((1, len(ones)), -1), (tables,))


def _model(trees: Sequence[Tree], base: float) -> TreeModel:
    attributes = tuple(Attribute(name, "boolean") for name in "abc")
    thresholds = tuple(np.array([0.5]) for _ in attributes)
    classes = ("no", "yes")
    return TreeModel(
        attributes, classes, tuple(trees), thresholds, "sum", "positive", (float(base),)
    )


def _leaf(value: float) -> Tree:
    return _tree([-1], [value])


def _stump(a: int, low: float, high: float) -> Tree:
    """Return the tree ``a <= 0.5 ? low : high``."""
    return _tree([a, -1, -1], [low, high])


def _pair(a: int, b: int, value: float) -> Tree:
    """Return the tree that gives a value where a and b are both 1."""
    return _tree([a, -1, b, -1, -1], [0, 0, value])


def _tree(attribute: Sequence[int], values: Sequence[float]) -> Tree:
    zeros = np.zeros(len(attribute), dtype=np.int32)
    leaves = np.array(values, dtype=np.float64)[:, None]
    return Tree(np.array(attribute, dtype=np.int32), zeros, zeros, leaves, (0,))
