"""Reasons of networks: the prover and the judge against truths that share nothing with them."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import cpx
from cpx.check import violations
from cpx.errors import InvalidInstance, ModelError
from cpx.modelling.instances import from_dict
from cpx.models.sufficient_reason.methods.minimum import minimum_of_oracle
from cpx.models.sufficient_reason.networks.cases import two_or_one
from cpx.models.sufficient_reason.networks.judge import NetworkReading
from cpx.models.sufficient_reason.networks.network import Column, Layer, Network
from cpx.models.sufficient_reason.networks.oracle import NetworkOracle
from cpx.models.sufficient_reason.networks.problem import NetworkReason
from cpx.models.sufficient_reason.sufficiency.oracle import Stopped
from cpx.trees import Attribute
from tests.seeds import each


def _layers(random: Any, sizes: list[int], whole: bool) -> list[Layer]:
    """Random layers; whole numbers make ties, and leads that are 0 at the least."""
    found = []
    for inputs, neurons in itertools.pairwise(sizes):
        numbers = random.normal(size=(neurons, inputs + 1))
        if whole:
            numbers = random.integers(-2, 3, (neurons, inputs + 1)).astype(float)
        found.append(Layer(numbers[:, :-1], numbers[:, -1]))
    return found


def _listed(random: Any, seed: int) -> tuple[Network, tuple[float, ...]]:
    """A network of four columns of three values, of which one gives two inputs; and a row."""
    whole, classes = seed % 2 == 0, 2 + seed % 3
    hidden = [[4], [3, 3], []][seed % 3]
    scores = 1 if classes == 2 else classes
    columns = []
    for a, inputs in enumerate([(0,), (1, 2), (3,), (4,)]):
        points = random.integers(-2, 3, (3, len(inputs))).astype(float)
        attribute = Attribute(f"c{a}", "categorical", values=(0, 1, 2), labels=tuple("uvw"))
        columns.append(Column(attribute, inputs, points=points))
    network = Network(
        tuple(_layers(random, [5, *hidden, scores], whole)),
        tuple(columns),
        tuple(range(classes)),
        "positive" if scores == 1 else "first",
        "identity" if seed % 7 == 0 else "relu",
    )
    return network, tuple(map(float, random.integers(0, 3, 4)))


@each(range(60), few=12)
def test_reasons_of_listed_values_are_those_of_all_rows(seed: int) -> None:
    network, x = _listed(np.random.default_rng(seed), seed)
    rows = [*itertools.product((0.0, 1.0, 2.0), repeat=4)]
    labels = [network.class_of(network.inputs_of(row)) for row in rows]
    own = labels[rows.index(x)]
    oracle = NetworkOracle(network, network.inputs_of(x))
    reading = NetworkReading(network.to_dict(), [*network.inputs_of(x)])
    enough = []
    for S in itertools.chain.from_iterable(itertools.combinations(range(4), k) for k in range(5)):
        same = [label for row, label in zip(rows, labels) if all(row[a] == x[a] for a in S)]
        truth = {*same} == {own}
        enough += [len(S)] if truth else []
        assert (oracle.counterexample(S) is None) == truth, S
        assert _judged(reading, S, whole=seed % 2 == 0) in (truth, None), S
    found = minimum_of_oracle(NetworkOracle(network, network.inputs_of(x)))
    assert (found.proved, found.upper) == (True, min(enough))


def _least_lead(network: Network, lead: Any, x: list[float], free: list[int]) -> Fraction:
    """The least lead of a network of one hidden layer when two inputs vary, at a corner.

    A corner is where two of these meet: ends of the inputs, and lines at which a neuron turns.
    """
    hidden, last = network.layers
    lines: list[tuple[Fraction, ...]] = []
    for k, i in enumerate(free):
        low, high = network.columns[i].ends or (0.0, 0.0)
        unit = [Fraction(int(k == j)) for j in range(2)]
        lines += [(*unit, Fraction(-end)) for end in (low, high)]
    kept = [i for i in range(len(x)) if i not in free]
    for weights, bias in zip(hidden.weights.tolist(), hidden.biases.tolist()):
        rest = Fraction(bias) + sum(Fraction(weights[i]) * Fraction(x[i]) for i in kept)
        lines.append((Fraction(weights[free[0]]), Fraction(weights[free[1]]), rest))
    found = []
    for (a, b, c), (d, e, f) in itertools.combinations(lines, 2):
        if not (bottom := a * e - b * d):
            continue
        at = ((b * f - c * e) / bottom, (c * d - a * f) / bottom)
        ends = [network.columns[i].ends or (0.0, 0.0) for i in free]
        if all(low <= v <= high for v, (low, high) in zip(at, ends)):
            inputs = [Fraction(v) for v in x]
            inputs[free[0]], inputs[free[1]] = at
            sums = [
                sum((Fraction(w) * v for w, v in zip(row, inputs)), Fraction(b))
                for row, b in zip(hidden.weights.tolist(), hidden.biases.tolist())
            ]
            values = [max(v, Fraction(0)) for v in sums]
            scores = [
                sum((Fraction(w) * v for w, v in zip(row, values)), Fraction(b))
                for row, b in zip(last.weights.tolist(), last.biases.tolist())
            ]
            found.append(
                sum((Fraction(w) * s for w, s in zip(lead.tolist(), scores)), Fraction(0))
            )
    return min(found, default=Fraction(1))


@each(range(80), few=16)
def test_ranges_are_decided_as_at_their_corners(seed: int) -> None:
    """Where two inputs vary, the least lead is at a corner, found in fractions."""
    random = np.random.default_rng(seed)
    whole, classes = seed % 2 == 0, 2 + seed % 2
    scores = 1 if classes == 2 else classes
    ends = [tuple(sorted(map(float, random.integers(-3, 4, 2)))) for _ in range(3)]
    columns = tuple(
        Column(Attribute(f"c{a}", lower=low, upper=high), (a,), (low, high))
        for a, (low, high) in enumerate(ends)
    )
    decision: Any = "positive" if scores == 1 else "first"
    layers = tuple(_layers(random, [3, 5, scores], whole))
    network = Network(layers, columns, tuple(range(classes)), decision)
    x = [low if random.random() < 0.5 else (low + high) / 2 for low, high in ends]
    oracle, own = NetworkOracle(network, x), network.class_of(x)
    reading = NetworkReading(network.to_dict(), x)
    for free in itertools.combinations(range(3), 2):
        truth = True
        for rival in {*range(classes)} - {own}:
            least = _least_lead(network, network.lead(own, rival), x, [*free])
            truth &= least >= 0 if network.keeps_ties(own, rival) else least > 0
        S = {*range(3)} - {*free}
        try:
            point = oracle.counterexample(S)
        except Stopped:  # rounding leaves it open
            assert whole
        else:
            assert (point is None) == truth
            assert point is None or network.class_of(point.tolist()) != own
        assert _judged(reading, S, whole) in (truth, None)


def _judged(reading: NetworkReading, S: Iterable[int], whole: bool) -> bool | None:
    """What the judge says; where leads may be 0 at the least, it need not tell."""
    limit = 0.05 if whole else 60
    said = reading.forced(frozenset(S), reading.rivals, time.monotonic() + limit)
    assert whole or said is not None
    return said


def _trained(hidden: tuple[int, ...]) -> tuple[Network, Any]:
    from sklearn.datasets import load_wine
    from sklearn.neural_network import MLPClassifier
    from sklearn.preprocessing import StandardScaler

    X, y = load_wine(return_X_y=True)
    Z = StandardScaler().fit_transform(X)
    model = MLPClassifier(hidden, random_state=0, max_iter=300).fit(Z, y)
    layers = tuple(Layer(w.T.copy(), b) for w, b in zip(model.coefs_, model.intercepts_))
    columns = tuple(
        Column(Attribute(f"c{i}", lower=z.min(), upper=z.max()), (i,), (z.min(), z.max()))
        for i, z in enumerate(Z.T)
    )
    return Network(layers, columns, (0, 1, 2), "first"), Z


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_no_random_row_contradicts_a_reason_and_counterexamples_are_some() -> None:
    network, Z = _trained((6, 5))
    random = np.random.default_rng(0)
    ends = np.array([column.ends for column in network.columns])
    for x in Z[:130:43]:
        oracle = NetworkOracle(network, x)
        reading = NetworkReading(network.to_dict(), x.tolist())
        for _ in range(8):
            S = random.permutation(13)[: random.integers(7, 13)].tolist()
            rows = ends[:, 0] + random.random((400, 13)).round(1) * (ends[:, 1] - ends[:, 0])
            rows[:, S] = x[S]
            labels = network.rounded_scores(rows).argmax(axis=1)
            point = oracle.counterexample(S)
            if point is None:
                assert (labels == oracle.own).all()
            else:
                assert (point[S] == x[S]).all()
                assert ((ends[:, 0] <= point) & (point <= ends[:, 1])).all()
                assert network.class_of(point.tolist()) != oracle.own
            assert _judged(reading, S, whole=False) == (point is None)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_tiny_limit_leaves_an_interval_and_claims_no_more() -> None:
    network, Z = _trained((25, 25))
    problem = NetworkReason(network, tuple(Z[0].tolist()))
    result = cpx.solve(problem, time_limit=0.3)
    assert str(result.status) == "FEASIBLE"
    assert result.explanation is not None
    assert result.objective is not None
    assert result.bound is None or result.bound < result.objective
    assert "is smaller" not in result.explanation.proved
    oracle = problem.row_oracle(new=True)
    assert oracle.counterexample(result.explanation.features) is None


def test_an_answer_is_saved_and_checked_and_what_is_wrong_with_it_is_told() -> None:
    problem = two_or_one()
    instance = json.loads(json.dumps(problem.to_dict()))
    again = from_dict(instance)
    assert isinstance(again, NetworkReason)
    assert again.to_dict() == problem.to_dict()
    found = json.loads(json.dumps(cpx.solve(again).to_dict()))
    assert found["explanation"]["features"] == [2]
    assert not violations(instance, found)

    def wrong(changed: Any, of: Any = instance) -> str:
        return " ".join(violations(of, {**found, **changed}))

    none = {**found["explanation"], "features": [0]}
    none["rule"] = {**none["rule"], "literals": [[0, _literal(0)]]}
    assert "not enough" in wrong({"explanation": none})
    two = {**found["explanation"], "features": [1, 2]}
    two["rule"] = {**two["rule"], "literals": [[j, _literal(j)] for j in (1, 2)]}
    assert "can be left out" in wrong({"explanation": two, "objective": 2, "bound": 2})
    other = {**found["explanation"]}
    other["rule"] = {**other["rule"], "literals": [[2, {"column": "c", "one_of": ["v"]}]]}
    assert "is not what feature" in wrong({"explanation": other}) or "rule" in wrong(
        {"explanation": other}
    )
    assert "class" in wrong({}, {**instance, "class": "no"})
    assert "inputs" in wrong({}, {**instance, "inputs": [(2.0).hex(), *instance["inputs"][1:]]})


def _literal(j: int) -> dict[str, Any]:
    return {"column": "c", "one_of": ["u"]} if j == 2 else {"column": "ab"[j], "value": 1.0}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"required": ["b"]}, [1, 2]),
        ({"forbidden": [2]}, [0, 1]),
        ({"weights": (1, 1, 3)}, [0, 1]),
        ({"required": ["d"]}, "'d' names no column"),
        ({"inputs": (1.0, 1.0, 2.0, 0.0)}, "not what column 'c' can give"),
        ({"x": (1.0, 1.0, 2.0), "inputs": None}, "no value of its column"),
    ],
)
def test_what_is_asked_is_heard_or_refused(given: Any, told: Any) -> None:
    if isinstance(told, str):
        with pytest.raises(InvalidInstance, match=told):
            replace(two_or_one(), **given)
        return
    problem = replace(two_or_one(), **given)
    for engine in ("hitting-sets", "deletion"):
        found = cpx.solve(problem, engine).explanation
        assert found is not None
        assert [*found.features] == told
    other = cpx.solve(two_or_one().where("not c == u")).explanation
    assert other is not None
    assert [*other.features] == [0, 1]


def _ones(*shape: int) -> Layer:
    return Layer(np.ones(shape), np.ones(shape[0]))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"activation": "tanh"}, "activation must be relu or identity"),
        ({"columns": ()}, "at least one layer and one column"),
        ({"classes": (0, 1, 2)}, "3 classes do not fit 1 scores"),
        ({"layers": (Layer(np.full((1, 4), 1e31), np.zeros(1)),)}, r"numbers up to 1e\+30"),
        ({"layers": (Layer(np.full((1, 4), np.nan), np.zeros(1)),)}, "must be numbers"),
        ({"layers": (Layer(np.ones((1, 5)), np.zeros(1)),)}, "are not for 4 inputs"),
        ({"layers": (_ones(201, 4), _ones(1, 201))}, "201 neurons in hidden layers, at most 200"),
    ],
)  # fmt: skip
def test_networks_that_make_no_sense_are_refused(changed: Any, told: str) -> None:
    with pytest.raises(ModelError, match=told):
        replace(two_or_one().network, **changed)


def test_huge_weights_are_bounded_soundly() -> None:
    """Products of 1e30: what is lost by rounding is far more than the lead."""
    columns = (Column(Attribute("a", lower=0, upper=1), (0,), (0.0, 1.0)),)
    layers = (
        Layer(np.array([[1e30], [1e30]]), np.array([0.0, 1.0])),
        Layer(np.array([[1.0, -1.0]]), np.array([1.5])),
    )
    network = Network(layers, columns, ("no", "yes"), "positive")  # the lead is 0.5 everywhere
    oracle = NetworkOracle(network, [1.0])
    with suppress(Stopped):
        assert oracle.counterexample(()) is None
    lower = replace(network, layers=(layers[0], Layer(layers[1].weights, np.array([0.5]))))
    assert lower.class_of([0.5]) == 0
    assert lower.rounded_scores([[0.5]])[0, 0] > 0  # as floats say
