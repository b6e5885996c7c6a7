"""Start a program as a terminal would, so that Ctrl-C can be tested."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence


def start(command: Sequence[str], **options) -> subprocess.Popen[str]:
    """Start the program in a session of its own, with Ctrl-C as it is by default.

    Shells start background jobs with SIGINT ignored, and a program inherits that: under
    ``pytest &`` it could not be interrupted.
    """

    def restore() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=restore,
        **options,
    )
