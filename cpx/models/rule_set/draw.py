"""Random sets of rules, to be selected or learned."""

from __future__ import annotations

from cpx.testing.drawing import Instance, Random, chance, choices, count, samples, side_constraints


def draw_selection(kind: str, rng: Random, scale: int) -> Instance:
    """Return the parameters and samples of a random selection."""
    m, d = count(rng, 1, 12 * scale), count(rng, 1, 5 * scale)
    candidates = count(rng, 1, 7 * scale)
    found = _light(samples(rng, m, d))
    rules = [
        sorted(rng.permutation(d)[: count(rng, 0, min(3, d))].tolist()) for _ in range(candidates)
    ]
    parameters = {"rules": rules, **_losses(rng), **choices(rng, candidates, 0.2, 0.2)}
    total = sum(found.get("weights", [1] * m))
    for name, most in (("max_rules", 4), ("max_literals", 8), ("max_overlap", total)):
        if chance(rng, 0.25):
            parameters[name] = int(rng.integers(0, most + 1))
    if chance(rng, 0.15):
        parameters["lengths"] = [count(rng, 0, 4) for _ in rules]
    return {"parameters": parameters, **found, **side_constraints(rng, candidates)}


def draw_learning(kind: str, rng: Random, scale: int) -> Instance:
    """Return the parameters and samples of random rules to be learned."""
    d = count(rng, 1, 4 * scale)
    most = count(rng, 1, 2 if d >= 4 else 3)
    found = _light(samples(rng, count(rng, 1, 10 * scale), d))
    return {"parameters": {"max_literals": most, **_losses(rng)}, **found}


def _price(rng: Random) -> str:
    return ["0", "0.01", "1/30", "0.1", "1/7", "1/2"][count(rng, 0, 5)]


def _losses(rng: Random) -> Instance:
    found: Instance = {"penalty": _price(rng)}
    if chance(rng, 0.4):
        found["loss"] = "hamming"
    if chance(rng, 0.2):
        found["class_weights"] = [count(rng, 0, 2), count(rng, 1, 2)]
    return found


def _light(found: Instance) -> Instance:
    """Halve the weights, so that those of the classes leave them within what is allowed."""
    if "weights" in found:
        found["weights"] = [max(1, w // 2) for w in found["weights"]]
    return found
