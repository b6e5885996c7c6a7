"""Expected predictions: seconds to the proof by each engine, and how far beam search is from it.

Boosted trees of made-up data and of scikit-learn's digits 3 and 5, with pixels binarised and 6
trees of depth 6, under a factorised distribution. With the environment variable CPX_MNIST, the
path of a table of MNIST's digits 3 and 5 (784 pixels and the class in the last column), of these
as well: 70 % of them for the model and the distribution, explained rows from the others.

A proof is of the greatest expected prediction of k attributes, with the likeliest of the sets that
have it. Seconds are of the processor, with the form made anew for each engine.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.tables import show
from cpx import solve
from cpx.answers.result import Status
from cpx.data.coding import Coding
from cpx.data.fitted.mixture_fit import fit_mixture
from cpx.data.fitted.tree_mixture import TreeMixture
from cpx.models.expected_prediction.problem import MLSE
from cpx.models.expected_prediction.search.known_attributes.beam import frontier
from cpx.trees import read_model
from cpx.trees.form import TreeModel

ROWS = int(os.environ.get("CPX_EXPECTED_ROWS", "10"))
LIMIT = float(os.environ.get("CPX_EXPECTED_LIMIT", "10"))
ENGINES = os.environ.get("CPX_EXPECTED_ENGINES", "search cpsat milp maxsat").split()
COMPONENTS = 10


@dataclass(frozen=True)
class Case:
    """A model, the states of its attributes, two distributions, and rows to explain."""

    name: str
    model: TreeModel
    coding: Coding
    independent: TreeMixture
    mixture: TreeMixture
    rows: np.ndarray
    sizes: tuple[int, ...]

    def problem(self, row: np.ndarray, k: int, mixture: bool = False) -> MLSE:
        """Return the problem of one row."""
        distribution = self.mixture if mixture else self.independent
        return MLSE(self.model, row.tolist(), self.coding, distribution, k)


def _case(name: str, classifier: Any, X: np.ndarray, y: np.ndarray, *sizes: int) -> Case:
    order = np.random.default_rng(0).permutation(len(X))
    fitted, others = np.split(order, [int(0.7 * len(X))])
    model = read_model(classifier.fit(X[fitted], y[fitted]))
    names = [attribute.name for attribute in model.attributes]
    # Rows of all the data have states; those of the others are not counted.
    coding = Coding.fit(X, names=names, cuts=model.thresholds, cast=model.cast, max_states=8)
    codes = coding.codes(X[fitted])
    return Case(
        name,
        model,
        coding,
        fit_mixture(codes, coding.cardinalities, structure="factorised"),
        fit_mixture(codes, coding.cardinalities, components=COMPONENTS, restarts=1),
        X[others[:ROWS]],
        sizes,
    )


def binarised(images: np.ndarray) -> np.ndarray:
    """Return which pixels are 0.05 standard deviations of their image above its mean."""
    limit = images.mean(axis=1) + 0.05 * images.std(axis=1)
    return (images > limit[:, None]).astype(np.float64)


def cases() -> Iterator[Case]:
    """Yield the models."""
    from sklearn.datasets import load_digits, make_classification
    from sklearn.ensemble import GradientBoostingClassifier
    from xgboost import XGBClassifier

    X, y = make_classification(
        2000, 120, n_informative=40, n_redundant=20, flip_y=0.05, random_state=0
    )
    for trees in (100, 200):
        boosting = GradientBoostingClassifier(
            n_estimators=trees, max_depth=3, max_features=0.3, random_state=0
        )
        yield _case(f"boosting {trees} x 3", boosting, X, y, 5, 20)
    digits = load_digits()
    some = np.isin(digits.target, (3, 5))
    images, classes = binarised(digits.data[some]), (digits.target[some] == 5).astype(int)
    small = XGBClassifier(n_estimators=6, max_depth=6, learning_rate=0.3)
    yield _case("digits 8 x 8, 6 x 6", small, images, classes, 5, 10, 20)
    if path := os.environ.get("CPX_MNIST"):
        import pandas as pd

        table = pd.read_csv(Path(path)).to_numpy()
        images, classes = (
            binarised(table[:, :-1]),
            (table[:, -1] == table[:, -1].max()).astype(int),
        )
        large = XGBClassifier(n_estimators=6, max_depth=6, learning_rate=0.3)
        yield _case("MNIST, 6 x 6", large, images, classes, 5, 10, 20, 30)


def _proofs(case: Case, k: int) -> Iterator[list[object]]:
    optima: list[object] = [None] * len(case.rows)
    for engine in ENGINES:
        times, proved, agree = [], 0, 0
        for i, row in enumerate(case.rows):
            problem = case.problem(row, k)
            start = time.process_time()
            result = solve(problem, engine, time_limit=LIMIT)
            times.append(time.process_time() - start)
            if result.status is Status.OPTIMAL:
                proved += 1
                optima[i] = result.objective if optima[i] is None else optima[i]
                agree += result.objective == optima[i]
        share = 100.0 * proved / len(case.rows)
        yield [
            *(case.name, k, engine, share, agree == proved),
            *(statistics.median(times), max(times)),
        ]


def _gaps(case: Case, k: int) -> list[object]:
    """Return how far beam search is from the optimum, in per cent of what there is to gain."""
    gaps, exact = [], 0
    for row in case.rows:
        problem = case.problem(row, k)
        result = solve(problem, "search", time_limit=LIMIT)
        if result.status is not Status.OPTIMAL:
            continue
        exact += 1
        best = int(result.objective)
        found = max(problem.value(known.features) for known in frontier(problem, k, width=5))
        gaps.append(100.0 * (best - found) / max(1, best - problem.value(())))
    if not gaps:
        return [case.name, k, 0, None, None, None]
    return [case.name, k, exact, sum(g > 0 for g in gaps), statistics.mean(gaps), max(gaps)]


def _beams(case: Case) -> list[object]:
    """Return the seconds of beam search for all sizes, under the mixture."""
    times = []
    for row in case.rows:
        problem = case.problem(row, 30, mixture=True)
        start = time.process_time()
        frontier(problem, 30, width=5)
        times.append(time.process_time() - start)
    return [case.name, len(case.coding.columns), statistics.median(times), max(times)]


def main() -> None:
    """Print the tables."""
    known = list(cases())
    head = ["model", "k", "engine", "proved %", "agree", "median s", "max s"]
    show(
        f"Greatest expected prediction, {ROWS} rows, limit {LIMIT:g} s",
        head,
        (line for case in known for k in case.sizes for line in _proofs(case, k)),
    )
    show(
        "Beam search of width 5 against the optimum",
        ["model", "k", "proved", "beam is below", "mean gap %", "max gap %"],
        (_gaps(case, k) for case in known for k in case.sizes),
    )
    show(
        f"Beam search of width 5, sizes up to 30, mixture of {COMPONENTS} products",
        ["model", "attributes", "median s", "max s"],
        (_beams(case) for case in known),
    )
