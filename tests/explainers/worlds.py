"""Simulated worlds with a known answer, and which guarantees about them are wrong."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cpx.data import Samples
from cpx.data.base import Batch
from cpx.data.uniform import Uniform
from cpx.models.monomial.explainers.guarantees import guarantee
from cpx.models.monomial.explainers.question import Question
from cpx.models.monomial.explainers.rule import RuleExplainer
from cpx.solving import solve

__all__ = ["WORLDS", "World", "ask", "broken", "false_claims", "said", "world"]


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
        self.coverage = np.minimum(self.covers @ self.chances, 1.0)
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


def false_claims(known: World, objective: str, m: int, delta: float, seed: int) -> list[str]:
    """Solve one sample of a world, and return which claims about it are wrong."""
    # Worlds are drawn by small seeds as well: the samples must not follow from the same numbers.
    rng = np.random.default_rng([seed, m])
    samples = known.samples(rng.multinomial(m, known.chances))
    question = Question(k=known.k, objective=objective, delta=delta, epsilon=0.5)
    explainer = RuleExplainer(known.classifier, known.cube, distribution=known.distribution)
    x = np.ones(known.cube.shape[1])
    problem = question.problem(samples, lambda: explainer.conditions(x))
    result = solve(problem, "search")
    if result.explanation is None:
        return []
    said = guarantee(problem, result.explanation, result.bound, question.delta)
    place = known.rules.index(result.explanation.features)
    allowed = np.array([problem.evaluate(problem.explanation(r)).feasible for r in known.rules])
    wrong = (known.covers != known.same) @ known.chances
    best = known.precision[allowed].max()
    truth = {
        "precision": known.precision[place] >= said.get("precision", 0),
        "coverage": known.coverage[place] >= said.get("coverage", 0),
        "more": best <= said.get("precision", 0) + said.get("more_precise", 1),
        "above": best <= said.get("most_precision", 1),
        "wider": known.coverage[allowed].max() <= said.get("most_coverage", 1),
        "loss": wrong[place] <= wrong[allowed].min() + said.get("loss_above", 1),
    }
    assert said.keys() > {"rows", "samples", "delta"}
    return [name for name, right in truth.items() if not right]


def ask(known: World, seed: int, **asked: Any) -> tuple[Any, list[int]]:
    """Explain x, all ones, in a world; return the explanation and the rows asked about."""
    asked = {"k": known.k, "epsilon": 0.1, "delta": 0.2, "fresh": 1, "time_limit": 60, **asked}
    queries: list[int] = []

    def classifier(rows: Any) -> Any:
        queries.append(len(rows))
        return known.classifier(rows)

    explainer = RuleExplainer(
        classifier, known.cube.astype(np.int8), distribution=known.distribution, seed=seed
    )
    return explainer.explain(np.ones(known.cube.shape[1]), **asked), queries


def said(explanation: Any) -> tuple[float, float]:
    """Return the precision guaranteed, and by how much another rule can be more precise."""
    beyond = explanation.claim.beyond
    return beyond["precision"], beyond["more_precise"]


def broken(known: World, explanation: Any, floor: float) -> bool:
    """Whether a guarantee is wrong; rules well below the floor are not meant by it."""
    low, more = said(explanation)
    meant = known.coverage >= floor
    place = known.rules.index(explanation.features)
    return known.precision[place] < low or known.precision[meant].max() > low + more
