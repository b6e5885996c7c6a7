"""The certificate finder against exact scores, exact trees and known certificates."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from cpx import Explainer, Uniform, solve
from cpx.answers.result import Status, Termination
from cpx.errors import InvalidOption
from cpx.methods.certificates import (
    ImplicitTree,
    certificate,
    common_depth,
    find_certificate,
    noise_sensitivity,
    stabilising_scores,
)
from cpx.methods.certificates.find import prefixes


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
    f, pairs = random_function(seed, 5), 200_000
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
    assert found.features[:2] == (5, 2)
    assert sorted(found.features[2:]) == [0, 1]
    assert len(found.scores) == 4
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


def rare(z):
    """Return a function that is another than that of the zeros in one of 32 rows."""
    return z[:, :5].all(axis=1)


def test_an_estimate_is_not_enough() -> None:
    """The error, 1/32, is within epsilon; so many samples cannot make sure of it."""
    x, epsilon = [0] * 8, 0.033
    for seed in range(10):
        tree = ImplicitTree(rare, 8, 0, seed=seed)
        (candidate,) = prefixes(tree, np.zeros(8, dtype=np.int8), epsilon, 0.05)
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


def parity_explainer(d: int = 10) -> Explainer:
    background = np.random.default_rng(0).integers(0, 2, (40, d))
    return Explainer(lambda z: z[:, 2] ^ z[:, 7], background, distribution=Uniform(d))


def test_parity_as_a_backend() -> None:
    result = parity_explainer().solve([0, 1] * 5, k=5, backend="certificates")
    assert result.status is Status.FEASIBLE
    assert result.bound is None
    assert result.termination is Termination.COMPLETED
    assert result.verified
    assert result.explanation is not None
    assert result.explanation.features == (2, 7)
    assert result.explanation.precision == 1
    assert 2 * 5000 * 2 < result.sizes["queries"] < 2 * 5000 * 2 + 3 * 3000
    assert "x7" in result.raw_status


def test_too_small_a_cap_is_unknown() -> None:
    result = parity_explainer().solve([0, 1] * 5, k=1, backend="certificates")
    assert result.status is Status.UNKNOWN
    assert result.explanation is None
    assert any("no certificate of at most 1 feature was" in text for text in result.warnings)


def test_a_method_does_not_trust_an_estimate() -> None:
    background = np.random.default_rng(0).integers(0, 2, (40, 8))
    explainer = Explainer(rare, background, distribution=Uniform(8))
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
    conjunction = Explainer(lambda z: z[:, :5].all(axis=1), background, distribution=Uniform(8))
    result = conjunction.solve([1] * 8, k=5, backend="certificates", m=5000)
    assert result.status is Status.UNKNOWN
    (told,) = [text for text in result.warnings if "breaks a constraint" in text]
    assert "of its samples it covers 0.03" in told
    assert told.endswith("with a precision of 1.000")


def test_other_distributions_are_refused() -> None:
    background = np.random.default_rng(0).integers(0, 2, (40, 5))
    explainer = Explainer(lambda z: z[:, 0], background)
    with pytest.raises(InvalidOption, match="'uniform', the problem has 'empirical'"):
        explainer.explain(background[0], k=2, backend="certificates")


def test_the_seed_repeats_it() -> None:
    explainer = parity_explainer()
    first, second = (
        explainer.solve([0, 1] * 5, k=4, backend="certificates", seed=3) for _ in range(2)
    )
    assert first.raw_status == second.raw_status


def test_the_time_limit_stops_it() -> None:
    result = parity_explainer().solve([0, 1] * 5, k=4, backend="certificates", time_limit=1e-9)
    assert result.status is Status.UNKNOWN
    assert result.termination is Termination.TIME_LIMIT
    assert result.sizes["queries"] == 0
