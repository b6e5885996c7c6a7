"""Candidates: rules that cover what they say, from trees, searches and files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

from cpx.errors import DataError, InvalidOption, UnsupportedModel
from cpx.models.rule_set.methods.candidates import (
    Literals,
    forest_paths,
    model_paths,
    monomials,
    read_rules,
)


@pytest.fixture
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "size": rng.integers(0, 20, 60).astype(float),
            "tint": rng.choice(list("abc"), 60),
            "gap": np.where(rng.random(60) < 0.2, np.nan, rng.random(60)),
        }
    )


def conjunction(literals: Literals) -> list[int]:
    """Return two literals: a size above a threshold, and a tint."""
    size = next(j for j, name in enumerate(literals.names) if name.startswith("size > 1"))
    return sorted([size, literals.names.index("tint = a")])


def holds(text: str, row: pd.Series) -> bool:
    """Read a literal by itself."""
    if text.startswith("not ("):
        return not holds(text[5:-1], row)
    if " is " in text:
        name, _, state = text.partition(" is ")
        return bool(pd.isna(row[name])) == (state == "missing")
    name, sign, value = text.split()
    if sign in ("=", "!="):
        return (row[name] == value) == (sign == "=")
    above = row[name] > float(value)
    return bool(above if sign == ">" else row[name] <= float(value))


def test_literals_say_what_they_mean(table: pd.DataFrame) -> None:
    literals = Literals.of_table(table, n_bins=4)
    assert {"tint != b", "gap is known"} <= set(literals.names)
    assert sum(name.startswith("size >") for name in literals.names) == 3
    for i, row in table.iterrows():
        for j, name in enumerate(literals.names):
            assert literals.matrix[i, j] == holds(name, row), (name, row)


def test_problem_keeps_the_weight_of_equal_samples(table: pd.DataFrame) -> None:
    literals = Literals.of_table(table[["tint"]])
    problem = literals.problem([(0,), (2,)], np.ones(60), penalty="0.1")
    assert problem.samples.m == 3
    assert problem.total == 60


def test_paths_of_a_forest_are_where_it_has_the_class() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y)
    literals, rules = model_paths(forest, X, 2)
    covers = {literals.matrix[:, list(rule)].all(axis=1).tobytes() for rule in rules}
    expected = set()
    for tree in forest.estimators_:
        reached = tree.decision_path(X.to_numpy(np.float32)).toarray().astype(bool)
        shares = tree.tree_.value[:, 0, 2] / tree.tree_.value[:, 0].sum(axis=1)
        expected |= {reached[:, n].tobytes() for n in np.flatnonzero(shares > 0.5) if n}
    assert covers == expected


def test_forest_paths_have_at_most_k_literals(table: pd.DataFrame) -> None:
    literals = Literals.of_table(table, n_bins=5)
    wanted = conjunction(literals)
    same = literals.matrix[:, wanted].all(axis=1)
    rules = forest_paths(literals, same, k=2, trees=10, seed=1)
    assert {len(rule) for rule in rules} <= {1, 2}
    assert rules == forest_paths(literals, same, k=2, trees=10, seed=1)
    assert tuple(wanted) in rules


def test_monomials_cover_their_samples(table: pd.DataFrame) -> None:
    literals = Literals.of_table(table, n_bins=5)
    wanted = conjunction(literals)
    same = literals.matrix[:, wanted].all(axis=1)
    assert monomials(literals, same, k=2, n=8) == (tuple(wanted),)
    assert monomials(literals, same, k=1, n=3) != (tuple(wanted),)


@pytest.mark.parametrize("name", ["rules.txt", "rules.csv", "rules.json"])
def test_files(tmp_path: Path, name: str) -> None:
    names = ["a <= 1", "a > 1", "salt and pepper = b", "c"]
    path = tmp_path / name
    texts = ["a <= 1 and salt and pepper = b", "c  and a > 1 => yes", "(always)"]
    lines = {"rules.txt": "\n".join(texts), "rules.json": json.dumps(texts)}
    quoted = "\n".join(f'{i},"{text}"' for i, text in enumerate(texts))
    path.write_text(lines.get(name, f"number,rule\n{quoted}\n"))
    assert read_rules(path, names) == ((0, 2), (1, 3), ())


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "no rules"), ("a <= 2\n", "rule 1: unknown condition 'a <= 2'"), ("c\nd", "rule 2")],
)
def test_wrong_files_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "rules.txt"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_rules(path, ["a <= 1", "c"])


def test_wrong_arguments_are_named(table: pd.DataFrame) -> None:
    literals = Literals.of_table(table[["tint"]])
    with pytest.raises(DataError, match="one kind"):
        forest_paths(literals, np.ones(60))
    with pytest.raises(InvalidOption, match="trees"):
        forest_paths(literals, table["tint"] == "a", trees=0)
    with pytest.raises(UnsupportedModel, match="Literals"):
        model_paths(literals, table, 1)
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InvalidOption, match="label"):
        model_paths(RandomForestClassifier(2, random_state=0).fit(X, y), X, "setosa")
