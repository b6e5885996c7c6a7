"""The picture of the README shows what ``cpx demo`` asks, of the engines that it asks."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import pytest

from cpx.cli import demo
from cpx.compare.run import plan

ROOT = Path(__file__).parents[2]


def shown() -> str:
    """Return the text of the picture on one line, with single blanks."""
    svg = (ROOT / "docs" / "_static" / "demo.svg").read_text(encoding="utf-8")
    lines = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    return " ".join(" ".join(html.unescape(line) for line in lines).split())


def test_the_picture_shows_the_question_and_the_engines_of_the_demo(
    capsys: pytest.CaptureFixture[str], demo_question: Any
) -> None:
    _, problem, _ = demo_question
    demo._introduce(problem)
    picture = shown()
    assert " ".join(capsys.readouterr().out.split()) in picture
    assert f"breast cancer {problem.kind}, " in picture
    assert f"k = {problem.k}, coverage >= 50 %" in picture
    table = picture.partition(" memory ")[2].partition(" virtual best ")[0]
    engines = re.findall(r"(\S+) (?:proved|time limit) [0-9]", table)
    assert engines == [task.engine for task in plan([problem], "all")]
    # One that all prove in no time would show no difference.
    assert "time limit" in table
    number = {6: "six", 7: "seven", 8: "eight"}[len(engines)]
    assert f"comparison of {number} engines" in (ROOT / "README.md").read_text(encoding="utf-8")
