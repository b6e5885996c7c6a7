"""Tiny careful rules with known optimum, and random ones."""

import cpx
from careful_rules.problem import Careful
from cpx.testing.drawing import choices, count, samples, side_constraints


def cases():
    """Yield name, problem and optimum."""
    # a covers three agreeing samples and a disagreeing one, a and b two agreeing ones alone.
    rows = cpx.Samples([[1, 1], [1, 1], [1, 0], [1, 0]], [1, 1, 1, 0])
    yield "careful_a_miss_is_cheap", Careful(rows, k=2), 1
    yield "careful_an_alarm_is_cheap", Careful(rows, k=2, alarm=1), 1
    yield "careful_one_condition", Careful(rows, k=1, forbidden=(1,)), 10
    yield "careful_contradiction", Careful(rows, k=1, required=(0, 1)), None


def draw(kind, rng, scale):
    """Return the parameters and samples of a random instance."""
    m, d = count(rng, 1, 12 * scale), count(rng, 1, 6 * scale)
    parameters = {"k": count(rng, 0, d), "alarm": count(rng, 1, 20), **choices(rng, d)}
    return {"parameters": parameters, **samples(rng, m, d), **side_constraints(rng, d)}
