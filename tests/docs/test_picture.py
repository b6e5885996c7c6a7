"""The picture of the README shows what its data say, of the engines that the README speaks of."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from cpx.backends import backend
from cpx.compare import Comparison, engine_names

from ..compare.helpers import tiny

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "docs" / "_static"
COMPARISON = Comparison.load(STATIC / "engines")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_picture_names_its_instance_and_engines(theme: str) -> None:
    svg = (STATIC / f"engines-{theme}.svg").read_text(encoding="utf-8")
    texts = {html.unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)}
    (instance,) = COMPARISON.by_instance()
    assert instance in texts
    named = {(run.configuration, run.result.encoding) for run in COMPARISON.runs}
    assert {", ".join(filter(None, pair)) for pair in named} <= texts
    assert f"docs/_static/engines-{theme}.svg" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_all_engines_are_in_the_picture_and_counted_in_the_readme() -> None:
    engines = [run.engine for run in COMPARISON.runs]
    # Those that are for other problems are not asked, nor those that need a program of the user.
    ours = [name for name in engine_names("all") if not backend(name)._known_as]
    assert set(engines) == {name for name in ours if backend(name).accepts(tiny())}
    number = {6: "six", 7: "seven", 8: "eight"}[len(engines)]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.count(f"of {number} engines on") == 2


def test_the_picture_shows_a_difference_and_nothing_wrong() -> None:
    proved = [run.result.proved for run in COMPARISON.runs]
    assert any(proved)
    assert not all(proved)
    assert not COMPARISON.failed
