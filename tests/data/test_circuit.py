"""Probabilistic circuits against sums over all states by the definition, and bad files."""

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from cpx.data import Circuit
from cpx.data.fitted.circuit_nodes import LeafNode
from cpx.data.fitted.distribution import distribution_from_dict, read_distribution
from cpx.data.fitted.message_passing import ONE
from cpx.data.fitted.psdd import read_psdd
from cpx.errors import DataError, NoMass
from cpx.models.expected_prediction.cases import random_circuit
from cpx.processes.messages import pack, unpack
from tests.seeds import each

from .test_tree_mixture import random_mixture


def probability(circuit, row, n=-1):
    """The value of a node for a whole row, by the definition."""
    node = circuit.nodes[n]
    if isinstance(node, LeafNode):
        return Fraction(node.table[row[node.attribute]], ONE)
    below = [probability(circuit, row, c) for c in node.children]
    if node.weights is None:
        return math.prod(below)
    return sum(Fraction(w, ONE) * p for w, p in zip(node.weights, below, strict=True))


def drawn(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, rng.integers(1, 9)).tolist()
    circuit = random_circuit(seed, sizes[:6] if np.prod(sizes) > 2000 else sizes)
    rows = list(itertools.product(*map(range, circuit.cardinalities)))
    return rng, circuit, np.array(rows), [probability(circuit, row) for row in rows]


@each(range(300), few=10)
def test_probabilities_are_sums_over_all_states(seed):
    rng, circuit, rows, p = drawn(seed)
    assert sum(p) == 1
    A = circuit.n_attributes
    with np.errstate(divide="ignore"):
        assert np.exp(circuit.log_likelihood(rows)) == pytest.approx(
            np.array(p, dtype=float), rel=1e-12, abs=1e-300
        )
    masks = [rng.random(K) < 0.7 if rng.random() < 0.6 else None for K in circuit.cardinalities]
    inside = [
        all(m is None or m[s] for m, s in zip(masks, row, strict=True)) for row in rows.tolist()
    ]
    exact = sum((q for q, i in zip(p, inside, strict=True) if i), Fraction(0))
    assert circuit.exact_event_probability(masks) == exact
    assert circuit.event_probability(masks) == pytest.approx(float(exact), rel=1e-12, abs=1e-300)
    x = rows[rng.choice(len(rows), 3, p=np.array(p, dtype=float) / float(sum(p)))]
    seen = rng.random(x.shape) < 0.5
    found = circuit.conditionals(x, seen)
    logs = circuit.log_marginal(x, seen)
    for i, (row, known) in enumerate(zip(x, seen, strict=True)):
        agrees = (rows[:, known] == row[known]).all(axis=1)
        whole = sum(q for q, a in zip(p, agrees, strict=True) if a)
        assert math.exp(logs[i]) == pytest.approx(float(whole), rel=1e-12)
        for a, states in enumerate(found):
            for s in range(circuit.cardinalities[a]):
                both = agrees & (rows[:, a] == s)
                part = sum((q for q, b in zip(p, both, strict=True) if b), Fraction(0))
                assert states[i, s] == pytest.approx(float(part / whole), rel=1e-11, abs=1e-15)
    assert circuit.exact_marginal(x[0], range(A)) == probability(circuit, x[0])
    again = distribution_from_dict(json.loads(json.dumps(circuit.to_dict())))
    assert again == circuit


@pytest.mark.parametrize("seed", range(6))
def test_trees_are_circuits(seed):
    mixture = random_mixture(seed)
    circuit = mixture.circuit
    for row in itertools.islice(itertools.product(*map(range, mixture.cardinalities)), 30):
        every = range(mixture.n_attributes)
        assert probability(circuit, row) == mixture.exact_marginal(row, every)


def test_draws_are_of_the_conditional_distribution():
    _, circuit, rows, p = drawn(9)
    x = rows[int(np.argmax(p))]
    some = circuit.sample_given(20_000, x, [0], np.random.default_rng(1))
    assert (some[:, 0] == x[0]).all()
    agrees = [i for i, row in enumerate(rows) if row[0] == x[0] and p[i]]
    counts = dict.fromkeys(map(tuple, rows[agrees].tolist()), 0)
    for row in map(tuple, some.tolist()):
        counts[row] += 1
    wanted = np.array([float(p[i]) for i in agrees])
    kept = wanted / wanted.sum() * len(some) > 5
    found = np.array([*counts.values()])[kept]
    expected = wanted[kept] / wanted[kept].sum() * found.sum()
    assert chisquare(found, expected).pvalue > 1e-4
    with pytest.raises(NoMass, match="probability 0"):
        circuit.sample_event(1, [np.zeros(K, dtype=bool) for K in circuit.cardinalities], None)


def test_thousands_of_attributes_lose_nothing():
    leaves = [{"attribute": a, "probabilities": [0.75, 0.25]} for a in range(3000)]
    circuit = Circuit([*leaves, {"product": [*range(3000)]}])
    row = np.ones((1, 3000), dtype=int)
    assert circuit.log_likelihood(row)[0] == pytest.approx(3000 * math.log(0.25), rel=1e-13)


LEAF, OTHER = ({"attribute": a, "probabilities": [0.5, 0.5]} for a in (0, 1))


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([], "has no nodes"),
        ([LEAF, {"product": [0, 1]}], r"nodes\[1\]: product has the child 1: .* no cycle"),
        ([LEAF, {"product": [0, True]}], "has the child True"),
        ([LEAF, LEAF, {"product": [0, 1]}], r"nodes\[2\] is not decomposable: attribute 0"),
        (
            [LEAF, OTHER, {"sum": [0, 1], "weights": [0.5, 0.5]}],
            r"nodes\[2\] is not smooth: attribute 0 is in some",
        ),
        ([LEAF, {"sum": [0], "weights": [0.9]}], r"nodes\[1\]: weights have the sum 0.9, 1 is"),
        ([LEAF, {"sum": [0], "weights": [0.5, 0.5]}], "has 1 children and 2 weights"),
        ([LEAF, {"sum": [], "weights": []}], "sum has no children"),
        ([{"attribute": 0, "probabilities": [1.5, -0.5]}], "must be probabilities, got -0.5"),
        ([{"attribute": 0, "probabilities": [math.nan, 1]}], "must be probabilities, got nan"),
        ([{"attribute": 0}], r"nodes\[0\] must be \{attribute, probabilities\}"),
        ([OTHER], "attribute 0 is not among"),
        ([LEAF, {"attribute": 0, "probabilities": [1]}], "attribute 0 has 2 states in a leaf, 1"),
    ],
)
def test_bad_circuits_are_refused(nodes, message):
    with pytest.raises(DataError, match=message):
        Circuit(nodes)


PSDD = [
    "psdd 4",
    "c words",
    "L 0 0 1",
    "L 1 0 -1",
    "T 2 1 2 -0.5",
    "D 3 2 2 0 2 -0.7 1 2 -0.68634",
]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("L 0 0 2", "line 7: the node 0 is there already"),
        ("D 4 2 1 3 5 0.0", "line 7 has the child '5', which does not stand before it: .*cycle"),
        ("D 4 2 1 3 2 0.0", "line 7 is not decomposable: attribute 1 "),
        ("D 4 2 2 0 2 0.0", "line 7 must have 2 elements"),
        ("D 4 2 2 0 2 -0.7 1 2 -0.7", "line 7: its probabilities have the sum 0.993"),
        ("D 4 2 2 0 2 -0.7 1 1 -0.68634", "line 7 is not decomposable"),
        ("T 4 1 2 0.5", "'0.5' is no logarithm of a probability"),
        ("T 4 1 -2 -0.5", "line 7 is no line of a PSDD"),
        ("L 4 1 x", "'x' is no integer"),
        ("hello", "line 7 is no line of a PSDD: 'hello'"),
    ],
)
def test_bad_psdds_are_refused(line, message):
    assert read_psdd(PSDD).exact_marginal([1, 1], [1]) == Fraction(
        round(math.exp(-0.5) * ONE), ONE
    )
    with pytest.raises(DataError, match=message):
        read_psdd([*PSDD, line])


def test_files_are_read_by_what_they_are(tmp_path):
    path = tmp_path / "coins.psdd"
    path.write_text("\n".join(PSDD))
    circuit = read_distribution(path)
    other, third = tmp_path / "coins.json", tmp_path / "trees.json"
    other.write_text(json.dumps(circuit.to_dict()))
    mixture = random_mixture(3)
    third.write_text(json.dumps(mixture.to_dict()))
    assert read_distribution(other) == circuit
    assert read_distribution(third) == mixture
    path.write_text("x,y\n1,2\n")
    with pytest.raises(DataError, match=r"coins\.psdd: line 1 is no line"):
        read_distribution(path)


def test_circuit_that_was_measured_is_measured_again_in_another_process():
    """What comes from there is read-only, and kernels write."""
    circuit = read_psdd(["L 0 0 1", "T 1 1 2 -0.5", "D 2 2 1 0 1 0"])
    p = circuit.log_likelihood([[1, 1]])
    there = unpack(b"".join(pack(circuit)[1:]))
    assert there == circuit
    assert there.log_likelihood([[1, 1]]) == p == pytest.approx(-0.5)
