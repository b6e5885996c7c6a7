"""Random small instances with every feature a monomial problem can have."""

from __future__ import annotations

import numpy as np

from cpx.data.samples import Samples
from cpx.models.k_monomial import KMonomial
from cpx.models.monomial import MonomialProblem
from cpx.models.negative_only import NegativeOnly

__all__ = ["random_problem"]


def random_problem(seed: int, max_samples: int = 25, max_features: int = 8) -> MonomialProblem:
    """Return a random monomial problem: weights, groups, required and forbidden features.

    Parameters
    ----------
    seed : int
        The same seed gives the same problem.
    max_samples, max_features : int
        Greatest m and d.

    Examples
    --------
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
    kind = (KMonomial, NegativeOnly)[int(rng.integers(2))]
    return kind(
        samples,
        k=int(rng.integers(0, d + 1)),
        required=required,
        forbidden=tuple(j for j in forbidden if j not in required),
        one_per_group=bool(rng.integers(2)),
    )
