"""Numbers out of every range, and values of any length: refused by name, in few words."""

from __future__ import annotations

from pathlib import Path

import pytest

import cpx
from cpx.errors import InvalidOption, shown
from tests.cli.conftest import Run

HUGE = "99999999999999999999"
MAKE = ("make rule", "--target", "y", "--row", "3", "--model", "tree", "-o", "out.json")
RULES = ("make rule-set", "--target", "y", "--model", "tree", "-o", "out.json")


@pytest.mark.parametrize(
    ("command", "option", "value", "message"),
    [
        (MAKE, "--seed", HUGE, f"seed must be an integer from 0 to below 2**31, got {HUGE}"),
        (MAKE, "--seed", "2147483648", "seed must be an integer from 0 to below 2**31"),
        (MAKE, "--seed", "-1", "seed must be an integer from 0"),
        (MAKE, "-m", "1000000000000", "m is too large: 1000000000000 rows of"),
        (MAKE, "-m", HUGE, f"m is too large: {HUGE} rows of"),
        (MAKE, "-k", HUGE, "k must be between 0 and the number of features"),
        (RULES, "-m", "1000000000000", "m is too large: 1000000000000 rows of"),
        (RULES, "--candidates", "x" * 3000, "unknown candidates, nor a file 'xxx"),
    ],
)
def test_of_a_table(
    run: Run, table: Path, command: tuple[str, ...], option: str, value: str, message: str
) -> None:
    done = run(*command[0].split(), table, *command[1:], option, value)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"cpx: error: {message}")
    assert len(done.stderr) < 500
    assert not Path("out.json").exists()


def test_epsilon_next_to_nothing(run: Run, table: Path) -> None:
    for value in ("1e-300", "1e-9"):
        done = run("explain", table, *MAKE[1:], "--epsilon", value, "--delta", "0.1")
        assert done.exit_code == 2
        assert done.stderr.startswith("cpx: error: epsilon is too ")


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--seed", HUGE, "seed must be an integer from 0 to below 2**31"),
        ("--threads", HUGE, "threads must be an integer from 1 to below 2**31"),
        ("--gap", "nan", "gap must be a finite number of at least 0"),
        ("--time-limit", "-1", "time_limit must be seconds > 0"),
        ("--hint", "x" * 3000, "hint must be feature indices"),
        ("--hint", "9" * 5000, "hint must be feature indices"),
    ],
)
def test_of_a_solve(run: Run, inst: Path, option: str, value: str, message: str) -> None:
    done = run("solve", inst, "-b", "search", "--no-isolate", option, value)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"cpx: error: {message}")
    assert len(done.stderr) < 400


@pytest.mark.parametrize("value", ["9" * 5000, HUGE, "-1", "x" * 3000])
def test_seeds_of_a_comparison(run: Run, inst: Path, value: str) -> None:
    done = run("compare", inst, "-b", "search", f"--seeds={value}")
    assert done.exit_code == 2
    assert done.stderr.startswith("cpx: error: seeds must be integers from 0 to below 2**31")
    assert len(done.stderr) < 400


def test_fresh_samples_in_python() -> None:
    from sklearn.datasets import load_iris
    from sklearn.tree import DecisionTreeClassifier

    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    with pytest.raises(InvalidOption, match="fresh is too large: 1000000000000 rows of"):
        cpx.explain(tree, X, X[0], k=2, fresh=10**12)


def test_a_value_takes_two_hundred_characters() -> None:
    texts = [["x" * 1000] * 1000] * 1000
    for value in ("x" * 10**7, 10**50_000, -(10**50_000), texts, {"k" * 500: b"v" * 500}):
        assert len(shown(value)) <= 200


def test_nested_values_are_shown() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert len(shown(deep)) <= 200
