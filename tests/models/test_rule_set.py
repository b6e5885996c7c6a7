"""Sets of rules: the definition, the presolve, the encodings, bad input."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog

from cpx import RuleSetSelection, Samples, solve
from cpx.answers import RuleSet
from cpx.check import violations
from cpx.errors import InvalidInstance
from cpx.modelling.instances import dumps, from_dict, loads
from cpx.models.rule_set.cases import random_selection
from cpx.models.rule_set.conflicts import cliques, conflicts
from cpx.models.rule_set.form import RuleSelection
from cpx.models.rule_set.near_bound import has_bound, near_bound
from cpx.models.rule_set.payments import payments
from cpx.models.rule_set.presolve import presolve
from cpx.models.rule_set.search.multipliers import Relaxation
from cpx.testing.brute import optimum
from cpx.testing.drawing import side_constraint
from tests.seeds import each

SAMPLES = Samples([[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 1]], [1, 1, 0, 1], [3, 1, 2, 4])
RULES = [(0,), (0, 1), (2,)]


def every_set(problem):
    R = problem.n_features
    return [S for size in range(R + 1) for S in combinations(range(R), size)]


def set_to(statement, values) -> None:
    for name, array in statement.variables.items():
        for variable, value in zip(array, values[name], strict=True):
            variable._value = bool(value)


def test_value_by_hand() -> None:
    problem = RuleSetSelection(SAMPLES, RULES, penalty="0.15")
    # M = 10, a rule costs 1.5: counted in halves.
    assert (problem.scale, problem.price) == (2, 3)
    values = {(): 8 * 2, (0,): (2 + 4) * 2 + 3, (0, 2): 2 * 2 + 6, (1, 2): 6}
    for chosen, value in values.items():
        assert problem.evaluate(problem.explanation(chosen)).objective == value
    doubled = RuleSetSelection(SAMPLES, RULES, penalty="0.15", class_weights=(3, 1))
    assert doubled.total == 14
    assert Fraction(doubled.price, doubled.scale) == Fraction("2.1")


def test_hamming_counts_a_sample_for_each_rule() -> None:
    plain = RuleSetSelection(SAMPLES, [(0,), (0,), (2,)])
    hamming = RuleSetSelection(SAMPLES, [(0,), (0,), (2,)], loss="hamming")
    for chosen in every_set(plain):
        more = 2 * ({0, 1} <= set(chosen))
        assert hamming.selection_form.cost(chosen) == plain.selection_form.cost(chosen) + more


def test_figures_of_each_rule() -> None:
    problem = RuleSetSelection(SAMPLES, RULES)
    rules = problem.explanation([0, 1]).rule
    assert isinstance(rules, RuleSet)
    first, second = rules.figures
    assert (first.covered, first.agreeing, first.marginal) == (6, 4, -2)
    assert (second.covered, second.agreeing, second.marginal) == (4, 4, 0)
    assert str(rules) == "x0 or (x0 and x1) => the class"
    assert RuleSet.from_dict(rules.to_dict()) == rules


@each(range(60))
def test_merging_and_presolve_keep_an_optimum(seed: int) -> None:
    problem = random_selection(seed, max_samples=40)
    form = problem.selection_form
    found = presolve(form)
    kept = set(found.kept)
    for chosen in every_set(problem):
        assert form.merged.cost(chosen) == form.cost(chosen)
        assert form.merged.allows(chosen) == form.allows(chosen)
        if form.allows(chosen):
            rest = found.translate(chosen)
            assert set(rest) <= kept
            assert form.allows(rest)
            assert found.form.cost(rest) == form.cost(rest) <= form.cost(chosen)


@each(range(40))
def test_presolve_leaves_what_side_constraints_ask_for(seed: int) -> None:
    rng, plain = np.random.default_rng(seed), random_selection(seed, max_samples=40)
    texts = [side_constraint(rng, plain.n_features) for _ in range(int(rng.integers(1, 4)))]
    problem = plain.where(*texts)
    found = presolve(problem.selection_form)
    for chosen in every_set(problem):
        if problem.allows(chosen):
            rest = found.translate(chosen)
            assert problem.allows(rest)
            assert problem.cost(rest) <= problem.cost(chosen)


def dominates(form: RuleSelection, q: int, r: int, open_rows: np.ndarray) -> bool:
    """Say whether q may stand for r, ties aside, as the presolve defines it."""
    mine, other = form.covers[q], form.covers[r]
    wider = form.max_overlap is not None
    return bool(
        not (open_rows & (form.weights > 0) & other & ~mine).any()
        and not (mine & ~other & (True if wider else open_rows & (form.weights < 0))).any()
        and form.prices[q] <= form.prices[r]
        and (form.max_literals is None or form.lengths[q] <= form.lengths[r])
    )


def kept_by_definition(form: RuleSelection) -> set[int]:
    left, kept = form.merged, {*range(form.shape[0])}
    while True:
        open_rows = ~left.covers[list(left.required)].any(axis=0)
        gains = [int(np.maximum(left.weights, 0)[row & open_rows].sum()) for row in left.covers]
        fixed = {*left.required, *left.forbidden}
        useful = [r for r in kept - fixed if gains[r] > left.prices[r]]
        rest = {*left.required}
        for r in useful:
            rivals = [q for q in useful if q != r and dominates(left, q, r, open_rows)]
            before = [
                q
                for q in rivals
                if not dominates(left, r, q, open_rows)
                or (left.lengths[q], q) < (left.lengths[r], r)
            ]
            if not before:
                rest.add(r)
        if rest == kept:
            return kept
        kept, there = rest, np.isin(np.arange(form.shape[0]), [*rest])
        left = replace(left, covers=left.covers & there[:, None]).merged


def test_presolve_drops_all_that_its_definition_does() -> None:
    dropped = 0
    for seed in range(150):
        problem = random_selection(seed, max_samples=40)
        found = presolve(problem.selection_form)
        assert {*found.kept} == kept_by_definition(problem.selection_form), seed
        dropped += problem.n_features - len(found.kept)
        sizes = [problem.n_features, *(len(kept) for _, kept in found.rounds)]
        assert sizes == sorted({*sizes}, reverse=True)  # each round drops some
        for instead, kept in found.rounds:
            assert {*instead.values()} <= kept
            assert not {*instead} & kept
    assert dropped > 100


def test_presolve_drops_what_it_says() -> None:
    bits = np.array([[1, 1, 0, 1], [1, 1, 0, 1], [1, 1, 0, 0], [0, 1, 1, 0], [1, 1, 0, 0]])
    samples = Samples(bits, [1, 1, 1, 0, 1])
    rules = [(0,), (0, 1), (1,), (2,), (3,)]
    # (0, 1) is a duplicate of (0), (1) covers sample 3 as well, (2) only that, (3) too little.
    problem = RuleSetSelection(samples, rules, penalty="0.4")
    assert presolve(problem.selection_form).kept == (0,)
    short = RuleSetSelection(
        samples, rules, penalty="0.4", max_literals=3, lengths=(2, 3, 1, 1, 1)
    )
    assert presolve(short.selection_form).kept == (0, 2)
    kept = RuleSetSelection(samples, rules, penalty="0.4", required=[3])
    assert presolve(kept.selection_form).kept == (0, 3)


@pytest.mark.parametrize("encoding", ["signature", "channelling", "bounded"])
@each(range(25), 8)
def test_statements_are_the_problem(seed: int, encoding: str) -> None:
    problem = random_selection(seed)
    best = optimum(problem)
    result = solve(problem, "cpsat", encoding=encoding)
    assert result.verified
    if best is None:
        assert result.status == "INFEASIBLE"
    else:
        assert (result.status, result.objective) == ("OPTIMAL", best)


@pytest.mark.parametrize("encoding", ["signature", "channelling", "narrowed", "bounded"])
def test_complete_gives_values_that_the_statement_takes(encoding: str) -> None:
    problem = random_selection(11)
    statement = problem.model(encoding)
    for chosen in every_set(problem):
        if not problem.selection_form.allows(chosen):
            continue
        set_to(statement, statement.complete(chosen))
        assert all(c.value() for c in statement.model.constraints)
        assert (
            statement.model.objective_.value() + statement.offset
            <= problem.selection_form.cost(chosen)
        )


@each(range(200), 60)
def test_what_a_bound_leaves_out_costs_more_than_the_known_set(seed: int) -> None:
    problem = random_selection(seed, max_samples=40)
    form = problem.selection_form
    if not has_bound(form):
        assert problem.model("bounded").known is None
        return
    near, left = near_bound(form), presolve(form)
    assert form.allows(near.known)
    assert form.cost(near.known) == near.cost
    assert set(form.required) <= set(near.form.required)
    # The pairs in conflict and what each row pays are part of this statement.
    statement = problem.model("bounded")
    for chosen in every_set(problem):
        cost = form.cost(chosen)
        if form.allows(chosen):
            assert cost >= near.bound
        if form.allows(chosen) and cost <= near.cost and {*chosen} <= {*left.kept}:
            assert near.form.allows(chosen)
            set_to(statement, statement.complete(chosen))
            assert all(c.value() for c in statement.model.constraints)
            assert statement.model.objective_.value() + statement.offset <= cost


def test_what_rows_pay_adds_up_to_the_bound_and_cliques_cover_conflicts() -> None:
    rng = np.random.default_rng(5)
    bits = rng.random((120, 12)) < 0.5
    same = (bits[:, :3].all(axis=1) | bits[:, 3:5].all(axis=1)) ^ (rng.random(120) < 0.1)
    rules = [rng.choice(12, size=2, replace=False) for _ in range(40)] + [(0, 1, 2), (3, 4)]
    problem = RuleSetSelection(Samples(bits, same), rules, penalty="0.01")
    form = presolve(problem.form()).form
    kept = np.flatnonzero(form.covers.any(axis=1))
    relaxation = Relaxation(form, (), kept)
    relaxation.climb(200)
    bound, *_ = relaxation.certify()
    paid, (R, G) = payments(form, relaxation), form.shape
    rows = np.zeros((len(paid), R + G))
    for row, (g, least, r, c, h, b) in zip(rows, paid, strict=True):
        row[r], row[R + h], row[R + g] = c, b, least
    costs = np.concatenate([form.prices, np.abs(form.weights)])
    least = linprog(costs, -rows, [-one.least for one in paid], bounds=(0, 1)).fun
    assert 0.99 * bound <= relaxation.fixed + least <= solve(problem, "search").objective + 1e-6
    known = min(form.cost(pair) for pair in combinations(kept.tolist(), 2))
    pairs = conflicts(form, relaxation, known)
    covered = np.zeros_like(pairs)
    for clique in cliques(pairs):
        covered[np.ix_(clique, clique)] = True
    np.fill_diagonal(covered, False)
    assert pairs.any()
    assert (covered == pairs).all()


def test_a_bound_leaves_out_most_rules_and_is_near() -> None:
    rng = np.random.default_rng(3)
    bits = rng.random((200, 14)) < 0.5
    same = (bits[:, :2].all(axis=1) | bits[:, 2:4].all(axis=1)) ^ (rng.random(200) < 0.05)
    rules = [rng.choice(14, size=2, replace=False) for _ in range(60)] + [(0, 1), (2, 3)]
    problem = RuleSetSelection(Samples(bits, same), rules, penalty="0.01")
    near, best = near_bound(problem.selection_form), solve(problem, "search").objective
    assert len(near.form.forbidden) > 50
    assert 0.9 * best <= near.bound <= best <= near.cost
    # Numbers that floats cannot be trusted with stay out of rows.
    heavy = Samples(bits, same, rng.integers(2**12, 2**13, 200))
    rows = {
        name: len(RuleSetSelection(data, rules, penalty="0.01").model("bounded").lines)
        - len(RuleSetSelection(data, rules, penalty="0.01").model("narrowed").lines)
        for name, data in (("light", Samples(bits, same)), ("heavy", heavy))
    }
    assert rows == {"light": 1, "heavy": 0}


@each(range(20))
def test_saved_and_read_again(seed: int) -> None:
    problem = random_selection(seed)
    again = loads(dumps(problem))
    assert again.to_dict() == problem.to_dict()
    assert isinstance(again, RuleSetSelection)
    assert optimum(again) == optimum(problem)


def test_schema_takes_what_is_saved() -> None:
    from cpx.modelling.instances import schema

    (form,) = (s for s in schema()["oneOf"] if s["properties"]["problem"]["enum"] == ["rule-set"])
    known = form["properties"]["parameters"]["properties"]
    for seed in range(20):
        data = random_selection(seed).to_dict()
        assert set(data) <= set(form["properties"])
        assert set(data["parameters"]) <= set(known)


def test_checker_sees_wrong_answers() -> None:
    problem = RuleSetSelection(SAMPLES, RULES, penalty="0.15", max_rules=2)
    instance = problem.to_dict()
    result = solve(problem, "cpsat").to_dict()
    assert violations(instance, result) == []
    wrong = {
        "objective": {**result, "objective": result["objective"] - 1},
        "coverage": {**result, "explanation": {**result["explanation"], "coverage": "1/3"}},
        "max_rules": {**result, "explanation": problem.explanation([0, 1, 2]).to_dict()},
        "status": {**result, "status": "INFEASIBLE", "explanation": None},
    }
    for word, data in wrong.items():
        assert any(word in text for text in violations(instance, data)), word
    figures = problem.explanation([1, 2]).to_dict()
    figures["rule"]["figures"][0][3] += 1
    assert violations(instance, {**result, "explanation": figures})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rules": []}, "no candidates"),
        ({"rules": [(0, 3)]}, "literal 3"),
        ({"rules": [(0, 0)]}, "twice"),
        ({"rules": 3}, "rules must be"),
        ({"penalty": -0.1}, "penalty must be"),
        ({"penalty": float("nan")}, "penalty must be"),
        ({"penalty": 1.5}, "penalty must be"),
        ({"penalty": "1/123456789012345678901"}, "fewer digits"),
        ({"loss": "square"}, "loss must be"),
        ({"max_rules": -1}, "max_rules must not be negative"),
        ({"max_overlap": 1.5}, "max_overlap must be an integer"),
        ({"required": [7]}, "rule 7"),
        ({"class_weights": (0, 0)}, "not both 0"),
        ({"class_weights": 2}, "two integers"),
        ({"lengths": [1]}, "3 integers"),
    ],
)
def test_bad_input_is_named(change, message: str) -> None:
    with pytest.raises(InvalidInstance, match=message):
        RuleSetSelection(**{"samples": SAMPLES, "rules": RULES, **change})


def test_unknown_parameters_are_refused() -> None:
    data = RuleSetSelection(SAMPLES, RULES).to_dict()
    data["parameters"]["lambda"] = 1
    with pytest.raises(InvalidInstance, match="lambda"):
        from_dict(data)


def test_degenerate_data_are_noted() -> None:
    empty = RuleSetSelection(SAMPLES, [(), (0, 2)], max_rules=0)
    told = "\n".join(empty._notes())
    assert "cover no sample: 1" in told
    assert "cover every sample: 0" in told
    assert "max_rules = 0" in told
    one = RuleSetSelection(Samples([[1], [0]], [0, 0]), [(0,)])
    assert any("no sample is of the class" in text for text in one._notes())
