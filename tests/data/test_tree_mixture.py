"""Mixtures of trees against sums over all states, in fractions."""

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from cpx.data import TreeMixture
from cpx.data.fitted.mixture_fit import quantised
from cpx.data.fitted.tree_mixture import ONE
from cpx.errors import DataError, InvalidOption, NoMass


def random_mixture(seed, edges=True, n_components=None, sizes=None):
    rng = np.random.default_rng(seed)
    if sizes is None:
        sizes = rng.integers(1, 4, rng.integers(1, 6)).tolist()
    C = n_components or int(rng.integers(1, 4))
    parents = np.full((C, len(sizes)), -1)
    tables = []
    for c in range(C):
        order = rng.permutation(len(sizes))
        for i, a in enumerate(order[1:], 1):
            if edges and rng.random() < 0.8:
                parents[c, a] = order[rng.integers(i)]
        heights = [1 if p < 0 else sizes[p] for p in parents[c]]
        tables.append(
            [quantised(rng.dirichlet([0.5] * k, size=h)) for h, k in zip(heights, sizes)]
        )
    return TreeMixture(quantised(rng.dirichlet([1.0] * C, size=1))[0], parents, tables)


def all_states(D):
    """Every row of codes and its probability, multiplied out from the definition."""
    rows = list(itertools.product(*map(range, D.cardinalities)))
    probabilities = []
    for row in rows:
        total = Fraction(0)
        for c in range(D.n_components):
            p = Fraction(int(D.weights[c]), ONE)
            for a, parent in enumerate(D.parents[c]):
                above = 0 if parent < 0 else row[parent]
                p *= Fraction(int(D.tables[c][a][above, row[a]]), ONE)
            total += p
        probabilities.append(total)
    return np.array(rows), probabilities


mixtures = st.builds(random_mixture, st.integers(0, 10_000), st.booleans())


@settings(deadline=None)
@given(mixtures, st.integers(0, 1000))
def test_probabilities_are_sums_over_all_states(D, seed):
    rng = np.random.default_rng(seed)
    rows, probabilities = all_states(D)
    assert sum(probabilities) == 1
    assert np.exp(D.log_likelihood(rows)) == pytest.approx(
        [float(p) for p in probabilities], rel=1e-12
    )
    x = rows[rng.integers(len(rows))]
    observed = rng.random((5, D.n_attributes)) < 0.5
    logs, posterior = D.log_marginal(x, observed), D.posterior(x, observed)
    for i, seen in enumerate(observed):
        agree = (rows[:, seen] == x[seen]).all(axis=1)
        total = sum((p for p, a in zip(probabilities, agree) if a), Fraction(0))
        assert D.exact_marginal(x, np.flatnonzero(seen)) == total
        assert abs(np.exp(logs[i]) / float(total) - 1) < 1e-12
        for c in range(D.n_components):
            alone = TreeMixture([ONE], D.parents[c : c + 1], D.tables[c : c + 1])
            part = Fraction(int(D.weights[c]), ONE) * alone.exact_marginal(x, np.flatnonzero(seen))
            assert posterior[i, c] == pytest.approx(float(part / total), abs=1e-12)


@settings(deadline=None)
@given(mixtures, st.integers(0, 1000))
def test_events_are_sums_over_all_states(D, seed):
    rng = np.random.default_rng(seed)
    rows, probabilities = all_states(D)
    masks = [None if rng.random() < 0.3 else rng.random(k) < 0.6 for k in D.cardinalities]
    inside = np.ones(len(rows), dtype=bool)
    for a, mask in enumerate(masks):
        inside &= True if mask is None else mask[rows[:, a]]
    total = sum((p for p, i in zip(probabilities, inside) if i), Fraction(0))
    assert D.exact_event_probability(masks) == total
    assert D.event_probability(masks) == pytest.approx(float(total), rel=1e-12, abs=0)
    # Several events at once: this one, all rows, and none.
    stacked = [
        None if mask is None else np.array([mask, np.ones_like(mask), np.zeros_like(mask)])
        for mask in masks
    ]
    if any(mask is not None for mask in masks):
        found = D.event_probability(stacked)
        assert found == pytest.approx([float(total), 1, 0], rel=1e-12, abs=0)


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_samples_have_the_conditional_distribution(seed, edges):
    D = random_mixture(seed, edges, sizes=[3, 2, 3, 2])
    rows, probabilities = all_states(D)
    rng = np.random.default_rng(seed)
    masks = [None, np.array([False, True]), np.array([True, False, True]), None]
    cases = [
        (D.sample(20_000, rng), np.ones(len(rows), dtype=bool)),
        (D.sample_given(20_000, rows[7], [0, 3], rng), (rows == rows[7])[:, [0, 3]].all(axis=1)),
        (D.sample_event(20_000, masks, rng), (rows[:, 1] == 1) & (rows[:, 2] != 1)),
    ]
    for drawn, inside in cases:
        place = np.ravel_multi_index(drawn.T, D.cardinalities)
        counts = np.bincount(place, minlength=len(rows))
        assert counts[~inside].sum() == 0
        expected = np.array([float(p) for p in probabilities])[inside]
        expected *= len(drawn) / expected.sum()
        often = expected >= 5  # the chi-square test needs some of each
        observed = np.append(counts[inside][often], counts[inside][~often].sum())
        wanted = np.append(expected[often], expected[~often].sum())
        keep = wanted > 0
        assert chisquare(observed[keep], wanted[keep]).pvalue > 1e-4


def test_rows_of_a_sample_are_in_no_order():
    """Components are drawn in turn, so the rows must be shuffled."""
    sure = [[[[ONE - 1, 1]]], [[[1, ONE - 1]]]]
    drawn = TreeMixture([ONE // 2, ONE // 2], None, sure).sample(2000, np.random.default_rng(0))
    assert 0.4 < drawn[:1000].mean() < 0.6


def test_hundreds_of_attributes_do_not_underflow():
    D = random_mixture(1, sizes=[3] * 1500, n_components=3)
    x = D.sample(1, np.random.default_rng(0))[0]
    exact = D.exact_marginal(x, range(1500))
    assert float(exact) == 0.0
    log = math.log(exact.numerator) - math.log(exact.denominator)
    every = np.ones(1500, dtype=bool)
    assert D.log_marginal(x, every)[0] == pytest.approx(log, rel=1e-12)
    assert D.log_likelihood(x[None])[0] == pytest.approx(log, rel=1e-12)
    assert D.posterior(x, every).sum() == pytest.approx(1)
    drawn = D.sample_given(3, x, range(0, 1500, 2), np.random.default_rng(0))
    assert (drawn[:, ::2] == x[::2]).all()


def test_structures_by_name():
    names = [
        random_mixture(3, edges, n_components=C, sizes=[2, 2, 2]).structure
        for edges in (False, True)
        for C in (1, 3)
    ]
    assert names == ["factorised", "mixture", "chow-liu", "mixture of chow-liu trees"]
    assert random_mixture(3, False, 1).factorised
    assert not random_mixture(3, True, 1, [2, 2, 2]).factorised


@settings(max_examples=20, deadline=None)
@given(mixtures)
def test_its_file(D):
    again = TreeMixture.from_dict(json.loads(json.dumps(D.to_dict())))
    assert again == D
    assert again.structure == D.structure


COINS = {
    "format": "cpx-tree-mixture",
    "version": 1,
    "weights": [ONE],
    "parents": [[-1, 0]],
    "tables": [[[[ONE - 5, 5]], [[ONE // 2, ONE // 2], [1, ONE - 1]]]],
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": [ONE - 1]}, "weights has the sum 1073741823"),
        ({"weights": [ONE // 2, ONE // 2]}, "tables must have 2 components"),
        ({"weights": [1.0]}, "weights must be rows of integers"),
        ({"weights": []}, "weights must be rows of integers"),
        ({"weights": [0, ONE]}, "weights has 0: entries go from 1"),
        ({"parents": [[1, 0]]}, r"parents\[0\] has a circle"),
        ({"parents": [[-1, 1]]}, r"parents\[0\] has a circle"),
        ({"parents": [[-1, 2]]}, "parents has 2: attributes go from 0 to 1"),
        ({"parents": [[-1]]}, r"parents must be a \(1, 2\) array"),
        ({"parents": [[-1, -1]]}, r"tables\[0\]\[1\] must have the shape \(1, 2\), got \(2, 2\)"),
        ({"parents": None}, r"tables\[0\]\[1\] must have the shape"),
        ({"tables": [[[[ONE]], [[ONE]], [[ONE]]]]}, r"parents must be a \(1, 3\) array"),
        ({"tables": [[[[ONE, 0]], [[ONE]]]]}, r"tables\[0\]\[0\] has 0: entries go from 1"),
        ({"tables": [[[[ONE, 1]], [[ONE]]]]}, r"tables\[0\]\[0\] has the sum"),
        ({"tables": [[[[ONE], [1, 2]], [[ONE]]]]}, r"tables\[0\]\[0\] must be rows of integers"),
        ({"tables": 5}, "tables must be a list of lists"),
        ({"tables": [[]]}, r"tables\[0\] has no attributes"),
        ({"version": True}, "version True is not known"),
        ({"format": "x"}, "format must be 'cpx-tree-mixture'"),
        ({"tabels": 1}, "unknown key 'tabels'.*did you mean 'tables'"),
    ],
)
def test_damaged_files_are_refused(change, message):
    assert TreeMixture.from_dict(COINS).structure == "chow-liu"
    with pytest.raises(DataError, match=message):
        TreeMixture.from_dict(COINS | change)


def test_missing_keys_are_named():
    for key in COINS:
        data = {k: v for k, v in COINS.items() if k != key}
        with pytest.raises(DataError, match=f"the key '{key}' is missing"):
            TreeMixture.from_dict(data)


def test_wrong_arguments_are_refused():
    D = TreeMixture.from_dict(COINS)
    rng = np.random.default_rng(0)
    with pytest.raises(DataError, match="attribute 1 has no state 2: its states go from 0 to 1"):
        D.log_likelihood([[0, 2]])
    with pytest.raises(DataError, match="codes must have 2 columns"):
        D.log_marginal([0, 0, 0], [True, True])
    with pytest.raises(DataError, match="codes must be integers"):
        D.log_likelihood([[0.0, 1.0]])
    with pytest.raises(DataError, match="observed must be"):
        D.posterior([0, 0], [1, 0])
    with pytest.raises(DataError, match="S has the attribute 2"):
        D.exact_marginal([0, 0], [2])
    with pytest.raises(DataError, match="masks must have 2 entries"):
        D.event_probability([None])
    with pytest.raises(DataError, match=r"masks\[0\] must be an array of bool over 2 states"):
        D.event_probability([[True], None])
    with pytest.raises(DataError, match="as many rows each"):
        D.event_probability([np.ones((2, 2), bool), np.ones((3, 2), bool)])
    with pytest.raises(DataError, match="one event"):
        D.exact_event_probability([np.ones((2, 2), bool), None])
    with pytest.raises(NoMass, match=r"masks\[1\] has no state"):
        D.sample_event(3, [None, [False, False]], rng)
    with pytest.raises(InvalidOption, match="m must be"):
        D.sample(0, rng)
