"""``python -m cpx`` is the command ``cpx``."""

from __future__ import annotations

import os
import sys

# Python puts the current directory first, where a file random.py beside an instance would pass
# for the module of that name.
if not sys.flags.safe_path and sys.path[:1] == [os.getcwd()]:
    del sys.path[0]

from cpx.cli import main

main()
