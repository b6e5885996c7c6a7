"""Expected predictions by brute force with exact fractions: ties are no matter of rounding."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations

import numpy as np
import pytest

import cpx
from cpx import check
from cpx.data.coding import Coding
from cpx.data.fitted.tree_mixture import ONE, TreeMixture
from cpx.models.expected_prediction.cases import random_mixture
from cpx.models.expected_prediction.fewest import FewestExpected
from cpx.trees import Attribute, Tree, TreeModel
from tests.seeds import some

VALUES = ([0, 1], [-1, 0, 1], [0.25, -1.7], [0.1, 0.2, 0.3])


def random_tree(rng: np.random.Generator, n: int, depth: int, values: list[float]) -> Tree:
    attribute: list[int] = []
    leaves: list[list[float]] = []
    waiting = [(depth, frozenset(range(n)))]
    while waiting:
        left, free = waiting.pop()
        if left and free and rng.random() > 0.15:
            a = int(rng.choice(sorted(free)))
            attribute.append(a)
            waiting += [(left - 1, free - {a})] * 2
        else:
            attribute.append(-1)
            leaves.append([float(rng.choice(values))])
    none = [0] * len(attribute)
    return Tree(attribute, none, none, leaves, (0,))


def drawn(seed: int, structure: str) -> cpx.MLSE:
    """Return trees of a few equal leaves; copies of them with other attributes, and negated."""
    rng = np.random.default_rng(seed)
    n, values = int(rng.integers(2, 6)), VALUES[seed % 4]
    trees = [
        random_tree(rng, n, int(rng.integers(1, 4)), values) for _ in range(rng.integers(1, 5))
    ]
    first, last = trees[0], trees[-1]
    if rng.random() < 0.4:
        other = rng.permutation(n)[np.maximum(first.attribute, 0)]
        moved = np.where(first.attribute >= 0, other, -1)
        trees.append(Tree(moved, first.split, first.missing, first.values, (0,)))
    if rng.random() < 0.4:
        trees.append(Tree(last.attribute, last.split, last.missing, -last.values, (0,)))
    columns = [Attribute(f"a{j}", "boolean") for j in range(n)]
    cuts = [[0.5]] * n
    model = TreeModel(columns, ["no", "yes"], trees, cuts, "sum", "positive", [0.25])
    names = [column.name for column in columns]
    coding = Coding.fit([[0] * n, [1] * n], names=names, cuts=model.thresholds)
    mixture = random_mixture(seed, coding.cardinalities, structure)
    if structure == "factorised" and rng.random() < 0.4:  # the same for all attributes
        p = int(rng.integers(1, ONE))
        mixture = TreeMixture([ONE], None, [[[[ONE - p, p]]] * n])
    x = tuple(int(bit) for bit in rng.integers(0, 2, n))
    return cpx.MLSE(model, x, coding, mixture, k=int(rng.integers(1, n + 1)))


def every_set(n: int) -> list[tuple[int, ...]]:
    return list(chain.from_iterable(combinations(range(n), size) for size in range(n + 1)))


def named(problem: cpx.MLSE, proved: str) -> Fraction:
    """Return the slack that a claim names."""
    return Fraction(proved.split("greatest within ")[1].split(":")[0]) * Fraction(21, 20)


@pytest.mark.parametrize("structure", ["factorised", "mixture", "chow-liu"])
@pytest.mark.parametrize("engine", ["search", "cpsat"])
@pytest.mark.parametrize("n", some(12, 400))
def test_nothing_is_named_without_need(structure: str, engine: str, n: int) -> None:
    if engine == "cpsat" and structure != "factorised":
        pytest.skip("no statement")
    exact = 0
    for seed in range(n if engine == "search" else n // 4):
        problem = drawn(seed, structure)
        result = cpx.solve(problem, engine)
        assert (result.status, result.verified) == ("OPTIMAL", True)
        assert result.explanation is not None
        expected = problem.scores.expected
        allowed = [S for S in every_set(problem.n_features) if len(S) <= problem.k]
        best = min(allowed, key=lambda S: (-expected(S), problem.tie(S)))
        S, slack = result.explanation.features, named(problem, result.explanation.proved)
        assert expected(best) - expected(S) <= slack
        assert problem.tie(S) <= problem.tie(best)
        assert not any(expected([a for a in S if a != j]) >= expected(S) for j in S)
        if expected(S) == expected(best):
            assert problem.tie(S) == problem.tie(best)
            exact += 1
        assert not check.violations(problem.to_dict(), result.to_dict())
    assert exact > n // 5


@pytest.mark.parametrize("structure", ["factorised", "mixture"])
@pytest.mark.parametrize("n", some(12, 400))
def test_a_threshold_that_is_reached_exactly_is_reached(structure: str, n: int) -> None:
    for seed in range(n):
        problem = drawn(seed, structure)
        sets = every_set(problem.n_features)
        goal = sets[seed % len(sets)]
        tau = problem.scores.expected(goal)
        of = problem.tree_model, problem.x, problem.coding, problem.distribution
        dual = FewestExpected(*of, tau)
        result = cpx.solve(dual, "search", proof=True)
        assert (result.status, result.verified) == ("OPTIMAL", True)
        assert result.explanation is not None
        reaching = [S for S in sets if dual.scores.expected(S) >= tau]
        best = min(reaching, key=lambda S: (len(S), dual.tie(S)))
        S = result.explanation.features
        assert (len(S), dual.tie(S)) == (len(best), dual.tie(best))
        assert result.proof is not None
        assert result.proof.complete


@pytest.mark.parametrize("n", some(12, 200))
def test_what_is_found_without_a_proof_names_nothing_without_need(n: int) -> None:
    for seed in range(n):
        problem = drawn(seed, "factorised")
        result = cpx.solve(problem, "beam")
        assert result.explanation is not None
        assert result.verified
        S, expected = result.explanation.features, problem.scores.expected
        assert not any(expected([a for a in S if a != j]) >= expected(S) for j in S)


def test_a_proof_of_more_than_the_tolerance_is_refused() -> None:
    """The bound of an answer says that no set is better by more than rounding may hide."""
    problem = drawn(3, "factorised")
    result = cpx.solve(problem, "search").to_dict()
    result["bound"] = result["objective"] = result["objective"] - problem._tolerance - 1
    result["trace"] = []
    assert check.violations(problem.to_dict(), result)


def test_coarse_units_decide_by_what_they_count() -> None:
    problem = drawn(3, "factorised")
    coarse = cpx.MLSE(
        problem.tree_model, problem.x, problem.coding, problem.distribution, k=2, unit="1/16"
    )
    assert (coarse._tolerance, problem._tolerance > 0) == (0, True)
    result = cpx.solve(coarse, "search")
    assert (result.status, result.verified) == ("OPTIMAL", True)
    best = max(coarse.value(S) for S in every_set(coarse.n_features) if len(S) <= 2)
    assert result.objective == best
