"""The judge of expected predictions: right answers pass, altered ones do not."""

from __future__ import annotations

import copy
import json
import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import combinations
from math import prod
from types import SimpleNamespace

import numpy as np
import pytest

from cpx import check
from cpx.answers.result import relative_gap
from cpx.modelling import instances
from cpx.models.expected_prediction import judge as expected_prediction
from cpx.models.expected_prediction.cases import STRUCTURES, best_set, random_expectation
from cpx.models.expected_prediction.judge_leaf_sums import LeafSums
from cpx.models.expected_prediction.judge_scores import ExactScores
from cpx.models.expected_prediction.judge_states import Probabilities, States
from cpx.models.expected_prediction.same_decision import SameDecision
from tests.seeds import each, some


def _answer(problem, chosen, bound=None):
    """Return instance and result of an engine that found this set, and a bound."""
    found = problem.explanation(chosen)
    objective = problem.evaluate(found).objective
    proved = bound == objective
    told = problem._conclude(found, proved, objective, bound).to_dict()
    told["claim"]["best_of_ties"] = proved
    result = {
        "status": "OPTIMAL" if proved else "FEASIBLE",
        "objective": objective,
        "bound": bound,
        "gap": relative_gap(objective, bound),
        "trace": [],
        "explanation": told,
    }
    return problem.to_dict(), json.loads(json.dumps(result))


def _claim(problem, chosen):
    """Return a result that claims a set to be optimal and likeliest."""
    value = problem.evaluate(problem.explanation(chosen)).objective
    return _answer(problem, chosen, value)[1]


@pytest.mark.parametrize("dual", [False, True], ids=["mlse", "fewest"])
@pytest.mark.parametrize("structure", STRUCTURES)
@each(range(8), 3)
def test_sets_are_judged_as_the_problem_measures_them(seed, structure, dual):
    problem = random_expectation(seed, structure, dual)
    every = range(problem.n_features)
    for chosen in [S for size in (0, 1, 2, len(every)) for S in combinations(every, size)]:
        instance, result = _answer(problem, chosen)
        feasible = problem.evaluate(problem.explanation(chosen)).feasible
        assert (check.violations(instance, result) == []) == feasible


@each(range(25), 8)
def test_what_is_rounded_in_coarse_units_is_judged_as_rounded(seed):
    problem = random_expectation(seed, dual=True, unit="1/3")
    every = range(problem.n_features)
    for chosen in [S for size in range(len(every) + 1) for S in combinations(every, size)]:
        feasible = problem.evaluate(problem.explanation(chosen)).feasible
        told = check.violations(*_answer(problem, chosen))
        assert any(text.startswith(("threshold", "features")) for text in told) != feasible


@pytest.mark.parametrize("values", [(0, 0), (1, 0), (None, 0), (2, 1)])
def test_a_group_of_columns_has_its_values(values):
    states = SimpleNamespace(columns=[(0, 1)], titles=["colour_red", "b"], names=["colour"])
    claims = SimpleNamespace(states=states, forest=SimpleNamespace(given=values))
    group, said = {"column": "colour"}, [["colour_red", values[0]], ["b", values[1]]]
    means = partial(expected_prediction._Claims._means, claims, 0)
    missing = None in values
    assert means({**group, "values": said}) != missing
    assert means({**group, "value": None}) == missing
    for other in (said[:1], said[::-1], [["colour_red", 0.5], said[1]], [["red", said[0][1]]]):
        assert not means({**group, "values": other})
    assert not means({"column": "hue", "values": said})


def test_nothing_is_guaranteed_where_nothing_follows():
    problems = (random_expectation(seed) for seed in range(100))
    problem = next(p for p in problems if not ExactScores(p._to_check()).bound(frozenset()))
    assert not problem._conclude(problem.explanation(()), False, None, None).guarantee
    instance, result = _answer(problem, ())
    before = check.violations(instance, result)
    result["explanation"]["claim"]["beyond"] = {"precision": 0.5}
    more = [told for told in check.violations(instance, result) if told not in before]
    assert more == ["claim: beyond says nothing of this kind of problem"]


@pytest.fixture(scope="module")
def solved():
    """An optimal answer of several attributes, with a bound on the same decision."""
    for seed in range(100):
        problem = random_expectation(seed)
        best = best_set(problem)
        if best is None or problem.required or len(chosen := best[2]) < 2:
            continue
        answer = _claim(problem, chosen)
        if answer["explanation"]["expectation"]["bound"]:
            break
    answer["explanation"]["expectation"]["same"] = SameDecision(problem).exact(chosen)
    return problem.to_dict(), answer


def test_a_right_answer_passes(solved):
    assert check.violations(*solved) == []


@pytest.mark.parametrize(
    "field",
    [
        *("measure", "expected", "of_x", "of_nothing", "log_likelihood"),
        *("threshold", "greatest", "bound", "same"),
    ],
)
def test_altered_figures_are_refused(solved, field):
    instance, answer = solved
    wrong = copy.deepcopy(answer)
    figures = wrong["explanation"]["expectation"]
    figures[field] = "odds" if field == "measure" else figures[field] + 1e-6
    assert check.violations(instance, wrong)


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("same", 0.0, "same: the result says"),
        ("same", 0.5, "same: the result says"),
        ("same", -0.5, "same: must be a probability"),
        ("same", 1.5, "same: must be a probability"),
        ("same", 1, "same: must be a probability"),
        ("log_likelihood", "none", "log_likelihood: the result says"),
    ],
)
def test_figures_that_are_not_recomputed_alike_are_named(solved, field, value, told):
    instance, answer = solved
    wrong = copy.deepcopy(answer)
    wrong["explanation"]["expectation"][field] = value
    assert any(told in one for one in check.violations(instance, wrong))


@pytest.mark.parametrize("n", some(10, 20))
@pytest.mark.parametrize("dual", [False, True], ids=["mlse", "fewest"])
def test_what_is_said_of_a_bound_is_what_the_problem_says(n, dual):
    said = set()
    for seed in range(n):
        problem = random_expectation(seed, dual=dual)
        best = best_set(problem)
        if best is None:
            continue
        value, _, chosen = best
        for bound in (value, value - 3 if dual else value + 3, None):
            instance, result = _answer(problem, chosen, bound)
            assert check.violations(instance, result) == []
            said.add((result["status"], instance["parameters"].get("measure")))
    assert len(said) == (4 if dual else 2)


@pytest.mark.parametrize("asked", ["expectation", "probability-bound"])
def test_a_threshold_that_is_not_reached_is_told_with_what_is_reached(asked):
    for seed in range(40):
        problem = random_expectation(seed, dual=True, required=(), forbidden=())
        if problem.measure == asked and not problem.evaluate(problem.explanation(())).feasible:
            break
    reached = problem.scores.expected(()) if asked == "expectation" else problem.scores.bound(())
    said = f"threshold: {float(reached):.6g} is reached, {float(problem.threshold):g} is asked for"
    assert said in check.violations(*_answer(problem, ()))


@pytest.mark.parametrize(
    ("all_known", "off", "right"),
    [(False, 0.5e-9, True), (False, 1.5e-9, False), (True, 3e-9, True), (True, 2e-8, False)],
)
def test_logarithms_are_right_up_to_what_floats_are_off_by(all_known, off, right):
    problem = random_expectation(4)
    instance, result = _answer(problem, range(problem.n_features) if all_known else ())
    figures = result["explanation"]["expectation"]
    assert figures["log_likelihood"] == pytest.approx(-6.276 * all_known, abs=0.001)
    figures["log_likelihood"] += off
    told = check.violations(instance, result)
    assert any(text.startswith("log_likelihood") for text in told) != right


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("objective",), lambda v: v + 1),
        (("bound",), lambda v: v - 1),
        (("gap",), lambda v: v + 0.5),
        (("explanation", "claim", "problem"), lambda v: "fewest-expected"),
        (("explanation", "claim", "over", "k"), lambda v: v + 1),
        (("explanation", "claim", "over"), lambda v: {**v, "required": 1}),
        (("explanation", "claim", "figures", "structure"), lambda v: "uniform"),
        (("explanation", "claim", "figures", "within"), lambda v: v - 1),
        (("explanation", "claim", "figures", "missing"), lambda v: ["a"]),
        (("explanation", "claim", "optimal"), lambda v: not v),
        (("explanation", "precision"), lambda v: "1/2"),
        (("explanation", "features"), lambda v: v[:-1]),
        (("explanation", "rule", "literals"), lambda v: [[v[0][0], v[1][1]], *v[1:]]),
        (("explanation", "rule", "conclusion"), lambda v: "no"),
        (("status",), lambda v: "FEASIBLE"),
    ],
)
def test_altered_answers_are_refused(solved, where, value):
    instance, answer = solved
    wrong = copy.deepcopy(answer)
    holder = wrong
    for key in where[:-1]:
        holder = holder[key]
    holder[where[-1]] = value(holder[where[-1]])
    assert check.violations(instance, wrong)


def test_a_worse_set_is_not_greatest_and_a_less_likely_one_not_likeliest(solved):
    instance, _ = solved
    problem = instances.from_dict(instance)
    best = best_set(problem)
    every = range(problem.n_features)
    sets = [S for size in range(problem.k + 1) for S in combinations(every, size)]
    measured = [(problem.evaluate(problem.explanation(S)), S) for S in sets]
    worse = next(S for e, S in measured if e.feasible and e.objective < best[0])
    claim = _claim(problem, worse)
    assert any("beyond the value" in text for text in check.violations(instance, claim))
    tied = [S for e, S in measured if e.feasible and e.objective == best[0] and e.tie > best[1]]
    for S in tied:
        told = check.violations(instance, _claim(problem, S))
        assert any("more likely" in text for text in told)


def test_of_many_sets_those_next_to_the_claimed_one_are_tried(solved, monkeypatch):
    instance, _ = solved
    problem = instances.from_dict(instance)
    n = problem.n_features
    monkeypatch.setattr(expected_prediction, "_MOST_SETS", n)

    sets = [S for size in range(problem.k + 1) for S in combinations(range(n), size)]
    measured = {S: problem.evaluate(problem.explanation(S)) for S in sets}
    values = {S: e.objective for S, e in measured.items() if e.feasible}
    pairs = [(S, T) for S in values for T in values if len(T) == len(S) + 1 and {*S} < {*T}]
    beaten = {S for S, T in pairs if values[T] > values[S]}
    assert beaten
    for S in beaten:
        told = check.violations(instance, _claim(problem, S))
        assert len(told) == 1
        assert "beyond the value" in told[0] or "is as good, and more likely" in told[0]


def test_sets_that_lack_what_is_required_do_not_end_the_search_for_better_ones():
    problem = next(p for name, p, _ in _cases() if name == "mlse_required")
    most, _, held = best_set(problem)
    worse = next(
        (2, a) for a in (0, 1) if problem.evaluate(problem.explanation((2, a))).objective < most
    )
    (told,) = check.violations(problem.to_dict(), _claim(problem, worse))
    assert f"is beyond the value {most} of the features {[*held]}" in told


def test_a_less_likely_set_is_not_the_likeliest():
    problem = next(p for name, p, _ in _cases() if name == "mlse_tie")
    assert best_set(problem)[2] == (1,)
    assert check.violations(problem.to_dict(), _claim(problem, (0,))) == [
        "claim: [1] is as good, and more likely"
    ]


def _cases():
    from cpx.models.expected_prediction.cases import expected_prediction_cases

    return expected_prediction_cases()


@each(range(12))
def test_false_infeasibility_is_refused(seed):
    problem = random_expectation(seed, dual=True)
    result = {
        "status": "INFEASIBLE",
        "objective": None,
        "bound": None,
        "gap": None,
        "trace": [],
        "explanation": None,
    }
    told = check.violations(problem.to_dict(), result)
    assert bool(told) == (best_set(problem) is not None)


def _asking(problem, **asked):
    """Return the instance with other parameters, a mapping as it is saved."""
    instance = problem.to_dict()
    return {**instance, "parameters": {**instance["parameters"], **asked}}


def test_what_is_asked_of_a_set_and_not_kept_is_told(solved):
    _, answer = solved
    problem = instances.from_dict(solved[0])
    (first, *_), every = answer["explanation"]["features"], range(problem.n_features)
    absent = next(a for a in every if a not in answer["explanation"]["features"])
    asked = {"required": [absent], "forbidden": [first]}
    told = check.violations(_asking(problem, **asked), answer)
    assert f"features: the required [{absent}] are not chosen" in told
    assert f"features: the forbidden [{first}] are chosen" in told
    absent = {"terms": [[-1, [first]]], "at_least": 0}
    instance = {**problem.to_dict(), "where": [{"text": "not the first", "means": [absent]}]}
    assert "where: 'not the first' does not hold" in check.violations(instance, answer)


def test_infeasibility_beside_a_solution_is_told(solved):
    instance, answer = solved
    chosen = answer["explanation"]["features"]
    told = check.violations(instance, {**answer, "status": "INFEASIBLE"})
    wrong = f"status: INFEASIBLE, but {chosen} is a solution"
    assert wrong in told
    asked = {"required": [], "forbidden": chosen}
    told = check.violations(
        _asking(instances.from_dict(instance), **asked), {**answer, "status": "INFEASIBLE"}
    )
    assert told
    assert wrong not in told


def test_of_many_sets_infeasibility_is_tried_on_the_largest_one(monkeypatch):
    monkeypatch.setattr(expected_prediction, "_MOST_SETS", 2)
    every = (random_expectation(seed, dual=True) for seed in range(60))
    problem = next(
        problem
        for problem in every
        if problem.forbidden
        and not problem.evaluate(problem.explanation(problem.required)).feasible
        and problem.evaluate(
            problem.explanation({*range(problem.n_features)} - {*problem.forbidden})
        ).feasible
    )
    claim = dict.fromkeys(("objective", "bound", "gap", "explanation"))
    result = {"status": "INFEASIBLE", "trace": [], **claim}
    allowed = sorted({*range(problem.n_features)} - {*problem.forbidden})
    wrong = f"status: INFEASIBLE, but {allowed} is a solution"
    assert check.violations(problem.to_dict(), result) == [wrong]


@pytest.mark.parametrize("structure", ["factorised", "mixture"])
def test_values_that_are_too_unlikely_are_told(structure):
    problem = replace(random_expectation(5, structure), required=(), forbidden=())
    own = problem.scores.probability((0,))
    for least, told in ((own, []), (own + Fraction(1, 1000), ["likelihood"])):
        asked = replace(problem, k=problem.n_features, min_probability=least)
        said = check.violations(*_answer(asked, (0,)))
        assert [text.split(":")[0] for text in said] == told


def test_a_wrong_class_is_told():
    problem = random_expectation(3)
    instance, result = _answer(problem, problem.required)
    other = next(c for c in problem.tree_model.classes if c != problem.label)
    told = check.violations({**instance, "class": other}, result)
    assert told == [f"class: x is {problem.label!r}, the instance says {other!r}"]


def test_states_that_tell_too_little_apart_are_told():
    told = set()
    for seed in (3, 4, 5):
        problem = random_expectation(seed)
        instance, result = _answer(problem, problem.required)
        for a, cuts in enumerate(instance["coding"]["cuts"]):
            for i in range(len(cuts)):
                blunt = copy.deepcopy(instance)
                blunt["coding"]["cuts"][a][i] = float(-99).hex()
                told |= {*check.violations(blunt, result)}
    wrong = "coding: states are not told apart by the test of"
    assert told >= {f"{wrong} a0 at 3", f"{wrong} a2 at 5"}


@pytest.mark.parametrize(
    ("decision", "labels"),
    [("positive", [0, 0, 1]), ("nonnegative", [0, 1, 1]), ("first", [0, 0, 1])],
)
def test_the_class_of_a_score_is_that_of_the_decision(decision, labels):
    width = 2 if decision == "first" else 1
    for score, label in zip((-1, 0, 1), labels, strict=True):
        forest = SimpleNamespace(decision=decision)
        sums = [0, score][-width:]
        scores = SimpleNamespace(forest=forest, _sums=lambda row, sums=sums: sums)
        assert expected_prediction.ExactScores.class_of(scores) == label


@pytest.mark.parametrize("structure", ["factorised", "mixture"])
def test_sums_of_leaves_are_those_of_fractions(
    structure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    most, times = 4, LeafSums._times
    monkeypatch.setattr("cpx.models.expected_prediction.judge_leaf_sums._AT_ONCE", most)

    def few(sums: LeafSums, values: np.ndarray, events: np.ndarray) -> np.ndarray:
        digits = times(sums, values, events)
        assert prod(digits.shape[1:]) <= most  # whose memory is limited
        return digits

    monkeypatch.setattr(LeafSums, "_times", few)
    for seed in range(6):
        scores = ExactScores(random_expectation(seed, structure)._to_check())
        leaves, chances = scores.states.leaves, scores.chances
        rng = np.random.default_rng(seed)
        values = [int(rng.integers(-9, 9)) << int(rng.integers(0, 90)) for _ in leaves]
        sums = LeafSums(leaves, values, scores.states.own, chances, scores.look)
        for size in range(scores.n + 1):
            for S in combinations(range(scores.n), size):
                reached, wanted = (
                    scores.reached(frozenset(S)),
                    [Fraction(0)] * len(chances.weights),
                )
                for i, known in reached.items():
                    rest = [test for test in leaves[i].tests.items() if test[0] not in known]
                    for c in range(len(wanted)):
                        shares = [Fraction(chances.masses(*test)[c], 2**30) for test in rest]
                        wanted[c] += values[i] * prod(shares, start=Fraction(1))
                found = sums.of(frozenset(S))
                assert [Fraction(s, 2 ** (30 * sums.deepest)) for s in found] == wanted


def test_sums_of_leaves_are_not_gone_on_with_where_no_time_is_left() -> None:
    scores = ExactScores(random_expectation(3)._to_check())
    assert scores.chances.edgeless
    scores.expected(frozenset())
    scores.deadline = 0
    with pytest.raises(expected_prediction.TooLong):
        scores.expected(frozenset([0]))


@pytest.mark.parametrize(
    ("own", "sizes", "known"),
    [([0, 1], [2, 3], True), ([0, -1], [2, 3], False), ([0, 1], [2, 2], False)],
)
def test_states_that_are_not_known_are_not_judged(own, sizes, known):
    states = SimpleNamespace(own=own, states=[["a", "b"], ["a", "b", "c"]])
    reading = SimpleNamespace(states=states, chances=SimpleNamespace(sizes=sizes))
    assert ExactScores._all_known(reading) is known


@pytest.mark.parametrize(
    ("measure", "label", "scores", "said"),
    [
        ("score", 1, [-7], -7),
        ("score", 0, [-7], 7),
        ("score", 1, [3, 8], 5),
        ("score", 0, [3, 8], -5),
        ("share of votes", 0, [3, 8], 3),
        ("probability", 2, [3, 8, 4], 4),
    ],
)
def test_scores_of_all_classes_say_one_number_for_the_class(measure, label, scores, said):
    reading = SimpleNamespace(measure=measure, label=label, rival=None)
    assert ExactScores._for_class(reading, scores) == said


def test_half_of_the_shares_is_the_threshold_and_ties_are_alike_where_all_rows_have_as_many():
    def leaf(*values):
        return SimpleNamespace(left=None, values=values)

    def threshold(rule, base, *trees):
        reading = SimpleNamespace(forest=SimpleNamespace(base=base, trees=trees), rival=None)
        return ExactScores._threshold(reading, rule, 4)

    even = SimpleNamespace(left=leaf(1, 2), right=leaf(3, 0))
    uneven = SimpleNamespace(left=leaf(1, 2), right=leaf(4, 1))
    assert threshold("sum", (0, 0), even, uneven) == (0, True)
    assert threshold("average", (0,), leaf(1)) == (0, True)
    assert threshold("vote", (0, 0), even, even) == (Fraction(6, 8), True)
    assert threshold("vote", (1, 1), even, uneven) == (Fraction(10, 8), False)
    assert threshold("vote", (0, 0, 0), leaf(1, 1, 1)) == (Fraction(3, 8), False)


@pytest.mark.parametrize(
    ("value", "down", "nearest"), [(1, 0, 0), (3, 1, 2), (-1, -1, 0), (5, 2, 2)]
)
def test_halves_of_a_unit_are_rounded_to_the_even_one(value, down, nearest):
    reading = SimpleNamespace(divisor=2, unit=Fraction(1))
    assert ExactScores._rounded(reading, [value], 0, True) == [down]
    assert ExactScores._rounded(reading, [value], 0, False) == [nearest]


@pytest.mark.parametrize("structure", ["factorised", "mixture"])
def test_what_leaves_add_in_units_are_fractions_that_are_rounded(structure):
    for seed in (3, 4, 5):
        scores = ExactScores(random_expectation(seed, structure, unit="1/64")._to_check())
        chances = scores.chances
        for i, leaf in enumerate(scores.states.leaves):
            for c in range(len(chances.weights)):
                shares = [Fraction(chances.masses(*test)[c], 2**30) for test in leaf.tests.items()]
                down, nearest = (scores.all_in_units(i, rounded, c) for rounded in (True, False))
                assert len(down) == len(nearest) == 2 ** len(shares)
                for known in range(2 ** len(shares)):
                    worth = Fraction(scores.leaf_values[i], scores.divisor) * 64
                    for j, share in enumerate(shares):
                        worth *= 1 if known >> j & 1 else share
                    assert (down[known], nearest[known]) == (math.floor(worth), round(worth))
    scores.deadline = 0
    with pytest.raises(expected_prediction.TooLong):
        scores.all_in_units(0, True, 0)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("seed", [3, 8])
def test_the_less_likely_choice_is_measured_as_by_the_problem(seed, structure):
    problem = random_expectation(seed, structure)
    problem = replace(problem, k=problem.n_features, required=(), forbidden=())
    reading = ExactScores(problem.to_dict())
    for S in [S for size in range(4) for S in combinations(range(problem.n_features), size)]:
        assert reading.penalty(frozenset(S)) == problem.evaluate(problem.explanation(S)).tie


@pytest.mark.parametrize(
    ("greatest", "expected", "tied", "bound"),
    [
        (3, 2, False, Fraction(1, 2)),
        (3, 0, False, 0),
        (1, 1, True, 1),
        (1, 1, False, 0),
        (1, Fraction(1, 2), True, 0),
        (0, 0, True, 0),
    ],
)
def test_a_bound_on_the_probability_at_and_above_the_threshold(greatest, expected, tied, bound):
    reading = SimpleNamespace(threshold=Fraction(1), tied=tied)
    reading.greatest = lambda held: Fraction(greatest)
    reading.expected = lambda held: Fraction(expected)
    assert ExactScores.bound(reading, frozenset()) == bound


def test_what_takes_more_room_than_there_is_is_not_begun():
    reading = SimpleNamespace(_room=2, deadline=float("inf"))
    ExactScores.look(reading)
    ExactScores.look(reading, 2)
    with pytest.raises(expected_prediction.TooLong):
        ExactScores.look(reading, 1)


def test_rows_are_counted_where_they_are_few(monkeypatch):
    problem = random_expectation(3)
    reading = ExactScores(problem.to_dict())
    tested = {a for leaf in reading.states.leaves for a in leaf.tests}
    work = prod(reading.chances.sizes[a] for a in tested) * len(reading.states.leaves)
    monkeypatch.setattr("cpx.models.expected_prediction.judge_scores.MOST_WORK", work)
    assert float(reading.same_decision(frozenset())) == pytest.approx(
        SameDecision(problem).exact(())
    )
    monkeypatch.setattr("cpx.models.expected_prediction.judge_scores.MOST_WORK", work - 1)
    assert reading.same_decision(frozenset()) is None


def test_a_row_whose_state_is_unknown_has_none():
    states = SimpleNamespace(columns=[(0, 1)], states=[[[0, 1], [2, 0]]])
    assert States._own(states, 0, [2, 0]) == 1
    assert States._own(states, 0, [1, 1]) == -1


@pytest.mark.parametrize(
    ("threshold", "missing", "left", "lost"),
    [
        (float("inf"), "r", 0b011, []),
        (float("-inf"), "r", 0, []),
        (float("-inf"), "l", 0b100, []),
        (1.5, "l", 0b101, []),
        (1.25, "r", 0, ["age at 1.25"]),
    ],
)
def test_states_on_the_left_of_a_test(threshold, missing, left, lost):
    states = SimpleNamespace(cuts=[[1.5]], titles=["age"], lost=[])
    states._states_of = lambda column: ([0, 0b01, 0b11], 0b100)
    node = SimpleNamespace(column=0, threshold=threshold, missing=missing, lefts=None)
    assert States._lefts(states, node) == left
    assert states.lost == lost


@pytest.mark.parametrize(("cell", "every", "missing"), [(-1, 0b011, 0b100), (2, 0b111, 0)])
def test_states_are_told_apart_by_their_cells(cell, every, missing):
    # The first state is in the highest cell, the second in the lowest one.
    reading = SimpleNamespace(
        cuts=[[1.5, 2.5]], states=[[[2], [0], [cell]]], _place={0: (0, 0)}, _below={}
    )
    assert States._states_of(reading, 0) == ([0, 0b010, 0b010, every], missing)


def test_events_are_counted_once_before_they_are_kept():
    asked = []
    reading = SimpleNamespace(states=[["a"] * 9], _events=[{}], _look=asked.append)
    assert [States._kept(reading, 0, some) for some in (5, 3, 5)] == [5, 3, 5]
    assert asked == [9, 9]


def test_some_states_are_as_probable_as_they_are_together():
    tables = [[[[5, 1, 7, 2, 11, 3]]], [[[4, 9, 0, 6, 8, 1]]]]
    saved = {"format": "cpx-tree-mixture", "weights": [3, 5], "tables": tables, "parents": None}
    chances = Probabilities(saved)
    for subset in range(1 << 6):
        states = [state for state in range(6) if subset >> state & 1]
        expected = [sum(table[0][0][state] for state in states) for table in tables]
        assert chances.masses(0, subset) == expected
