"""The price of a rule that holds on rows not seen, and what it is chosen from."""

from __future__ import annotations

import pickle
import threading
import warnings
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from cpx import RuleSetClassifier, learn_rules
from cpx.models.rule_set.classifier import cross_validation as choosing
from cpx.models.rule_set.classifier import labelled_rows, learning
from cpx.models.rule_set.classifier.cross_validation import FALLBACK, chosen_price
from cpx.models.rule_set.classifier.model_selection import Choice
from cpx.models.rule_set.methods import column_generation
from cpx.models.rule_set.methods.column_generation import exchange
from cpx.models.rule_set.methods.column_generation.exchange import price_path
from cpx.models.rule_set.methods.column_generation.table import Table


def coins(n: int, noise: float, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return rows of eight columns, of which the first two say the class but for some noise."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 4, (n, 8)), columns=list("abcdefgh"))
    y = (X["a"] > 1) & (X["b"] > 0)
    return X, (y ^ (rng.random(n) < noise)).to_numpy().astype(int)


@pytest.mark.parametrize("seeds", [(0, 1, 6), pytest.param(range(8), marks=pytest.mark.slow)])
def test_fewer_rules_that_hold_better_on_noise(seeds: Sequence[int]) -> None:
    found = []
    for seed in seeds:
        X, y = coins(120, 0.25, seed)
        new, truth = coins(3000, 0.0, seed + 100)
        for penalty in ("auto", 0.01):
            model = RuleSetClassifier(2, penalty, positive=1, time_limit=None).fit(X, y)
            found.append((len(model.rules_), model.score(new, truth)))
    rules, scores = np.mean(np.array(found).reshape(-1, 2, 2), axis=0).T
    assert 1 <= rules[0] < rules[1]
    assert scores[0] > scores[1] + 0.02


def test_rules_are_cheap_where_all_of_them_hold() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (400, 6)), columns=list("abcdef"))
    y = ((X["a"] & X["b"]) | (X["c"] & X["d"]) | (X["e"] & X["f"])).to_numpy()
    model = RuleSetClassifier(time_limit=None).fit(X, y)
    assert len(model.rules_) == 3
    assert model.score(X, y) == 1
    assert model.choice_.chosen.accuracy == 1


@pytest.mark.parametrize("confident", [pytest.param(False, marks=pytest.mark.slow), True])
def test_what_was_validated_is_what_it_says(confident: bool) -> None:
    """The accuracies and their errors, folds and paths once more, and the choice from them."""
    rng = np.random.default_rng(3)
    literals = rng.random((210, 10)) < 0.5
    same = (literals[:, :3].all(axis=1) | literals[:, 3:5].all(axis=1)) ^ (rng.random(210) < 0.05)
    weights = rng.integers(1, 4, 210)
    classes = {"yes": same, "no": ~same}
    confidence = rng.integers(1, 11, 210)
    choice = chosen_price(
        literals,
        classes,
        weights,
        (3, 2),
        seed=7,
        stop=lambda: False,
        confidence=(lambda rows: confidence[rows]) if confident else None,
    )
    again = np.random.default_rng(7)
    divided = np.empty((2, 210), dtype=int)
    for fold in divided:
        for rows in (np.flatnonzero(same), np.flatnonzero(~same)):
            fold[again.permutation(rows)] = np.arange(len(rows)) % 5
    times, right = {}, {}
    # Equal rows are one; those that are held out weigh nothing.
    bits = np.column_stack([literals, same])
    _, first, which = np.unique(bits, axis=0, return_index=True, return_inverse=True)
    families = (True, False) if confident else (False,)
    for (label, of_class), k, family in product(classes.items(), (2, 3), families):
        mine = [
            one
            for one in choice.validated
            if (one.positive, one.k, one.self_confidence) == (label, k, family)
        ]
        least = [Fraction(share) for share in ("0.08", "0.04", "0.02", "0.01", "0.005")]
        penalties = [p for p in least if p * 210 >= k * Fraction(3, 4)][: len(mine)]
        assert [one.penalty for one in mine] == penalties
        accuracies, sizes = [], []
        of_each = np.full((10, len(mine), 210), np.nan)
        for t, f in product(range(2), range(5)):
            seen = divided[t] != f
            own = (weights * confidence if family else weights)[seen]
            total = np.bincount(which[seen], own, len(first)).astype(np.int64)
            table = Table(literals[first], same[first], total).weighed(total, of_class[first])
            prices = [p * int(own.sum()) for p in penalties]
            sets = price_path(table, k, prices, np.random.default_rng(7))
            for i, rules in enumerate(sets):
                covered = np.zeros(210, dtype=bool)
                for rule in rules:
                    assert len(rule) <= k
                    covered |= literals[:, list(rule)].all(axis=1)
                of_each[5 * t + f, i, ~seen] = (covered == of_class)[~seen]
            told = of_each[5 * t + f][:, ~seen]
            accuracies.append(told @ weights[~seen] / weights[~seen].sum())
            sizes.append([len(rules) for rules in sets])
        for i, one in enumerate(mine):
            for t in range(1, 11):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of rows that no fold has held out
                    shares = np.nanmean(of_each[:t, i], axis=0)
                met = np.isfinite(shares)
                accuracy = np.mean(accuracies[:t], axis=0)[i]
                squares = weights[met] ** 2 @ (shares[met] - accuracy) ** 2
                error = squares**0.5 / weights[met].sum()
                figures = accuracy, error, np.mean(sizes[:t], axis=0)[i]
                if np.allclose((one.accuracy, one.error, one.rules), figures):
                    times[one], right[one] = t, shares
    assert set(times) == set(choice.validated)
    # Some were given up, and what was not is compared with what is usual.
    longest = max(times.values())
    assert min(times.values()) < longest
    frequent = "yes" if weights[same].sum() > weights[~same].sum() else "no"
    (usual,) = (one for one in times if one.asked == (frequent, Fraction(1, 50), 3, confident))
    assert times[usual] == longest
    clear = [
        one
        for one in times
        if times[one] == longest and lead(right[one], right[usual], weights) > 2
    ]
    best = max(clear, key=lambda one: one.accuracy, default=usual)
    alike = [
        one
        for one in times
        if times[one] == longest and np.array_equal(right[one], right[best], equal_nan=True)
    ]
    assert choice.chosen == min(alike, key=lambda one: (one.rules, -one.penalty, one.k))


def lead(one: np.ndarray, other: np.ndarray, weights: np.ndarray) -> float:
    """Return the difference in accuracy in units of its standard error."""
    both = np.isfinite(one + other)
    gains = ((one - other) * weights)[both]
    # Of all rows it is to be expected that much greater.
    return gains.mean() / gains.std() * len(both) ** 0.5 if gains.any() else 0.0


def path_of(k: int, right: list[list[int]], name: str = "yes", seen: int = 100) -> choosing._Path:
    """Return a path of some prices with rows of a single division, the first ones held out."""
    path = choosing._Path(name, np.zeros(len(right[0]), dtype=bool), k, False)
    path.penalties, path.open = path.penalties[: len(right)], list(range(len(right)))
    path.right, path.times = np.array(right), np.zeros_like(right)
    path.right[:, seen:], path.times[:, :seen] = 0, 1
    path.sizes = [[1] * 5 for _ in right]
    path.accuracies = [[np.mean(row[:seen])] * 5 for row in path.right]
    return path


def right(errors: int, rows: int = 100) -> list[int]:
    return [0] * errors + [1] * (rows - errors)


def test_what_is_not_usual_needs_evidence() -> None:
    ones = np.ones(100, dtype=np.int64)
    # Some more rows of 100 are a little more standard errors than their square root.
    for errors, wins, stays in ((31, 0, 0), (29, 0, 1), (27, 0, 1), (26, 1, 1), (20, 1, 1)):
        usual, other = path_of(3, [right(30)]), path_of(6, [right(errors)])
        assert choosing._taken([usual, other], ones).k == (6 if wins else 3)
        left = choosing._contenders([usual, other], ones)
        assert left == ([usual, other] if stays else [usual])
    # Of those that are better, the best one is taken, and what is far behind it is given up.
    usual, other = path_of(3, [right(30)]), path_of(2, [right(20), right(12), right(0)], "no")
    taken = choosing._taken([usual, other], ones)
    assert (taken.positive, taken.penalty) == ("no", other.penalties[2])
    assert choosing._contenders([usual, other], ones) == [usual, other]
    assert (usual.open, other.open) == ([0], [2])


def test_the_usual_price_is_next_to_two_of_a_hundred() -> None:
    ones = np.ones(500, dtype=np.int64)
    errors = 98, 99, 100, 60
    first = path_of(3, [right(some, 500) for some in errors], seen=500)
    assert first.penalties[first.usual] == Fraction(1, 50)
    assert choosing._taken([first], ones).penalty == first.penalties[3]
    first.open = [0, 1, 2]
    assert choosing._taken([first], ones).penalty == Fraction(1, 50)
    few = path_of(3, [right(1, 40)])
    assert (few.penalties, few.usual) == ([Fraction(2, 25)], 0)


def test_of_what_is_right_on_the_same_rows_the_fewest_rules_are_taken() -> None:
    ones = np.ones(100, dtype=np.int64)
    usual, other, wrong = (path_of(3, [right(10)], name) for name in ("yes", "no", "neither"))
    wrong.right = wrong.right[:, ::-1].copy()
    for rules, taken in ((1, "yes"), (2, "no")):
        usual.sizes, wrong.sizes = [[rules] * 5], [[0] * 5]
        assert choosing._taken([usual, wrong, other], ones).positive == taken
        left = choosing._contenders([usual, wrong, other], ones)
        assert (other in left, wrong in left) == (rules == 2, False)
        other.open, wrong.open = [0], [0]


def test_what_is_given_up_is_not_looked_for() -> None:
    path = path_of(1, [[1, 0] * 10] * 3, seen=20)
    path.open = [1]
    literals, out = np.ones((20, 1), dtype=bool), np.arange(20) < 4
    ones = np.ones(20, dtype=np.int64)
    table, which = choosing._merged(literals, path.same)
    path.hold_out(table, which, ones, np.where(out, 0, ones), out, 0, lambda: False)
    assert list(map(len, path.sizes)) == [6, 6, 5]
    assert path.times[:, :5].tolist() == [[2, 2, 2, 2, 1], [2, 2, 2, 2, 1], [1, 1, 1, 1, 1]]


def test_few_rows_are_little_evidence() -> None:
    """With a fifth of the rows a lead is expected to double, and may change by three."""
    ones = np.ones(500, dtype=np.int64)
    # Of seven rows of a hundred, the lead is 2.7 standard errors, and 6.1 is to be expected.
    for rows_ahead, stays in ((1, 1), (7, 0)):
        usual, ahead = path_of(2, [right(50, 500)]), path_of(2, [right(0, 500)])
        behind = path_of(2, [right(rows_ahead, 500)], "no")
        assert (behind in choosing._contenders([usual, ahead, behind], ones)) == stays
    expected, margin = choosing._outlook(
        path_of(2, [right(0, 500)]).shares[0], path_of(2, [right(4, 500)]).shares[0], ones
    )
    assert margin == 3
    assert expected == pytest.approx(5**0.5 * 4 / (96 * 4 / 100) ** 0.5)


def test_sets_of_a_path_are_local_optima_and_grow() -> None:
    rng = np.random.default_rng(1)
    literals = rng.random((120, 8)) < 0.5
    same = (literals[:, 0] & literals[:, 1]) | (literals[:, 2] & literals[:, 3])
    table = Table(literals, same, np.ones(120, dtype=np.int64))
    prices = [Fraction(60), Fraction(20), Fraction(1)]
    sets = price_path(table, 2, prices, np.random.default_rng(0))
    assert [len(rules) for rules in sets] == [0, len(sets[1]), 2]
    assert {frozenset(rule) for rule in sets[2]} == {frozenset({0, 1}), frozenset({2, 3})}


def test_too_few_rows_are_told() -> None:
    X, y = coins(18, 0, 0)
    model = RuleSetClassifier().fit(X, y)
    assert (model.penalty_, model.k_, model.choice_.validated) == (FALLBACK, 3, ())
    assert "penalty    0.01, not chosen: too few rows" in str(model)
    same = RuleSetClassifier(3, "0.01").fit(X, y)
    assert (same.rules_, same.report_) == (model.rules_, model.report_)
    assert not hasattr(same, "choice_")
    assert "penalty    " not in str(same)


def test_no_time_to_choose() -> None:
    X, y = coins(200, 0.1, 0)
    stop = threading.Event()
    stop.set()
    model = RuleSetClassifier().fit(X, y, stop=stop)
    assert model.choice_.validated == ()
    assert model.penalty_ == FALLBACK


def test_the_problem_has_the_price_of_the_fit() -> None:
    X, y = coins(200, 0.25, 0)
    model = RuleSetClassifier(k=3, positive=1, time_limit=None)
    chosen, fitted = model.problem(X, y), model.fit(X, y)
    assert (chosen.penalty, chosen.max_literals) == (fitted.penalty_, fitted.k_)
    assert chosen.penalty != FALLBACK
    stop = threading.Event()
    stop.set()
    model = RuleSetClassifier().fit(X, y, stop=stop)
    problem = model.problem(X, y)
    assert (problem.penalty, problem.max_literals) == (FALLBACK, 3)
    assert Fraction(model.answer(problem).objective, problem.scale) == model.objective_


def test_half_of_the_time_is_left_to_learning(monkeypatch) -> None:
    took, left, now = [], [], [0.0]

    def slowly(literals, classes, weights, lengths, *, seed, stop, confidence):
        began = now[0]
        while not stop():
            now[0] += 0.125
        took.append(now[0] - began)
        return Choice(next(iter(classes)), FALLBACK, lengths[0], ())

    def learned(*args, time_limit, **options):
        left.append(time_limit)
        return learn_rules(*args, time_limit=time_limit, **options)

    for module in (learning, labelled_rows):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(labelled_rows, "chosen_price", slowly)
    monkeypatch.setattr(column_generation, "learn_rules", learned)
    X, y = coins(200, 0.1, 0)
    RuleSetClassifier(k=2, time_limit=30).fit(X, y)
    RuleSetClassifier(k=2, time_limit=20).problem(X, y)
    # It ends with the first step after that.
    assert took == [15.125, 10.125]
    assert left == [15]


@pytest.mark.parametrize(("paths", "validated"), [(0, set()), (1, {3}), (2, {2, 3}), (5, {2, 3})])
def test_what_time_allows_is_validated(paths, validated, monkeypatch) -> None:
    X, y = coins(200, 0.1, 0)
    y &= X["c"].to_numpy() != 1
    literals = np.array([X[name] > limit for name in "abc" for limit in range(3)]).T
    weights, met = np.ones(200, dtype=np.int64), []

    def counted(*args):
        met.append(price_path(*args[:-1]))
        return met[-1]

    monkeypatch.setattr(exchange, "price_path", counted)
    choice = chosen_price(
        literals, {1: y == 1}, weights, (3, 2), seed=0, stop=lambda: len(met) > paths
    )
    assert {one.k for one in choice.validated} == validated
    assert choice.k == 3
    # What was stopped on the way does not count.
    if paths == 5:
        for k, mine in ((3, (met[0], met[2], met[4])), (2, (met[1], met[3]))):
            of_k = [one.rules for one in choice.validated if one.k == k]
            sizes = [list(map(len, sets))[: len(of_k)] for sets in mine]
            assert of_k == np.mean(sizes, axis=0).tolist()


def two_of_six(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return rows that are of the class when exactly two of six columns are: many long rules."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 3, (n, 6)), columns=list("abcdef"))
    return X, ((X == 0).sum(axis=1) == 2).to_numpy()


def test_the_work_of_choosing_is_limited(monkeypatch) -> None:
    X, y = two_of_six(300, 1)
    literals = np.array([X[name] == value for name in X for value in range(3)]).T
    weights, tables = np.ones(300, dtype=np.int64), []
    merged = choosing._merged

    def kept(*args):
        found = merged(*args)
        tables.append(found[0])
        return found

    monkeypatch.setattr(choosing, "_merged", kept)
    for most in (0, 5 * 10**5, 10**9):
        monkeypatch.setattr(choosing, "_MOST_WORK", most)
        choice = chosen_price(
            literals, {1: y == 1, 0: y == 0}, weights, (4, 6), seed=0, stop=lambda: False
        )
        assert choice.validated
    taken = [table.beams.work for table in tables]
    # It ends with a fold.
    assert 0 < taken[0] < 5 * 10**5 < taken[1] < taken[2]


def test_a_length_that_is_not_given_is_chosen() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((300, 6)) < 0.8, columns=list("abcdef"))
    long = RuleSetClassifier(positive=True, time_limit=None).fit(X, X.all(axis=1))
    assert {one.k for one in long.choice_.validated} == {3, 6}
    assert (long.k_, len(long.rules_[0]), long.score(X, X.all(axis=1))) == (6, 6, 1)
    short = RuleSetClassifier(time_limit=None).fit(X, X["a"] & X["b"])
    assert (short.k_, short.score(X, X["a"] & X["b"])) == (3, 1)
    assert long.problem(X, X["a"]).max_literals == 6
    given = RuleSetClassifier(penalty=0.01, time_limit=None).fit(X, X["a"])
    assert given.k_ == given.problem(X, X["a"]).max_literals == 4


def test_a_class_that_is_not_given_is_chosen() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((300, 6)) < 0.5, columns=list("abcdef"))
    rule = ("a = True", "b = True")
    for y in (X["a"] & X["b"], ~(X["a"] & X["b"])):
        model = RuleSetClassifier(time_limit=None).fit(X, y)
        assert {one.positive for one in model.choice_.validated} == {False, True}
        assert model.positive_ == model.choice_.positive == bool(y[X["a"] & X["b"]].all())
        assert (model.rules_, model.score(X, y)) == ((rule,), 1)
        problem = model.problem(X, y)
        assert problem.samples.context["class"] == str(model.positive_)
        assert Fraction(model.answer(problem).objective, problem.scale) == model.objective_
        assert model.measure(X, y).figures[0].precision == 1
    for given in ({"positive": True}, {"class_weights": (1, 1)}):
        model = RuleSetClassifier(time_limit=None, **given).fit(X, y)
        assert model.positive_
        assert {one.positive for one in model.choice_.validated} == {True}
    assert RuleSetClassifier(penalty=0.01).fit(X, y).positive_


def test_many_rows_are_a_part_of_them() -> None:
    X, y = coins(6000, 0.1, 0)
    model = RuleSetClassifier(k=2, time_limit=None).fit(X, y)
    assert model.score(*coins(1000, 0, 1)) == 1
    assert min(one.penalty for one in model.choice_.validated) == Fraction("0.0025")


def test_the_same_for_a_seed_and_for_the_problem() -> None:
    X, y = coins(150, 0.2, 4)
    model = RuleSetClassifier(k=2, positive=1, time_limit=None)
    first, second = (model.fit(X, y).choice_ for _ in range(2))
    assert first == second
    problem = model.problem(X, y)
    assert (problem.penalty, problem.max_literals) == (first.penalty, first.k)
    answer = model.answer(problem)
    assert Fraction(answer.objective, problem.scale) == model.objective_
    again = pickle.loads(pickle.dumps(model))
    assert again.choice_ == first
    assert again.measure(X, y) == model.measure(X, y)


def test_errors_weigh_as_classes_do() -> None:
    X, y = coins(200, 0.2, 2)
    model = RuleSetClassifier(k=2, class_weights=(1, 9), time_limit=None).fit(X, y)
    assert model.choice_.validated
    assert (model.predict(X)[y == 1] == 1).mean() > 0.9


def test_a_black_box_has_the_price_it_had() -> None:
    X, _ = coins(60, 0, 0)
    model = RuleSetClassifier(black_box=lambda rows: rows["a"] > 1, max_queries=0).fit(X)
    assert model.penalty_ == FALLBACK
    assert not hasattr(model, "choice_")


def test_the_picture() -> None:
    X, y = coins(100, 0.2, 1)
    both = [f"at most {k} conditions, for {label}" for k in (2, 3) for label in (0, 1)]
    for positive, lines in ((1, ["at most 2 conditions", "at most 3 conditions"]), (None, both)):
        model = RuleSetClassifier(k=3, positive=positive, time_limit=None).fit(X, y)
        ax = model.choice_.plot(Figure().subplots())
        labels = [text.get_text() for text in ax.get_legend().get_texts()]
        assert sorted(labels) == [*lines, "chosen"]
