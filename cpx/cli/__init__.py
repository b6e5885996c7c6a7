"""The command ``cpx``: one module per group of commands.

Everything heavy (NumPy, engines, scikit-learn) is imported inside the commands, so that
``cpx --help`` and shell completion answer at once.
"""

from __future__ import annotations

from cpx.cli.app import app, main

__all__ = ["app", "main"]
