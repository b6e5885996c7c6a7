"""Proofs about minimum sufficient reasons in words, as HTML, and as a picture."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

import cpx
from cpx import SufficientReason, read_model
from cpx.answers.proof import ProofRows
from cpx.answers.result import Result
from cpx.check.proofs import Claim
from cpx.models.sufficient_reason.prove_rows import rows_of as written


def solved(**changes: object) -> tuple[SufficientReason, Result]:
    data = load_iris(as_frame=True)
    y = data.target_names[data.target]
    forest = RandomForestClassifier(7, max_depth=3, random_state=0).fit(data.data, y)
    problem = SufficientReason(
        read_model(forest), data.data.iloc[60], definition="sufficient", **changes
    )
    return problem, cpx.solve(problem, "hitting-sets", proof=True)


def rows_of(result: Result) -> ProofRows:
    assert result.proof is not None
    assert result.proof.rows is not None
    return result.proof.rows


@pytest.mark.parametrize("level", ["attributes", "conditions"])
def test_the_rows_are_said_and_every_reason_has_one_of_each(level: str) -> None:
    problem, result = solved(level=level)
    rows, least = rows_of(result), int(result.objective)
    told = f"show that no {least - 1} {level} force"
    if least == 2:
        told = f"show that no {level.removesuffix('s')} alone forces"
    assert "rows of another class" in rows.headline
    assert told in rows.headline
    assert rows.headline.endswith(("versicolor", "virginica", "setosa"))
    assert told in str(result)
    assert result.explanation is not None
    assert rows.reason == result.explanation.features
    assert all({*rows.reason} & {*row.changes} for row in rows.rows)
    assert all(row.given != problem.label for row in rows.rows)
    # What a row has is not what x has.
    for row in rows.rows:
        assert all(words != problem.feature_names[j] for j, words in row.changes.items())
    text, page = str(rows), rows._repr_html_()
    first = next(iter(rows.rows[0].changes.values()))
    assert first in text
    assert first.replace("<", "&lt;").replace(">", "&gt;") in page
    assert first in str(result)
    axes = rows.plot(Figure().subplots())
    assert len(axes.patches) == sum(len(row.changes) for row in rows.rows)


def test_each_row_is_of_its_class() -> None:
    """A row of x with the cells that are said gets the class that is said, by the model."""
    problem, result = solved()
    model = problem.tree_model
    for row in rows_of(result).rows:
        values = np.array(problem.x)
        for a, words in row.changes.items():
            value = _within(words, np.asarray(model.thresholds[a]))
            assert value != values[a]
            values[a] = value
        assert str(SufficientReason(model, values).label) == row.given


def _within(words: str, thresholds: np.ndarray) -> float:
    """Return a number in an interval such as ``1 < a <= 2``, ``a > 1`` or ``a <= 2``."""
    parts = words.split(" ")
    if parts[1] in ("<", "<="):
        return (float(parts[0]) + float(parts[-1])) / 2
    value = float(parts[-1])
    return value + 1 if parts[-2] in (">", ">=") else value - 1


def test_what_is_infeasible_or_weighted_is_said() -> None:
    _, result = solved(forbidden=[2, 3])
    assert rows_of(result).headline.endswith(
        "all attributes that are allowed do not force versicolor"
    )
    _, result = solved(weights=[3, 3, 3, 3])
    assert f"no attributes of a weight below {result.objective} force" in rows_of(result).headline


def test_a_row_of_which_one_must_be_kept_comes_first_and_once() -> None:
    problem, _ = solved()
    one, few = "hit 2 0 3 0", "row 0 1 3 0"
    for lines in ([few, one], [one, few]):
        rows = written(problem, Claim(2), lines, [2, 3]).rows
        assert [(row.one, len(row.changes)) for row in rows] == [(True, 2), (False, 1)]
    for lines in (["row 0 2 2 0 3 0", one], [one, "row 0 2 2 0 3 0"]):
        (row,) = written(problem, Claim(2), lines, [2, 3]).rows
        assert row.one


def test_cases_are_counted_and_bounds_are_said() -> None:
    problem, _ = solved()

    def said(bound: int, *lines: str) -> str:
        return written(problem, Claim(bound), ["hit 2 0", *lines], [2]).headline

    assert said(1) == (
        "1 row of another class shows that without an attribute nothing forces versicolor"
    )
    assert "class, in 3 cases, shows" in said(1, "split 0", "bound 1", "split 1", "missed 0")
    for bound, told in (
        (0, "nothing need force"),
        (2, "no attribute alone forces"),
        (3, "no 2 attributes force"),
    ):
        assert said(bound).endswith(f"shows that {told} versicolor")
