"""``python -m cpx.cli`` is the command ``cpx``."""

from cpx.cli import main

main()
