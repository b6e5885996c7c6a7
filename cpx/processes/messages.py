"""Messages between processes: pickled objects in length-prefixed frames.

A frame is eight bytes, the length of what follows, and the pickled object. Arrays follow the
pickle as they are in memory, and are read without a copy, so a message costs time and memory
in proportion to its size. Pickle is for processes of the same program only, never for files.
"""

from __future__ import annotations

import os
import pickle
import struct
import threading
from collections.abc import Iterator
from contextlib import suppress
from io import RawIOBase
from typing import Any

from cpx.processes.interrupts import held

_LENGTH = struct.Struct(">Q")
_CHUNK = 1 << 20
_SMALL = 1 << 16  # a copy of so much costs less than a second call of the system
_IN_ONE_PIECE = 4096  # bytes, PIPE_BUF of Linux
_ALIGNED = 64  # arrays begin at multiples of this, as NumPy has them


def pack(message: object) -> list[memoryview]:
    """Return the parts of the frame of a message, in their order."""
    arrays: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(message, protocol=5, buffer_callback=arrays.append)
    parts = [memoryview(pickled), *(array.raw() for array in arrays)]
    table = struct.pack(f">{len(parts) + 1}Q", len(parts), *(part.nbytes for part in parts))
    body = [memoryview(table)]
    for part in parts:
        # The part before it begins at a multiple, too.
        body += [memoryview(bytes(-body[-1].nbytes % _ALIGNED)), part]
    return [memoryview(_LENGTH.pack(sum(part.nbytes for part in body))), *body]


def unpack(body: bytes | bytearray | memoryview) -> Any:
    """Return the message of a frame without its length; its arrays are read-only views."""
    view = memoryview(body).toreadonly()
    (count,) = struct.unpack_from(">Q", view)
    sizes = struct.unpack_from(f">{count}Q", view, 8)
    start, parts = 8 * (count + 1), []
    for size in sizes:
        start += -start % _ALIGNED
        parts.append(view[start : start + size])
        start += size
    return pickle.loads(parts[0], buffers=parts[1:])


class Outbox:
    """Sends messages through a file descriptor, from whatever thread.

    fd: Of a pipe.
    shortcut: A pipe of Linux that others write to as well. It gets what the system writes in one
        piece, whatever becomes of us meanwhile, up to the first message that is larger: the order
        is kept where that, and what follows it, is passed on by who reads ``fd``.
    """

    def __init__(self, fd: int, shortcut: int | None = None) -> None:
        self._fd, self._shortcut, self._lock = fd, shortcut, threading.Lock()

    def send(self, message: object) -> None:
        """Send a message whole, Ctrl-C or not.

        Raises OSError: When nobody is left to read it.
        """
        parts = pack(message)
        size = sum(part.nbytes for part in parts)
        if size <= _SMALL:
            parts = [memoryview(b"".join(parts))]
        with held(), self._lock:
            if self._shortcut is not None and size <= _IN_ONE_PIECE:
                os.write(self._shortcut, parts[0])
                return
            self._shortcut = None
            for part in parts:
                self.send_raw(part)

    @property
    def abandoned(self) -> bool:
        """Whether nobody is left to read; of pipes, where the system has them."""
        import select  # not at the top: senders start where a file may have its name

        poll = select.poll()
        poll.register(self._fd, 0)
        return bool(poll.poll(0))

    def send_raw(self, data: bytes | memoryview) -> None:
        """Send bytes that are a frame, or a part of one."""
        left = memoryview(data)
        while left:
            left = left[os.write(self._fd, left[:_CHUNK]) :]


class Inbox:
    """Receives frames from a file descriptor."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._buffer = bytearray()

    def frames(self) -> Iterator[memoryview]:
        """Yield the body of each frame until the other end is closed."""
        with open(self._fd, "rb", buffering=0, closefd=False) as stream:
            while (head := self._exactly(stream, _LENGTH.size)) is not None:
                body = self._exactly(stream, _LENGTH.unpack(head)[0])
                if body is None:
                    return
                yield body

    def _exactly(self, stream: RawIOBase, size: int) -> memoryview | None:
        """Read so many bytes into memory of their own; None when they end before that."""
        data = bytearray(size)
        # What :meth:`arrived` has read of a frame that was not whole.
        begun = self._buffer[:size]
        data[: len(begun)] = begun
        del self._buffer[: len(begun)]
        left = memoryview(data)[len(begun) :]
        while left:
            count = 0
            with suppress(ConnectionError):
                count = stream.readinto(left) or 0
            if not count:
                return None
            left = left[count:]
        return memoryview(data)

    def arrived(self) -> tuple[list[bytes], bool]:
        """Read once; return the whole frames, lengths included, and whether more can come.

        A frame that is cut short by the end of its sender is dropped.
        """
        chunk = os.read(self._fd, _CHUNK)
        self._buffer += chunk
        whole, start = [], 0
        while len(self._buffer) - start >= _LENGTH.size:
            end = start + _LENGTH.size + _LENGTH.unpack_from(self._buffer, start)[0]
            if end > len(self._buffer):
                break
            whole.append(bytes(self._buffer[start:end]))
            start = end
        del self._buffer[:start]
        return whole, bool(chunk)
