import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from cpx.data import (
    Background,
    Binarizer,
    ChowLiu,
    Empirical,
    Factorised,
    Fitted,
    Mixture,
    Perturbed,
    Product,
    Uniform,
    distribution,
)
from cpx.data.distributions import DISTRIBUTIONS
from cpx.data.oracle import Oracle, precision_of
from cpx.errors import DataError, InvalidOption, NoMass, UnknownName

IRIS = load_iris(as_frame=True).data
IRIS.insert(2, "colour", np.where(np.arange(150) % 3 == 0, "red", "blue"))
IRIS.loc[:9, "colour"] = None
BINARIZER = Binarizer().fit(IRIS)
BACKGROUND = Background(IRIS, BINARIZER)
ALL = [
    Uniform(BACKGROUND.n_features, binarizer=BINARIZER),
    Product(BACKGROUND),
    Empirical(BACKGROUND),
    Perturbed(BACKGROUND),
    Perturbed(BACKGROUND, keep=0.4),
    Factorised(BACKGROUND),
    Mixture(BACKGROUND, components=4),
    ChowLiu(BACKGROUND),
    ChowLiu(BACKGROUND, components=2),
]
each = pytest.mark.parametrize("D", ALL, ids=repr)


def rng(seed=0):
    return np.random.default_rng(seed)


@each
def test_rows_and_bits_belong_together(D):
    x = IRIS.iloc[70]
    for batch in (D.sample(200, rng(), x=x), D.sample_given(200, x, [0, 5], rng())):
        assert batch.bits.shape == (200, D.n_features)
        assert batch.bits.dtype == bool
        if D.name == "uniform":
            assert batch.rows.dtype == np.int8
            assert np.array_equal(batch.rows, batch.bits)
        else:
            assert (batch.rows.dtypes == IRIS.dtypes).all()
            assert np.array_equal(BINARIZER.transform(batch.rows), batch.bits)


@each
def test_same_seed_same_samples(D):
    x = IRIS.iloc[3]
    first, again, other = (D.sample(50, rng(s), x=x) for s in (1, 1, 2))
    assert np.array_equal(first.bits, again.bits)
    assert not np.array_equal(first.bits, other.bits)
    if isinstance(first.rows, pd.DataFrame):
        pd.testing.assert_frame_equal(first.rows, again.rows)


@settings(deadline=None)
@given(
    st.sampled_from(ALL),
    st.integers(0, 149),
    st.sets(st.integers(0, BACKGROUND.n_features - 1)),
)
def test_conditioned_samples_satisfy_x_on_S(D, i, features):
    bits = D.sample_given(40, IRIS.iloc[i], features, rng(i)).bits
    chosen = sorted(features)
    assert (bits[:, chosen] == BACKGROUND.bits[i, chosen]).all()


@each
def test_an_oracle_reads_its_row_once_and_draws_the_same(D, monkeypatch):
    x, asked = IRIS.iloc[70], []
    bits = D.encode(x)
    drawn = [D.sample_given(50, x, [0, 5], rng(i)) for i in range(3)]
    transform = Binarizer.transform

    def counted(self, X):
        asked.append(len(X))
        return transform(self, X)

    monkeypatch.setattr(Binarizer, "transform", counted)
    oracle = Oracle(lambda rows: np.arange(len(rows)) % 2, x, D)
    for i, batch in enumerate(drawn):
        rows, agreement = oracle.draw(50, [0, 5], rng(i))
        assert pd.DataFrame(rows).equals(pd.DataFrame(batch.rows))
        assert np.array_equal(agreement, batch.bits == bits)
    assert precision_of(oracle, [0], 100, 0).agreeing == 50
    assert asked == [1]


@pytest.mark.parametrize("takes", [False, True])
def test_only_distributions_that_say_so_get_rows_that_were_read(takes):
    class Own(Uniform):
        takes_read_rows = takes

        def sample_given(self, m, x, features, rng):
            got.append(x)
            return super().sample_given(m, x, features, rng)

    got, x = [], [1, 0, 1]
    oracle = Oracle(lambda rows: rows[:, 0], x, Own(3))
    assert oracle.draw(5, [0, 2], rng())[1][:, [0, 2]].all()
    assert (got[0] is x) == (not takes)


@each
def test_names_groups_and_parameters(D):
    assert D.n_features == len(D.groups) == len(D.feature_names) == BACKGROUND.n_features
    assert D.groups == tuple(BINARIZER.groups_)
    assert D.feature_names == tuple(BINARIZER.get_feature_names_out())
    bits = D.encode(IRIS.iloc[0])
    assert np.array_equal(bits, BACKGROUND.bits[0])
    assert D.literal_names(bits) == BINARIZER.literal_names(bits)
    assert "colour is missing" in D.literal_names(bits)
    assert json.loads(json.dumps(D.parameters())) == D.parameters()
    assert len(D.row(IRIS.iloc[0])) == 1


def test_uniform_is_uniform():
    bits = Uniform(3).sample(8000, rng()).bits
    counts = np.bincount(bits @ [1, 2, 4], minlength=8)
    assert (abs(counts - 1000) < 150).all()
    D = Uniform(2, ["a", "b"], [0, 0])
    assert (D.feature_names, D.groups) == (("a", "b"), (0, 0))
    for x in ({"b": 1, "a": 0}, pd.Series({"b": 1, "a": 0}), np.array([0, 1]), pd.Series([0, 1])):
        assert D.encode(x).tolist() == [False, True]
    assert D.row([0, 1]).tolist() == [[0, 1]]
    assert D.literal_names([0, 1]) == ("not a", "b")
    assert Uniform(2, ["a", "a"]).encode([0, 1]).tolist() == [False, True]


def test_uniform_with_a_binarizer_of_arrays():
    array = IRIS.drop(columns="colour").to_numpy()
    binarizer = Binarizer().fit(array)
    D = Uniform(12, binarizer=binarizer)
    assert np.array_equal(D.encode(array[7]), binarizer.transform(array)[7])
    assert D.row(array[7]).shape == (1, 12)
    # The bits of a column of two bins are independent: no two literals read alike.
    halves = Binarizer(2).fit(array[:, :1])
    names = Uniform(2, binarizer=halves).literal_names([True, False])
    assert names == ("x0 <= 5.75", "not (x0 > 5.75)")


def test_product_keeps_marginals_and_breaks_dependence():
    rows = np.array([[0, 0]] * 30 + [[1, 1]] * 10)
    bits = Product(Background(rows)).sample(20_000, rng()).bits
    assert bits.mean(axis=0) == pytest.approx([0.25, 0.25], abs=0.02)
    assert bits.all(axis=1).mean() == pytest.approx(1 / 16, abs=0.01)
    grouped = Product(Background(rows, groups=[0, 0])).sample(20_000, rng()).bits
    assert (grouped[:, 0] == grouped[:, 1]).all()


def test_empirical_conditions_uniformly_among_matching_rows():
    rows = np.array([[1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 0, 0], [0, 1, 1]])
    D = Empirical(Background(rows))
    bits = D.sample_given(9000, [1, 1, 1], [0], rng()).bits
    counts = np.bincount(bits @ [4, 2, 1], minlength=8)
    assert counts.sum() == counts[[4, 6, 7]].sum()
    assert (abs(counts[[4, 6, 7]] - 3000) < 250).all()


def test_perturbed_takes_values_in_the_bin_from_the_background():
    x = IRIS.iloc[60]
    j = int(np.flatnonzero(BACKGROUND.bits[60])[0])
    rows, _ = Perturbed(BACKGROUND).sample_given(3000, x, [j], rng())
    column = IRIS.columns[BACKGROUND.groups[j]]
    inside = IRIS.loc[BACKGROUND.bits[:, j], column]
    assert set(rows[column]) == set(inside)
    # Everything else is a whole background row.
    others = IRIS.drop(columns=column).fillna("?")
    known = {tuple(r) for r in others.itertuples(index=False)}
    drawn = rows.drop(columns=column).fillna("?")
    assert {tuple(r) for r in drawn.itertuples(index=False)} == known


def test_perturbed_falls_back_to_the_value_of_x():
    x = IRIS.iloc[60].copy()
    x["colour"] = "green"  # not seen: no background row has all colour features 0
    group = [j for j, g in enumerate(BACKGROUND.groups) if BACKGROUND.attributes[g] == "colour"]
    rows, bits = Perturbed(BACKGROUND).sample_given(20, x, group, rng())
    assert set(rows["colour"]) == {"green"}
    assert not bits[:, group].any()
    for D in (Product(BACKGROUND), Empirical(BACKGROUND)):
        with pytest.raises(DataError, match="no background row satisfies 'colour != blue and"):
            D.sample_given(20, x, group, rng())


def test_keep_writes_x_in():
    rows = np.zeros((5, 4), dtype=int)
    x = [1, 1, 1, 1]
    D = Perturbed(Background(rows), keep=0.3)
    bits = D.sample(20_000, rng(), x=x).bits
    assert bits.mean(axis=0) == pytest.approx([0.3] * 4, abs=0.02)
    assert bits.all(axis=1).mean() == pytest.approx(0.3**4, abs=0.01)
    given_first = D.sample_given(20_000, x, [0], rng()).bits
    assert given_first[:, 0].all()
    assert given_first[:, 1:].mean() == pytest.approx(0.3, abs=0.02)
    assert Perturbed(Background(rows), keep=1).sample(10, rng(), x=x).bits.all()
    assert not Perturbed(Background(rows)).sample(10, rng()).bits.any()
    with pytest.raises(DataError, match="needs x"):
        D.sample(5, rng())


def test_empirical_without_a_matching_row():
    D = Empirical(Background(np.array([[0, 1], [1, 0]])))
    with pytest.raises(DataError, match="no background row satisfies 'x0 and x1'"):
        D.sample_given(5, [1, 1], [0, 1], rng())
    # Attribute by attribute there is one.
    both = Product(Background(np.array([[0, 1], [1, 0]]))).sample_given(5, [1, 1], [0, 1], rng())
    assert both.bits.all()


@each
def test_refuses(D):
    x = IRIS.iloc[0]
    for m in (0, -1, 1.5, True):
        with pytest.raises(InvalidOption, match="m must be"):
            D.sample(m, rng(), x=x)
        with pytest.raises(InvalidOption, match="m must be"):
            D.sample_given(m, x, [], rng())
    for features in ([D.n_features], [-1], [0.0], [True], ["x0"]):
        with pytest.raises(InvalidOption, match=r"features (has|must be)"):
            D.sample_given(5, x, features, rng())
    with pytest.raises(DataError, match="x has 4 columns, the table has 5"):
        D.encode(x.iloc[:4])


def test_refuses_parameters():
    for keep in (-0.1, 1.1, np.nan, True, "half"):
        with pytest.raises(InvalidOption, match="keep must be"):
            Perturbed(BACKGROUND, keep=keep)
    for d in (0, 1.5, True):
        with pytest.raises(InvalidOption, match="d must be"):
            Uniform(d)
    with pytest.raises(DataError, match="feature_names must have 2 strings"):
        Uniform(2, ["a"])
    with pytest.raises(DataError, match="groups must have 2"):
        Uniform(2, groups=[0])
    with pytest.raises(DataError, match="the binarizer has"):
        Uniform(3, binarizer=BINARIZER)
    with pytest.raises(DataError, match="without a binarizer, only 0 and 1"):
        Uniform(2).encode([0, 2])
    with pytest.raises(DataError, match="Background expected"):
        Product(IRIS)


def test_distribution_by_name():
    for name in DISTRIBUTIONS:
        D = distribution(name, BACKGROUND)
        assert D.name == name
        assert D.feature_names == BACKGROUND.feature_names
        plain = distribution(name, Background(np.eye(3), groups=[0, 0, 1]))
        assert plain.groups == (0, 0, 1)
    assert distribution("perturbed", BACKGROUND, keep=0.2).parameters()["keep"] == 0.2
    with pytest.raises(UnknownName, match=r"did you mean 'uniform'.*known: chow-liu, empirical"):
        distribution("unifrom", BACKGROUND)
    with pytest.raises(InvalidOption, match="'product' has no option 'keep'; it has: none"):
        distribution("product", BACKGROUND, keep=0.2)
    with pytest.raises(InvalidOption, match="it has: components, smoothing, seed"):
        distribution("mixture{component=3}", BACKGROUND)
    with pytest.raises(InvalidOption, match="components is given twice"):
        distribution("mixture{components=3}", BACKGROUND, components=3)
    with pytest.raises(InvalidOption, match="options of the distribution end with '}'"):
        distribution("mixture{components=3", BACKGROUND)
    for option, value in {"components": 0, "smoothing": 0, "seed": -1}.items():
        with pytest.raises(InvalidOption, match=f"{option} must be"):
            distribution(f"mixture{{{option}={value}}}", BACKGROUND)


def test_options_in_braces():
    D = distribution("mixture{components=3, smoothing=0.5, seed=4}", BACKGROUND)
    assert D.parameters() == {
        "background_rows": 150,
        "structure": "mixture",
        "components": 3,
        "smoothing": 0.5,
        "seed": 4,
    }
    assert distribution("perturbed{keep=0.2}", BACKGROUND).keep == 0.2
    trees = distribution("chow-liu{components=2}", BACKGROUND)
    assert trees.parameters()["structure"] == "mixture of chow-liu trees"


@pytest.mark.parametrize("name", ["factorised", "mixture", "chow-liu", "fitted"])
def test_fitted_distributions_are_of_whole_attributes(name):
    """Every sample has one state of each attribute, never a combination that cannot be."""
    D = distribution(name, BACKGROUND)
    bits = D.sample(2000, rng()).bits
    for a in range(BACKGROUND.n_attributes):
        mine = BACKGROUND.attribute_of == a
        seen = {tuple(row) for row in BACKGROUND.bits[:, mine].tolist()}
        assert {tuple(row) for row in bits[:, mine].tolist()} <= seen


@pytest.mark.parametrize("name", ["mixture{components=3}", "chow-liu", "fitted"])
def test_fitted_distributions_keep_dependence(name):
    """The columns of iris go together; drawn apart, three quarters of the samples would differ."""
    D = distribution(name, BACKGROUND)
    length = [j for j, n in enumerate(BACKGROUND.feature_names) if "petal length" in n]
    width = [j for j, n in enumerate(BACKGROUND.feature_names) if "petal width" in n]

    def together(bits):
        return (bits[:, length] == bits[:, width]).all(axis=1).mean()

    drawn = together(D.sample(4000, rng()).bits)
    assert together(BACKGROUND.bits) == pytest.approx(drawn, abs=0.06)
    x = IRIS.iloc[0]
    given_length = D.sample_given(4000, x, length, rng()).bits
    agree = (BACKGROUND.bits[:, length] == BACKGROUND.bits[0, length]).all(axis=1)
    expected = (BACKGROUND.bits[agree][:, width] == BACKGROUND.bits[0, width]).all(axis=1).mean()
    found = (given_length[:, width] == BACKGROUND.bits[0, width]).all(axis=1).mean()
    assert found == pytest.approx(expected, abs=0.06)


def test_fitted_distributions_condition_on_what_no_row_has():
    rows = np.array([[1, 0], [0, 1]] * 20)
    with pytest.raises(NoMass, match="no background row"):
        Empirical(Background(rows)).sample_given(5, [1, 1], [0, 1], rng())
    for name in ("factorised", "mixture{components=2}", "chow-liu", "fitted"):
        D = distribution(name, Background(rows))
        assert D.sample_given(5, [1, 1], [0, 1], rng()).bits.all()
    x = IRIS.iloc[60].copy()
    x["colour"] = "green"
    group = [j for j, g in enumerate(BACKGROUND.groups) if BACKGROUND.attributes[g] == "colour"]
    with pytest.raises(NoMass, match=r"'colour != blue and.*'mixture' cannot be conditioned"):
        Mixture(BACKGROUND).sample_given(5, x, group, rng())


def test_features_without_a_binarizer_in_groups():
    rows = np.eye(3, dtype=int)[np.arange(60) % 3]
    D = distribution("mixture{components=2}", Background(rows, groups=[0, 0, 0]))
    assert D.mixture.cardinalities == (3,)
    assert (D.sample(200, rng()).bits.sum(axis=1) == 1).all()


def test_fitted_tells_what_it_tried():
    D = Fitted(BACKGROUND, max_components=4)
    assert [t.structure for t in D.trials[:2]] == ["factorised", "mixture"]
    best = max(t.held_out for t in D.trials)
    chosen = {(t.structure, t.components): t.held_out for t in D.trials}
    assert chosen[D.mixture.structure, D.mixture.n_components] > best - 0.5
    assert best > D.trials[0].held_out + 0.5  # the columns of iris are not independent
