"""Random kernel machines, of which a rule is asked."""

from __future__ import annotations

from cpx.testing.drawing import Instance, Random, bits, chance, count, side_constraints, weights

_MOST_MACHINE_WEIGHT = 2**53  # of all support vectors, the signs left out


def draw(kind: str, rng: Random, scale: int) -> Instance:
    """Return the parameters and support vectors of a random machine."""
    m, d = count(rng, 1, 9 * scale), count(rng, 1, 5 * scale)
    sizes = weights(rng, m, _MOST_MACHINE_WEIGHT)
    positive = rng.choice([0.0, 0.2, 0.5, 0.8, 1.0], p=[0.22, 0.28, 0.25, 0.15, 0.1])
    signed = [w if chance(rng, positive) else -w for w in sizes]
    if chance(rng, 0.1):
        signed[count(rng, 0, m - 1)] = 0
    found = {
        "parameters": {
            "max_clauses": count(rng, 1, 4),
            "max_literals": count(rng, 1, min(d, 5)),
        },
        "samples": bits(rng, m, d, rng.uniform(0, 0.95)),
        "weights": signed,
    }
    return found | side_constraints(rng, d)
