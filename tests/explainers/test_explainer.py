"""What a user asks of a rule, and what is said of the answer."""

from __future__ import annotations

import itertools
import pickle
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

import cpx
from cpx.answers.explanation import Explanation
from cpx.errors import (
    CpxError,
    DataError,
    EngineError,
    EngineMissing,
    Infeasible,
    InvalidOption,
    NoMass,
)
from cpx.models.monomial.explainers.conclusions import with_beyond
from cpx.models.monomial.explainers.guarantees import guarantee
from cpx.models.monomial.explainers.question import Question
from cpx.models.monomial.explainers.rule import RuleExplainer

from ..cli.test_engines import hide

N = 400


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "size": rng.normal(10, 3, N).round(2),
            "weight": rng.normal(5, 1, N).round(2),
            "tint": rng.choice(["red", "blue", "green"], N),
        }
    )


def heavy(rows: pd.DataFrame) -> np.ndarray:
    noise = (rows["size"] * 100).round().astype(int) % 7 == 0
    return np.where((rows["weight"] > 5) & (rows["tint"] == "red") & ~noise, "heavy", "light")


@pytest.fixture(scope="module")
def explainer(table: pd.DataFrame) -> RuleExplainer:
    return RuleExplainer(heavy, table, seed=4)


@pytest.fixture(scope="module")
def drawing(table: pd.DataFrame) -> RuleExplainer:
    """Draws its samples, for its rows have no list."""
    return RuleExplainer(heavy, table, distribution="perturbed", seed=4)


@pytest.fixture(scope="module")
def x(table: pd.DataFrame) -> pd.Series:
    return table.iloc[int(np.flatnonzero(heavy(table) == "heavy")[0])]


def figures(
    explainer: RuleExplainer, x: pd.Series, k: int
) -> list[tuple[Fraction, Fraction, int]]:
    """Precision, coverage and loss of every rule that covers something, by brute force."""
    samples = explainer.samples(x)
    found = []
    for size in range(k + 1):
        for rule in itertools.combinations(range(samples.d), size):
            covered = samples.agreement[:, list(rule)].all(axis=1)
            weight = int(samples.weights[covered].sum())
            right = int(samples.weights[covered & samples.same].sum())
            loss = int(samples.weights[covered != samples.same].sum())
            if weight:
                found.append((Fraction(right, weight), Fraction(weight, samples.total), loss))
    return found


def test_each_objective_is_the_best_of_all_rules(explainer: RuleExplainer, x: pd.Series) -> None:
    rules = figures(explainer, x, 2)
    floor = Fraction(3, 20)
    found = explainer.explain(x, 2, min_coverage=0.15)
    assert found.precision.exact == max(p for p, c, _ in rules if c >= floor)
    assert found.coverage.exact >= floor
    assert explainer.solve(x, 2).objective == max(p for p, c, _ in rules if c >= 0.05)
    found = explainer.explain(x, 2, objective="coverage", min_precision="4/5")
    assert found.coverage.exact == max(c for p, c, _ in rules if p >= Fraction(4, 5))
    assert found.precision.exact >= Fraction(4, 5)
    assert explainer.solve(x, 2, objective="loss").objective == min(n for *_, n in rules)
    assert explainer.solve(x, 2, objective="negative-only").objective == min(
        (1 - p) * c * N for p, c, _ in rules
    )
    limited = explainer.solve(x, 2, objective="loss", max_coverage="1/10")
    assert limited.objective == min(n for _, c, n in rules if c <= 0.1)


def test_limits_that_no_rule_keeps(explainer: RuleExplainer, x: pd.Series) -> None:
    result = explainer.solve(x, 2, min_coverage=0.9, min_precision=0.9)
    assert (str(result.status), result.explanation) == ("INFEASIBLE", None)
    with pytest.raises(Infeasible, match="covers at least 100 %"):
        cpx.explain(heavy, explainer.distribution.background.rows, x, 2, min_coverage=1,
                    min_precision=1)  # fmt: skip


def test_required_and_forbidden_conditions(explainer: RuleExplainer, x: pd.Series) -> None:
    names = explainer.conditions(x).literals
    best = explainer.explain(x, 2)
    j = best.features[0]
    without = explainer.explain(x, 2, forbidden=names[j])
    assert j not in without.features
    assert without.precision <= best.precision
    other = next(i for i in range(len(names)) if i not in best.features)
    for form in (names[other], other, [other], [names[other]]):
        assert other in explainer.explain(x, 2, required=form).features
    # What is proved is proved of the rules that were allowed, and the sentence says so.
    assert "no rule of at most 2 conditions that has nothing forbidden and" in without.proved
    asked = {"objective": "loss", "epsilon": 0.2, "delta": 0.1}
    told = explainer.explain(x, 2, required=other, **asked)
    assert told.guarantee.endswith("every rule of at most 2 conditions that has what is required")
    one = explainer.explain(x, 4, one_per_group=True, required="tint = red")
    groups = [explainer.distribution.groups[j] for j in one.features]
    assert len(set(groups)) == len(groups)


def test_the_empty_rule_of_least_loss_is_told(
    explainer: RuleExplainer, table: pd.DataFrame
) -> None:
    light = table.iloc[int(np.flatnonzero(heavy(table) == "light")[0])]
    result = explainer.solve(light, 0, objective="loss")
    (note,) = result.explanation.notes
    share = float(result.explanation.precision)
    assert f"always predicting light is the best answer. It is right for {share:.3f} of" in note
    assert note in result.explanation.summary()
    assert note in result.explanation._repr_html_()
    # Other objectives, other rules, and a rule without proof get no such note.
    assert explainer.explain(light, 0).notes == ()
    assert explainer.explain(light, 1, objective="loss", required=0).notes == ()


def test_all_samples_agree_is_no_empty_rule_by_loss(table: pd.DataFrame) -> None:
    always = RuleExplainer(lambda rows: np.ones(len(rows)), table)
    result = always.solve(table.iloc[0], 2, objective="loss")
    assert (result.explanation.features, result.explanation.notes) == ((), ())


@pytest.mark.parametrize("objective", ["loss", "negative-only"])
def test_guarantee_of_a_loss(explainer: RuleExplainer, x: pd.Series, objective: str) -> None:
    asked = {"objective": objective, "epsilon": 0.2, "delta": 0.1}
    result = explainer.solve(x, 2, **asked)
    d = explainer.distribution.n_features
    assert explainer.problem(x, 2, **asked).samples.total == cpx.data.sample_size(2, d, 0.2, 0.1)
    assert result.explanation.guarantee.startswith(
        "with probability at least 0.9 over the samples drawn, the share of rows of 'empirical' "
    )
    found = re.search(r"at most ([0-9.]+) above that of every rule of at most 2 ",
                      result.explanation.guarantee)  # fmt: skip
    assert 0 < float(found[1]) <= 0.2
    assert "guarantee" in result.explanation.summary()


def test_guarantee_without_proof_adds_the_gap(explainer: RuleExplainer, x: pd.Series) -> None:
    question = Question(k=2, objective="loss", epsilon=0.2, delta=0.1)
    problem = explainer.state(x, question)
    rule = problem.explanation([0])
    value, total = problem.evaluate(rule).objective, problem.samples.total
    proved, open_ = (guarantee(problem, rule, value - left, question.delta) for left in (0, 7))
    assert open_["loss_above"] - proved["loss_above"] == pytest.approx(7 / total, abs=0.01)
    assert guarantee(problem, rule, None, question.delta) == {}
    assert guarantee(problem, rule, value)["delta"] == 0.05


def test_a_guarantee_claims_no_more_than_is_proved(drawing: RuleExplainer, x: pd.Series) -> None:
    """Six digits of 1 - delta may be 1."""
    explainer = drawing
    question = Question(k=1, objective="loss", epsilon=0.12345649, delta=1e-7)
    problem = explainer.state(x, question)
    rule = problem.explanation([0])
    sure = guarantee(problem, rule, problem.evaluate(rule).objective, question.delta)
    told = with_beyond(problem, rule, sure).guarantee
    assert "with probability at least 0.9999999 over" in told
    rare = with_beyond(problem, rule, guarantee(problem, rule, 0, delta=1e-40)).guarantee
    assert "at least 0.9999999999999999999999999999 over" in rare


def test_a_loss_is_seldom_further_from_the_least_than_is_said(table: pd.DataFrame) -> None:
    """The rows of the table are the distribution, so the loss of every rule is known."""
    x = table.iloc[int(np.flatnonzero(heavy(table) == "heavy")[0])]
    delta, epsilon, wrong, rounds = 0.3, 0.3, 0, 12
    for seed in range(rounds):
        explainer = RuleExplainer(heavy, table, seed=seed)
        asked = {"objective": "loss", "epsilon": epsilon, "delta": delta}
        found = explainer.explain(x, 1, fresh=1, **asked)
        agreement = explainer.distribution.background.bits == explainer.distribution.encode(x)
        same = heavy(table) == "heavy"
        losses = {
            rule: float((agreement[:, list(rule)].all(axis=1) != same).mean())
            for rule in [(), *((j,) for j in range(agreement.shape[1]))]
        }
        said = float(re.search(r"at most ([0-9.]+) above that of every ", found.guarantee)[1])
        assert said <= epsilon
        wrong += losses[found.features] > min(losses.values()) + said
    assert wrong <= delta * rounds


@pytest.mark.parametrize("objective", ["precision", "coverage"])
def test_guarantee_of_shares(drawing: RuleExplainer, x: pd.Series, objective: str) -> None:
    """The figures are those of the derivation, rounded to the safe side."""
    explainer = drawing
    asked = {"objective": objective, "epsilon": 0.05, "delta": 0.1, "min_precision": 0.7}
    question = Question(k=2, **asked)
    problem = explainer.state(x, question)
    found = explainer.conclude(cpx.solve(problem, "search"), problem, question).explanation
    m, d = problem.samples.total, problem.n_features
    assert m == cpx.data.sample_size(2, d, 0.05, 0.1 / 2)
    tail = 0.1 / 3 / (1 + d + d * (d - 1) // 2)
    covered, text = int(found.coverage.exact * m), found.guarantee
    low = binomtest(int(found.precision.exact * covered), covered).proportion_ci(1 - 2 * tail).low
    assert f"'perturbed': its precision is at least {np.floor(1000 * low) / 1000:g}" in text
    limits = binomtest(covered, m).proportion_ci(1 - 2 * tail)
    assert f"it covers at least {np.floor(1000 * limits.low) / 1000:g}" in text
    if objective == "coverage":
        most = np.ceil(1000 * limits.high) / 1000
        assert text.endswith(f"at least 70 % on the samples covers more than {most:g}")
    # Never worse than what Hoeffding's inequality gives.
    h = np.sqrt(np.log(4 * 0.1 / 3 / tail / 0.1) / (2 * m))
    assert low >= found.precision - h / np.sqrt(found.coverage)


def test_a_guarantee_of_nothing_is_told(explainer: RuleExplainer, x: pd.Series) -> None:
    question = Question(k=9, epsilon=0.9, delta=0.9)
    problem = explainer.state(x, question)
    rule = problem.explanation(range(9))
    told = with_beyond(problem, rule, guarantee(problem, rule, None, question.delta)).guarantee
    samples = problem.samples.total
    assert told == f"none: {samples} samples are too few, a smaller epsilon draws more"


def test_what_is_guaranteed_is_not_often_wrong(table: pd.DataFrame) -> None:
    """The rows of the table are the distribution, so every claim can be checked."""
    x = table.iloc[int(np.flatnonzero(heavy(table) == "heavy")[0])]
    delta, wrong, rounds = 0.05, 0, 25
    for seed in range(rounds):
        explainer = RuleExplainer(heavy, table, seed=seed)
        found = explainer.explain(x, 1, m=100, fresh=1)
        bits = explainer.distribution.background.bits
        covered = (bits == explainer.distribution.encode(x))[:, list(found.features)].all(axis=1)
        precision = float((heavy(table)[covered] == "heavy").mean())
        said = found.guarantee.split("precision is at least ")[1].split(";")[0]
        wrong += precision < float(said)
    assert wrong <= delta * rounds


def test_a_rule_without_mass_is_told_not_raised(table: pd.DataFrame) -> None:
    explainer = RuleExplainer(heavy, table)
    stranger = {"size": 1e6, "weight": -1e6, "tint": "violet"}
    result = explainer.solve(stranger, 3, objective="loss", required="tint != red", m=200)
    assert result.explanation.fresh is not None
    everything = explainer.conditions(stranger).literals
    required = [j for j, text in enumerate(everything) if text.startswith("tint")]
    result = explainer.solve(stranger, 3, objective="loss", required=required)
    assert result.explanation.fresh is None
    (note,) = result.explanation.notes
    assert note.startswith("the precision could not be measured on fresh samples: no background")
    with pytest.raises(NoMass):
        explainer.distribution.sample_given(1, stranger, required, np.random.default_rng(0))


def test_measuring_is_not_on_the_samples_of_the_rule(
    explainer: RuleExplainer, x: pd.Series
) -> None:
    result = explainer.solve(x, 0, m=1000, fresh=1000)
    assert result.explanation.fresh.agreeing != result.explanation.precision.exact * 1000


def test_score(explainer: RuleExplainer, x: pd.Series) -> None:
    best = explainer.explain(x, 2)
    scored = explainer.score(str(best).partition(" => ")[0], x)
    assert (scored.precision, scored.coverage) == (best.precision, best.coverage)
    assert scored.fresh == best.fresh
    assert scored.proved.startswith(f"precision {best.precision.exact.numerator}")
    assert " is optimal: no rule of at most " in scored.proved
    assert explainer.score(best, x).features == explainer.score(best.rule, x).features
    worse = explainer.score("tint = red", x, k=2)
    assert worse.proved.startswith("precision 0.")
    assert f"; the best one found is {best}" in worse.proved
    assert "is optimal: no rule of at most 2 conditions" in worse.proved
    assert explainer.score("tint = red", x, compare=False).proved == ""


def test_score_of_a_rule_that_was_not_asked_for(explainer: RuleExplainer, x: pd.Series) -> None:
    scored = explainer.score("tint = red", x, min_coverage=0.9)
    assert (
        "it is not what was asked for, a rule of at most 1 condition that covers" in scored.proved
    )
    scored = explainer.score(
        "(always)", x, objective="loss", min_precision=1, max_coverage="1/1000"
    )
    assert scored.proved.endswith("; there is none")


def test_score_by_loss_with_a_guarantee(explainer: RuleExplainer, x: pd.Series) -> None:
    asked = {"objective": "loss", "epsilon": 0.2, "delta": 0.1}
    scored = explainer.score("(always)", x, **asked)
    problem = explainer.problem(x, 1, **asked)
    least = cpx.solve(problem).objective
    gap = problem.samples.total - problem.samples.agreeing - least
    said = float(re.search(r"at most ([0-9.]+) above", scored.guarantee)[1])
    assert gap / problem.samples.total < said <= gap / problem.samples.total + 0.2


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"objective": "precison"}, "unknown objective 'precison'.*did you mean 'precision'"),
        ({"min_coverage": 1.5}, "min_coverage must be a share from 0 to 1.*1.5"),
        ({"min_precision": "high"}, "min_precision must be a share.*'high'"),
        ({"max_coverage": -1}, "max_coverage must be a share.*-1"),
        ({"epsilon": 0.1}, "epsilon and delta belong together: delta is missing"),
        ({"delta": 0.1}, "epsilon and delta belong together: epsilon is missing"),
        ({"epsilon": 0.1, "delta": 0.1, "m": 5}, "m = 5 and epsilon = 0.1 both say"),
        ({"epsilon": 0, "delta": 0.1}, "epsilon must be a number between 0 and 1, got 0"),
        ({"epsilon": 0.1, "delta": 1}, "delta must be a number between 0 and 1, got 1"),
        ({"m": 0}, "m must be an integer of at least 1, got 0"),
        ({"k": 99}, "k must be between 0 and the number of features 9, got 99"),
        ({"k": 1.5}, "k must be between 0 and the number of features 9, got 1.5"),
        ({"required": "tint = blue"}, "required: the condition 'tint = blue' is false of x"),
        ({"forbidden": "tinct = red"}, "forbidden: unknown condition.*'tint = red'"),
        ({"required": [0, 99]}, "required has the feature 99"),
        ({"objectiv": "loss"}, "there is no option 'objectiv'.*did you mean 'objective'"),
        ({"kind": "k-monomial"}, "there is no option 'kind'"),
        ({"fresh": 0}, "fresh must be an integer of at least 1, got 0"),
    ],
)
def test_wrong_questions(
    explainer: RuleExplainer, x: pd.Series, asked: dict[str, object], message: str
) -> None:
    with pytest.raises(CpxError, match=message):
        explainer.explain(x, **{"k": 1, **asked})


def test_wrong_scores(explainer: RuleExplainer, x: pd.Series) -> None:
    with pytest.raises(InvalidOption, match="the rule has 2 conditions, k is 1"):
        explainer.score([0, 1], x, k=1)
    with pytest.raises(InvalidOption, match="rule: unknown condition 'nonsense'"):
        explainer.score("nonsense", x)
    with pytest.raises(DataError):
        explainer.score([0], {"size": 1})


def test_an_explanation_reads_back_what_it_wrote(explainer: RuleExplainer, x: pd.Series) -> None:
    found = explainer.explain(x, 1, objective="loss", epsilon=0.3, delta=0.3)
    assert Explanation.from_dict(found.to_dict()) == found
    saved = found.to_dict()
    assert not {"proved", "guarantee", "notes"} & saved.keys()
    # Words of earlier versions are ignored.
    del saved["claim"]
    old = Explanation.from_dict(saved | {"proved": "optimal", "guarantee": "sure", "notes": ["x"]})
    assert (old.proved, old.guarantee, old.notes) == ("", "", ())


def test_the_seed_is_for_engines_that_take_one(table: pd.DataFrame, x: pd.Series) -> None:
    explainer = RuleExplainer(heavy, table, seed=7)
    assert explainer.solve(x, 1, backend="cpsat").options["seed"] == 7
    result = explainer.solve(x, 1)
    assert result.backend == "search"
    assert not [text for text in result.warnings if "seed" in text]


def test_an_engine_that_is_not_installed_is_named(
    explainer: RuleExplainer, x: pd.Series, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(monkeypatch, "highspy")
    with pytest.raises(EngineMissing, match="pip install 'highspy"):
        explainer.explain(x, 1, backend="milp")


# -------------------------------------------------------------------- what is returned


def test_the_doors_return_the_same(table: pd.DataFrame, x: pd.Series) -> None:
    asked = {"objective": "loss", "m": 300, "fresh": 50}
    by_call = cpx.explain(heavy, table, x, 2, seed=4, **asked)
    explainer = RuleExplainer(heavy, table, seed=4)
    by_step, result = explainer.explain(x, 2, **asked), explainer.solve(x, 2, **asked)
    assert isinstance(by_step, Explanation)
    assert by_call == by_step == result.explanation
    assert by_call.result.objective == by_step.result.objective == result.objective
    assert by_call.result.verified
    # The result is no part of what is saved, and a copy keeps it.
    assert Explanation.from_dict(by_call.to_dict()).result is None
    assert pickle.loads(pickle.dumps(by_call)).result.bound == result.bound


def test_what_is_wrong_is_raised_by_both_doors(explainer: RuleExplainer, x: pd.Series) -> None:
    with pytest.raises(EngineError, match="there is no rule of at most 2 conditions that covers"):
        explainer.explain(x, 2, min_coverage=0.9, min_precision=0.9)
