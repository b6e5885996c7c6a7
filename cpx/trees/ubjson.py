"""A parser of Universal Binary JSON, XGBoost's default file format."""

from __future__ import annotations

from typing import Any

import numpy as np

from cpx.errors import ModelError, shown

_INTEGERS = {b"i": ">i1", b"U": ">u1", b"I": ">i2", b"l": ">i4", b"L": ">i8"}
_NUMBERS = {**_INTEGERS, b"d": ">f4", b"D": ">f8"}
_DEEPEST = 100


def parse_ubjson(data: bytes) -> Any:
    r"""Return the value that the bytes stand for; arrays of one type of number become NumPy's.

    XGBoost itself is not asked: it ends the process for some damaged files.

    Raises ModelError: Naming the byte at which the data make no sense.

    >>> parse_ubjson(b"{i\x01aSi\x02xyi\x01b[i\x05T]i\x01c[$U#i\x02\x07\x08}")
    {'a': 'xy', 'b': [5, True], 'c': array([7, 8], dtype=uint8)}
    """
    reader = _Reader(data)
    value = reader.value(reader.take(1), 0)
    if reader.place < len(data):
        raise reader.error("there is more after the end")
    return value


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.place = data, 0

    def error(self, text: str) -> ModelError:
        return ModelError(f"no UBJSON: {text}, at byte {self.place} of {len(self.data)}")

    def take(self, count: int) -> bytes:
        if not 0 <= count <= len(self.data) - self.place:
            raise self.error("it ends too early")
        self.place += count
        return self.data[self.place - count : self.place]

    def value(self, kind: bytes, depth: int) -> Any:
        if depth > _DEEPEST:
            raise self.error("it is nested too deeply")
        if kind == b"{":
            return self.object(depth)
        if kind == b"[":
            return self.array(depth)
        if kind == b"S":
            return self.text()
        if kind in _NUMBERS:
            return self.numbers(kind, 1)[0].item()
        constants = {b"Z": None, b"T": True, b"F": False}
        if kind not in constants:
            raise self.error(f"{shown(kind)} is no type")
        return constants[kind]

    def numbers(self, kind: bytes, count: int) -> Any:
        form = np.dtype(_NUMBERS[kind])
        raw = self.take(count * form.itemsize)
        return np.frombuffer(raw, form).astype(form.newbyteorder("="))

    def length(self) -> int:
        kind = self.take(1)
        if kind not in _INTEGERS:
            raise self.error(f"a length is an integer, not of type {shown(kind)}")
        count = int(self.numbers(kind, 1)[0])
        if count < 0:
            raise self.error("a length is negative")
        return count

    def text(self) -> str:
        try:
            return self.take(self.length()).decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.error(f"a text is not UTF-8: {error.reason}") from None

    def object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while self.data[self.place : self.place + 1] != b"}":
            key = self.text()
            if key in found:
                raise self.error(f"the key {shown(key[:50])} occurs twice")
            found[key] = self.value(self.take(1), depth + 1)
        self.place += 1
        return found

    def array(self, depth: int) -> Any:
        kind = self.take(1)
        if kind == b"$":
            kind = self.take(1)
            if kind not in _NUMBERS or self.take(1) != b"#":
                raise self.error("an array of one type must be of numbers and have a length")
            return self.numbers(kind, self.length())
        if kind == b"#":
            return [self.value(self.take(1), depth + 1) for _ in range(self.length())]
        found = []
        while kind != b"]":
            found.append(self.value(kind, depth + 1))
            kind = self.take(1)
        return found
