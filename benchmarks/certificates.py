"""Certificates of perceptrons: found on a path of k features, of 3 k, and by exact search.

The perceptrons are those of the protocol of Koriche et al., uniform bits. CPX_DATA is a folder
with their tables and ``index.json``; CPX_CERTIFICATES names some of them, with commas.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.choice import chosen
from benchmarks.papers.datasets import choose
from benchmarks.papers.koriche.protocol import Protocol, train
from benchmarks.papers.sources import Directory
from benchmarks.tables import show
from cpx import solve

NAMES = (
    *("vote", "diabetes", "heart disease", "credit approval", "australian"),
    *("hepatitis", "lymph", "compas", "mushroom", "iris", "tae", "veteran"),
)
K, PRECISION, ROWS = 5, 0.95, 2
SAMPLES, FRESH = 400_000, 20_000
UNSURE = 0.001
ENGINES = {"path of k": "certificates{depth=5}", "path of 3 k": "certificates", "search": "search"}


def lines(names: list[str]) -> Iterator[list[object]]:
    """Yield a line for each row: the size and precision of what each engine finds."""
    for dataset in choose(names):
        box = train(Directory(Path(os.environ["CPX_DATA"])).load(dataset), Protocol())
        for number in range(ROWS):
            x, explainer = box.instance(number, 0)
            problem = explainer.problem(x, K, objective="precision", m=SAMPLES, min_coverage=0.004)
            line: list[object] = [dataset.name, number, box.d]
            for engine in ENGINES.values():
                start = time.process_time()
                result = solve(problem, engine, time_limit=300)
                found = result.explanation
                spent = time.process_time() - start
                if found is None:
                    line += [None, None, spent]
                    continue
                oracle = problem.oracle
                assert oracle is not None
                rows, _ = oracle.draw(FRESH, found.features, np.random.default_rng(1))
                line += [len(found.features), f"{oracle.same(rows).mean():.3f}", spent]
            most = None
            if result.proved and found is not None and found.precision is not None:
                most = f"{greatest(float(found.precision), box.d):.3f}"
            yield [*line, most]


def greatest(
    seen: float, d: int, k: int = K, samples: int = SAMPLES, unsure: float = UNSURE
) -> float:
    """Return what no rule of at most k of d fair bits has more of, but for ``unsure``.

    ``seen`` is the greatest precision on the samples. A rule of precision p covers a sample
    with a probability c of at least 2**-k. That it shows no more than ``seen`` has, of n covered
    samples, the probability exp(-n D) at most, with D the divergence of the two precisions: on
    the average over n, (1 - c (1 - exp(-D)))**samples. This is summed over all rules.
    """
    rules = sum(math.comb(d, size) for size in range(k + 1))
    # The divergence at which the sum is ``unsure``.
    share = -math.expm1(math.log(unsure / rules) / samples) * 2**k
    least = -math.log1p(-share) if share < 1 else math.inf
    low, high = seen, 1.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (low, middle) if _divergence(seen, middle) > least else (middle, high)
    return high


def _divergence(q: float, p: float) -> float:
    """Return Kullback and Leibler's divergence of two probabilities, p below 1."""
    parts = [(q, p), (1 - q, 1 - p)]
    return sum(a * math.log(a / b) for a, b in parts if a > 0)


def main() -> None:
    """Print a line per row."""
    if "CPX_DATA" not in os.environ:
        print("certificates: skipped, CPX_DATA names no folder")
        return
    head = ["table", "row", "features"]
    for name in ENGINES:
        head += [name, "precision", "CPU s"]
    head.append("no rule above")
    show(
        f"Certificates of at most {K} features and precision {PRECISION}",
        head,
        lines(chosen("CPX_CERTIFICATES", NAMES)),
    )


if __name__ == "__main__":
    main()
