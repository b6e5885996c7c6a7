"""Wrong input of rule sets that once looped, overflowed or was taken for something else."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from cpx import KernelRule, Result, RuleSetSelection, Samples, learn_rules, save, solve
from cpx.check import violations
from cpx.errors import InvalidInstance, InvalidOption
from cpx.modelling.instances import loads
from cpx.models import RuleSetLearning
from cpx.models.rule_set.learning import how_many

SAMPLES = Samples(
    [[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0]], [1, 0, 1, 0], features=["a", "b", "c"]
)
RULES = [(0,), (0, 1), (2,)]
HUGE = 10**30


def test_more_literals_than_there_are_say_as_much_as_all() -> None:
    assert how_many(3, HUGE) == 8
    problem = RuleSetLearning(SAMPLES, HUGE, "1/10")
    result = solve(problem, "column-generation")
    assert result.objective == solve(RuleSetLearning(SAMPLES, 3, "1/10"), "search").objective
    assert violations(problem.to_dict(), result.to_dict()) == []


@pytest.mark.parametrize("engine", ["search", "cpsat", "milp:highs", "local-search"])
def test_limits_beyond_a_machine_word_limit_nothing(engine: str) -> None:
    samples = Samples([[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0]], [1, 0, 1, 0], [1, 2, 3, 4])
    # The forbidden rule keeps the local search from an answer that needs no proof.
    plain = RuleSetSelection(samples, RULES, "1/10", required=(1,), forbidden=(0,))
    limited = RuleSetSelection(
        *(samples, RULES, "1/10"),
        **{"max_rules": HUGE, "max_literals": HUGE, "max_overlap": HUGE},
        **{"required": (1,), "forbidden": (0,)},
    )
    result = solve(limited, engine)
    assert result.objective == solve(plain, "search").objective
    assert result.status.name != "ERROR"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lengths": (HUGE, 1, 1)}, r"lengths must have a sum below 2\*\*31, got"),
        ({"class_weights": (HUGE, 1)}, r"class_weights \(1000.* at most 2\*\*40"),
        ({"class_weights": (2**40, 2**40)}, "class_weights .* make the weight of all samples"),
        ({"penalty": "0" * 5000}, "penalty must be a share from 0 to 1"),
        ({"required": {}}, "required must be a list of rule indices, got {}"),
        ({"rules": [{}]}, r"rules\[0\] must be a list of literal indices, got {}"),
    ],
    ids=["lengths", "class weights", "their sum", "digits", "object", "rule"],
)
def test_what_no_machine_word_holds_is_refused(change: dict, message: str) -> None:
    with pytest.raises(InvalidInstance, match=message):
        RuleSetSelection(**{"samples": SAMPLES, "rules": RULES, **change})


def test_rules_that_are_not_there_are_refused() -> None:
    for problem in (RuleSetSelection(SAMPLES, RULES), RuleSetLearning(SAMPLES, 2)):
        with pytest.raises(InvalidInstance, match="features has the rule 99"):
            problem.explanation([99])
    learning = RuleSetLearning(SAMPLES, 1)
    for rule, message in {
        (9,): "literal 9, indices go from 0 to 2",
        (-1,): "literal -1",
        (0, 0): "names a literal twice",
        (0, 1): "has 2 literals, at most 1",
    }.items():
        with pytest.raises(InvalidInstance, match=message):
            learning.explanation_of([rule])


def test_hints_may_be_rules_of_large_numbers() -> None:
    # 60 literals, up to 8 of them in a rule: numbers go beyond 2**31.
    rows = [[int(i == j or j >= 52) for j in range(60)] for i in range(8)]
    problem = RuleSetLearning(Samples(rows, [1, 0] * 4), 8, "1/100")
    known = problem.explanation_of([range(52, 60)])
    assert known.features[0] > 2**31
    result = solve(problem, "column-generation", hint=known, time_limit=0.3)
    assert isinstance(result.objective, int)
    assert result.objective <= problem.cost(known.features)


def test_errors_may_weigh_nothing() -> None:
    samples = Samples([[0, 1], [1, 0]], [0, 0])
    learned = learn_rules(samples, 2, "1/30", class_weights=(0, 1))
    assert (learned.objective, learned.hamming_bound, learned.rules) == (0, 0, ())
    result = solve(RuleSetLearning(samples, 2, class_weights=(0, 1)), "column-generation")
    assert (result.objective, result.bound) == (0, 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": 0}, "k must be an integer of at least 1, got 0"),
        ({"k": 2.0}, r"k must be an integer of at least 1, got 2\.0"),
        ({"k": True}, "k must be an integer of at least 1, got True"),
        ({"samples": [[1, 0]]}, "samples must be Samples, got list"),
        (
            {"time_limit": 10**400},
            "time_limit must be seconds > 0, got an integer of about 400 digits",
        ),
        ({"threads": 2**64}, "threads must be an integer from 1 to below"),
        ({"seed": 2**64}, "seed must be an integer from 0 to below"),
    ],
    ids=["k", "float", "bool", "samples", "time limit", "threads", "seed"],
)
def test_learning_names_its_own_arguments(change: dict, message: str) -> None:
    with pytest.raises((InvalidInstance, InvalidOption), match=message):
        learn_rules(**{"samples": SAMPLES, "k": 2, "penalty": Fraction(1, 10), **change})


def test_a_time_limit_beyond_all_floats_is_refused() -> None:
    with pytest.raises(InvalidOption, match="time_limit must be seconds > 0, got an integer of"):
        solve(RuleSetSelection(SAMPLES, RULES), "search", time_limit=10**400)


def test_a_milliard_clauses_are_refused() -> None:
    with pytest.raises(InvalidInstance, match="max_clauses times the number of features"):
        KernelRule([[1, 1], [0, 1]], [1, -1], max_clauses=10**9, max_literals=2)


def test_a_file_of_huge_limits_is_read(tmp_path) -> None:
    path = tmp_path / "rules.json"
    save(RuleSetSelection(SAMPLES, RULES, max_rules=2), path)
    data = json.loads(path.read_text())
    data["parameters"]["max_rules"] = HUGE
    assert loads(json.dumps(data)).selection_form.max_rules == len(RULES)


def test_half_a_character_is_refused_where_it_is_read() -> None:
    data = RuleSetSelection(SAMPLES, RULES, name="rules").to_dict()
    whole = json.dumps({**data, "name": "\N{GRINNING FACE}"})
    assert "\\ud83d" in whole
    assert loads(whole).to_dict()["name"] == "\N{GRINNING FACE}"
    with pytest.raises(InvalidInstance, match=r"'.ud800', which is half a character"):
        loads(json.dumps({**data, "name": "\ud800"}))


def test_altered_figures_of_a_result_are_seen() -> None:
    problem = RuleSetSelection(SAMPLES, RULES, "1/10")
    saved = solve(problem, "search").to_dict()
    assert violations(problem.to_dict(), saved) == []
    altered = json.loads(json.dumps(saved))
    altered["explanation"]["rule"]["total"] = 1000
    assert violations(problem.to_dict(), altered) == [
        "total: the result says 1000, the data give 4"
    ]
    altered = json.loads(json.dumps(saved))
    altered["explanation"]["features"] = [0]
    with pytest.raises(
        InvalidInstance, match=r"features must be those of the rule, \[1, 2\], got"
    ):
        Result.from_dict(altered)
