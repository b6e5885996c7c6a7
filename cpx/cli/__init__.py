"""The command ``cpx``: one module per group of commands.

Everything heavy (NumPy, engines, scikit-learn) is imported inside the commands, so that
``cpx --help`` and shell completion answer at once.
"""

from __future__ import annotations

import os
import sys

# While ``python -m cpx.cli`` looks for us, the current directory comes first: a file random.py
# next to an instance would pass for the module of that name.
if sys.argv[:1] == ["-m"] and not sys.flags.safe_path and sys.path[:1] == [os.getcwd()]:
    del sys.path[0]

from cpx.cli.app import app, main

__all__ = ["app", "main"]
