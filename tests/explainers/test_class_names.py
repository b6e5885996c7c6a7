"""Names of classes: by position or by label, of the right number, from every door."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

import cpx
from cpx.errors import InvalidOption
from cpx.models.monomial.explainers.rule import RuleExplainer

X, Y = load_iris(return_X_y=True, as_frame=True)
X.columns = list("abcd")
DOORS = {
    "rule": lambda model, x, **o: cpx.explain(model, X, x, k=1, **o).rule,
    "reason": lambda model, x, **o: cpx.explain(model, None, x, kind="reason", **o).rule,
    "probabilistic": lambda model, x, **o: (
        cpx.explain(model, X, x, kind="expectation", k=1, **o).rule
    ),
}
LABELS = {"numbers": [0, 1, 2], "texts": ["z", "m", "a"], "truth": [False, True, True]}


@pytest.mark.parametrize("door", list(DOORS))
@pytest.mark.parametrize("labels", list(LABELS))
def test_names_go_by_the_order_of_the_classes(door, labels):
    y = Y.map(dict(enumerate(LABELS[labels])))
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    names = [f"class {label}" for label in model.classes_]
    own = model.predict(X[:1])[0]
    forms = [names, tuple(names), np.array(names), pd.Series(names, index=[7, 0, 5][: len(names)])]
    forms = forms if labels == "numbers" else forms[:1]
    for form in [*forms, dict(zip(model.classes_, names)), {own: f"class {own}"}]:
        assert DOORS[door](model, X.iloc[0], class_names=form).conclusion == f"class {own}"


@pytest.mark.parametrize("door", list(DOORS))
@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["one"], "must name the 3 classes of the model .0, 1, 2."),
        (["a", "b", "c", "d"], "must name the 3 classes"),
        ({"setosa": "s"}, "a name for 'setosa', which is no class of the model: they are 0, 1, 2"),
        ("abc", "must name the 3 classes of the model, in a list or by label, got 'abc'"),
        ({"a", "b", "c"}, "in a list or by label"),
        (3, "in a list or by label, got 3"),
    ],
)
def test_names_that_do_not_fit_are_refused(door, names, message):
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, Y)
    with pytest.raises(InvalidOption, match=message):
        DOORS[door](model, X.iloc[0], class_names=names)


def test_functions_have_positions_by_number():
    def large(rows):
        return rows["a"] > 5

    assert DOORS["rule"](large, X.iloc[0], class_names=["no", "yes"]).conclusion == "yes"
    assert DOORS["rule"](large, X.iloc[0], class_names={True: "yes"}).conclusion == "yes"
    with pytest.raises(InvalidOption, match="has 1 names by position, and the classifier, which"):
        DOORS["rule"](large, X.iloc[0], class_names=["no"])
    with pytest.raises(InvalidOption, match="says 'u': give a mapping from labels to names"):
        DOORS["rule"](lambda rows: ["u"] * len(rows), X.iloc[0], class_names=["no", "yes"])


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"a": np.arange(20.0)}),
        pd.DataFrame({"p": [True, False] * 10, "q": [True, True, False, False] * 5}),
        pd.DataFrame({"a": ["u", "v"] * 10}),
    ],
)
def test_the_default_size_is_at_most_the_number_of_features(table):
    def f(rows):
        return rows.iloc[:, 0] == table.iloc[0, 0]

    explainer = RuleExplainer(f, table)
    d = explainer.distribution.n_features
    problem = explainer.problem(table.iloc[0])
    assert problem.k == d < 5
    assert cpx.explain(f, table, table.iloc[0]).precision > 0
    assert str(cpx.explain(f, table, table.iloc[0], epsilon=0.2, delta=0.1))
    with pytest.raises(InvalidOption, match=f"between 0 and the number of features {d}, got 5"):
        explainer.explain(table.iloc[0], k=5)
