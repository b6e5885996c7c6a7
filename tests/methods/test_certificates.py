"""The certificate finder against exact scores, exact trees and known certificates."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from cpx import solve
from cpx.answers.result import Status, Termination
from cpx.data import Background, Binarizer, Product, Uniform
from cpx.errors import DataError, InvalidOption, UnknownName
from cpx.models.certificate.methods import (
    ImplicitTree,
    certificate,
    common_depth,
    find_certificate,
    noise_sensitivity,
    pairs_for,
    stabilising_scores,
    success_rate,
    theorem_parameters,
    unfolded,
)
from cpx.models.certificate.methods.find import candidates
from cpx.models.certificate.methods.input_spaces import domain_of
from cpx.models.monomial.explainers.rule import RuleExplainer
from tests.seeds import each


def cube(d: int) -> np.ndarray:
    return np.array(list(product((0, 1), repeat=d)), dtype=np.int8)


def exact_sensitivity(f, d: int, p: float, fixed: dict[int, int]) -> float:
    """Definition 6, by summing over all pairs."""
    points = np.array([z for z in cube(d) if all(z[j] == b for j, b in fixed.items())])
    values = np.asarray(f(points)).astype(bool)
    apart = (points[:, None, :] != points[None, :, :]).sum(axis=2)
    free = d - len(fixed)
    chance = (p / 2) ** apart * (1 - p / 2) ** (free - apart)
    return float((chance * (values[:, None] != values[None, :])).sum() / len(points))


def exact_scores(f, d: int, p: float, fixed: dict[int, int]) -> np.ndarray:
    """Definition 7."""
    whole = exact_sensitivity(f, d, p, fixed)
    return np.array(
        [
            0.0
            if i in fixed
            else whole - np.mean([exact_sensitivity(f, d, p, {**fixed, i: bit}) for bit in (0, 1)])
            for i in range(d)
        ]
    )


def random_function(seed: int, d: int):
    table = np.random.default_rng(seed).random(2**d) < 0.4
    powers = 2 ** np.arange(d)
    return lambda z: table[z.astype(np.int64) @ powers]


@pytest.mark.parametrize("fixed", [{}, {2: 1}, {0: 0, 3: 1}])
@pytest.mark.parametrize("noise", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("seed", range(3))
def test_estimates_are_those_of_the_definitions(seed, noise, fixed) -> None:
    f, pairs = random_function(seed, 5), 50_000
    rng = np.random.default_rng(1)
    found = noise_sensitivity(f, 5, noise, pairs, rng, fixed)
    # Five standard errors of a mean of 0/1 values.
    assert found == pytest.approx(exact_sensitivity(f, 5, noise, fixed), abs=5 * 0.5 / pairs**0.5)
    scores = stabilising_scores(f, 5, noise, pairs, rng, fixed)
    np.testing.assert_allclose(scores, exact_scores(f, 5, noise, fixed), atol=5 / pairs**0.5)
    assert all(scores[j] == 0 for j in fixed)


def test_scores_of_a_parity_by_hand() -> None:
    # NS = 2 q (1 - q) with q = p/2; with one of the two bits fixed it is q.
    scores = exact_scores(lambda z: z[:, 0] ^ z[:, 1], 4, 0.2, {})
    np.testing.assert_allclose(scores, [0.08, 0.08, 0, 0], atol=1e-12)


def test_the_tree_is_one_tree_whatever_is_asked_first() -> None:
    f = random_function(3, 6)
    one, other = (ImplicitTree(f, 6, 3, pairs=500) for _ in range(2))
    nodes = [{}, {0: 1}, {0: 1, 4: 0}, {4: 0, 0: 1}]
    forward = [one.query(node) for node in nodes]
    backward = [other.query(node) for node in reversed(nodes)]
    assert forward == backward[::-1]
    assert forward[2] == forward[3]


def test_every_node_has_random_rows_of_its_own() -> None:
    # The bits that a node fixes play no part, so that equal rows would have equal scores.
    tree = ImplicitTree(lambda z: z[:, 2] ^ z[:, 3], 6, 3, pairs=500)
    nodes = [{}, {0: 0}, {0: 1}, {1: 1}, {0: 0, 1: 1}]
    seen = [tree.scores(node)[2:4].tolist() for node in nodes]
    assert len(set(map(tuple, seen))) == len(nodes)
    streams = [
        tree.generator(node, purpose).integers(2**62) for node in nodes for purpose in range(3)
    ]
    assert len(set(streams)) == len(streams)


@pytest.mark.parametrize("seed", range(4))
def test_queries_are_nearly_best(seed: int) -> None:
    """Definition 9: every queried feature is within eta of the best score."""
    f = random_function(seed, 5)
    tree = ImplicitTree(f, 5, 3, noise=0.3, pairs=50_000, seed=seed)
    for z in cube(5)[::5]:
        node: dict[int, int] = {}
        while not tree.is_leaf(node):
            scores, j = exact_scores(f, 5, 0.3, node), tree.query(node)
            assert j not in node
            assert scores[j] >= scores.max() - 0.02
            node[j] = int(z[j])
        below = [y for y in cube(5) if all(y[i] == b for i, b in node.items())]
        mean = np.mean(f(np.array(below)))
        assert mean == 0.5 or tree.leaf_value(node) == (mean > 0.5)


def test_operations_refuse_the_wrong_nodes() -> None:
    tree = ImplicitTree(lambda z: z[:, 0], 3, 1)
    assert tree.is_leaf({0: 1})
    for call in (
        lambda: tree.query({0: 1}),
        lambda: tree.leaf_value({}),
        lambda: tree.is_leaf({0: 1, 1: 1}),
        lambda: tree.is_leaf({3: 1}),
        lambda: tree.is_leaf({0: 2}),
        lambda: ImplicitTree(lambda z: z[:, 0], 3, 4),
        lambda: ImplicitTree(lambda z: z[:, 0], 3, 1, noise=1.0),
        lambda: find_certificate(tree, [1, 0], 0.05, 0.05),
        lambda: find_certificate(tree, [1, 0, 2], 0.05, 0.05),
        lambda: find_certificate(tree, [1, 0, 0], 0.0, 0.05),
        lambda: find_certificate(tree, [1, 0, 0], 0.05, 0.5),
        lambda: certificate(lambda z: z, [1, 0, 0], 1),
        lambda: certificate(lambda z: 1, [1, 0, 0], 1),
        lambda: certificate(lambda z: z[:, 0], 5, 1),
    ):
        with pytest.raises(InvalidOption):
            call()


def test_many_classes_need_a_label() -> None:
    with pytest.raises(InvalidOption, match="more than two classes"):
        ImplicitTree(lambda z: z.sum(axis=1), 4, 2).query({})
    found = certificate(lambda z: z[:, 0] + 2 * z[:, 1], [1, 0, 1, 1], 3)
    assert found is not None
    assert sorted(found.features) == [0, 1]


@pytest.mark.parametrize("seed", range(5))
def test_parity_of_three_bits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    hidden = sorted(rng.choice(30, 3, replace=False).tolist())
    x = rng.integers(0, 2, 30)
    found = certificate(lambda z: z[:, hidden].sum(axis=1) % 2, x, 6, seed=seed)
    assert found is not None
    assert sorted(found.features) == hidden
    assert found.precision.value == 1
    assert found.precision.low >= 0.95


def test_greedy_by_precision_takes_every_feature_of_a_parity() -> None:
    d = 10
    cube = (np.arange(2**d)[:, None] >> np.arange(d)) & 1
    x = np.array([0, 1] * 5)

    def f(z):
        return z[:, d - 2] ^ z[:, d - 1]

    def precision(chosen: list[int]) -> float:
        covered = cube[(cube[:, chosen] == x[chosen]).all(axis=1)]
        return float((f(covered) == f(x[None, :])).mean())

    chosen: list[int] = []
    while precision(chosen) < 0.95:
        rest = [j for j in range(d) if j not in chosen]
        chosen.append(max(rest, key=lambda j: precision([*chosen, j])))
    assert chosen == list(range(d))
    found = certificate(f, x, depth=5)
    assert found is not None
    assert sorted(found.features) == [d - 2, d - 1]


def test_order_of_importance() -> None:
    def f(z):
        return z[:, 5] & (z[:, 2] | (z[:, 0] & z[:, 1]))

    found = certificate(f, [1, 1, 0, 0, 1, 1], 5)
    assert found is not None
    # The path has 5 and 2 first; that the class needs 0 and 1 instead, 2 being 0, comes out.
    assert found.features[0] == 5
    assert sorted(found.features) == [0, 1, 5]
    assert len(found.scores) == len(found.features)
    short = certificate(f, [1, 1, 1, 0, 1, 1], 5)
    assert short is not None
    assert short.features == (5, 2)


def test_nothing_is_certified_that_is_not_so() -> None:
    assert certificate(lambda z: z.sum(axis=1) % 2, [1] * 10, 5) is None
    tree = ImplicitTree(lambda z: z.sum(axis=1) % 2, 10, 5)
    assert find_certificate(tree, [1] * 10) is None


def test_certificates_hold_the_confidence() -> None:
    """A certificate of error just above epsilon passes with probability delta at most."""
    rng = np.random.default_rng(0)
    table = rng.random(2**16) < 0.055
    powers = 2 ** np.arange(16)
    x = [0] * 16
    table[0] = False
    passed = sum(
        certificate(lambda z: table[z.astype(int) @ powers], x, 0, pairs=10, seed=seed) is not None
        for seed in range(100)
    )
    assert table.mean() > 0.05
    assert passed <= 12


def test_all_tests_share_delta() -> None:
    """Ten of paths and what is left of one, three of what is left of a path of two features."""
    tree = ImplicitTree(lambda z: z[:, 0] ^ z[:, 1] ^ z[:, 2], 5, 3, pairs=100)
    for found in candidates(tree, [0] * 5, 1, 0.1, 0.05):
        assert found.precision.drawn == np.ceil(np.log(13 / 0.05) / 0.1**2)
        assert found.precision.confidence == pytest.approx(1 - 2 * 0.05 / 13)


def rare(z):
    """Return a function that is another than that of the zeros in one of 32 rows."""
    return z[:, :5].all(axis=1)


def test_an_estimate_is_not_enough() -> None:
    """The error, 1/32, is within epsilon; so many samples cannot make sure of it."""
    x, epsilon = [0] * 8, 0.033
    for seed in range(10):
        tree = ImplicitTree(rare, 8, 0, seed=seed)
        (candidate,) = candidates(tree, np.zeros(8, dtype=np.int8), 0, epsilon, 0.05)
        if candidate.precision.value >= 1 - epsilon > candidate.precision.low:
            assert find_certificate(tree, x, epsilon) is None
            assert certificate(rare, x, 0, epsilon=epsilon, seed=seed) is None
            break
    else:
        pytest.fail("no estimate was within epsilon and unsure")


def test_an_almost_constant_function_needs_no_feature() -> None:
    found = certificate(lambda z: np.ones(len(z), dtype=int), [0, 1], 2)
    assert found is not None
    assert found.features == ()


def test_common_depth_is_a_tree_distance() -> None:
    tree = ImplicitTree(random_function(1, 6), 6, 4, pairs=500)
    points = cube(6)[::7]
    depth = {(i, j): common_depth(tree, x, y) for i, x in enumerate(points)
             for j, y in enumerate(points)}  # fmt: skip
    for i, j in depth:
        assert depth[i, j] == depth[j, i]
        assert depth[i, i] == 4
        for h in range(len(points)):
            assert depth[i, j] >= min(depth[i, h], depth[h, j])


# ------------------------------------------------------------------------ as a backend


def parity_explainer(d: int = 10, seed: int = 0) -> RuleExplainer:
    background = np.random.default_rng(0).integers(0, 2, (40, d))
    return RuleExplainer(
        lambda z: z[:, 2] ^ z[:, 7], background, distribution=Uniform(d), seed=seed
    )


def test_parity_as_a_backend() -> None:
    result = parity_explainer().solve([0, 1] * 5, k=5, backend="certificates")
    assert result.status is Status.FEASIBLE
    assert result.bound is None
    assert result.termination is Termination.COMPLETED
    assert result.verified
    assert result.explanation is not None
    assert result.explanation.features == (2, 7)
    assert result.explanation.precision == 1
    assert 2 * 5000 * 2 < result.sizes["queries"] < 2 * 5000 * 2 + 5 * 3400
    assert "x7" in result.raw_status


def test_too_small_a_cap_is_unknown() -> None:
    result = parity_explainer().solve([0, 1] * 5, k=1, backend="certificates")
    assert result.status is Status.UNKNOWN
    assert result.explanation is None
    assert any("no certificate of at most 1 feature was" in text for text in result.warnings)


def test_a_method_does_not_trust_an_estimate() -> None:
    background = np.random.default_rng(0).integers(0, 2, (40, 8))
    explainer = RuleExplainer(rare, background, distribution=Uniform(8))
    problem = explainer.problem([0] * 8, k=0, min_precision=0.967)
    told = [solve(problem, "certificates", seed=seed) for seed in range(6)]
    for result in told:
        (text,) = [text for text in result.warnings if "no certificate" in text]
        assert "was verified" in text
        assert result.status is Status.UNKNOWN
    # The precisions that were seen are printed first.
    seen = [float(result.raw_status.rpartition(" ")[2]) for result in told]
    assert max(seen) >= 0.967


def test_constraints_are_told() -> None:
    problem = parity_explainer().problem([0, 1] * 5, k=5, forbidden=[2])
    result = solve(problem, "certificates")
    assert result.status is Status.UNKNOWN
    assert any("breaks a constraint" in text for text in result.warnings)


def test_limits_are_told_with_figures() -> None:
    # Five bits cover a sample in 32, less than the problem asks for unless told otherwise.
    background = np.random.default_rng(0).integers(0, 2, (40, 8))
    conjunction = RuleExplainer(
        lambda z: z[:, :5].all(axis=1), background, distribution=Uniform(8)
    )
    result = conjunction.solve([1] * 8, k=5, backend="certificates", m=5000)
    assert result.status is Status.UNKNOWN
    (told,) = [text for text in result.warnings if "breaks a constraint" in text]
    assert "of its samples it covers 0.03" in told
    assert told.endswith("with a precision of 1.000")


def test_dependent_attributes_are_refused() -> None:
    background = np.random.default_rng(0).integers(0, 2, (40, 5))
    explainer = RuleExplainer(lambda z: z[:, 0], background)
    with pytest.raises(InvalidOption, match="'product' or a fitted one, got 'empirical'"):
        explainer.explain(background[0], k=2, backend="certificates")


def test_the_seed_repeats_it() -> None:
    first, second = (
        parity_explainer(seed=3).solve([0, 1] * 5, k=4, backend="certificates") for _ in range(2)
    )
    assert first.raw_status == second.raw_status


def test_the_time_limit_stops_it() -> None:
    result = parity_explainer().solve([0, 1] * 5, k=4, backend="certificates", time_limit=1e-9)
    assert result.status is Status.UNKNOWN
    assert result.termination is Termination.TIME_LIMIT
    assert result.sizes.get("queries", 0) == 0  # or it was not even stated


def test_what_says_nothing_of_the_instance_is_left_out() -> None:
    """The path queries every feature of the rule first; x needs the others."""

    def f(z):
        return (z[:, 0] & z[:, 1]) | (z[:, 2] & z[:, 3] & z[:, 4])

    x = [0, 0, 1, 1, 1, 0, 0, 0]
    found = certificate(f, x, depth=6, most=3)
    assert found is not None
    assert sorted(found.features) == [2, 3, 4]
    assert found.precision.value == 1
    assert certificate(f, x, depth=3) is None
    assert certificate(f, x, depth=6, most=2) is None


def test_what_speaks_against_the_label_is_left_out() -> None:
    """The path begins with it, so that no first part of the path is a certificate."""

    def f(z):
        return (2 * z - 1) @ np.array([-3, 2, 2, 0.5, 0.5, 0.5]) > 0

    x, epsilon = [1] * 6, 0.1
    tree = ImplicitTree(f, 6, 3)
    assert [tree.query(node) for node in ({}, {0: 1}, {0: 1, 2: 1})] == [0, 2, 1]
    assert find_certificate(tree, x, epsilon) is None
    found = certificate(f, x, depth=3, epsilon=epsilon)
    assert found is not None
    assert sorted(found.features) == [1, 2]
    assert certificate(f, x, depth=3, most=1, epsilon=epsilon) is None
    explainer = RuleExplainer(f, cube(6), distribution=Uniform(6))
    problem = explainer.problem(x, k=2, min_precision=0.9)
    by_engine = solve(problem, "certificates{depth=3}").explanation
    assert by_engine is not None
    assert by_engine.features == (1, 2)
    # Of what is not verified, the surest is told, which is no first part of the path.
    (told,) = solve(problem, "certificates{depth=2}").warnings
    assert ": x2 (the most important first): precision 0.7" in told


@each(range(20))
def test_found_certificates_are_certificates(seed: int) -> None:
    """Exactly, over the whole cube: none of the random functions is certified wrongly."""
    f, points = random_function(seed, 8), cube(8)
    x = points[seed * 11]
    found = certificate(f, x, depth=6, epsilon=0.2, pairs=500, seed=seed)
    if found is not None:
        chosen = list(found.features)
        covered = points[(points[:, chosen] == x[chosen]).all(axis=1)]
        assert np.mean(f(covered) == f(x[None, :])) >= 0.8


# ------------------------------------------------------------------------ attributes


def coloured() -> tuple[Background, Product]:
    """Return 30 rows of a colour, not uniform, a number in bins and a bit."""
    rng = np.random.default_rng(4)
    table = pd.DataFrame(
        {
            "colour": rng.choice(list("rgb"), 30, p=[0.6, 0.3, 0.1]),
            "size": rng.integers(0, 6, 30),
            "flag": rng.integers(0, 2, 30),
        }
    )
    binarizer = Binarizer(3).fit(table)
    background = Background(table, binarizer)
    return background, Product(background)


def reddish(rows: pd.DataFrame) -> np.ndarray:
    return ((rows["colour"] == "r") & (rows["size"] > 2) | (rows["flag"] == 1)).to_numpy()


def exact_attribute_sensitivity(D: Product, p: float, fixed: dict[int, int]) -> float:
    """Definition 6 with attributes drawn anew, by summing over all pairs of background rows."""
    background = D.background
    sources, chances = [], []
    for a in range(background.n_attributes):
        mine = [j for j in fixed if background.attribute_of[j] == a]
        rows = [
            r for r in range(background.n_rows)
            if all(bool(background.bits[r, j]) == bool(fixed[j]) for j in mine)
        ]  # fmt: skip
        values = background.rows.iloc[rows, a]
        counts = values.value_counts()
        sources.append([int(values.index[values == value][0]) for value in counts.index])
        chances.append((counts / counts.sum()).tolist())
    index = np.array(list(product(*sources)))
    chance = np.array([np.prod(c) for c in product(*chances)])
    values = reddish(background.assemble(index)[0])
    total = 0.0
    for i in range(len(index)):
        pair = np.ones(len(index))
        for a in range(background.n_attributes):
            same = index[:, a] == index[i, a]
            anew = np.array([dict(zip(sources[a], chances[a]))[r] for r in index[:, a]])
            pair *= (1 - p) * same + p * anew
        total += chance[i] * pair[values != values[i]].sum()
    return total


@pytest.mark.parametrize("fixed", [{}, {0: 0}, {3: 1}])
def test_scores_of_attributes_are_those_of_the_definition(fixed: dict[int, int]) -> None:
    background, D = coloured()
    p, pairs = 0.3, 60_000
    rng = np.random.default_rng(0)
    whole = exact_attribute_sensitivity(D, p, fixed)
    assert noise_sensitivity(reddish, D, p, pairs, rng, fixed) == pytest.approx(whole, abs=0.011)
    scores = stabilising_scores(reddish, D, p, pairs, rng, fixed)
    domain = domain_of(D)
    for j in range(background.n_features):
        if not domain.open(fixed)[j]:
            assert scores[j] == 0
            continue
        one = domain.share(fixed, j)
        held = [exact_attribute_sensitivity(D, p, {**fixed, j: bit}) for bit in (0, 1)]
        exact = whole - one * held[1] - (1 - one) * held[0]
        assert scores[j] == pytest.approx(exact, abs=0.022), j


def test_certificates_of_a_table() -> None:
    background, D = coloured()
    x = {"colour": "r", "size": 5, "flag": 0}
    found = certificate(reddish, x, depth=6, rows=D)
    assert found is not None
    names = [D.literal_names(D.encode(x))[j] for j in found.features]
    assert "colour = r" in names
    rows, _ = D.sample_given(20_000, x, found.features, np.random.default_rng(0))
    assert reddish(rows).mean() >= 0.95
    explainer = RuleExplainer(reddish, background.rows, n_bins=3, distribution="product")
    result = explainer.solve(x, k=3, backend="certificates", min_coverage=0.01)
    assert result.status is Status.FEASIBLE
    assert result.explanation is not None
    assert "colour = r" in str(result.explanation)


def test_a_value_that_no_row_has_is_refused() -> None:
    _, D = coloured()
    with pytest.raises(DataError, match="no background row"):
        ImplicitTree(reddish, D, 3).query({0: 1, 1: 1})


def test_the_tree_ends_where_nothing_varies() -> None:
    """Three features of one column: two of them say all of the third."""
    background = Background(np.eye(3, dtype=int), groups=[0, 0, 0])
    tree = ImplicitTree(lambda z: z[:, 0], Product(background), 3)
    assert tree.is_leaf({0: 1})
    assert not tree.is_leaf({0: 0})
    assert tree.is_leaf({0: 0, 1: 1})


# ------------------------------------------------------------------- theorem, unfolding


def test_parameters_of_the_theorem() -> None:
    chosen = theorem_parameters(complexity=3, epsilon=0.2, delta=0.5)
    h = 0.05
    assert chosen.tree_depth == pytest.approx(9 / h**9)
    assert chosen.depth == pytest.approx((chosen.tree_depth / h) ** 3)
    assert chosen.eta == pytest.approx(1 / chosen.depth)
    assert chosen.noise == pytest.approx(h / chosen.tree_depth)
    wrongs = [{}, {"complexity": 2, "tree_depth": 2}, {"complexity": 0.5}]
    wrongs += [{"complexity": 1e200}, {"tree_depth": 2, "epsilon": 1e-300}]
    wrongs += [{"complexity": 2, "epsilon": 1e-40}, {"complexity": 1e150}, {"tree_depth": 1e307}]
    for wrong in wrongs:
        with pytest.raises(InvalidOption):
            theorem_parameters(**wrong)
    for eta in (1e-160, 1e-300):
        with pytest.raises(InvalidOption, match="eta is too small"):
            pairs_for(eta, 3)


@pytest.mark.parametrize("noise", [0.1, 0.6])
def test_pairs_choose_a_feature_within_eta(noise: float) -> None:
    """In 200 trials, with delta = 0.3; the bound is far from tight."""
    f, eta = random_function(5, 5), 0.2
    exact = exact_scores(f, 5, noise, {})
    pairs, wrong = pairs_for(eta, 5, noise=noise, delta=0.3), 0
    for seed in range(200):
        found = stabilising_scores(f, 5, noise, pairs, np.random.default_rng(seed))
        wrong += exact[found.argmax()] < exact.max() - eta
    assert wrong <= 0.3 * 200


def test_success_rate_of_a_known_function() -> None:
    # C = 2 where the first bit is 1, else 1.
    rate = success_rate(lambda z: z[:, 0] & z[:, 1] & z[:, 0], 6, depth=3, m=20)
    assert rate.value == 1
    assert all(size in (1, 2) for size in rate.sizes)
    parity = success_rate(lambda z: z.sum(axis=1) % 2, 6, depth=3, m=20, pairs=200)
    assert parity.value == 0
    assert (parity.complexity, parity.error) == (6, 0)
    assert parity.high < 0.2
    _, D = coloured()
    # Of seven features, five on the path, those of a few rows are not among them.
    table = success_rate(reddish, D, depth=5, m=20, pairs=500)
    assert 0.6 < table.value <= 1
    assert all(size is None or size <= 5 for size in table.sizes)
    with pytest.raises(InvalidOption, match="at least 2"):
        success_rate(reddish, D, depth=5, m=1)


def test_unfolding() -> None:
    def f(z):
        return z[:, 1] & (z[:, 3] | z[:, 0])

    tree = ImplicitTree(f, 5, 3)
    whole = unfolded(tree, 3)
    assert len(list(whole)) == 15
    assert whole.feature == tree.query({}) == 1
    leaves = [one for one in whole if len(one.node) == 3]
    assert sum(one.reached for one in leaves) == pytest.approx(1)
    for one in leaves:
        assert (one.share >= 0.5) == tree.leaf_value(dict(one.node))
    below = unfolded(tree, 1, {1: 1})
    assert below == unfolded(tree, 2).children[0]
    x, y = [0, 1, 0, 1, 0], [0, 0, 0, 1, 0]
    paths = unfolded(tree, 3, instances=[x, y])
    assert len(list(paths)) == 1 + 3 + 3
    assert [len(one.children) for one in paths][:2] == [2, 1]
    assert str(below).splitlines()[0].startswith("x1: 0.500 of the rows")
    _, D = coloured()
    table = unfolded(ImplicitTree(reddish, D, 2), 2)
    assert sum(one.reached for one in table if not one.children) == pytest.approx(1)


def test_options_of_the_engine() -> None:
    explainer = parity_explainer()
    few = explainer.solve([0, 1] * 5, k=5, backend="certificates{pairs=1000, noise=0.3}")
    assert few.explanation is not None
    assert few.explanation.features == (2, 7)
    many = explainer.solve([0, 1] * 5, k=5, backend="certificates")
    assert few.sizes["queries"] < many.sizes["queries"] - 2 * 2 * 3900
    sure = explainer.solve([0, 1] * 5, k=5, backend="certificates{delta=0.0001}")
    assert sure.sizes["queries"] > many.sizes["queries"]
    shallow = explainer.solve([0, 1] * 5, k=5, backend="certificates{depth=1}")
    assert shallow.status is Status.UNKNOWN
    for wrong in ("noise=2", "pairs=0", "delta=0.7", "noise=0", "depth=x", "tau=1"):
        with pytest.raises((InvalidOption, UnknownName)):
            explainer.solve([0, 1] * 5, k=2, backend=f"certificates{{{wrong}}}")
