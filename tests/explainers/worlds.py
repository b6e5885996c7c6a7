"""Simulated worlds with a known answer: rows of a cube, their probabilities and labels."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.data import Samples
from cpx.data.base import Batch
from cpx.data.uniform import Uniform

__all__ = ["WORLDS", "World", "world"]


class Weighted(Uniform):
    """Rows of a cube with probabilities of their own; x is all ones."""

    name = "weighted"

    def __init__(self, cube: npt.NDArray[np.bool_], chances: npt.NDArray[np.float64]) -> None:
        super().__init__(cube.shape[1])
        self.cube, self.chances = cube, chances

    def sample(self, m: int, rng: np.random.Generator, x: Any = None) -> Batch:
        rows = self.cube[rng.choice(len(self.cube), size=m, p=self.chances)]
        return Batch(rows.astype(np.int8), rows)

    def sample_given(self, m: int, x: Any, features: Any, rng: np.random.Generator) -> Batch:
        inside = self.cube[:, list(features)].all(axis=1) * self.chances
        rows = self.cube[rng.choice(len(self.cube), size=m, p=inside / inside.sum())]
        return Batch(rows.astype(np.int8), rows)


@dataclass(eq=False)
class World:
    """All rows, their probabilities, which have the class of x, and all rules up to size k."""

    cube: npt.NDArray[np.bool_]
    chances: npt.NDArray[np.float64]
    same: npt.NDArray[np.bool_]
    k: int

    def __post_init__(self) -> None:
        d = self.cube.shape[1]
        self.rules = [r for i in range(self.k + 1) for r in itertools.combinations(range(d), i)]
        self.covers = np.array([self.cube[:, list(rule)].all(axis=1) for rule in self.rules])
        self.coverage = self.covers @ self.chances
        self.precision = (self.covers & self.same) @ self.chances / self.coverage
        self.distribution = Weighted(self.cube, self.chances)

    def classifier(self, rows: Any) -> Any:
        """Say for rows whether they are of the class of x."""
        places = np.asarray(rows, dtype=np.int64) @ (1 << np.arange(self.cube.shape[1]))
        return self.same[places]

    def samples(self, counts: npt.NDArray[np.int64]) -> Samples:
        """Return samples of which there are so many of each row of the cube."""
        seen = counts > 0
        context = {"distribution": {"name": "weighted"}, "class": "c"}
        return Samples(self.cube[seen], self.same[seen], counts[seen], context=context)


WORLDS = ("uniform", "skewed", "needle", "ties")


def world(kind: str, d: int = 6, k: int = 2) -> World:
    """Make a world: uniform rows, skewed ones, few that agree, or many equally good rules."""
    rng = np.random.default_rng(WORLDS.index(kind))
    cube = (np.arange(2**d)[:, None] >> np.arange(d) & 1).astype(bool)
    chances = np.full(2**d, 2.0**-d)
    if kind == "uniform":
        same = (cube[:, 0] & cube[:, 1]) | (rng.random(2**d) < 0.4)
    elif kind == "skewed":
        shares = np.linspace(0.2, 0.9, d)
        chances = np.where(cube, shares, 1 - shares).prod(axis=1)
        same = (cube[:, 0] | cube[:, d - 1]) ^ (rng.random(2**d) < 0.1)
    elif kind == "needle":
        same = cube[:, :3].all(axis=1)
    else:
        # Every single condition is as precise, and every pair.
        same = cube.sum(axis=1) * 2 > d
    same[-1] = True  # x itself
    return World(cube, chances, same, k)
