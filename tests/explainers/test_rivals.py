"""Rules nearly as good as the best: none is missing, and each wins as often as is counted."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import cpx
from cpx.errors import InvalidOption
from cpx.models import KMonomial, MaxCoverage, MaxPrecision, NegativeOnly
from cpx.models.monomial.draw import random_problem
from tests.seeds import each

KINDS = (MaxPrecision, MaxCoverage, KMonomial, NegativeOnly)


def irredundant(problem, chosen) -> bool:
    """Whether each condition excludes something that counts."""
    disagreeing = isinstance(problem, NegativeOnly) and problem.limits is None
    counts = ~problem.samples.same if disagreeing else True
    covered = problem.samples.covered(chosen) & counts
    free = [j for j in chosen if j not in problem.required]
    return all(
        not np.array_equal(
            problem.samples.covered([i for i in chosen if i != j]) & counts, covered
        )
        for j in free
    )


@each(range(24), 8)
@pytest.mark.parametrize("kind", KINDS)
def test_all_rules_within_epsilon_are_listed(kind, seed):
    problem, epsilon = random_problem(seed, kinds=(kind,), max_features=7), Fraction(1, 10)
    found = cpx.models.monomial.rivals(problem, float(epsilon), resamples=20)
    values = {}
    for size in range(problem.k + 1):
        for chosen in combinations(range(problem.n_features), size):
            figures = problem.evaluate(problem.explanation(chosen))
            if figures.feasible and irredundant(problem, chosen):
                values[chosen] = Fraction(figures.objective)
    if not values:
        assert len(found) == 0
        return
    best = max(values.values()) if problem.sense == "max" else min(values.values())
    margin = epsilon * (1 if kind is MaxPrecision else problem.samples.total)
    near = {chosen for chosen, value in values.items() if abs(value - best) <= margin}
    listed = {rule.features for rule in found}
    assert listed <= near

    # Of rules of a size that cover the same samples, one is listed.
    def kinds(rules):
        return sorted((len(r), tuple(problem.samples.covered(r))) for r in rules)

    assert kinds(listed) == sorted(set(kinds(near)))
    assert found.complete
    assert found.common == tuple(
        problem.feature_names[j] for j in sorted(set.intersection(*map(set, listed)))
    )
    assert sum(found.wins) == pytest.approx(1)


def test_wins_are_shares_of_resamples():
    """b covers what a does but one row, which decides: it is drawn in 1 - (1 - 1/m)^m of them."""
    agreement = np.array([[1, 1]] * 50 + [[1, 0]] + [[0, 0]] * 49)
    samples = cpx.Samples(agreement, [1] * 50 + [0] + [0] * 49, features=("a", "b"))
    found = cpx.models.monomial.rivals(MaxPrecision(samples, k=1), 0.05, resamples=3000)
    assert [str(rule.rule).split(" ")[0] for rule in found] == ["b", "a"]
    drawn = 1 - (1 - 1 / 100) ** 100
    # Where it is not drawn both cover the same, and the first wins.
    assert found.wins[0] == pytest.approx(1.0)
    loss = cpx.models.monomial.rivals(
        KMonomial(cpx.Samples(1 - agreement, [1] * 50 + [0] * 50), k=1), 0.9, resamples=50
    )
    assert (
        loss.wins
        == cpx.models.monomial.rivals(
            KMonomial(cpx.Samples(1 - agreement, [1] * 50 + [0] * 50), k=1), 0.9, resamples=50
        ).wins
    )
    wide = cpx.Samples(agreement, [1] * 51 + [0] * 49, features=("a", "b"))
    found = cpx.models.monomial.rivals(MaxPrecision(wide, k=1), 0.05, resamples=3000)
    # Both are always right, and the one that covers more wins: a where the row is drawn.
    assert (
        dict(zip(["a", "b"], sorted(found.wins, reverse=True), strict=True))["a"] >= drawn - 0.03
    )


def test_of_many_rules_of_the_greatest_precision_those_that_cover_most_are_listed():
    rng = np.random.default_rng(5)
    samples = cpx.Samples(rng.random((80, 9)) < 0.7, [1] * 80)
    problem = MaxPrecision(samples, k=2)
    every, few = (
        cpx.models.monomial.rivals(problem, 0.0, resamples=5),
        cpx.models.monomial.rivals(problem, 0.0, most=6, resamples=5),
    )
    assert len(every) > 30
    assert every.complete
    assert not few.complete
    coverage = sorted((rule.coverage for rule in every), reverse=True)
    for found in (every, few):
        assert [rule.coverage for rule in found] == coverage[: len(found)]
        assert {rule.precision for rule in found} == set(found.values) == {1}


def test_it_shows_itself_and_plots():
    pytest.importorskip("matplotlib").use("agg")
    problem = random_problem(3, kinds=(MaxPrecision,))
    found = cpx.models.monomial.rivals(problem, 0.5, resamples=10)
    text = str(found)
    assert f"{len(found)} rule" in text
    assert "none is missing" in text
    assert "<table" in found._repr_html_()
    axes = found.plot()
    assert len(axes.patches) == min(20, len(found))
    few = cpx.models.monomial.rivals(problem, 0.5, resamples=10, most=1)
    assert len(few) == 1
    assert few.complete == (len(found) == 1)


def test_wrong_arguments():
    problem = random_problem(3, kinds=(MaxPrecision,))
    for asked in ({"epsilon": 2}, {"most": 0}, {"resamples": 0}, {"seed": -1}):
        with pytest.raises(InvalidOption):
            cpx.models.monomial.rivals(problem, **asked)
    with pytest.raises(InvalidOption, match="problem must be MaxPrecision"):
        cpx.models.monomial.rivals(len)


def test_an_explanation_has_its_rivals_when_they_are_asked_for(monkeypatch) -> None:
    """They are those of the problem that was solved, and are searched for once."""
    rng = np.random.default_rng(0)
    background = rng.integers(0, 2, (60, 5))
    explainer = cpx.Explainer(lambda z: z[:, 0] & (z[:, 1] | z[:, 2]), background, n_bins=2)
    x = [1, 1, 1, 0, 0]
    found = explainer.explain(x, k=2)
    direct = cpx.models.monomial.rivals(explainer.problem(x, k=2))
    assert [rule.features for rule in found.rivals] == [rule.features for rule in direct]
    assert found.rivals.wins == direct.wins
    assert found.features in [rule.features for rule in found.rivals]
    assert found.rivals is found.rivals
    assert "best of these" in str(found.rivals)
    assert "<table" in found.rivals._repr_html_()
    assert cpx.answers.explanation.Explanation.from_dict(found.to_dict()).rivals is None


def test_the_rivals_keep_the_limits_of_the_question() -> None:
    rng = np.random.default_rng(1)
    background = rng.integers(0, 2, (80, 4))
    explainer = cpx.Explainer(lambda z: z[:, 0] | z[:, 1], background, n_bins=2)
    found = explainer.explain([1, 1, 0, 0], k=2, min_coverage=0.4, objective="precision")
    assert len(found.rivals) > 0
    for rule in found.rivals:
        assert rule.coverage.exact >= Fraction(2, 5)
