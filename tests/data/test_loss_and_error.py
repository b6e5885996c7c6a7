"""What the loss of a rule says about its certificate error, on cubes that are enumerated."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cpx import KMonomial, Samples, solve

D, K = 8, 3
CUBE = (np.arange(2**D)[:, None] >> np.arange(D) & 1).astype(bool)
SETS = [list(s) for size in range(K + 1) for s in itertools.combinations(range(D), size)]


def classifier(seed: int, share: float) -> np.ndarray:
    return np.random.default_rng(seed).random(len(CUBE)) < share


def figures(f: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return loss, certificate error and coverage of each set for each x: (sets, rows)."""
    found = []
    for x, label in zip(CUBE, f, strict=True):
        agreement, same = x == CUBE, f == label
        covers = np.array([agreement[:, s].all(axis=1) for s in SETS])
        losses = (covers != same).mean(axis=1)
        errors = (covers & ~same).sum(axis=1) / covers.sum(axis=1)
        found.append((losses, errors, covers.mean(axis=1)))
    return tuple(np.array(figure).T for figure in zip(*found, strict=True))


@pytest.mark.parametrize(("share", "seed"), [(0.2, 0), (0.2, 1), (0.3, 0), (0.3, 1)])
def test_the_mean_error_can_exceed_every_loss(share: float, seed: int) -> None:
    """Lemma 1 of Koriche et al. fails, even if of the rules of least loss the best is taken."""
    f = classifier(seed, share)
    losses, errors, _ = figures(f)
    least = losses.min(axis=0)
    kindest = np.where(losses == least, errors, 1.0).min(axis=0)
    assert kindest.mean() > least.max()
    for i in range(0, len(CUBE), 32):
        found = solve(KMonomial(Samples(CUBE[i] == CUBE, f == f[i]), k=K), "search")
        assert found.objective == round(least[i] * len(CUBE))


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_the_error_is_at_most_the_loss_by_the_coverage(share: float) -> None:
    losses, errors, coverage = figures(classifier(2, share))
    assert (errors <= losses / coverage + 1e-12).all()
    # Not an empty statement: it is met exactly where all that is wrong is covered.
    assert np.isclose(errors, losses / coverage).any()


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_the_mean_error_of_a_fixed_rule_is_bounded_by_its_loss(share: float) -> None:
    rng = np.random.default_rng(3)
    f = classifier(4, share)
    twice = False
    for s in SETS:
        said = (CUBE[:, s] == (rng.random(len(s)) < 0.5)).all(axis=1)
        if (said == f).mean() < 0.5:
            said = ~said
        right, loss = said == f, (said != f).mean()
        cells = [(CUBE[:, s] == x).all(axis=1) for x in CUBE[:, s]]
        errors = np.array(
            [(f[cell] != label).mean() for cell, label in zip(cells, f, strict=True)]
        )
        assert errors[right].mean() <= loss + 1e-12
        assert errors.mean() <= 2 * loss * (1 - loss) + 1e-12
        twice |= errors.mean() > loss
    assert twice


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_the_mean_error_is_at_most_the_mean_loss_by_the_floor(share: float) -> None:
    """Also of the rules of least loss, for which the mean loss alone is no bound."""
    f = classifier(5, share)
    losses, errors, coverage = figures(f)
    agreeing = np.where(f, f.mean(), 1 - f.mean())
    assert np.allclose(errors, (1 - (agreeing - losses) / coverage) / 2)
    for floor in (1 / 8, 1 / 4, 1 / 2):
        allowed = np.where(coverage >= floor, losses, np.inf)
        best = allowed.argmin(axis=0), np.arange(len(f))
        assert errors[best].mean() <= losses[best].mean() / floor + 1e-12
        assert np.isfinite(allowed[best]).all()


def test_the_floor_is_the_best_constant() -> None:
    """x is alone in its class: all that is covered but x is wrong, and nothing else."""
    f = np.zeros(len(CUBE), dtype=bool)
    f[-1] = True
    losses, errors, coverage = figures(f)
    exact = coverage[:, -1] == 1 / 8
    assert np.allclose(errors[exact, -1], losses[exact, -1] * 8)


def test_the_mean_error_of_rules_of_least_loss_on_samples() -> None:
    f, floor, m, delta = classifier(6, 0.3), 1 / 2, 4000, 0.1
    losses, errors, coverage = figures(f)
    h = np.sqrt(np.log(4 * len(SETS) / delta) / (2 * m))
    least = np.where(coverage >= floor + h, losses, np.inf).min(axis=0)
    rng, found = np.random.default_rng(0), []
    for i in range(0, len(CUBE), 4):
        counts = rng.multinomial(m, np.full(len(CUBE), 1 / len(CUBE)))
        covers = np.array([(CUBE[i] == CUBE)[:, s].all(axis=1) for s in SETS])
        on_samples = (covers != (f == f[i])) @ counts
        on_samples[covers @ counts < floor * m] = 2 * m
        found.append(errors[on_samples.argmin(), i])
    bound = (least[::4].mean() + 2 * h) / (floor - h) + delta
    assert np.mean(found) <= bound < 1.5
