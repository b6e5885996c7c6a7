"""Random small ensembles of every rule, and the truth about them by brute force."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from cpx.models.sufficient_reason.methods import SufficiencyOracle
from cpx.models.sufficient_reason.methods.minimum import MinimumReason, minimum_of_oracle
from cpx.trees import Attribute, Tree, TreeModel


def minimum_reason(
    model: TreeModel, x: Any, oracle: SufficiencyOracle | None = None, **options: Any
) -> MinimumReason:
    """Return what the search of ``hitting-sets`` knows of a least reason."""
    return minimum_of_oracle(oracle or SufficiencyOracle.of_row(model, x), **options)


KINDS = ("vote", "average", "sum", "positive", "nonnegative", "shared")


def random_tree(
    rng: np.random.Generator, sizes: list[int], depth: int, values, outputs: tuple[int, ...]
) -> Tree:
    attribute, split, missing, leaves = [], [], [], []

    def grow(left: int) -> None:
        here = len(attribute)
        tested = int(rng.integers(len(sizes)))
        inner = left > 0 and sizes[tested] > 0 and rng.random() < 0.85
        attribute.append(tested if inner else -1)
        split.append(int(rng.integers(sizes[tested])) if inner else 0)
        missing.append(int(rng.integers(2)) if inner else 0)
        if not inner:
            leaves.append(values())
            return
        grow(left - 1)
        assert here < len(attribute)
        grow(left - 1)

    grow(depth)
    return Tree(attribute, split, missing, leaves, outputs)


def random_model(seed: int, kind: str, wide: bool = False) -> TreeModel:
    """Return a model of few cells; ``wide`` gives its leaves values of very different size."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 6))
    sizes = [int(rng.integers(0, 4)) for _ in range(d)]
    attributes = []
    for a in range(d):
        choice = rng.integers(5)
        missing = bool(rng.random() < 0.2)
        if choice == 0 and sizes[a] > 1:
            attributes.append(Attribute(f"a{a}", "categorical", values=(0, 2), missing=missing))
        elif choice == 1 and sizes[a] > 1:
            attributes.append(Attribute(f"a{a}", "real", lower=0.75, missing=missing))
        else:
            attributes.append(Attribute(f"a{a}", missing=missing))
    two = kind in ("positive", "nonnegative")
    classes = 2 if two else int(rng.integers(2, 5))
    trees = []
    for i in range(int(rng.integers(1, 9))):
        depth = int(rng.integers(0, 5))

        def value() -> float:
            # Few different values, so that ties are common.
            number = float(rng.integers(-2, 3))
            return number * (2.0 ** int(rng.integers(-60, 1))) if wide else number

        if kind == "vote":
            make, outputs = (lambda: np.eye(classes)[rng.integers(classes)]), range(classes)
        elif kind in ("average", "shared"):
            make, outputs = (lambda: [value() for _ in range(classes)]), range(classes)
        else:
            make, outputs = (lambda: [value()]), [0 if two else i % classes]
        trees.append(random_tree(rng, sizes, depth, make, tuple(outputs)))
    rule = kind if kind in ("vote", "average") else "sum"
    base = [float(rng.integers(-1, 2)) for _ in range(1 if two else classes)]
    return TreeModel(
        attributes,
        list(range(classes)),
        trees,
        [np.arange(size) + 0.5 for size in sizes],
        rule,
        kind if two else "first",
        base,
    )


class Truth:
    """All completions of a model, and the sufficient reasons of its rows by definition."""

    def __init__(self, model: TreeModel) -> None:
        choices = []
        for a, possible in enumerate(model.possible):
            cells = np.flatnonzero(possible).tolist()
            choices.append(cells + [-1] * model.attributes[a].missing)
        self.model = model
        self.cells = np.array(list(itertools.product(*choices)), dtype=np.int32)
        self.classes = model.decide(model.totals_of(self.cells))

    def row(self, seed: int) -> np.ndarray:
        return self.cells[np.random.default_rng(seed).integers(len(self.cells))]

    def sufficient(self, x: np.ndarray, fixed) -> bool:
        agree = (self.cells[:, list(fixed)] == x[list(fixed)]).all(axis=1)
        own = self.classes[(self.cells == x).all(axis=1)][0]
        return bool((self.classes[agree] == own).all())

    def reasons(self, x: np.ndarray) -> list[frozenset[int]]:
        """Return all sufficient reasons, minimal or not."""
        d = self.model.n_attributes
        sets = (s for k in range(d + 1) for s in itertools.combinations(range(d), k))
        return [frozenset(s) for s in sets if self.sufficient(x, s)]
