"""Side constraints of explanations: for any row, of every kind, and what is said of a clash."""

from __future__ import annotations

import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import cpx
from cpx.errors import EngineError, InvalidInstance

X, Y = load_iris(return_X_y=True, as_frame=True)
FOREST = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, Y)
TREE = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, Y)
LONG, WIDE = "petal length (cm)", "petal width (cm)"


def columns(explanation: cpx.Explanation) -> set[str]:
    return {name for name in X.columns if any(name in str(t) for t in explanation.rule.literals)}


def test_the_same_texts_for_many_rows() -> None:
    # The first condition is true of some rows only; where it is not, no rule has it.
    where = [f"not ('{LONG}' > 4.85 and '{WIDE}')", f"at_most(1, '{LONG}', 'sepal width (cm)')"]
    explainer = cpx.Explainer(FOREST, X)
    untrue = 0
    for row in range(0, 150, 12):
        problem = explainer.problem(X.iloc[row], k=3, where=where)
        untrue += bool(problem.side_constraints[0].untrue)
        found = explainer.explain(X.iloc[row], k=3, where=where)
        assert not {LONG, "sepal width (cm)"} <= columns(found)
        literals = [str(literal) for literal in found.rule.literals]
        assert not (f"{LONG} > 4.85" in literals and WIDE in columns(found))
    assert 0 < untrue < 13


def test_reasons_and_probabilistic_explanations() -> None:
    plain = cpx.explain(TREE, None, X.iloc[0], kind="reason")
    assert columns(plain) == {WIDE} or columns(plain) == {LONG}
    [used] = columns(plain)
    other = cpx.explain(TREE, None, X.iloc[60], kind="reason", where=f"'{used}'")
    assert used in columns(other)
    expected = cpx.explain(TREE, X, X.iloc[60], kind="expectation", k=2, where=f"not '{LONG}'")
    assert LONG not in columns(expected)
    fewest = cpx.explain(
        TREE, X, X.iloc[60], kind="expectation", threshold=0.5, where=f"'{LONG}' and '{WIDE}'"
    )
    assert {LONG, WIDE} <= columns(fewest)


def test_a_clash_is_named_and_a_wrong_name_refused() -> None:
    where = [f"'{LONG}'", f"not '{LONG}'", f"'{WIDE}'"]
    with pytest.raises(EngineError, match=r"side constraints clash: \"'petal length \(cm\)'\""):
        cpx.explain(FOREST, X, X.iloc[60], k=3, where=where)
    with pytest.raises(InvalidInstance, match="did you mean 'petal length"):
        cpx.explain(FOREST, X, X.iloc[60], k=3, where="'petal lenght (cm)'")
