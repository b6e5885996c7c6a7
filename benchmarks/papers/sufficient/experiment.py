"""Section 6 of Wang et al. on one row after the other, and what the paper could not ask."""

from __future__ import annotations

import itertools
import math
import time
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from benchmarks.papers.sufficient.anchors import anchor_of
from benchmarks.papers.sufficient.logical import over_states
from benchmarks.papers.sufficient.records import Found, Level, Row, Task
from benchmarks.papers.sufficient.tasks import Split, prepared
from cpx.data.fitted.mixture_fit import Structure, fit_mixture
from cpx.models.expected_prediction.explainer import ExpectationExplainer
from cpx.models.expected_prediction.problem import MLSE
from cpx.models.expected_prediction.same_decision import SameDecision
from cpx.models.expected_prediction.search.known_attributes.beam import KnownSet, beam_levels
from cpx.models.sufficient_reason.problem import SufficientReason
from cpx.solving import solve

if TYPE_CHECKING:
    from benchmarks.papers.sources import Source
    from cpx.trees import TreeModel

__all__ = ["SIZES", "Laboratory"]

SIZES = {"mnist": (10, 20, 30), "adult": (1, 2, 3, 4)}
"""The cardinality constraints of Tables 1 and 2."""

_PROVED = (1, 2, 3, 4, 5, 10, 20, 30)
"""Sizes whose optimum is proved under the factorised distribution."""

_LIMIT = 30.0
_EQUAL = 1e-12
_SMALL = 2
"""Sets of so many attributes of Adult are all tried for the greatest probability."""


@dataclass(frozen=True, eq=False)
class Laboratory:
    """A table, its classifier, and the distributions that are fitted to its training part."""

    split: Split
    fitted: ExpectationExplainer
    factorised: ExpectationExplainer
    other: ExpectationExplainer
    states: TreeModel | None
    background: npt.NDArray[Any]

    @classmethod
    def of(cls, name: str, source: Source, seed: int, distribution: str) -> Laboratory:
        """Prepare a table."""
        split = prepared(name, source, seed)

        fitted = ExpectationExplainer(
            split.classifier,
            split.train,
            distribution=distribution,
            groups=split.groups,
            class_names=split.classes,
            seed=seed,
        )
        background = fitted.coding.codes(split.train)

        def over_the_same(structure: Structure) -> ExpectationExplainer:
            again = copy(fitted)
            again.distribution = fit_mixture(
                background, fitted.coding.cardinalities, structure=structure, seed=seed
            )
            return again

        states = over_states(fitted.model, fitted.coding) if name == "adult" else None
        alone, tree = over_the_same("factorised"), over_the_same("chow-liu")
        return cls(split, fitted, alone, tree, states, background)

    def measure(self, task: Task) -> Row:
        """Measure all methods on one row."""
        x = self.split.test.iloc[task.row]
        sizes = SIZES[task.table]
        problem = self.fitted.problem(x, max(sizes))
        assert isinstance(problem, MLSE)
        asked = SameDecision(problem)
        seconds, levels = self._levels(problem, max(sizes), task)
        best = _best_so_far(levels)
        found: dict[str, Found] = {}

        def note(name: str, chosen: tuple[int, ...], taken: float) -> None:
            mean, log = problem.scores.evaluator.evaluate(_observed(problem, chosen))
            same = asked.sampled(chosen, task.samples, task.seed).value
            found[name] = Found(chosen, float(mean[0]), float(log[0]), same, taken)

        if self.states is not None:
            start = time.process_time()
            reason = solve(
                SufficientReason(self.states, problem.codes, definition="sufficient"),
                "hitting-sets",
                time_limit=_LIMIT,
            )
            assert reason.explanation is not None
            note("Logical", reason.explanation.features, time.process_time() - start)
        if task.anchors:
            start = time.process_time()
            most = min(problem.n_features, 30)
            chosen = anchor_of(problem.codes, self.background, asked.same, task.seed, most)
            note("Anchors", chosen, time.process_time() - start)
            size = min(len(chosen), max(sizes))
            note("MLSE_s", best[size].features, seconds[size])
        for size in sizes:
            note(f"MLSE_{size}", best[size].features, seconds[size])
        curve = self._curve(problem, asked, levels, seconds, task)
        truth = int(self.split.test_labels[task.row])
        return Row(
            task,
            positive=problem.label_index == 1,
            right=problem.label_index == truth,
            log_odds=float(problem.scores.greatest(range(problem.n_features))),
            found=found,
            levels=curve,
            other=self._other(x, problem, asked, best, task),
        )

    def _levels(self, problem: MLSE, most: int, task: Task) -> tuple[list[float], list[KnownSet]]:
        """Return the best set of each size from 0 on, with the processor time up to it."""
        start = time.process_time()
        evaluator = problem.scores.evaluator
        seconds, levels = [], []
        for level in beam_levels(evaluator, most, task.width):
            levels.append(level[0])
            seconds.append(time.process_time() - start)
        return seconds, levels

    def _curve(
        self,
        problem: MLSE,
        asked: SameDecision,
        levels: list[KnownSet],
        seconds: list[float],
        task: Task,
    ) -> tuple[Level, ...]:
        x = self.split.test.iloc[task.row]
        exact = self.factorised.problem(x, len(levels) - 1)
        assert isinstance(exact, MLSE)
        _, beam = self._levels(exact, len(levels) - 1, task)
        greatest = _best_so_far(beam)
        curve = []
        for size, level in enumerate(levels):
            upper = float(problem.scores.greatest(level.features))
            same = asked.sampled(level.features, task.samples, task.seed).value
            proof: dict[str, Any] = {}
            if size in _PROVED:
                start = time.process_time()
                result = solve(replace(exact, k=size), "search", time_limit=_LIMIT)
                taken = time.process_time() - start
                assert result.explanation is not None
                proof = {
                    "beam": float(exact.scores.expected(greatest[size].features)),
                    "best": float(exact.scores.expected(result.explanation.features)),
                    "proved": result.proved,
                    "proof_seconds": taken,
                }
            f, top = _sigmoid(level.expected), _sigmoid(upper)
            curve.append(
                Level(
                    size,
                    level.expected,
                    level.log_probability,
                    same,
                    max(0.0, level.expected / upper) if upper > 0 else 0.0,
                    max(0.0, (f - 0.5) / (top - 0.5)) if top > 0.5 else 0.0,
                    seconds[size],
                    **proof,
                )
            )
        return tuple(curve)

    def _other(
        self, x: Any, problem: MLSE, asked: SameDecision, best: list[KnownSet], task: Task
    ) -> dict[str, float]:
        """Compare with another distribution, and with sets of the greatest probability."""
        size = SIZES[task.table][0] if task.table == "mnist" else _SMALL
        other = self.other.problem(x, size)
        assert isinstance(other, MLSE)
        _, levels = self._levels(other, size, task)
        theirs = _best_so_far(levels)[size]
        ours = best[size]
        both = {*ours.features} & {*theirs.features}
        union = {*ours.features} | {*theirs.features}
        expected, _ = problem.scores.evaluator.evaluate(_observed(problem, theirs.features))
        told = {
            "overlap": len(both) / max(1, len(union)),
            "theirs_under_ours": float(expected[0]),
            "ours_under_ours": ours.expected,
        }
        if task.table == "adult":
            every = [
                S
                for count in range(_SMALL + 1)
                for S in itertools.combinations(range(problem.n_features), count)
            ]
            draws = max(1, task.samples // 5)
            shares = [asked.sampled(S, draws, task.seed + 1).value for S in every]
            surest = every[int(np.argmax(shares))]
            told["surest_same"] = asked.sampled(surest, task.samples, task.seed).value
            told["ours_same"] = asked.sampled(ours.features, task.samples, task.seed).value
            told["agree"] = float(surest == ours.features)
        return told


def _best_so_far(levels: list[KnownSet]) -> list[KnownSet]:
    """Return the best set of at most each size; of sets as good, the smaller one is likelier."""
    best = [levels[0]]
    for level in levels[1:]:
        better = level.expected > best[-1].expected + _EQUAL
        best.append(level if better else best[-1])
    return best


def _observed(problem: MLSE, chosen: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    seen = np.zeros((1, problem.n_features), dtype=np.bool_)
    seen[0, list(chosen)] = True
    return seen


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))
