"""Ten tasks of a new user take three lines of Python each, as printed."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "recipes.md"


def test_ten_tasks_take_three_lines_each() -> None:
    """That they run, and what they print, is tested with the other pages."""
    tasks = PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
    assert len(tasks) == 10
    for task in tasks:
        (block,) = re.findall(r"```python\n(.*?)```", task, flags=re.DOTALL)
        lines = [line for line in block.splitlines() if line.startswith((">>> ", "... "))]
        assert 1 <= len(lines) <= 3, task
