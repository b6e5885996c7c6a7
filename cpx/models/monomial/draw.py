"""Random instances of the problems of one rule: small ones, and saved ones of any size."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from cpx.data.samples import Samples
from cpx.models.monomial.precision_coverage import MaxCoverage, MaxPrecision
from cpx.models.monomial.problem import MonomialProblem
from cpx.models.monomial.weighted import KMonomial, NegativeOnly
from cpx.testing.drawing import (
    MOST_WEIGHT,
    Instance,
    Random,
    chance,
    choices,
    count,
    samples,
    share,
    side_constraints,
)

KINDS: tuple[type[MonomialProblem], ...] = (KMonomial, NegativeOnly, MaxPrecision, MaxCoverage)
"""The kinds of problem that are drawn."""

_MOST_IN_A_RATIO = 2**31  # of all samples


def random_problem(
    seed: int,
    max_samples: int = 25,
    max_features: int = 8,
    *,
    kinds: Sequence[type[MonomialProblem]] = KINDS,
    limited: bool = True,
) -> MonomialProblem:
    """Return a random monomial problem: weights, groups, required features, limits.

    seed: The same seed gives the same problem.
    max_samples, max_features: Maximum m and d.
    kinds: Kinds of problem to choose from.
    limited: Whether to draw limits on coverage and precision; every other problem gets some.

    >>> random_problem(3).to_dict() == random_problem(3).to_dict()
    True
    """
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(1, max_samples + 1)), int(rng.integers(1, max_features + 1))
    samples = Samples(
        agreement=rng.random((m, d)) < rng.uniform(0.2, 0.9),
        same=rng.random(m) < rng.uniform(0.1, 0.9),
        weights=rng.integers(1, 1 + int(rng.choice([1, 5, 1000])), m),
        groups=tuple(rng.integers(0, max(1, d // 2), d).tolist()),
    )
    order = rng.permutation(d)
    required = tuple(order[: int(rng.choice([0, 0, 1]))].tolist())
    forbidden = tuple(order[::-1][: int(rng.choice([0, 0, 1, 2]))].tolist())
    make: Any = kinds[int(rng.integers(len(kinds)))]
    k, one_per_group = int(rng.integers(0, d + 1)), bool(rng.integers(2))
    drawn: MonomialProblem = make(
        samples,
        k=k,
        required=required,
        forbidden=tuple(j for j in forbidden if j not in required),
        one_per_group=one_per_group,
        **(_limits(rng, samples, make) if limited else {}),
    )
    return drawn


def _limits(
    rng: np.random.Generator, samples: Samples, kind: type[MonomialProblem]
) -> dict[str, Fraction]:
    """Draw limits that a rule can keep, more often than not."""
    low, high = sorted(rng.beta(1, 4, 2))
    agreeing = samples.agreeing / samples.total
    drawn = {
        "min_coverage": low,
        "max_coverage": min(1.0, 2 * high),
        "min_precision": agreeing + (1 - agreeing) * rng.beta(1, 5),
    }
    asked = rng.random(3) < 0.4
    if rng.random() < 0.5:
        asked[:] = False
    # Its default is more than rules for random labels keep.
    asked[2] |= kind is MaxCoverage
    # Few digits: ties with what rules cover.
    return {
        name: Fraction(str(round(float(share), int(rng.integers(1, 4)))))
        for (name, share), wanted in zip(drawn.items(), asked, strict=True)
        if wanted
    }


def draw(kind: str, rng: Random, scale: int) -> Instance:
    """Return the parameters and samples of a random instance."""
    m, d = count(rng, 1, 16 * scale), count(rng, 1, 7 * scale)
    most = _MOST_IN_A_RATIO if kind == "max-precision" else MOST_WEIGHT
    found = samples(rng, m, d, most)
    parameters: Instance = {"k": count(rng, 0, d), **choices(rng, d)}
    if chance(rng, 0.4):
        found["groups"] = rng.integers(0, max(1, d // 2), d).tolist()
        parameters["one_per_group"] = chance(rng, 0.6)
    wanted = [chance(rng, 0.2), chance(rng, 0.15), chance(rng, 0.2)]
    if kind == "max-precision":
        wanted[0] = chance(rng, 0.6)
    if kind == "max-coverage":
        wanted[2] = chance(rng, 0.7)  # few rules for random labels keep the default
    drawn = (rng.beta(1, 4), min(1.0, 2 * rng.beta(1, 2)), rng.uniform(0.2, 1))
    for name, asked, value in zip(
        ("min_coverage", "max_coverage", "min_precision"), wanted, drawn, strict=True
    ):
        if asked:
            parameters[name] = share(rng, float(value), m)
    return {"parameters": parameters, **found, **side_constraints(rng, d)}
