"""How commands read tables: what is missing, what is told, and which targets have classes."""

from __future__ import annotations

import csv
import json
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
pytestmark = pytest.mark.filterwarnings("ignore")  # recorded where they are looked at

OPTIONS = {
    "rule": ("explain", "--row", 0, "--model", "tree", "--no-isolate"),
    "probabilistic": (
        *("explain", "--row", 0, "--model", "tree", "--no-isolate", "--kind", "expectation"),
    ),
    "sufficient": (
        *("explain", "--row", 0, "--model", "tree", "--no-isolate", "--kind", "reason"),
    ),
    "score": ("score", "--row", 0, "--model", "tree", "--no-isolate", "--rule", "(always)"),
    "make rule": ("make rule", "--row", 0, "--model", "tree", "-o", "made.json"),
    "make rule-set": ("make rule-set", "--model", "tree", "-o", "made.json"),
    "learn": ("learn", "--penalty", 0.1),
    "extract": ("extract", "--max-literals", 1),
}
MANY = [name for name in OPTIONS if name != "sufficient"]  # which takes numbers only


def write(rows: list[dict[str, Any]]) -> None:
    with Path("t.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def ask(run: Run, name: str, *more: object) -> tuple[Any, str]:
    """Return the result of a command on the table, and the warnings."""
    command, *options = OPTIONS[name]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        done = run(*command.split(), "t.csv", "--target", "y", *options, *more)
    return done, " ".join(str(warning.message) for warning in said)


@pytest.fixture
def ages(run: Run) -> None:
    """Write a table whose class is that of the age, which two rows do not say."""
    rng = random.Random(0)
    rows = [{"age": rng.randint(20, 60), "height": rng.randint(150, 190)} for _ in range(60)]
    rows = [row | {"y": "yes" if row["age"] > 40 else "no"} for row in rows]
    rows[5]["age"] = rows[9]["age"] = "?"
    write(rows)


@pytest.mark.parametrize("name", MANY)
def test_a_column_of_nearly_only_numbers_is_told(run: Run, ages: None, name: str) -> None:
    done, said = ask(run, name)
    assert done.exit_code in (0, 3)
    assert "'age' (58 of its 60 cells are numbers, the others are '?')" in said
    for option in (("--missing", "?"), ("--missing", "NA, ?"), ("--missing=-", "--missing=?")):
        done, said = ask(run, name, *option)
        assert done.exit_code in (0, 3)
        assert "cells" not in said


def test_what_is_missing_is_no_category(run: Run, ages: None) -> None:
    done, _ = ask(run, "rule", "-k", 1, "--missing", "?", "--json")
    (literal,) = json.loads(done.stdout)["explanation"]["rule"]["literals"]
    assert "age <=" in literal[1] or "age >" in literal[1]
    done, _ = ask(run, "sufficient", "--missing", "?")
    assert done.exit_code == 0


@pytest.mark.parametrize("word", ["None", "NA", "null", "nan"])
def test_words_for_missing_are_values(run: Run, word: str) -> None:
    words = [word, "Paved", "Gravel"]
    write([{"alley": words[i % 3], "h": i % 7, "y": str(words[i % 3] == word)} for i in range(60)])
    done, said = ask(run, "rule", "-k", 1)
    assert f"alley = {word} => True" in done.stdout
    assert "precision  1.000, exact: 20 of the 20 rows" in done.stdout
    assert f"20 {word!r} in 'alley'" in said
    write([{"sleep": i % 9, "y": word if i % 9 > 4 else "Apnea"} for i in range(60)])
    done, said = ask(run, "rule", "-k", 1)
    assert done.exit_code == 0
    assert f"25 {word!r} in 'y'" in said


@pytest.mark.parametrize("name", list(OPTIONS))
@pytest.mark.parametrize("continuous", [True, False])
def test_a_target_of_measurements_is_refused(run: Run, name: str, continuous: bool) -> None:
    rng = random.Random(0)
    values = [rng.random() if continuous else rng.randint(0, 10**6) for _ in range(50)]
    write([{"a": rng.randint(0, 9), "b": rng.randint(0, 9), "y": value} for value in values])
    done, _ = ask(run, name)
    assert done.exit_code == 2
    assert "the target 'y' has 50 different numbers" in done.stderr
    assert "unexpected" not in done.stderr


@pytest.mark.parametrize("name", list(OPTIONS))
def test_infinite_and_large_numbers_are_refused_by_name(run: Run, name: str) -> None:
    rows: list[dict[str, Any]] = [{"a": i, "y": i % 2} for i in range(20)]
    rows[0]["a"] = "inf"
    write(rows)
    done, _ = ask(run, name)
    assert done.exit_code == 2
    assert "column 'a' has an infinite value" in done.stderr
    rows[0]["a"] = 2**53 + 1
    write(rows)
    done, _ = ask(run, name)
    assert done.exit_code == 2
    assert (
        "'a' has the integer 9007199254740993" in done.stderr.replace(":", " ").replace("  ", " ")
        or "'a' has no numbers" in done.stderr
    )


@pytest.mark.parametrize("name", ["rule", "make rule"])
def test_small_tables_need_no_k(run: Run, name: str) -> None:
    write([{"a": i / 7, "y": str(i > 20)} for i in range(40)])
    done, _ = ask(run, name)
    assert done.exit_code == 0, done.stderr
    assert "3 features, k = 3" in done.stdout


def test_the_row_of_a_model_file_is_read_alike(run: Run) -> None:
    from sklearn.ensemble import HistGradientBoostingClassifier

    from cpx.trees import read_model

    X = [[i % 7, i % 5] for i in range(60)]
    model = HistGradientBoostingClassifier(max_iter=3).fit(X, [row[0] > 3 for row in X])
    Path("model.json").write_text(json.dumps(read_model(model).to_dict()))
    Path("row.csv").write_text("x0;x1\n5,0;-\n")
    made = ("make", "reason", "row.csv", "--model", "model.json", "-o", "made.json")
    assert "'x1' must be a finite number or missing, got '-'" in run(*made).stderr
    done = run(*made, "--missing", "-")
    assert done.exit_code == 0, done.stderr
