"""RuleSetClassifier: its loss and figures, its manners in scikit-learn, and bad input."""

from __future__ import annotations

import itertools
import pickle
import warnings
from fractions import Fraction
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning, NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator
from threadpoolctl import threadpool_info

from cpx import RuleSetClassifier
from cpx.answers import RuleSet
from cpx.errors import ClassifierError, CpxError, DataError
from cpx.models.decision_set import ActiveDecisionSet
from cpx.models.rule_set.classifier.labelled_rows import LabelledRows
from cpx.models.rule_set.methods.candidates import Literals

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "size": RNG.random(60).round(2),
        "age": RNG.integers(0, 6, 60),
        "tint": RNG.choice(list("rgb"), 60),
    }
)
TRUTH = ((TABLE["size"] > 0.6) & (TABLE["tint"] != "g")) | (TABLE["age"] == 0)
NOISY = np.where(TRUTH ^ (RNG.random(60) < 0.08), "good", "bad")


def _model(**more: object) -> RuleSetClassifier:
    return RuleSetClassifier(
        **{"k": 2, "n_bins": 4, "penalty": "0.01", "time_limit": None, **more}
    )


@pytest.fixture(scope="module")
def fitted() -> RuleSetClassifier:
    return _model(penalty="1/100").fit(TABLE, NOISY)


@pytest.mark.parametrize("more", [{"penalty": 0.05}, pytest.param({}, marks=pytest.mark.slow)])
def test_scikit_learn_checks(more: dict[str, float]) -> None:
    model = RuleSetClassifier(k=1, n_bins=4, time_limit=None, **more)
    # It shuffles the rows, whose order decides between equally good rules, and which are in a
    # fold. That a weight of two is two rows, in the same order, is tested with the weights.
    shuffled = {"check_sample_weight_equivalence_on_dense_data": "rows in another order"}
    check_estimator(model, on_skip=None, expected_failed_checks=shuffled)


def test_loss_is_that_of_the_predictions(fitted: RuleSetClassifier) -> None:
    errors = int((fitted.predict(TABLE) != NOISY).sum())
    report = fitted.report_
    assert report.errors == errors
    assert report.price == Fraction(60, 100)
    assert fitted.objective_ == errors + len(fitted.rules_) * report.price
    assert fitted.score(TABLE, NOISY) == 1 - errors / 60
    assert report.hamming_bound <= report.hamming
    assert report.closed


def test_one_rule_is_the_best_of_all_rules() -> None:
    # So high a price that no set of two rules can be better than the best single one.
    model = _model(penalty="1/5").fit(TABLE, NOISY)
    matrix, same = Literals.of_table(TABLE, n_bins=4).matrix, NOISY == "good"
    best = min(
        int((matrix[:, pair].all(axis=1) != same).sum())
        for pair in map(list, itertools.combinations(range(matrix.shape[1]), 2))
    )
    assert len(model.rules_) == 1
    assert model.report_.errors == best


def test_figures_are_what_happens_without_each_rule(fitted: RuleSetClassifier) -> None:
    covers, same = fitted.covers(TABLE), NOISY == "good"
    errors = (covers.any(axis=0) != same).sum()
    assert len(fitted.rules_) == len(covers) > 1
    found = fitted.rule_set_
    for r, figures in enumerate(found.figures):
        rest = np.delete(covers, r, axis=0).any(axis=0)
        assert figures.covered == covers[r].sum()
        assert figures.agreeing == (covers[r] & same).sum()
        assert figures.marginal == (rest != same).sum() - errors
        assert found.contributions[r] == figures.marginal - fitted.report_.price
    assert list(found.contributions) == sorted(found.contributions, reverse=True)
    texts = [literal.text for literal in found.literals]
    assert texts == [" and ".join(rule) for rule in fitted.rules_]


def test_measure_and_class_weights() -> None:
    model = _model(class_weights=(1, 3), penalty="1/50").fit(TABLE, NOISY)
    same = NOISY == "good"
    wrong = model.predict(TABLE) != NOISY
    assert model.report_.errors == wrong[~same].sum() + 3 * wrong[same].sum()
    assert model.report_.total == (~same).sum() + 3 * same.sum()
    assert model.measure(TABLE, NOISY) == model.rule_set_
    half = model.measure(TABLE[:30], NOISY[:30])
    assert half.total == 30
    assert half.figures[0].covered == model.covers(TABLE[:30])[0].sum()
    with pytest.raises(DataError, match="got 'other' as well"):
        model.measure(TABLE[:1], ["other"])


def test_the_positive_class_can_be_chosen() -> None:
    model = _model(positive="bad").fit(TABLE, NOISY)
    assert model.positive_ == "bad"
    assert model.classes_.tolist() == ["bad", "good"]
    covered = model.covers(TABLE).any(axis=0)
    np.testing.assert_array_equal(model.predict(TABLE) == "bad", covered)
    assert "for the class bad, otherwise good" in str(model)


LINE, MARKS = np.arange(10.0)[:, None], [0, 1, 0, 0, 0, 0, 1, 1, 0, 1]


@pytest.mark.parametrize("positive", [1, None])
def test_probabilities_are_smoothed_shares_of_the_rows_alike(positive: int | None) -> None:
    model = _model(n_bins=10, k=1, penalty=0.1, positive=positive).fit(LINE, MARKS)
    assert model.rules_ == (("x0 > 5.5",),)
    # Of the rows 6 to 9 three are of the class, of the six others one.
    np.testing.assert_allclose(
        model.predict_proba([[0.0], [7.0]]), [[6 / 8, 2 / 8], [2 / 6, 4 / 6]], rtol=1e-15
    )


def test_probabilities_are_in_the_order_of_the_classes() -> None:
    model = _model(n_bins=10, k=1, penalty=0.1, positive=0).fit(LINE, MARKS)
    assert model.rules_ == (("x0 <= 5.5",),)
    np.testing.assert_allclose(
        model.predict_proba([[0.0], [7.0]]), [[6 / 8, 2 / 8], [2 / 6, 4 / 6]], rtol=1e-15
    )


def test_probabilities_go_with_the_labels(fitted: RuleSetClassifier) -> None:
    shares = fitted.predict_proba(TABLE)
    assert shares.shape == (60, 2)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(fitted.classes_[shares.argmax(axis=1)], fitted.predict(TABLE))
    with pytest.warns(UserWarning, match="every row"):
        none = _model(penalty=1).fit(TABLE, NOISY)
    good = int((NOISY == "good").sum())
    np.testing.assert_allclose(none.predict_proba(TABLE[:2])[:, 1], (good + 1) / 62)


def test_rules_learned_with_weights_may_cover_more_of_the_other_class() -> None:
    weighted = _model(n_bins=10, k=1, penalty=0.1, class_weights=(1, 9)).fit(LINE, MARKS)
    assert weighted.predict(LINE[1:4]).tolist() == [1, 1, 1]
    # Nine rows from 1 on, four of the class.
    assert weighted.rules_ == (("x0 > 0.5",),)
    np.testing.assert_allclose(weighted.predict_proba(LINE[1:4])[:, 1], 5 / 11)


def test_several_classes_by_one_against_the_rest() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    with pytest.raises(DataError, match="OneVsRestClassifier"):
        _model().fit(X, y)
    model = OneVsRestClassifier(_model(penalty=0.01)).fit(X, y)
    assert [len(own.rules_) > 0 for own in model.estimators_] == [True] * 3
    assert model.score(X, y) > 0.9
    shares = np.column_stack([own.predict_proba(X)[:, 1] for own in model.estimators_])
    np.testing.assert_array_equal(model.predict(X), shares.argmax(axis=1))


def test_columns_are_matched_by_name(fitted: RuleSetClassifier) -> None:
    assert fitted.feature_names_in_.tolist() == ["size", "age", "tint"]
    turned = TABLE[["tint", "size", "age"]]
    np.testing.assert_array_equal(fitted.predict(turned), fitted.predict(TABLE))
    with pytest.raises(DataError, match="missing 'tint'"):
        fitted.predict(TABLE[["size", "age"]])
    with pytest.raises(DataError, match="RuleSetClassifier is expecting 3"):
        fitted.predict(np.zeros((1, 2)))


def test_pickle_and_refit(fitted: RuleSetClassifier) -> None:
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(TABLE), fitted.predict(TABLE))
    assert str(again) == str(fitted)
    assert RuleSet.from_dict(fitted.rule_set_.to_dict()) == fitted.rule_set_
    again.fit(np.arange(8.0)[:, None], [0, 0, 0, 0, 1, 1, 1, 1])
    assert not hasattr(again, "feature_names_in_")
    assert again.rules_ == (("x0 > 3.5",),)


def test_no_rules_at_all() -> None:
    with pytest.warns(UserWarning, match="every row of fit gets the class 'bad'"):
        model = _model(penalty=1).fit(TABLE, NOISY)
    assert model.rules_ == ()
    assert set(model.predict(TABLE)) == {"bad"}
    assert str(model).startswith("0 rules for the class good, otherwise bad\nerrors")


def _best_rule_of_two(X: pd.DataFrame, good: np.ndarray, cuts: int) -> float:
    """The greatest share of rows that one rule of at most two limits gets right."""
    edges = X.quantile(np.linspace(0, 1, cuts + 1)[1:-1])
    literals = [side for name in X for e in edges[name] for side in (X[name] > e, X[name] <= e)]
    rows = np.array(literals)
    return max(
        ((rows & one) == target).mean(axis=1).max() for one in rows for target in (good, ~good)
    )


@pytest.mark.parametrize("penalty", ["auto", "0.02"])
def test_a_limit_too_short_for_anything_leaves_a_good_rule(penalty: str) -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    with pytest.warns(ConvergenceWarning, match="time_limit=1e-06 ended the learning"):
        model = RuleSetClassifier(penalty=penalty, k=2, n_bins=4, time_limit=1e-6).fit(X, y)
    assert model.rules_
    best = _best_rule_of_two(X, y.to_numpy() == 1, 4)
    assert model.score(X, y) > best - 0.01  # a beam, and edges that are rounded


def test_what_is_finished_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = _model().fit(TABLE, NOISY)
    assert len(model.rules_) > 1


def test_products_of_matrices_take_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    # Threads that wait for each other took minutes of processor time on a busy machine.
    from cpx.models.rule_set.classifier import labelled_rows
    from cpx.models.rule_set.methods import column_generation

    threads: dict[str, set[int]] = {}

    def note(module: ModuleType, name: str) -> None:
        called = getattr(module, name)

        def noting(*args: object, **more: object) -> object:
            threads[name] = {one["num_threads"] for one in threadpool_info()}
            return called(*args, **more)

        monkeypatch.setattr(module, name, noting)

    note(labelled_rows, "chosen_price")
    note(column_generation, "learn_rules")
    _model(penalty="auto").fit(TABLE, NOISY)
    assert threads == {"chosen_price": {1}, "learn_rules": {1}}


# ------------------------------------------------------------------ black box


def _box(rows: pd.DataFrame) -> np.ndarray:
    return np.where((rows["size"] > 0.5) & (rows["tint"] != "g"), "in", "out")


@pytest.mark.parametrize("loop", ["active", "exact"])
def test_surrogate(loop: str) -> None:
    model = _model(black_box=_box, loop=loop, max_queries=40, n_bins=None, time_limit=5.0)
    model.fit(TABLE)
    assert model.surrogate_.queries_ == model.report_.queries <= 40
    assert model.report_.changed == 0
    assert (model.report_.quality_bound is None) == (loop == "active")
    assert model.score(TABLE) == pytest.approx(model.report_.fidelity)
    assert model.score(TABLE) == (model.predict(TABLE) == _box(TABLE)).mean() > 0.95
    assert model.measure(TABLE) == model.rule_set_
    assert str(model.report_) in str(model)
    model.set_params(black_box=None, time_limit=None, n_bins=4).fit(TABLE, NOISY)
    assert not hasattr(model, "surrogate_")


def test_options_of_a_loop_are_those_of_its_learner() -> None:
    loop = "active{beta=0.02, max_iterations=7, queries_per_iteration=9}"
    model = _model(black_box=_box, loop=loop, max_queries=30, n_bins=None).fit(TABLE)
    ours = model.surrogate_
    assert (ours.beta, ours.max_iterations, ours.queries_per_iteration) == (0.02, 7, 9)
    assert [step.iteration for step in ours.history_] == list(range(1, len(ours.history_) + 1))
    assert len(ours.history_) <= 7
    own = ActiveDecisionSet(
        penalty=ours.penalty,
        beta=0.02,
        max_iterations=7,
        queries_per_iteration=9,
        max_queries=30,
        max_conditions=model.k_,
        positive=ours.positive,
    ).fit(TABLE, _box)
    assert own.history_ == ours.history_
    learned = _model(black_box=_box, loop="learned{restarts=1}", max_queries=30, n_bins=None)
    assert learned.fit(TABLE).surrogate_.restarts == 1
    assert learned.score(TABLE) > 0.95


def test_no_queries() -> None:
    asked = []

    def box(rows: pd.DataFrame) -> np.ndarray:
        asked.append(len(rows))
        return _box(rows)

    model = _model(black_box=box, max_queries=0, n_bins=None).fit(TABLE)
    assert model.report_.queries == 0
    # All rows, and some of them again.
    assert asked[0] == 60
    assert sum(asked[1:]) == model.report_.rechecked


@pytest.mark.parametrize("loop", ["active", "exact"])
def test_a_black_box_that_changes_its_mind(loop: str) -> None:
    rng = np.random.default_rng(1)
    model = _model(
        black_box=lambda rows: rng.random(len(rows)) < 0.5, max_queries=0, n_bins=None, loop=loop
    )
    with pytest.warns(UserWarning, match="changed its mind") as told:
        model.fit(TABLE[:16])
    assert model.report_.changed > 0
    assert [w.filename for w in told] == [__file__]
    with pytest.warns(UserWarning, match="changed its mind") as told:
        model.surrogate_.fit(TABLE[:16], model.black_box)
    assert [w.filename for w in told] == [__file__]


def test_a_column_of_labels_is_warned_of_where_it_is_given() -> None:
    with pytest.warns(DataConversionWarning, match="column-vector y") as told:
        model = _model(k=1).fit(LINE, np.array(MARKS)[:, None])
    assert [w.filename for w in told] == [__file__]
    assert model.predict(LINE).tolist() == _model(k=1).fit(LINE, MARKS).predict(LINE).tolist()


def test_clone_leaves_the_black_box_as_it_is() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:60, :2]
    forest = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y[:60])
    model = _model(black_box=forest, max_queries=0, n_bins=None)
    again = clone(model)
    assert again.black_box is forest
    assert again.get_params(deep=False) == model.get_params(deep=False)
    scores = cross_val_score(model, X, forest.predict(X), cv=2, error_score="raise")
    assert scores.min() > 0.8


def test_wide_tables_have_fewer_cuts() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 9000))
    rows = LabelledRows.of(_model(n_bins=None), X, X[:, 0] > 0)
    assert {len(column.thresholds) for column in rows.binarizer.columns_} == {3}
    asked = LabelledRows.of(_model(n_bins=6), X[:, :3000], X[:, 0] > 0)
    assert {len(column.thresholds) for column in asked.binarizer.columns_} == {5}


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 0}, "k must be an integer of at least 1, got 0"),
        ({"k": 2.0}, "k must be"),
        ({"penalty": -0.1}, "penalty.*-0.1"),
        ({"penalty": float("nan")}, "penalty.*nan"),
        ({"n_bins": 1}, "n_bins.*1"),
        ({"categorical": ["siz"]}, "did you mean 'size'"),
        ({"max_categories": 2}, "'tint' has 3 categories.*raise max_categories where"),
        ({"max_categories": 0}, "max_categories.*0"),
        ({"black_box": _box, "max_categories": 2}, "'tint' has 3 categories"),
        ({"positive": "best"}, "positive.*'best'"),
        ({"class_weights": (-1, 1)}, "class_weights.*-1"),
        ({"time_limit": 0}, "time_limit.*0"),
        ({"threads": 0}, "threads.*0"),
        ({"seed": -1}, "seed.*-1"),
        ({"black_box": _box, "n_bins": 1}, "n_bins.*1"),
        ({"black_box": _box, "loop": "exactly"}, "did you mean 'exact'"),
        ({"black_box": _box, "max_queries": -1}, "max_queries.*-1"),
        ({"black_box": _box, "class_weights": (1, 2)}, "class_weights.*black box"),
        ({"black_box": _box, "prove": True}, "prove.*black box"),
        ({"black_box": _box, "positive": "best"}, "positive.*'best'"),
        ({"black_box": lambda rows: np.zeros(len(rows))}, "nothing for rules to tell apart"),
    ],
)
def test_refuses_parameters(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(CpxError, match=message):
        _model(**parameters).fit(TABLE, NOISY)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y"),
        (["good"] * 60, "y has one class only, 'good'"),
        (TABLE["tint"], "Only binary.*3 classes"),
        (NOISY[:59], "59 labels, X has 60 rows"),
        (np.linspace(0, 1, 60), "continuous"),
        (np.where(TRUTH, 1.0, np.nan), "NaN"),
        (np.zeros((60, 2)), "y cannot be used"),
        (np.array([1, "a"] * 30, dtype=object), "y cannot be used"),
    ],
)
def test_refuses_labels(y: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        _model().fit(TABLE, y)


def test_not_fitted() -> None:
    for call in (
        lambda m: m.predict_proba(TABLE),
        lambda m: m.predict(TABLE),
        lambda m: m.plot(),
        lambda m: m.measure(TABLE),
    ):
        with pytest.raises(NotFittedError):
            call(_model())
    with pytest.raises(ClassifierError):
        _model(black_box=3).fit(TABLE)


def test_score_needs_labels(fitted: RuleSetClassifier) -> None:
    with pytest.raises(DataError, match="y is missing"):
        fitted.score(TABLE)
