"""Random certificates on samples."""

from __future__ import annotations

from cpx.testing.drawing import (
    Instance,
    Random,
    chance,
    choices,
    count,
    samples,
    share,
    side_constraints,
    weights,
)


def draw(kind: str, rng: Random, scale: int) -> Instance:
    """Return the parameters and samples of a random instance."""
    m, d = count(rng, 1, 14 * scale), count(rng, 1, 7 * scale)
    parameters = {"epsilon": share(rng, float(rng.beta(1, 6)), m), **choices(rng, d)}
    if kind == "min-certificate" and chance(rng, 0.5):
        parameters["weights"] = weights(rng, d, 2**31)
    found = {"parameters": parameters, **samples(rng, m, d)}
    return found | side_constraints(rng, d)
