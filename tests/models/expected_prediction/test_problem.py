"""Expected predictions against enumeration, brute force, and arguments that are wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

import cpx
from cpx.data.coding import Coding
from cpx.data.fitted.tree_mixture import ONE, TreeMixture
from cpx.errors import DataError, InvalidInstance, InvalidOption
from cpx.modelling import instances
from cpx.models import MLSE, FewestExpected
from cpx.models.expected_prediction.cases import (
    STRUCTURES,
    best_set,
    random_expectation,
    random_mixture,
)
from cpx.models.expected_prediction.paths import cells_of_states
from cpx.models.expected_prediction.same_decision import SameDecision
from cpx.trees import Attribute, Tree, TreeModel, read_additive, read_model
from tests.seeds import each, some


def _sets(n):
    return [S for size in range(n + 1) for S in combinations(range(n), size)]


def _by_enumeration(problem):
    """Return EP, Pr, greatest score and the share of the class for every set, from all rows."""
    model, mixture = problem.tree_model, problem.distribution
    codes = np.array(list(product(*map(range, mixture.cardinalities))))
    cells = np.zeros((len(codes), model.n_attributes), dtype=np.int32)
    for a, columns in enumerate(problem.coding.columns):
        cells[:, list(columns)] = cells_of_states(model, problem.coding, a)[codes[:, a]]
    divisor = 2**model.exact.exponent * (1 if model.rule == "sum" else len(model.trees))
    totals, own = model.totals_of(cells), problem.label_index
    if totals.shape[1] == 1:
        score = totals[:, 0] * (1 if own == 1 else -1)
    elif model.rule == "sum":
        score = totals[:, own] - totals[:, 1 - own]
    else:
        score = totals[:, own]
    exact = [mixture.exact_marginal(row, range(len(row))) for row in codes]
    same = model.decide(totals) == own
    for S in _sets(problem.n_features):
        inside = np.flatnonzero((codes[:, S] == problem.codes[list(S)]).all(axis=1)).tolist()
        mass = sum(exact[i] for i in inside)
        mean = sum(exact[i] * int(score[i]) for i in inside) / mass / divisor
        greatest = Fraction(int(max(score[i] for i in inside)), divisor)
        yield S, mean, mass, greatest, sum(exact[i] for i in inside if same[i]) / mass


@pytest.mark.parametrize("structure", STRUCTURES)
@each(range(6), 3)
def test_expectations_are_those_of_all_rows(structure, seed):
    problem = random_expectation(seed, structure)
    for S, mean, mass, greatest, share in _by_enumeration(problem):
        scores = problem.scores
        assert scores.expected(S) == mean
        assert scores.probability(S) == mass
        assert scores.greatest(S) >= greatest
        assert SameDecision(problem).exact(S) == pytest.approx(float(share), rel=1e-9)
        # Theorem 1 with any bound on the score; it may be met.
        assert 0 <= scores.bound(S) <= scores.bound(S, greatest) <= share


def test_the_bound_is_met_where_the_greatest_score_is():
    """All rows have the class, with one score: the paper's strict inequality would fail."""
    leaf = Tree([-1], [0], [0], [[2.0]], (0,))
    model = TreeModel([Attribute("a")], ["no", "yes"], [leaf], [[]], "sum", "positive", [0.0])
    coding = Coding.fit([[0.0]], names=["a"])
    one = TreeMixture([ONE], None, [[[[ONE]]]])
    problem = MLSE(model, (0.0,), coding, one, 0)
    assert problem.scores.bound(()) == SameDecision(problem).exact(()) == 1
    zero = TreeModel([Attribute("a")], ["no", "yes"], [leaf], [[]], "sum", "nonnegative", [-2.0])
    tied = MLSE(zero, (0.0,), coding, one, 0)
    assert tied.label_index == 1
    assert tied.scores.greatest(()) == tied.leaves.threshold == 0
    assert tied.scores.bound(()) == SameDecision(tied).exact(()) == 1
    assert any("not above 0" in note for note in tied._notes())


@each(range(10))
@pytest.mark.parametrize("rounding", ["mlse", "fewest"])
def test_tables_add_up_to_the_rounded_leaves(seed, rounding):
    problem = random_expectation(seed, dual=rounding == "fewest")
    tables = problem.leaf_tables
    for S in _sets(problem.n_features):
        if rounding == "mlse":
            assert problem.table_sum.value(S) == tables.value(S)
            error = abs(tables.value(S) - problem.scores.expected(S) / problem.unit)
            assert error <= Fraction(len(problem.leaves.values) + 1, 2)
        else:
            assert problem.table_sum.value(S) == problem._in_units(S)
        assert problem.table_sum.penalty(S) == problem.tie(S)


def test_rounding_is_exact_where_floats_are_in_doubt():
    """Halves of units: floats alone would round some of them the wrong way."""
    stumps = [Tree([0, -1, -1], [0] * 3, [0] * 3, [[v], [-v]], (0,)) for v in (0.1, 3.0, 1e-3)]
    model = TreeModel([Attribute("a")], [0, 1], stumps, [[0.5]], "sum", "positive", [0.0])
    coding = Coding.fit([[0.0], [1.0]], names=["a"], cuts=model.thresholds)
    for share in (ONE // 2, ONE // 4, ONE // 3, 1):
        mixture = TreeMixture([ONE], None, [[[[share, ONE - share]]]])
        for unit in (Fraction(1, 4), Fraction(0.1) / 3, Fraction(3, 2)):
            problem = MLSE(model, (0.0,), coding, mixture, 1, unit=unit)
            for S in ((), (0,)):
                exact = sum(
                    round(Fraction(v) * (1 if S else p) / unit)
                    for v in (0.1, 3.0, 1e-3)
                    for v, p in ((v, Fraction(share, ONE)), (-v, 1 - Fraction(share, ONE)))
                    if not S or v > 0
                )
                assert problem.table_sum.value(S) == problem.leaf_tables.value(S) == exact


@pytest.mark.parametrize("dual", [False, True], ids=["mlse", "fewest"])
@pytest.mark.parametrize("encoding", ["products", "tables"])
@pytest.mark.parametrize("seed", range(8))
def test_statements_have_the_optimum_and_the_likeliest_set(seed, encoding, dual):
    problem = random_expectation(seed, dual=dual)
    best, result = best_set(problem), cpx.solve(problem, "cpsat", encoding=encoding)
    if best is None:
        assert result.status.name == "INFEASIBLE"
        return
    assert (result.status.name, result.objective, result.bound) == ("OPTIMAL", best[0], best[0])
    assert problem.tie(result.explanation.features) == best[1]
    assert result.verified
    assert result.explanation.proved.endswith("of these sets no other one is more likely")


@pytest.mark.parametrize("n", some(25, 28))
@pytest.mark.parametrize("dual", [False, True], ids=["mlse", "fewest"])
@pytest.mark.parametrize(
    ("structure", "engine"),
    [*((structure, "search") for structure in STRUCTURES), ("factorised", "cpsat")],
)
def test_no_attribute_can_go_without_change(n, structure, engine, dual):
    """Minimality: without any of them value or threshold is lost, though Pr is no smaller."""
    left_out = 0
    for seed in range(20, n):
        problem = random_expectation(seed, structure, dual, required=())
        result = cpx.solve(problem, engine)
        if result.explanation is None:
            assert best_set(problem) is None
            continue
        assert result.status.name == "OPTIMAL"
        S = {*result.explanation.features}
        for a in S:
            found = problem.evaluate(problem.explanation(S - {a}))
            assert not found.feasible or found.objective != result.objective
            assert problem.scores.probability(S - {a}) >= problem.scores.probability(S)
            left_out += 1
    assert left_out


@pytest.mark.parametrize("encoding", ["products", "tables"])
def test_hints_are_complete_solutions(encoding):
    problem = random_expectation(2)
    statement = problem.model(encoding)
    for S in _sets(problem.n_features):
        found = problem.evaluate(problem.explanation(S))
        if not found.feasible:
            continue
        values = statement.complete(S)
        assert values.keys() == statement.variables.keys()
        for name, array in statement.variables.items():
            for variable, value in zip(array, values[name], strict=True):
                variable._value = bool(value)
        assert all(constraint.value() for constraint in statement.model.constraints)
        assert statement.model.objective_value() + statement.offset == found.objective


@pytest.mark.parametrize("dual", [False, True], ids=["mlse", "fewest"])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_saved_instances_come_back(structure, dual):
    problem = random_expectation(4, structure, dual)
    data = json.loads(json.dumps(problem.to_dict()))
    again = instances.from_dict(data)
    assert again.to_dict() == problem.to_dict()
    assert best_set(again) == best_set(problem)


def test_results_come_back_with_their_figures():
    result = cpx.solve(random_expectation(5), "cpsat")
    again = cpx.Result.from_dict(json.loads(json.dumps(result.to_dict())))
    assert again.explanation == result.explanation
    assert again.explanation.expected == result.explanation.expected


def test_leaves_of_any_size_are_rounded_alike():
    """Huge beside tiny leaves: the sum is exact to its unit, and nothing overflows."""
    stumps = [
        Tree([a, -1, -1], [0] * 3, [0] * 3, [[-v], [v]], (0,))
        for a, v in enumerate((1e300, 1e-300))
    ]
    columns = [Attribute("a"), Attribute("b")]
    model = TreeModel(columns, [0, 1], stumps, [[0.5], [0.5]], "sum", "positive", [0.0])
    coding = Coding.fit([[0.0, 0], [1, 1]], names=["a", "b"], cuts=model.thresholds)
    problem = MLSE(model, (1.0, 1.0), coding, random_mixture(0, [2, 2]), 2)
    best = best_set(problem)
    result = cpx.solve(problem, "cpsat")
    assert result.verified
    assert (result.objective, result.explanation.features) == (best[0], (0,))
    with pytest.raises(InvalidInstance, match="too small"):
        MLSE(model, (1.0, 1.0), coding, random_mixture(0, [2, 2]), 2, unit=1)


# ---------------------------------------------------------------------- what is refused


def _plain(**arguments):
    stump = Tree([0, -1, -1], [0] * 3, [0] * 3, [[-1.0], [1.0]], (0,))
    columns = [Attribute("a"), Attribute("b")]
    model = TreeModel(columns, ["no", "yes"], [stump], [[0.5], []], "sum", "positive", [0.0])
    rows = np.array([[0.0, 1], [1, 2], [1, 3]])
    coding = Coding.fit(rows, names=["a", "b"], cuts=model.thresholds)
    asked = {
        "tree_model": model,
        "x": (1.0, 2.0),
        "coding": coding,
        "distribution": random_mixture(1, coding.cardinalities),
        "k": 1,
        **arguments,
    }
    return asked


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"k": 3}, "k must be between 0 and the number of features 2, got 3"),
        ({"k": -1}, "k must be between"),
        ({"required": ["c"]}, "'c' names no attribute"),
        ({"forbidden": [2]}, "forbidden"),
        ({"unit": 0}, "positive fraction"),
        ({"unit": "x"}, "must be a number"),
        ({"label": "no"}, "the model gives x 'yes'"),
        ({"distribution": None}, "must be a TreeMixture"),
        ({"coding": None}, "must be a Coding"),
        ({"distribution": random_mixture(0, [2])}, "1 attributes, coding has 2"),
        ({"distribution": random_mixture(0, [2, 2])}, "2 states of 'b', coding has 3"),
    ],
)
def test_wrong_arguments_are_named(arguments, told):
    with pytest.raises(InvalidInstance, match=told):
        MLSE(**_plain(**arguments))


def test_states_that_do_not_fit_the_model_are_named():
    other = Coding.fit([[0.0, 1], [1, 2]], names=["a", "c"], cuts=[[0.5], []])
    with pytest.raises(InvalidInstance, match="column 1 is 'c', in the model 'b'"):
        MLSE(**_plain(coding=other))
    blunt = Coding.fit([[0.0, 1], [1, 2]], names=["a", "b"], cuts=[[0.75], []], max_states=1)
    with pytest.raises(InvalidInstance, match=r"tests 'a' at 0\.5"):
        MLSE(**_plain(coding=blunt))
    narrow = Coding.fit([[0.0], [1]], names=["a"], cuts=[[0.5]])
    with pytest.raises(InvalidInstance, match="over 1 columns, the model has 2"):
        MLSE(**_plain(coding=narrow))


def test_a_row_of_no_known_state_is_refused():
    with pytest.raises(DataError, match="missing"):
        MLSE(**_plain(x=(1.0, float("nan"))))


def _three_classes():
    """Log-odds of three classes by two bits: the first one where both are 0."""
    values = [[1.0, 0, 0], [0, 0, 2.0]], [[1.0, 0, 0], [0, 0.5, 0]]
    trees = [Tree([a, -1, -1], [0] * 3, [0] * 3, v, (0, 1, 2)) for a, v in enumerate(values)]
    columns = [Attribute("a", "boolean"), Attribute("b", "boolean")]
    return TreeModel(columns, [*"uvw"], trees, [[0.5]] * 2, "sum", "first", [0.0, 0.25, 0.0])


def test_scores_of_three_classes_are_those_against_the_runner_up():
    """Where b is known to be 0, u has 1 + 1/2, and v, the runner-up, 1/4."""
    model = _three_classes()
    coding = Coding.fit([[0, 0], [1, 1]], names=["a", "b"], cuts=model.thresholds)
    even = TreeMixture([ONE], None, [[[[ONE // 2] * 2]] * 2])
    problem = MLSE(model, (0, 0), coding, even, 1)
    expected = {(): Fraction(1, 2), (0,): 1, (1,): Fraction(5, 4), (0, 1): Fraction(7, 4)}
    assert {S: problem.scores.expected(S) for S in expected} == expected
    result = cpx.solve(problem)
    assert (result.status.name, result.verified, result.explanation.bound) == ("OPTIMAL", True, 0)
    assert "less that of v, the runner-up" in str(result.explanation.notes)
    with pytest.raises(InvalidInstance, match="nothing is known of its class"):
        FewestExpected(model, (0, 0), coding, even, "1/2", "probability-bound")


@pytest.mark.parametrize("prediction", ["probability", "decision"])
@pytest.mark.parametrize("structure", STRUCTURES)
@each(range(6), 2)
def test_predictions_are_those_of_all_rows(structure, seed, prediction):
    """Also of three classes, ties, and scores that are huge."""
    problem = random_expectation(10 * seed, structure, prediction=prediction)
    model, mixture = problem.tree_model, problem.distribution
    codes = np.array(list(product(*map(range, mixture.cardinalities))))
    cells = np.zeros((len(codes), model.n_attributes), dtype=np.int32)
    for a, columns in enumerate(problem.coding.columns):
        cells[:, list(columns)] = cells_of_states(model, problem.coding, a)[codes[:, a]]
    totals, own = model.totals_of(cells), problem.label_index
    said = (model.decide(totals) == own).astype(float)
    if prediction == "probability":
        scores = (totals / 2**model.exact.exponent).astype(float)
        if scores.shape[1] == 1:
            scores = np.concatenate([-scores / 2, scores / 2], axis=1)
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        said = powers[:, own] / powers.sum(axis=1)
    shares = np.exp(mixture.log_likelihood(codes))
    for S in _sets(problem.n_features):
        inside = (codes[:, S] == problem.codes[list(S)]).all(axis=1)
        mean = float(said[inside] @ shares[inside] / shares[inside].sum())
        assert float(problem.scores.expected(S)) == pytest.approx(mean, abs=1e-9)
    result, best = cpx.solve(problem), best_set(problem)
    assert result.verified
    assert (result.objective, best is None) == ((best or [None])[0], result.objective is None)


def test_models_of_too_many_regions_are_refused_by_name(monkeypatch):
    monkeypatch.setattr("cpx.models.expected_prediction.regions.MOST_REGIONS", 0)
    problem = next(p for p in map(random_expectation, range(9)) if p.tree_model.rule == "sum")
    given = {name: getattr(problem, name) for name in ("x", "coding", "distribution")}
    with pytest.raises(InvalidInstance, match=r"probability: .* more than 0 regions"):
        MLSE(problem.tree_model, **given, k=1, prediction="probability")
    average = next(p for p in map(random_expectation, range(9)) if p.tree_model.rule != "sum")
    given = {name: getattr(average, name) for name in ("x", "coding", "distribution")}
    with pytest.raises(InvalidInstance, match="for models that add up log-odds"):
        MLSE(average.tree_model, **given, k=1, prediction="probability")


@pytest.mark.parametrize("structure", STRUCTURES)
@each(range(4), 2)
def test_values_are_as_likely_as_they_must_be(structure, seed):
    """Also where a set is just as likely, or hardly less: that is seen by fractions."""
    problem = random_expectation(seed + 20, structure)
    few = Fraction(1, 100 if problem.distribution.factorised else 10**12)
    for S, less in product([(), (0,), range(problem.n_features)], (-few, 0, few)):
        least = problem.scores.probability(S) * (1 + less)
        if least > 1:
            continue
        likely = replace(problem, k=problem.n_features, min_probability=least)
        allowed = [T for T in _sets(likely.n_features) if likely.scores.probability(T) >= least]
        possible = [T for T in allowed if likely._may_choose(T)]
        for engine in ["search"] if likely._unstated else ["search", "cpsat"]:
            result = cpx.solve(likely, engine)
            if not possible:
                assert result.status.name == "INFEASIBLE"
                continue
            assert (result.objective, result.verified) == (max(map(likely.value, possible)), True)
            assert result.explanation.features in possible
    with pytest.raises(InvalidInstance, match="min_probability must be above 0"):
        replace(problem, min_probability=0)


@pytest.mark.parametrize("structure", ["mixture", "circuit"])
@pytest.mark.parametrize("prediction", ["score", "decision"])
def test_bounds_prove_what_is_likely_where_not_all_sets_are_tried(
    structure, prediction, monkeypatch
):
    where = "cpx.models.expected_prediction.search.known_attributes.enumeration.Enumeration"
    monkeypatch.setattr(f"{where}.affordable", lambda self, size: False)
    for seed in (1, 3, 5):
        problem = random_expectation(seed, structure, prediction=prediction)
        problem = replace(problem, k=problem.n_features, required=(), forbidden=())
        least = problem.scores.probability((0,))
        for asked in (problem, replace(problem, min_probability=least)):
            result = cpx.solve(asked, isolate=False)
            assert (result.objective, result.proved) == (best_set(asked)[0], True)


def test_contradictions_and_constant_columns_are_told():
    problem = MLSE(**_plain(required=["a"], forbidden=["a"]))
    assert any("contradict" in note for note in problem._notes())
    assert cpx.solve(problem, "cpsat").status.name == "INFEASIBLE"
    coding = Coding.fit([[0.0, 1], [1, 1]], names=["a", "b"], cuts=[[0.5], []])
    flat = _plain(coding=coding, distribution=random_mixture(0, coding.cardinalities))
    assert any("one state" in note for note in MLSE(**flat)._notes())


def test_thresholds_that_no_set_reaches_say_the_best():
    asked = _plain()
    del asked["k"]
    problem = FewestExpected(**asked, threshold=2)
    assert any("every set has at most 1" in note for note in problem._notes())
    result = cpx.solve(problem, "cpsat")
    assert (result.status.name, result.verified) == ("INFEASIBLE", True)
    for tau in (0, "3/2"):
        with pytest.raises(InvalidInstance, match="above 0 and at most 1"):
            FewestExpected(**asked, threshold=tau, measure="probability-bound")
    with pytest.raises(InvalidInstance, match="threshold must be a number"):
        FewestExpected(**asked, threshold="much")


def test_distributions_without_a_sum_of_tables_say_so():
    problem = random_expectation(4, "mixture")
    with pytest.raises(InvalidOption, match="no sum over trees"):
        cpx.solve(problem, "cpsat")


def test_deep_leaves_have_no_tables_and_an_exact_value():
    n = 18
    attribute = [v for a in range(n) for v in (a, -1)] + [-1]
    tree = Tree(attribute, [0] * len(attribute), [0] * len(attribute), [[0.0]] * n + [[1.0]], (0,))
    columns = [Attribute(f"a{a}", "boolean") for a in range(n)]
    model = TreeModel(columns, [0, 1], [tree], [[0.5]] * n, "sum", "positive", [-0.5])
    rows = np.vstack([np.zeros(n), np.ones(n)])
    coding = Coding.fit(rows, names=[c.name for c in columns], cuts=model.thresholds)
    problem = MLSE(model, np.ones(n), coding, random_mixture(0, [2] * n), 3)
    assert "18 attributes" in problem._unstated
    S = (0, 5, 17)
    value = problem.evaluate(problem.explanation(S)).objective
    assert abs(value - problem.scores.expected(S) / problem.unit) <= n


# ---------------------------------------------------------------------- same decision


@pytest.mark.parametrize("structure", STRUCTURES)
def test_samples_estimate_the_share_of_the_class(structure):
    problem = random_expectation(7, structure)
    S = tuple(range(problem.n_features // 2))
    asked = SameDecision(problem)
    share, found = asked.exact(S), asked.sampled(S, 4000, seed=1, confidence=0.9999)
    assert found.low <= share <= found.high


# ---------------------------------------------------------------------- other models


def test_forests_have_probabilities_and_shares_of_votes():
    from sklearn.datasets import load_iris
    from sklearn.ensemble import RandomForestClassifier

    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y)
    for rule, measure in (("average", "probability"), ("vote", "share of votes")):
        model = read_model(forest, rule=rule)
        names = [a.name for a in model.attributes]
        coding = Coding.fit(X, names=names, cuts=model.thresholds, cast=model.cast)
        problem = MLSE(model, X[60], coding, random_mixture(0, coding.cardinalities), 2)
        result = cpx.solve(problem, "cpsat")
        assert result.verified
        assert result.explanation.measure == measure
        assert 0 <= result.explanation.expected <= 1
        assert abs(result.explanation.threshold - 0.5) < 1e-9
        assert result.explanation.first_order_probability is None


def test_an_average_of_other_numbers_is_no_probability():
    leaves = [[0.25, 2.0], [0.75, 0.5]]
    tree = Tree([0, -1, -1], [0] * 3, [0] * 3, leaves, (0, 1))
    model = TreeModel([Attribute("a")], [0, 1], [tree], [[0.5]], "average", "first", [0, 0])
    coding = Coding.fit([[0.0], [1.0]], names=["a"], cuts=model.thresholds)
    problem = MLSE(model, [0.0], coding, random_mixture(0, coding.cardinalities), 1)
    result = cpx.solve(problem, "cpsat")
    assert result.verified
    assert result.explanation.measure == "average"
    saved = result.to_dict()
    saved["explanation"]["expectation"]["measure"] = "probability"
    told = cpx.check.violations(problem.to_dict(), saved)
    assert told == ["measure: the result says probability, the data give average"]
    open_ = problem._conclude(result.explanation, False, result.objective, 2 * result.objective)
    assert "no set of at most 1 attribute has more than 4" in open_.proved


def test_a_bound_on_a_probability_is_at_most_one():
    tree = Tree([0, -1, -1], [0] * 3, [0] * 3, [[0.25, 0.75], [0.75, 0.25]], (0, 1))
    model = TreeModel([Attribute("a")], [0, 1], [tree], [[0.5]], "average", "first", [0, 0])
    coding = Coding.fit([[0.0], [1.0]], names=["a"], cuts=model.thresholds)
    problem = MLSE(model, [0.0], coding, random_mixture(0, coding.cardinalities), 1)
    result = cpx.solve(problem, "cpsat")
    open_ = problem._conclude(result.explanation, False, result.objective, 2 * result.objective)
    assert "no set of at most 1 attribute has more than 1" in open_.proved


def test_logistic_regression_is_a_sum_of_staircases():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 80), rng.integers(0, 6, 80) / 2, np.full(80, 3.0)])
    y = (X[:, 0] + X[:, 1] + rng.normal(size=80) > 1.5).astype(int)
    regression = LogisticRegression().fit(X, y)
    model = read_additive(regression, rows=X)
    found = np.array([float(model.scores(row)[0]) for row in X])
    np.testing.assert_allclose(found, regression.decision_function(X), atol=1e-12)
    names = [a.name for a in model.attributes]
    coding = Coding.fit(X, names=names, cuts=model.thresholds)
    problem = MLSE(model, X[0], coding, random_mixture(0, coding.cardinalities), 1)
    assert cpx.solve(problem, "cpsat").objective == best_set(problem)[0]
    with pytest.raises(DataError, match="no value of the attribute"):
        MLSE(model, (1.0, 0.25, 3.0), coding, problem.distribution, 1)
