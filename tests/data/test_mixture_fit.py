import numpy as np
import pytest
from sklearn.datasets import load_digits

from cpx.data import Coding, choose_mixture, fit_mixture
from cpx.data.fitted.chow_liu import chow_liu_parents, mutual_information
from cpx.data.fitted.mixture_fit import STRUCTURES, _Fit, _Layout, _Rows, quantised
from cpx.data.fitted.tree_mixture import ONE
from cpx.errors import DataError, InvalidOption

from .test_tree_mixture import random_mixture


def kinds(n, seed, n_kinds=3, d=8):
    """Rows of a few kinds; within a kind, attributes are independent."""
    rng = np.random.default_rng(seed)
    likely = np.random.default_rng(99).random((n_kinds, d)) < 0.5
    kind = rng.integers(0, n_kinds, size=n)
    return (rng.random((n, d)) < np.where(likely[kind], 0.9, 0.1)).astype(int)


def edges(parents):
    return {frozenset((a, p)) for a, p in enumerate(np.asarray(parents).tolist()) if p >= 0}


@pytest.mark.parametrize("trees", [False, True])
def test_no_step_lowers_the_likelihood(trees):
    """Of rows and pseudo-rows together, also where the trees are found anew."""
    codes = np.vstack([kinds(300, 0), kinds(50, 1)])
    rows = _Rows(codes, [2] * 8, 1.0)
    alone = _Layout(rows, np.full(8, -1, dtype=np.int32))
    fit = _Fit(rows, [alone] * 4, rows.spread(4, np.random.default_rng(0)))
    fit.improve(40, 1e-9)
    if trees:
        fit.grow_trees(40, 1e-9)
    assert len(fit.history) > 10
    assert (np.diff(fit.history) > -1e-8).all()
    # The last entry, recomputed from what is returned: by the definition of the pseudo-rows.
    D = fit.distribution()
    value = D.log_likelihood(codes).sum()
    prior = [(np.bincount(codes[:, a], minlength=2) / len(codes) + 0.5) / 2 for a in range(8)]
    for c in range(4):
        value += D.log_weights[c]
        for a, parent in enumerate(D.parents[c]):
            above = np.ones(1) if parent < 0 else prior[parent]
            value += above @ np.log(D.tables[c][a] / ONE) @ prior[a]
    start = fit.history[-2]
    assert start - 1e-3 <= value
    assert value == pytest.approx(fit.history[-1], abs=1.0)


def test_factorised_is_what_smoothed_shares_say():
    codes = np.array([[0, 2], [0, 1], [1, 1]])
    D = fit_mixture(codes, [2, 3], structure="factorised", smoothing=3.0)
    first = (np.array([2, 1]) + 1.5 * np.array([2, 1]) / 3 + 1.5 / 2) / 6
    second = (np.array([0, 2, 1]) + 1.5 * np.array([0, 2, 1]) / 3 + 1.5 / 3) / 6
    assert D.tables[0][0][0] / ONE == pytest.approx(first, abs=2 / ONE)
    assert D.tables[0][1][0] / ONE == pytest.approx(second, abs=2 / ONE)


def test_chow_liu_finds_a_planted_tree():
    truth = random_mixture(5, sizes=[3] * 7, n_components=1)
    codes = truth.sample(5000, np.random.default_rng(0))
    found = fit_mixture(codes, [3] * 7, structure="chow-liu")
    # Edges the data can tell: their attributes depend on each other.
    planted = edges(truth.parents[0])
    assert planted
    assert planted <= edges(found.parents[0])
    fresh = truth.sample(2000, np.random.default_rng(1))
    gap = truth.log_likelihood(fresh).mean() - found.log_likelihood(fresh).mean()
    assert 0 <= gap < 0.03


def test_mutual_information_by_its_definition():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, [1, 2, 4, 3], size=(50, 4))
    codes[:, 3] = (codes[:, 2] + codes[:, 1]) % 3
    sizes, weights = np.array([1, 2, 4, 3]), rng.random(50)
    starts = np.cumsum(sizes) - sizes
    prior = np.concatenate([rng.dirichlet(np.ones(k)) for k in sizes])
    found = mutual_information(starts + codes, weights, starts, prior, 2.5)
    for a in range(4):
        for b in range(4):
            joint = 2.5 * np.outer(prior[starts[a] :][: sizes[a]], prior[starts[b] :][: sizes[b]])
            np.add.at(joint, (codes[:, a], codes[:, b]), weights)
            joint /= joint.sum()
            apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
            expected = 0 if a == b else (joint * np.log(joint / apart)).sum()
            assert found[a, b] == pytest.approx(expected, abs=1e-12)


def test_attributes_that_say_nothing_are_not_joined():
    information = np.zeros((4, 4))
    information[1, 3] = information[3, 1] = 0.5
    assert chow_liu_parents(information).tolist() == [-1, -1, -1, 1]


def test_constant_columns_and_unseen_states():
    codes = np.zeros((20, 3), dtype=int)
    codes[:10, 1] = 1
    for structure in STRUCTURES:
        D = fit_mixture(codes, [1, 2, 3], structure=structure, components=2)
        assert (D.tables[0][0] == ONE).all()
        # States that no row has are improbable, not impossible.
        rare = D.event_probability([None, None, [False, True, True]])
        assert 0 < rare < 0.05
        assert D.exact_marginal([0, 0, 2], [2]) > 0


@pytest.mark.parametrize("structure", STRUCTURES)
def test_same_seed_same_fit(structure):
    codes = kinds(200, 0)
    first, again, other = (
        fit_mixture(codes, [2] * 8, structure=structure, components=5, seed=s) for s in (1, 1, 2)
    )
    assert first == again
    assert (first == other) == ("mixture" not in structure)


def test_more_components_than_rows():
    D = fit_mixture([[0, 1], [1, 0]], [2, 2], components=6)
    assert D.n_components == 6
    assert D.exact_event_probability([None, None]) == 1


def test_kinds_of_rows_are_found():
    codes, fresh = kinds(2000, 0), kinds(2000, 1)
    one, three = (fit_mixture(codes, [2] * 8, components=C) for C in (1, 3))
    assert three.log_likelihood(fresh).mean() > one.log_likelihood(fresh).mean() + 0.5
    truth = 8 * (0.9 * np.log(0.9) + 0.1 * np.log(0.1)) - np.log(3)
    assert three.log_likelihood(fresh).mean() > truth - 0.05  # below it for kinds overlap


def test_choice_by_rows_kept_aside():
    chosen, trials = choose_mixture(kinds(1500, 0, d=12), [2] * 12, structures=STRUCTURES[:2])
    assert chosen.structure == "mixture"
    assert chosen.n_components == 4  # the least power of two that is enough for three kinds
    assert [t.components for t in trials] == [1, 2, 4, 8]
    apart = np.random.default_rng(0).integers(0, 2, size=(1500, 6))
    assert choose_mixture(apart, [2] * 6)[0].factorised
    chain = np.cumsum(np.random.default_rng(0).random((1500, 8)) < 0.1, axis=1) % 2
    assert choose_mixture(chain, [2] * 8)[0].structure == "chow-liu"


def test_pictures_in_groups_of_states():
    """Digits of scikit-learn: one-hot columns of a pixel's grey are one attribute."""
    X = (load_digits().data[:, 18:24] // 6).astype(int)
    hot = np.concatenate([v == X for v in range(3)], axis=1).astype(float)
    groups = {f"pixel {p}": [p, p + 6, p + 12] for p in range(6)}
    coding = Coding.fit(hot, groups=groups)
    assert max(coding.cardinalities) <= 3
    D = fit_mixture(coding.codes(hot), coding.cardinalities, components=5)
    cells = coding.cells(D.sample(500, np.random.default_rng(0)))
    assert all((cells[:, columns].sum(axis=1) == 1).all() for columns in groups.values())


def test_rounding_keeps_every_state():
    rng = np.random.default_rng(0)
    rows = rng.dirichlet([0.01] * 50, size=200)
    found = quantised(rows)
    assert (found > 0).all()
    assert (found.sum(axis=1) == ONE).all()
    assert abs(found / ONE - rows).max() < 50 / ONE


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"structure": "tree"}, "structure must be one of factorised"),
        ({"components": 0}, "components must be"),
        ({"smoothing": 0}, "smoothing must be a finite number above 0"),
        ({"smoothing": np.nan}, "smoothing must be"),
        ({"tolerance": -1}, "tolerance must be"),
        ({"seed": -1}, "seed must be"),
        ({"restarts": 0}, "restarts must be"),
        ({"max_steps": 0}, "max_steps must be"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(InvalidOption, match=message):
        fit_mixture([[0, 1]], [2, 2], **options)


@pytest.mark.parametrize(
    ("codes", "sizes", "message"),
    [
        ([[0, 2]], [2, 2], "row 0 has the state 2 of attribute 1"),
        ([[0, 1]], [2], r"codes must be an \(n, 1\) array"),
        ([[0.0, 1.0]], [2, 2], "codes must be .* array of integers"),
        (np.zeros((0, 2), int), [2, 2], "no rows"),
        ([[0, 0]], [0, 1], "cardinalities must be"),
    ],
)
def test_rows_are_checked(codes, sizes, message):
    with pytest.raises(DataError, match=message):
        fit_mixture(codes, sizes)


def test_choice_is_checked():
    with pytest.raises(DataError, match="at least 2 rows"):
        choose_mixture([[0]], [2])
    with pytest.raises(DataError, match="max_components of at least 2"):
        choose_mixture([[0], [1]], [2], structures=["mixture"], max_components=1)
    with pytest.raises(InvalidOption, match="structures must be one of"):
        choose_mixture([[0], [1]], [2], structures=["tree"])
