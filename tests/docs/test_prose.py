"""Pages for people are short and plain, and each problem has a picture."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.docs.prose import DOCS, pages, sentences, words

MOST_ON_A_PAGE = 1500
MOST_TOGETHER = 30_000
MOST_IN_A_SENTENCE = 30


@pytest.mark.parametrize("path", pages(), ids=lambda path: str(path.relative_to(DOCS)))
def test_pages_for_people_are_read_in_minutes(path: Path) -> None:
    assert words(path) <= MOST_ON_A_PAGE
    text = path.read_text(encoding="utf-8")
    long = [one for one in sentences(text) if len(one.split()) > MOST_IN_A_SENTENCE]
    assert not long


def test_pages_for_people_are_a_book_of_an_evening() -> None:
    assert sum(map(words, pages())) <= MOST_TOGETHER


def test_each_problem_has_its_picture() -> None:
    drawn = _script("problem_pictures").DRAWN
    problems = {path.stem: path.read_text("utf-8") for path in (DOCS / "problems").glob("*.md")}
    assert set(drawn) == set(problems)
    for name, text in problems.items():
        assert f"](../_static/problems/{name}.svg)" in text
        assert (DOCS / "_static" / "problems" / f"{name}.svg").is_file()


def test_a_picture_shows_what_is_solved() -> None:
    """Of the quick one: a rule of the greatest weight, with three marks for each clause."""
    svg = (DOCS / "_static" / "problems" / "boolean-kernels.svg").read_text(encoding="utf-8")
    assert svg.count(">x</text>") == 24


def test_the_picture_of_the_house_is_current() -> None:
    house = _script("house_picture")
    assert house.PATH.read_text("utf-8") == house.drawn(), "run: python docs/house_picture.py"


def _script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ------------------------------------------------------------------- the measure itself


def test_sentences_are_found_in_running_text_alone() -> None:
    text = (
        "# None.\n\nOne `x = 1. y` here. Two: $a. B$ and [three](four.md) et al. (5)!\n"
        "- An item\n  goes on.\n\n| a table. | is none. |\n\n```python\n>>> not. This.\n```\n"
    )
    assert list(sentences(text)) == [
        "One X here.",
        "Two: X and three X (5)!",
        "An item goes on.",
    ]


def test_words_are_all_that_stands_on_a_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One\n\ntwo three\n\n```console\n$ four\n```\n", encoding="utf-8")
    assert words(page) == 8
