"""Standard output that is closed or on a full disk: what is printed goes to standard error."""

from __future__ import annotations

import os
import sys
from typing import Any, TextIO


class Stream:
    """A text stream; what cannot be written to it goes to another one, or nowhere.

    lost: Why something could not be written.
    """

    def __init__(self, stream: TextIO, other: Stream | None) -> None:
        self._stream, self._other = stream, other
        self.lost: str | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write the text, here or elsewhere."""
        if self.lost is None:
            try:
                self._stream.write(text)
                # Text that stays in a buffer is lost later, when nobody looks.
                self._stream.flush()
            except OSError as error:
                self._lose(error)
            else:
                return len(text)
        if self._other is not None:
            self._other.write(text)
        return len(text)

    def flush(self) -> None:
        """Write what is left."""
        if self.lost is None:
            try:
                self._stream.flush()
            except OSError as error:
                self._lose(error)

    def _lose(self, error: OSError) -> None:
        # The reader of a pipe that has gone wants no more of the answer.
        if self._other is not None and isinstance(error, BrokenPipeError):
            raise error
        self.lost = error.strerror or str(error)
        # Python flushes once more when it ends, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())


def open_streams() -> Stream:
    """Put streams that may fail in the place of standard output and error; return the former.

    Descriptors that are closed are opened first: a file or pipe would get their number, and what
    is printed would go there.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            # To write to what is open for reading fails, as it does on what is closed.
            os.open(os.devnull, os.O_WRONLY if number == 2 else os.O_RDONLY)
    errors = Stream(sys.stderr or os.fdopen(2, "w", closefd=False), None)
    answers = Stream(sys.stdout or os.fdopen(1, "w", closefd=False), errors)
    sys.stderr, sys.stdout = errors, answers
    return answers
