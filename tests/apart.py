"""What is registered for a while, in this process and its workers, and then forgotten."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from unittest.mock import patch

import cpx.backends
import cpx.check
import cpx.modelling.encodings
import cpx.modelling.registry
from cpx.solving.servers import shutdown
from cpx.support import own_files

ROOMS = (cpx.backends, cpx.modelling.registry, cpx.modelling.encodings, cpx.check)


@contextmanager
def apart(*, files: bool = False) -> Iterator[None]:
    """Forget at the end what is registered within.

    files: Whether ``--register`` is given: files are run anew, and by workers of their own.
    """
    before = [dict(room._registered) for room in ROOMS]
    if files:
        shutdown()
    try:
        # Workers find the files in the environment, and the names of their modules by counting.
        with patch.dict(os.environ), patch.multiple(own_files, _run=set(), _numbers=count()):
            yield
    finally:
        for room, known in zip(ROOMS, before, strict=True):
            room._registered.clear()
            room._registered.update(known)
        if files:
            shutdown()
