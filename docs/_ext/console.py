"""Highlights console fences: "$ " begins a command, all else is output, "# " too."""

from __future__ import annotations

from typing import Any

from pygments.lexer import RegexLexer, bygroups
from pygments.token import Generic, Text


class Console(RegexLexer):
    """Pygments takes "# " for the prompt of root; the files shown here have such comments."""

    name = "console"
    tokens = {  # noqa: RUF012
        "root": [
            (r"^(\$ )(.*\n)", bygroups(Generic.Prompt, Generic.Strong)),
            (r".*\n", Generic.Output),
            (r".+", Text),
        ]
    }


def setup(app: Any) -> dict[str, bool]:
    """Register the lexer."""
    app.add_lexer("console", Console)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
