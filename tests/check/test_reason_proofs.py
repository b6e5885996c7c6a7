"""Proofs of sufficient reasons: right ones are taken, and no false claim ever is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

import cpx
from cpx.check.proofs import Claim, Refused, proved
from cpx.check.proofs.branching import Part
from cpx.check.proofs.document import fingerprint
from cpx.errors import InvalidInstance, InvalidOption
from cpx.models import SufficientReason
from cpx.models.sufficient_reason import proof_check as checker
from cpx.models.sufficient_reason import prove as prover
from cpx.models.sufficient_reason.cases import least_weight
from cpx.models.sufficient_reason.draw import random_reason
from cpx.models.sufficient_reason.methods import minimum
from cpx.models.sufficient_reason.proof_check import UNIT, Inequalities
from cpx.models.sufficient_reason.search.cuts import Inequality
from cpx.models.sufficient_reason.search.record import Record, RecordedCuts
from cpx.options import SolveOptions
from cpx.solving.run import run
from cpx.testing.drawing import side_constraint
from cpx.trees import Attribute, Tree, TreeModel, read_model
from tests.check.proof_files import altered, document
from tests.methods.reasons.ensembles import KINDS, Truth, random_model
from tests.methods.reasons.test_minimum import values
from tests.methods.test_hitting_sets import least_by_completions
from tests.seeds import some


def never() -> bool:
    return False


def problems(n: int, seed: int) -> Iterator[tuple[SufficientReason, int | None]]:
    """Return random problems and their optima by brute force; None where there is no reason."""
    for number in range(n):
        at = 1000 * seed + number
        if number % 2:
            level = ("attributes", "conditions")[number % 4 // 2]
            try:
                problem = random_reason(at, definition="sufficient", level=level)
            except InvalidInstance:
                continue
            by_columns = problem.level == "attributes"
            yield problem, (least_by_completions if by_columns else least_weight)(problem)
            continue
        model = random_model(at, KINDS[number // 2 % len(KINDS)], wide=number % 3 == 0)
        truth, rng = Truth(model), np.random.default_rng(at)
        x, d = truth.row(at), model.n_attributes
        weights = rng.integers(1, 6, d).tolist()
        required = [j for j in range(d) if rng.random() < 0.15]
        forbidden = [j for j in range(d) if rng.random() < 0.15]
        problem = SufficientReason(
            model, values(model, x), definition="sufficient", weights=weights,
            required=required, forbidden=forbidden,
        )  # fmt: skip
        allowed = [
            sum(weights[a] for a in reason)
            for reason in truth.reasons(x)
            if reason >= set(required) and not reason & set(forbidden)
        ]
        yield problem, min(allowed, default=None)


@pytest.mark.parametrize("n", some(20, 300))
def test_side_constraints_are_branched_on(n: int) -> None:
    split = refuted = 0
    for number in range(n):
        rng = np.random.default_rng([3, number])
        problem = random_reason(7000 + number, definition="sufficient")
        if not problem.n_features:
            continue
        texts = (side_constraint(rng, problem.n_features) for _ in range(1 + number % 3))
        problem = problem.where(*texts)
        least, instance = least_weight(problem), problem.to_dict()
        claim, lines = prover.prove(instance, Claim(least), never)
        assert claim == Claim(least)
        assert proved(instance, document(problem, lines, claim)) == claim
        broken = any(line.startswith("breaks") for line in lines)
        if least is None:
            refuted += broken
            continue
        split += broken and any(line.startswith("split") for line in lines)
        for wrong in (Claim(None), Claim(least + 1)):
            with pytest.raises(Refused):
                prover.prove(instance, wrong, never)
            for attack in (lines, *(altered(lines, rng) for _ in range(4))):
                with pytest.raises(Refused):
                    proved(instance, document(problem, attack, wrong))
    assert split >= n // 15
    assert refuted >= n // 15


@pytest.fixture(scope="module")
def boosted() -> tuple[SufficientReason, int]:
    X, y = make_classification(200, 14, n_informative=9, n_redundant=2, random_state=0)
    model = read_model(GradientBoostingClassifier(n_estimators=25, random_state=0).fit(X, y))
    problem = SufficientReason(model, X[0], definition="sufficient")
    return problem, int(cpx.solve(problem, "hitting-sets").objective)


@pytest.mark.parametrize("n", some(26, 160))
def test_the_optimum_is_proved_and_nothing_beyond(n: int) -> None:
    bounded = infeasible = 0
    for problem, least in problems(n, 1):
        instance = problem.to_dict()
        claim, lines = prover.prove(instance, Claim(least), never)
        assert claim == Claim(least)
        assert proved(instance, document(problem, lines, claim)) == claim
        infeasible += least is None
        bounded += len(lines) > 2
        if least is not None:
            for false in (Claim(least + 1), Claim(None)):
                with pytest.raises(Refused):
                    prover.prove(instance, false, never)
                with pytest.raises(Refused):
                    proved(instance, document(problem, lines, false))
    assert infeasible >= n // 32
    assert bounded >= n // 26


@pytest.fixture
def branching(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small problems, too, are solved by branch and cut, with whatever hitting sets told."""
    for name in ("_CALLS", "_CALLS_OF_FEW"):
        monkeypatch.setattr(minimum, name, 3)
    monkeypatch.setattr(minimum, "_FURTHER", 0)


def recorded(problem: SufficientReason) -> RecordedCuts | None:
    """Return what the engine records of a problem, if it gets to branch and cut."""
    record: list[object] = []
    run(problem, "hitting-sets", SolveOptions(), record=record)
    assert len(record) < 2
    (found,) = record or [None]
    assert found is None or isinstance(found, RecordedCuts)
    return found


def nodes(record: Record) -> list[Record]:
    return [record, *(node for part in record.parts for node in nodes(part))]


@pytest.mark.usefixtures("branching")
@pytest.mark.parametrize("n", some(3, 60))
def test_a_recorded_search_proves_the_same_and_whatever_it_says_nothing_false(n: int) -> None:
    X, y = make_classification(200, 20, n_informative=13, n_redundant=2, random_state=0)
    learned = GradientBoostingClassifier(n_estimators=25, max_depth=4, random_state=0)
    model = read_model(learned.fit(X, y))
    followed = of_sets = 0
    for number in range(n):
        rng = np.random.default_rng(number)
        required, forbidden = np.split(rng.permutation(20)[: number % 4], [number % 3])
        problem = SufficientReason(
            model, X[number], definition="sufficient", weights=rng.integers(1, 10, 20).tolist(),
            required=required.tolist(), forbidden=forbidden.tolist(),
        )  # fmt: skip
        found = cpx.solve(problem, "hitting-sets").objective
        record = recorded(problem)
        if record is None or found is None:
            continue
        instance, least = problem.to_dict(), int(found)
        followed += len(nodes(record.root)) > 1
        of_sets += any(one.row is None for one in record.inequalities)
        claim, lines = prover.prove(instance, Claim(least), never, [record], problem)
        assert claim == Claim(least)
        assert proved(instance, document(problem, lines, claim)) == claim
        for _ in range(3):
            # Another tree, other multipliers, and sets that are none to be hit.
            for node in nodes(record.root):
                if rng.random() < 0.5:
                    node.parts.reverse()
                if rng.random() < 0.5:
                    node.multipliers = [(i, y // 2) for i, y in node.multipliers]
            for at, one in enumerate(record.inequalities):
                if rng.random() < 0.3:
                    weights = UNIT * (rng.random(one.weights.size) < 0.5).astype(np.int64)
                    record.inequalities[at] = Inequality(weights)
            claim, lines = prover.prove(instance, Claim(least), never, [record], problem)
            assert claim == Claim(least)
            assert proved(instance, document(problem, lines, claim)) == claim
            with pytest.raises(Refused):
                prover.prove(instance, Claim(least + 1), never, [record], problem)
    assert followed >= n // 2
    assert of_sets >= n // 2


@pytest.mark.usefixtures("branching")
def test_a_recorded_search_spares_the_proof_its_own(
    boosted: tuple[SufficientReason, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, least = boosted
    record = recorded(problem)
    assert record is not None
    assert len(nodes(record.root)) > 2
    monkeypatch.setattr(prover._Search, "close", None)
    claim, lines = prover.prove(problem.to_dict(), Claim(least), never, [record], problem)
    assert proved(problem.to_dict(), document(problem, lines, claim)) == Claim(least)


@pytest.mark.usefixtures("branching")
@pytest.mark.parametrize("room", [0, 100, 2000])
def test_a_search_that_is_recorded_in_part_is_gone_on_with(
    boosted: tuple[SufficientReason, int], monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    problem, least = boosted
    monkeypatch.setattr(minimum, "RecordedCuts", partial(RecordedCuts, room=room))
    record = recorded(problem)
    assert record is not None
    kept = sum(2 * len(node.multipliers) for node in nodes(record.root))
    assert kept <= room + 2 * len(record.inequalities)
    claim, lines = prover.prove(problem.to_dict(), Claim(least), never, [record], problem)
    assert proved(problem.to_dict(), document(problem, lines, claim)) == Claim(least)


@pytest.mark.parametrize("n", some(16, 60))
def test_inequalities_hold_for_all_reasons_whatever_the_weights(n: int) -> None:
    """The checker takes any row and any weights; what it reads must hold."""
    told = 0
    for seed in range(n):
        model = random_model(seed, KINDS[seed % len(KINDS)])
        truth, rng = Truth(model), np.random.default_rng(seed)
        x = truth.row(seed)
        problem = SufficientReason(model, values(model, x), definition="sufficient")
        known, reasons = Inequalities(problem.to_dict()), truth.reasons(x)
        for _ in range(30):
            differs = {}
            for j in np.flatnonzero(rng.random(known.n) < 0.7).tolist():
                cells = np.flatnonzero(known._possible[j])
                differs[j] = int(rng.choice(cells))
            weights = {
                (t, j): int(rng.integers(-2, 4)) * known.reason.forest.scale
                for t in range(len(model.trees)) for j in range(known.n) if rng.random() < 0.7
            }  # fmt: skip
            rows = []
            for rival in known.reason.rivals:
                try:
                    rows.append(known.weighed(rival, differs, weights))
                except Refused:
                    continue
            with suppress(Refused):
                rows.append(known.hit({j: c for j, c in differs.items() if c != known.own[j]}))
            for row in rows:
                told += 1
                assert all(sum(row[j] for j in reason) >= UNIT for reason in reasons)
    assert told > 5 * n


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("n", some(16, 1000))
def test_no_altered_proof_proves_a_false_claim(
    boosted: tuple[SufficientReason, int], n: int
) -> None:
    rng, refused, tried = np.random.default_rng(0), 0, 0
    small = [one for one in problems(n, 2) if one[1] is not None]
    for problem, least in [*small, boosted]:
        instance = problem.to_dict()
        _, lines = prover.prove(instance, Claim(least), never)
        for _ in range(24 if problem is boosted[0] else 12):
            tried += 1
            changed = altered(lines, rng)
            with pytest.raises(Refused):
                proved(instance, document(problem, changed, Claim(least + 1)))
            try:
                proved(instance, document(problem, changed, Claim(least)))
            except Refused:
                refused += 1
    assert refused > tried / 4


def test_a_proof_of_boosted_trees_reads_rows(boosted: tuple[SufficientReason, int]) -> None:
    problem, least = boosted
    result = cpx.solve(problem, "hitting-sets", proof=True)
    assert result.proof is not None
    assert result.proof.complete
    assert result.proof.bound == least
    assert proved(problem.to_dict(), result.proof.to_bytes()) == Claim(least)
    rules = [line.split(" ")[0] for line in result.proof.lines]
    assert rules.count("row") + rules.count("hit") > 3
    assert set(rules) <= {"row", "hit", "split", "bound", "missed"}
    assert any(" -" in line for line in result.proof.lines)


def test_a_search_without_time_proves_less_or_nothing(
    boosted: tuple[SufficientReason, int],
) -> None:
    problem, least = boosted
    asked = 0

    def over() -> bool:
        nonlocal asked
        asked += 1
        return asked > 30

    claim, lines = prover.prove(problem.to_dict(), Claim(least), over)
    if claim is not None:
        assert claim.bound <= least
        assert proved(problem.to_dict(), document(problem, lines, claim)) == claim


def test_nodes_may_be_in_each_other_as_deep_as_there_are_features() -> None:
    # One feature is enough: the others are left out, or kept, one after the other.
    X = np.random.default_rng(0).random((40, 1200))
    model = read_model(DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, X[:, 7] > 0.5))
    problem = SufficientReason(model, X[0], definition="sufficient")
    cell = 1 - int(X[0, 7] > model.thresholds[7][0])
    others = [j for j in range(1200) if j != 7]
    lines = [f"hit 7 {cell}", *(f"split {j}" for j in others)]
    lines += ["bound 1 0 1"] * (len(others) + 1)
    whole = document(problem, lines, Claim(1))
    assert proved(problem.to_dict(), whole) == Claim(1)
    for changed in (lines[:-1], [*lines, lines[-1]]):
        with pytest.raises(Refused, match="complete"):
            proved(problem.to_dict(), document(problem, changed, Claim(1)))


def test_unknown_constraints_and_too_many_inequalities_are_refused(
    boosted: tuple[SufficientReason, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, least = boosted
    instance = problem.to_dict()
    _, lines = prover.prove(instance, Claim(least), never)
    whole = document(problem, lines, Claim(least))
    for changed in (
        instance | {"constraints": []},
        instance | {"parameters": instance["parameters"] | {"constraints": []}},
    ):
        mark = fingerprint(instance), fingerprint(changed)
        with pytest.raises(Refused, match="constraints"):
            proved(changed, whole.replace(mark[0].encode(), mark[1].encode()))
    monkeypatch.setattr(checker, "_MOST_WEIGHTS", 2 * 14)
    with pytest.raises(Refused, match="line 4: the inequalities have more than 28 weights"):
        proved(instance, whole)


def test_other_definitions_are_refused() -> None:
    problem = random_reason(4, definition="tree-specific")
    with pytest.raises(InvalidOption, match="tree-specific"):
        cpx.solve(problem, "cpsat", proof=True)
    with pytest.raises(Refused, match="definition"):
        Inequalities(problem.to_dict())


def test_rows_that_no_model_has_are_refused(boosted: tuple[SufficientReason, int]) -> None:
    problem: Any = boosted[0]
    known = Inequalities(problem.to_dict())
    cases: list[dict[int, int]] = [{99: 0}, {0: 10**6}, {0: len(known._possible[0]) - 1}]
    for differs in cases:
        with pytest.raises(Refused, match="no cell"):
            known.hit(differs)
    with pytest.raises(Refused, match="class of x"):
        known.hit({})
    with pytest.raises(Refused, match="no rival"):
        known.weighed(known.reason.label, {}, {})


def _model(decision: str = "positive") -> TreeModel:
    """Return what is known of two trees, by hand: they test a <= 0.5, a <= 1.5 and b <= 0.5.

    The row x is a = 1, b = 0. The first tree gives -5 where a <= 0.5 and else 3 up to 1.5 and 4
    beyond, the second 1 where b <= 0.5 and -2 beyond; b may be missing, and goes left.
    """
    attributes = [Attribute("a"), Attribute("b", missing=True)]
    trees = [
        Tree([0, -1, 0, -1, -1], [0, 0, 1, 0, 0], [1] * 5, [[-5.0], [3.0], [4.0]], (0,)),
        Tree([1, -1, -1], [0, 0, 0], [0] * 3, [[1.0], [-2.0]], (0,)),
    ]
    return TreeModel(attributes, [0, 1], trees, [[0.5, 1.5], [0.5]], "sum", decision, [-1.0])


def _trees(decision: str = "positive", a: float = 1.0) -> Inequalities:
    problem = SufficientReason(_model(decision), [a, 0.0], definition="sufficient")
    return Inequalities(problem.to_dict())


def test_weights_of_a_row_are_scaled_and_rounded_up() -> None:
    known = _trees()
    # Of x a score of 3 is reached; with a in the lowest cell -5, with b beyond -3 in all.
    assert known.class_of({}) == 1
    assert known.class_of({0: 0}) == 0
    assert known.class_of({1: 1}) == 0
    # The rival leads by 5 where a is as in the row, and by -3 or what the weight adds where not.
    # With it the second tree gives it -1 or 2 less than that of b.
    for weights, a, b in (
        ({(0, 0): 8, (1, 1): 3}, 8, 3),
        ({(0, 0): 8}, 8, 0),
        ({(0, 0): 4, (1, 1): 3}, 4, 3),
        ({(0, 0): 2, (1, 1): 1}, 2, 1),  # 1 in all
    ):
        first = min(5, weights.get((0, 0), 0) - 3)
        second = min(2, weights.get((1, 1), 0) - 1)
        total = 1 + first + second + 1  # a tie is not won
        assert known.weighed(0, {0: 0, 1: 1}, weights) == [
            min(UNIT, -(-a * UNIT // total)), min(UNIT, -(-b * UNIT // total)),
        ]  # fmt: skip
    with pytest.raises(Refused, match="ask for nothing"):
        known.weighed(0, {0: 0, 1: 1}, {})


def test_a_negative_weight_counts_where_its_feature_may_be_kept() -> None:
    known = _trees()
    # The rival leads by 5 or -3 in the first tree, which tests a, and by 2 or -1 in the second.
    for weights, first, second, a in (
        ({(0, 0): 8, (1, 1): 3}, 5, 2, 8),
        ({(0, 0): 8, (0, 1): -1, (1, 1): 4}, 5 - 1, 2, 8),  # the first tree says nothing of b
        ({(0, 0): 8, (1, 0): -2, (1, 1): 3}, 5, 2 - 2, 6),
        ({(0, 0): 8, (1, 0): -9, (1, 1): 3}, 5, 2 - 9 + 1, 0),  # then a is taken to be kept
    ):
        total = 1 + first + second + 1
        b = sum(w for (_, j), w in weights.items() if j == 1)
        expected = [min(UNIT, -(-w * UNIT // total)) for w in (a, b)]
        assert known.weighed(0, {0: 0, 1: 1}, weights) == expected
    # The first tree gives the rival -3 with a and -4 without, less by the weight of a.
    assert known.weighed(0, {0: 2, 1: 1}, {(0, 0): -1, (1, 1): 3}) == [0, UNIT]
    # Of a feature that weighs less than 0 in all, it does not matter where the row is.
    assert known.weighed(0, {0: 0, 1: 1}, {(0, 0): -2, (1, 1): 3}) == known.weighed(
        0, {1: 1}, {(1, 1): 3}
    )


def test_a_feature_is_as_in_x_in_all_tests_of_a_way_or_in_none() -> None:
    # Of a = 2 the first tree gives 4 where a is kept, and -5 where it is not: never 3.
    known, weights = _trees(a=2.0), {(0, 0): 8, (1, 1): 3}
    total = 2 + min(5, 8 - 4) + min(2, 3 - 1)
    assert known.weighed(0, {0: 0, 1: 1}, weights) == [-(-w * UNIT // total) for w in (8, 3)]


def test_a_test_that_goes_one_way_alone_is_no_condition() -> None:
    """The root tests b and goes left, or right, whatever b is; the second tree tests b, too."""
    attributes, second = [Attribute("a"), Attribute("b")], [[0.5], [0.25]]
    for tests, places, leaves in (
        ([1, 0, -1, -1, -1], [1, 0, 0, 0, 0], [[1.0], [-1.0], [-1.0]]),
        ([1, -1, 0, -1, -1], [-1, 0, 0, 0, 0], [[-1.0], [1.0], [-1.0]]),
    ):
        trees = [
            Tree(tests, places, [0] * 5, leaves, (0,)),
            Tree([1, -1, -1], [0] * 3, [0] * 3, second, (0,)),
        ]
        model = TreeModel(attributes, [0, 1], trees, [[0.5], [0.5]], "sum", "positive", [0.0])
        problem = SufficientReason(model, [0, 0], definition="sufficient", level="conditions")
        known = Inequalities(problem.to_dict())
        assert known.class_of({}) == known.class_of({1: 1}) == 1
        assert known.hit({0: 1}) == [UNIT, 0]


def test_a_tie_counts_for_whom_it_is_of() -> None:
    # Where 0 is of the class of x, a rival must be ahead.
    weights = {(0, 0): 8, (1, 1): 3}
    rows = [_trees(how).weighed(0, {0: 0, 1: 1}, weights) for how in ("positive", "nonnegative")]
    assert rows == [[-(-w * UNIT // total) for w in (8, 3)] for total in (9, 8)]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("row", "too few numbers"),
        ("row 0", "too few numbers"),
        ("row 0 1 0", "too few numbers"),
        ("row 0 1 0 0 0", "three numbers"),
        ("row 0 1 0 0 0 0 1 0 0 2", "two weights"),
        ("row 0 1 0 0 2 0 1", "no tree 2 or no feature 0"),
        ("row 0 1 0 0 0 2 1", "no tree 0 or no feature 2"),
        ("row 0 1 0 0 0 0 --1", "whole numbers"),
        ("row 0 1 0 0 0 0 -", "whole numbers"),
        ("row 0 1 0 0 -0 0 1", "whole numbers"),
        ("row 0 1 0 0 0 -0 1", "whole numbers"),
        ("row -0 1 0 0 0 0 1", "whole numbers"),
        ("row 0 1 -0 0 0 0 1", "whole numbers"),
        ("row 0 2 0 0 0 1", "two cells"),
        ("row 0 1 2 0", "feature 2 has no cell 0"),
        ("row 0 1 0 3", "feature 0 has no cell 3"),
        ("row 0 1 0 4", "feature 0 has no cell 4"),
        ("row 0 1 0 0", "ask for nothing"),
        ("hit 0", "a feature has no cell"),
        ("hit 1 3", "feature 1 has no cell 3"),
    ],
)
def test_lines_of_inequalities_that_are_not_right_are_refused(line: str, told: str) -> None:
    with pytest.raises(Refused, match=told):
        checker._read(_trees(), line.split())


def test_lines_of_inequalities_are_read() -> None:
    known = _trees()
    assert checker._read(known, ["hit", "0", "0"]) == [UNIT, 0]
    assert checker._read(known, ["hit", "1", "1"]) == [0, UNIT]
    with pytest.raises(Refused, match="class of x"):
        checker._read(known, ["hit", "1", "2"])  # b is missing
    for words, weights in (
        ("row 0 2 0 0 1 1 0 0 8 1 1 3", {(0, 0): 8, (1, 1): 3}),
        ("row 0 2 0 0 1 1 0 0 8", {(0, 0): 8}),
        ("row 0 2 0 0 1 1 0 0 8 1 1 3 1 0 -2", {(0, 0): 8, (1, 1): 3, (1, 0): -2}),
        (f"row 0 2 0 0 1 1 0 0 {9 * 10**58} 1 1 3", {(0, 0): 9 * 10**58, (1, 1): 3}),
    ):
        assert checker._read(known, words.split()) == known.weighed(0, {0: 0, 1: 1}, weights)
    # No feature need differ where weights are asked for; then x itself is the row.
    with pytest.raises(Refused, match="ask for nothing"):
        checker._read(known, ["row", "0", "0"])


@pytest.mark.parametrize(
    ("rule", "numbers", "told"),
    [
        ("missed", [], "missed needs"),
        ("missed", [2], "missed needs"),
        ("missed", [0], "can be met"),
        ("bound", [], "bound needs"),
        ("bound", [1, 0], "bound needs"),
        ("bound", [0, 0, 1], "bound needs"),
        ("bound", [1, 2, 1], "no such inequality"),
        ("bound", [1, 0, 1], "the bound is 1"),
        ("other", [], "no rule"),
    ],
)
def test_leaves_that_do_not_follow_are_refused(rule: str, numbers: list[int], told: str) -> None:
    part = Part(np.array([False, False, False]), np.array([False, False, True]))
    rows, costs = [[UNIT, 0, UNIT], [0, UNIT // 2, UNIT]], [3, 2, 1]
    checker._check_leaf(part, "missed", [1], rows, costs, Claim(None))
    checker._check_leaf(part, "bound", [1, 0, 3], rows, costs, Claim(3))
    with pytest.raises(Refused, match=told):
        checker._check_leaf(part, rule, numbers, rows, costs, Claim(4))


def test_a_proof_without_a_root_has_no_lines() -> None:
    problem = SufficientReason(
        _model(), [1.0, 0.0], definition="sufficient", required=["a"], forbidden=["a"]
    )
    whole = document(problem, [], Claim(None))
    assert proved(problem.to_dict(), whole) == Claim(None)
    with pytest.raises(Refused, match="complete"):
        proved(problem.to_dict(), document(problem, ["hit 0 0"], Claim(None)))
