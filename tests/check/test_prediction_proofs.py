"""Proofs of expected probabilities, decisions and posteriors, and of sets that must be likely."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from cpx import solve
from cpx.check.proofs import Claim, Refused, proved
from cpx.check.proofs.branching import Part
from cpx.models import FewestExpected
from cpx.models.expected_prediction import proof_terms
from cpx.models.expected_prediction import prove as prover
from cpx.models.expected_prediction.cases import STRUCTURES, random_expectation, random_mixture
from cpx.models.expected_prediction.explainer import ExpectationExplainer
from cpx.models.expected_prediction.leaves import has_probability
from cpx.models.expected_prediction.proof_check import JudgedQuestion
from tests.check.proof_files import altered, document
from tests.check.test_expected_proofs import better, optimum
from tests.seeds import some


def drawn(seed: int, structure: str, prediction: str, likely: bool) -> Any:
    """Return a small problem, or None where the model has no such prediction."""
    problem: Any = random_expectation(seed, structure)
    if prediction == "probability" and not has_probability(problem.tree_model):
        return None
    if prediction == "posterior":
        sizes, classes = problem.coding.cardinalities, len(problem.tree_model.classes)
        mixtures = (random_mixture(s, sizes, "mixture") for s in range(seed, seed + 99))
        own = next(m for m in mixtures if m.n_components == classes)
        problem = replace(problem, distribution=own)
    problem = replace(problem, prediction=prediction, unit=None)
    if likely:
        known = np.flatnonzero(np.random.default_rng(seed).random(problem.n_features) < 0.5)
        least = problem.scores.probability(known.tolist()) / (1 + seed % 2)
        return replace(problem, k=problem.n_features, min_probability=least)
    if seed % 2:
        stated = problem.tree_model, problem.x, problem.coding, problem.distribution
        tau = problem.scores.expected(range(0, problem.n_features, 2))
        chosen = {"required": problem.required, "forbidden": problem.forbidden}
        return FewestExpected(*stated, tau, prediction=prediction, **chosen)
    return problem


# What is expected, of which distribution, whether sets must be likely, and of how many attributes
# together regions are told by terms.
KINDS = [
    *((p, s, False, t) for p in ("decision", "probability") for s in STRUCTURES for t in (0, 8)),
    *(("posterior", "mixture", likely, 8) for likely in (False, True)),
    ("decision", "mixture", True, 0),
    *(("score", structure, True, 8) for structure in STRUCTURES),
]


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("n", some(2, 60))
@pytest.mark.parametrize(("prediction", "structure", "likely", "together"), KINDS)
def test_optima_are_proved_and_nothing_better(
    monkeypatch: pytest.MonkeyPatch,
    prediction: str,
    structure: str,
    likely: bool,
    together: int,
    n: int,
) -> None:
    monkeypatch.setattr(prover, "_FEW", 0)
    monkeypatch.setattr(proof_terms, "TOGETHER", together)
    rng, seen, seed = np.random.default_rng(0), 0, 0
    while seen < n:
        seed += 1
        problem = drawn(seed, structure, prediction, likely)
        if problem is None:
            continue
        seen += 1
        monkeypatch.setattr(prover, "_COUNTED", (0, 2**22)[seed % 2])
        value, instance = optimum(problem), problem.to_dict()
        claim, lines = prover.prove(instance, Claim(value), lambda: False)
        assert claim == Claim(value)
        assert proved(instance, document(problem, lines, Claim(value))) == Claim(value)
        if value is None:
            continue
        for wrong in (Claim(None), Claim(better(problem, value))):
            with pytest.raises(Refused):
                prover.prove(instance, wrong, lambda: False)
            for _ in range(4):
                with pytest.raises(Refused):
                    proved(instance, document(problem, altered(lines, rng), wrong))


@pytest.mark.parametrize("seed", [15, 37, 39, 57, 107])
@pytest.mark.parametrize("counted", [0, 2**22])
def test_a_set_that_just_reaches_the_threshold_is_not_overlooked(
    monkeypatch: pytest.MonkeyPatch, seed: int, counted: int
) -> None:
    """A threshold between two units is rounded up, and a set may have just as much."""
    monkeypatch.setattr(prover, "_COUNTED", counted)
    problem = drawn(seed, "mixture", "posterior", likely=False)
    value = optimum(problem)
    for wrong in (Claim(None), Claim(better(problem, value))):
        with pytest.raises(Refused):
            prover.prove(problem.to_dict(), wrong, lambda: False)
        for line in ("counted", "full"):
            with pytest.raises(Refused):
                proved(problem.to_dict(), document(problem, [line], wrong))


@pytest.mark.parametrize("structure", STRUCTURES)
def test_no_likely_set_has_more_than_may_be_added(structure: str) -> None:
    rng, fewer = np.random.default_rng(0), 0
    for seed in range(2, 12, 2):
        problem = drawn(seed, structure, "score", likely=True)
        question, n = JudgedQuestion(problem.to_dict(), Claim(0)), problem.n_features
        sets = [frozenset(np.flatnonzero(m >> np.arange(n) & 1).tolist()) for m in range(2**n)]
        likely = [S for S in sets if problem.likelihood_floor.allows(S)]
        for _ in range(10):
            kinds = rng.integers(0, 4, n)
            part = Part(kinds == 1, kinds == 2)
            kept, out = (set(np.flatnonzero(some).tolist()) for some in (part.kept, part.out))
            room = question.room(part)
            fewer += room < part.free.sum()
            inside = [S for S in likely if kept <= S and not out & S]
            assert all(len(S) - len(kept) <= room for S in inside)
    assert fewer


def test_a_posterior_of_many_attributes_is_proved_at_the_root() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 3, (300, 40))).add_prefix("c")
    y = rng.random(300) < 1 / (1 + np.exp(3 - 0.3 * table.iloc[:, :10].sum(axis=1)))
    model = LogisticRegression().fit(table, y)
    explainer = ExpectationExplainer(model, table, distribution="conformant")
    problem = explainer.problem(0, k=12, prediction="probability")
    result = solve(problem, "search", proof=True)
    assert result.proof is not None
    assert result.proof.lines == ("prices", "prices", "bound 0 1")
    assert proved(problem.to_dict(), result.proof.to_bytes()) == Claim(result.objective)
