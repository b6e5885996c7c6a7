"""Models in MiniZinc are graded: flattened by the program where it is there, read in any case."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import cpx
from cpx.errors import EngineMissing, InvalidInstance, InvalidOption
from cpx.export import export_bytes
from cpx.testing.exercise import grade
from cpx.testing.minizinc_models import read_flat

HERE = pytest.mark.skipif(shutil.which("minizinc") is None, reason="no program minizinc")
PROBLEM = cpx.KMonomial(cpx.Samples([[1, 0, 1], [0, 1, 1]], [1, 0]), k=1)
COUNTER = """\
int: m; int: d; int: k;
array[1..m, 1..d] of bool: agreement;
array[1..m] of 0..1: same;
array[1..m] of int: weights;
set of int: required;
array[1..d] of bool: forbidden;
array[1..d] of var bool: X;
array[1..d, 1..k] of var bool: S;
array[1..m] of var bool: covered;
constraint forall(j in 1..d where k = 0)(not X[j]);
constraint forall(j in 1..d where k > 0)(X[j] -> S[j, 1]);
constraint forall(j in 2..d, c in 1..k)(S[j - 1, c] -> S[j, c]);
constraint forall(j in 2..d, c in 2..k)(X[j] /\\ S[j - 1, c - 1] -> S[j, c]);
constraint forall(j in 2..d where k > 0)(X[j] -> not S[j - 1, k]);
constraint forall(j in required)(X[j]) /\\ forall(j in 1..d where forbidden[j])(not X[j]);
constraint forall(i in 1..m)
  (covered[i] <-> forall(j in 1..d where not agreement[i, j])(not X[j]));
solve minimize sum(i in 1..m)(weights[i] * (covered[i] != (same[i] = 1)));
"""


def graded(folder: Path, text: str, *args: Any, **options: Any) -> Any:
    path = folder / "mine.mzn"
    path.write_text(text)
    return grade(path, *args, **options)


@HERE
@pytest.mark.parametrize(
    ("right", "wrong", "fault"),
    [
        ("", "", ""),
        ("not S[j - 1, k]", "not S[j, k]", "too strong"),
        pytest.param("where k = 0", "where k < 0", "too weak", marks=pytest.mark.slow),
        pytest.param("<-> forall", "<- forall", "wrong objective", marks=pytest.mark.slow),
    ],
)
def test_a_counter_is_right_and_each_fault_has_its_name(
    right: str, wrong: str, fault: str, tmp_path: Path
) -> None:
    text = COUNTER.replace(right, wrong, 1)
    assert bool(fault) == (text != COUNTER)
    verdict = graded(tmp_path, text, n=22, time_limit=None, without="one_per_group")
    assert (verdict.fault, verdict.instances) == (fault, 22), f"{verdict}"
    if not fault:
        assert {"plain", "required", "forbidden", "k = 0"} <= set(verdict.parts)
    if fault == "too strong":  # by the lines of the file, and the turns of their loops
        told = [name for name, _ in verdict.counterexample.rows]
        assert told == ["line 11, j=2", "line 14, j=2"]


@HERE
def test_an_exported_model_is_graded_on_its_instance(tmp_path: Path) -> None:
    text = export_bytes(PROBLEM, "minizinc", "clausal").decode()
    assert graded(tmp_path, text, PROBLEM).right
    verdict = graded(tmp_path, text.replace("sum(X) <= 1", "sum(X) <= 2"), PROBLEM)
    assert (verdict.fault, verdict.counterexample.chosen) == ("too weak", (0, 1))
    assert dict(verdict.counterexample.values) == {"value": [1], "X": [1, 1, 0]}
    with pytest.raises(InvalidOption, match="asks for no data, so it states one instance"):
        graded(tmp_path, text)


@HERE
@pytest.mark.parametrize(
    ("text", "error", "told"),
    [
        ("var bool: Y;", InvalidInstance, "mine.mzn: there is no array X"),
        ("array[1..2] of var bool: X;\nsolve;", InvalidInstance, "mine.mzn, line 2: syntax error"),
        ("int: K; array[1..K] of var bool: X;", InvalidOption, "asks for 'K': instances have"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(
    text: str, error: type[Exception], told: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=re.escape(told)):
        graded(tmp_path, text, PROBLEM)


def test_without_the_program_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cpx.testing.minizinc_models.shutil.which", lambda name: None)
    with pytest.raises(EngineMissing, match="needs the program minizinc: see www"):
        graded(tmp_path, COUNTER)


def test_linear_rows_are_read() -> None:
    """As MiniZinc writes them: arrays by name, variables with values, constants in rows."""
    linear = read_flat(
        "array [1..2] of int: A = [2,-1];\nvar -3..4: a:: output_var;\nvar bool: b ;\n"
        "var 0..6: z:: is_defined_var = 2;\nvar 0.5..1.5: f;\nvar int: u;\n"
        "constraint int_lin_le(A,[a,b],3):: defines_var(b);\n"
        "constraint int_lin_eq([1,1,4],[a,u,true],9);\nconstraint int_le(a,b);\n"
        "constraint bool_eq(false,true);\nsolve :: int_search(X, a) maximize a;\n"
    )
    a, b, z, f, u = (linear.columns[name] for name in ("a", "b", "z", "f", "u"))
    inf = float("inf")
    assert [(linear.low[v], linear.high[v]) for v in (a, b, z, f)] == [
        (-3, 4),
        (0, 1),
        (0, 6),
        (0.5, 1.5),
    ]
    assert [linear.integer[v] for v in (a, b, f, u)] == [True, True, False, True]
    assert [row[1:] for row in linear.rows] == [
        ({a: 2, b: -1}, -inf, 3),
        ({a: 1, u: 1}, 5, 5),
        ({a: 1, b: -1}, -inf, 0),
        ({}, 1, inf),
        ({z: 1}, 2, 2),
    ]
    assert (linear.maximised, linear.objective) == (True, {a: 1})
    with pytest.raises(InvalidInstance, match="'int_times', which is not linear"):
        read_flat("constraint int_times(a,b,c);\n")
