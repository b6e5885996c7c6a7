"""All kinds of explanations of a row: answers and relations against brute force, and the doors."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

import cpx
from cpx.answers.result import Status
from cpx.errors import CheckFailed, CpxError
from cpx.models.all_kinds.answer import AllKinds
from cpx.models.all_kinds.relations import Related

from ..browser import Browser, Reader
from ..browser import found as browser_found

D, VALUES = 4, (0.0, 1.0, 2.0)
GRID = np.array([*itertools.product(VALUES, repeat=D)])
"""All rows that a model of whole numbers tells apart."""

HOSTILE = "</script><img src=x onerror=window.pwned=1>"


def _world(seed: int) -> tuple[Any, pd.DataFrame]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 3, (60, D)).astype(float), columns=[*"abcd"])
    y = ((X["a"] > 0) & (X["b"] < 2) | (X["c"] == 2)) ^ (rng.random(60) < 0.1)
    model: Any = RandomForestClassifier(3, max_depth=3, random_state=seed)
    if seed % 2:
        model = GradientBoostingClassifier(n_estimators=4, max_depth=2, random_state=seed)
    return model.fit(X, y), X


def _subsets(n: int) -> list[tuple[int, ...]]:
    return [S for size in range(n + 1) for S in itertools.combinations(range(n), size)]


def _places(columns: Any) -> set[int]:
    return {"abcd".index(name) for name in columns}


def _one_row_of_each_state(coding: Any) -> np.ndarray:
    """Return rows of all states, with one value for each state of a column."""
    values, line = [], np.arange(-1, 3, 1 / 16)
    for a in range(D):
        rows = np.zeros((len(line), D))
        rows[:, a] = line
        states, first = np.unique(coding.codes(rows)[:, a], return_index=True)
        assert [*states] == [*range(coding.cardinalities[a])]
        values.append(line[first])
    return np.array([*itertools.product(*values)])


def _scores(model: Any, x: Any, rows: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return of rows whether they get the class of x, and the score of that class."""
    rows = pd.DataFrame(rows, columns=[*"abcd"])
    own = model.predict(x)[0]
    if isinstance(model, GradientBoostingClassifier):
        sign = 1 if own == model.classes_[1] else -1
        score = sign * model.decision_function(rows)
    else:
        score = model.predict_proba(rows)[:, [*model.classes_].index(own)]
    return model.predict(rows) == own, score


@pytest.mark.parametrize("seed", range(6))
def test_answers_and_relations_by_brute_force(seed: int) -> None:
    model, X = _world(seed)
    x = X.iloc[[seed]]
    values, (same, score) = x.to_numpy()[0], _scores(model, x, GRID)
    found = cpx.Explainer(model, X).all_kinds(seed)
    assert found.status is Status.OPTIMAL
    kinds = {one.kind: one for one in found.kinds}
    assert [*kinds] == ["rule", "certificate", "expectation", "reason", "contrast"]
    assert all(one.value == pytest.approx(one.bound) for one in found.kinds)

    agree = values == GRID
    forces = [S for S in _subsets(D) if same[agree[:, S].all(axis=1)].all()]
    assert kinds["reason"].value == min(map(len, forces))
    assert tuple(sorted(_places(kinds["reason"].columns))) in forces
    changed = _places(kinds["contrast"].columns)
    assert all(changed & {*S} for S in forces)  # each reason, and not the minimum alone
    others = GRID[~same]
    assert kinds["contrast"].value == (others != values).sum(axis=1).min()

    samples = cpx.Explainer(model, X).of("rule").samples(x)
    sets = [S for S in _subsets(samples.d) if len(S) <= 4]
    covered = {S: samples.covered(S) for S in sets}
    enough = [S for S in sets if samples.same[covered[S]].all()]
    assert kinds["certificate"].value == min(map(len, enough))
    k = min(5, len(kinds["reason"].columns))
    weights, floor = samples.weights, samples.total / 20
    precisions = [
        weights[covered[S] & samples.same].sum() / weights[covered[S]].sum()
        for S in sets
        if len(S) <= k and weights[covered[S]].sum() >= floor
    ]
    assert kinds["rule"].value == pytest.approx(max(precisions))

    expected: Any = kinds["expectation"].found
    problem = expected.problem
    states = _one_row_of_each_state(problem.coding)
    codes = problem.coding.codes(states)
    masses, own = np.exp(problem.distribution.log_likelihood(codes)), codes == problem.codes
    assert masses.sum() == pytest.approx(1)
    same, score = _scores(model, x, states)

    def given(S: tuple[int, ...]) -> tuple[float, float]:
        mass = masses * own[:, S].all(axis=1)
        return (
            float((mass * score).sum() / mass.sum()),
            float((mass * same).sum() / mass.sum()),
        )

    columns = {name: _places(one.columns) for name, one in kinds.items()}
    for one in found.known:
        S = columns.get(one.of, {*range(D)} if one.of == "all columns" else set())
        assert (one.expected, one.share) == pytest.approx(given(tuple(sorted(S))), abs=1e-6)
        assert one.same is not None
        assert one.columns == len(S)
    best = max(given(S)[0] for S in _subsets(D) if len(S) <= k)
    assert kinds["expectation"].value == pytest.approx(best, abs=1e-6)
    assert {one.of: one.same for one in found.known}["reason"] == 1
    laws = [one.kinds for one in found.relations if one.law]
    assert {("reason", "rule"), ("contrast", "reason"), ("reason", "expectation")} <= {*laws}


def test_a_relation_that_does_not_hold_is_an_error() -> None:
    model, X = _world(0)
    ex = cpx.Explainer(model, X)
    found = ex.all_kinds(0)
    kinds = {one.kind: one for one in found.kinds}
    other = next(c for c in "abcd" if c not in kinds["contrast"].columns)
    reason, rule, expectation = (kinds[name] for name in ("reason", "rule", "expectation"))
    rows: Any = reason.found.rows
    lying = replace(reason.found)
    lying.__dict__["rows"] = replace(rows, disagreeing=(7,))
    figures = rule.found.claim
    assert figures is not None
    too_low: Any = replace(expectation.found, expected=-9.0, claim=_lowered(expectation.found))
    wrong = {
        "no column of the reason": {"reason": replace(reason, columns={other: ""})},
        "rows of another class": {"reason": replace(reason, found=lying)},
        "a probability to other": {
            "reason": replace(reason, columns={}),
            "contrast": replace(kinds["contrast"], found=_none()),
        },
        "a smaller certificate": {
            "certificate": replace(
                kinds["certificate"],
                found=replace(
                    kinds["certificate"].found,
                    claim=replace(kinds["certificate"].found.claim, bound=99),  # type: ignore[arg-type]
                ),
            )
        },
        "more than is possible": {"expectation": replace(expectation, found=too_low)},
    }
    for told, changes in wrong.items():
        with pytest.raises(CheckFailed, match=told):
            Related(ex, ex, X.iloc[[0]], 4, {**kinds, **changes}).relations()


def _lowered(found: Any) -> Any:
    return replace(found.claim, bound=-found.claim.bound)


def _none() -> Any:
    from cpx.answers.explanations import unanswered
    from cpx.errors import EngineError

    return unanswered(EngineError("none"))


def test_a_kind_without_an_answer_says_why() -> None:
    model, X = _world(0)
    alone = cpx.Explainer(model).all_kinds(X.iloc[0])
    assert {one.kind for one in alone.answered} == {"reason", "contrast"}
    assert "needs X" in alone["rule"].why
    assert alone["rule"].status is None
    assert alone.status is Status.FEASIBLE
    texts = X.assign(d=np.where(X["d"] > 1, "high", "low"))
    found = cpx.Explainer(lambda rows: (rows["a"] > 0) & (rows["d"] == "high"), texts)
    told = found.all_kinds(3)
    assert {"rule", "certificate"} <= {one.kind for one in told.answered}
    assert told["expectation"].why
    assert told["expectation"].told == "not asked"
    said = json.loads(json.dumps(told.to_dict()))
    assert said["kinds"]["expectation"]["status"] is None
    assert said["kinds"]["expectation"]["why"] in told.to_page()
    assert "no rule" not in str(told)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"k": 0}, "k must be"),
        ({"k": "two"}, "k must be"),
        ({"epsilon": 2}, "epsilon"),
        ({"target": "nothing"}, "target"),
        ({"frozen": "z"}, "z"),
        ({"x": 999}, "999"),
    ],
)
def test_wrong_arguments_are_named(wrong: dict[str, Any], told: str) -> None:
    model, X = _world(0)
    with pytest.raises(CpxError, match=told):
        cpx.Explainer(model, X).all_kinds(**{"x": 0, **wrong})


def test_the_distribution_is_that_of_the_expectation_alone() -> None:
    model, X = _world(0)
    found = cpx.Explainer(model, X, distribution="factorised").all_kinds(0, k=2, epsilon="1/10")
    expected: Any = found["expectation"].found
    assert expected.problem.distribution.factorised
    rule = found["rule"].found.claim
    assert rule is not None
    assert rule.figures["total"] == len(X)
    assert found["certificate"].value is not None
    assert found["certificate"].value <= 2


@pytest.fixture(scope="module")
def hostile() -> AllKinds:
    model, X = _world(2)
    X = X.rename(columns={"a": HOSTILE})
    found: AllKinds = cpx.Explainer(
        model.fit(X, (X[HOSTILE] > 0) & (X["b"] < 2)), X, class_names=["<b>no</b>", "yes"]
    ).all_kinds(1)
    return found


def test_the_page_says_all_and_has_no_markup_of_names(hostile: AllKinds) -> None:
    reader = Reader(hostile.to_page(f"Title {HOSTILE}"))
    assert all(address.startswith("#") for address in reader.addresses)
    assert not {"img", "b", "iframe", "link"} & {*reader.tags}
    text = " ".join(reader.texts)
    for one in hostile.kinds:
        assert str(one.found) in text
        assert one.found.proved in text
    for relation in hostile.relations:
        assert relation.text in text


def test_the_page_in_a_browser(hostile: AllKinds, tmp_path: Path) -> None:
    if browser_found() is None:
        pytest.skip("Chromium is not installed")
    hostile.save(tmp_path / "page.html")
    with Browser() as browser:
        browser.open(tmp_path / "page.html")
        rows = "[...document.querySelectorAll('#expected tbody th')].map(r => r.innerText)"
        assert browser.run(rows) == [one.of for one in hostile.known]
        browser.run("document.querySelectorAll('#expected thead button')[2].click()")
        order = sorted(hostile.known, key=lambda one: one.expected)
        assert browser.run(rows)[0] == order[0].of
        for width in (390, 1280):
            browser.narrow(width)
            assert browser.run("document.documentElement.scrollWidth") <= width
        assert browser.run("window.pwned") is None
        assert browser.troubles() == []
        assert all(address.startswith("file:") for address in browser.asked_for())


def test_the_figure_has_each_kind_and_column(hostile: AllKinds, tmp_path: Path) -> None:
    drawn = hostile.plot()
    texts = [text.get_text() for ax in drawn.axes for text in ax.texts]
    assert {one.kind for one in hostile.kinds} <= {*texts}
    assert {"b"} <= {*texts}
    heights = drawn.axes[1].lines[0].get_ydata()
    assert [*heights] == [one.expected for one in hostile.known]
    matplotlib.pyplot.close(drawn)
    for name in ("figure.svg", "figure.pdf"):
        hostile.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 5000
    with pytest.raises(cpx.CpxError, match=r"\.html, \.svg"):
        hostile.save(tmp_path / "figure.txt")
