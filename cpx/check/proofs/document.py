"""Proof files: the header, the claim, and the body one line at a time.

The format is described on the page "The format of proofs". Nothing is read beyond what
the checker asks for, so a proof may be larger than the memory.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from io import BufferedReader, BytesIO, RawIOBase
from typing import IO, Any, cast

__all__ = [
    "Claim",
    "Document",
    "Refused",
    "Undecided",
    "claim_of",
    "fingerprint",
    "opened",
    "refuse_unknown",
    "signed_number",
    "whole_numbers",
]

VERSION = 1

_LONGEST_LINE = 2**26
_FRACTION = re.compile(r"-?[0-9]{1,40}(/[0-9]{0,39}[1-9][0-9]{0,39})?")
_ASIDE = ("name", "context", "unseen")
_KEYS = {"format", "version", "kind", "problem", "instance", "claim", "goal"}


class Refused(Exception):
    """A proof does not prove its claim; the message says where and why."""


class Undecided(Refused):
    """The instance is beyond the checker: no proof of it can be taken, true or not."""


@dataclass(frozen=True)
class Claim:
    """What a proof claims: no solution is better than ``bound``, or there is none at all.

    bound: None where the claim is that nothing satisfies the constraints.
    """

    bound: int | Fraction | None

    def to_dict(self) -> dict[str, Any]:
        """Return the claim as a header has it."""
        if self.bound is None:
            return {"infeasible": True}
        exact = str(self.bound) if isinstance(self.bound, Fraction) else self.bound
        return {"bound": exact}


class Document:
    """A proof that is being read: what the header says, and the lines that follow."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self.number = stream, 1
        header = _object(self._read())
        if set(header) - {"goal"} != _KEYS - {"goal"}:
            raise Refused(f"header: the keys must be {', '.join(sorted(_KEYS - {'goal'}))}")
        if header["format"] != "cpx-proof" or header["version"] != VERSION:
            raise Refused(f"header: no proof of version {VERSION}")
        if not all(isinstance(header[key], str) for key in ("kind", "problem", "instance")):
            raise Refused("header: kind, problem and instance must be texts")
        self.kind, self.problem, self.instance = (
            header["kind"],
            header["problem"],
            header["instance"],
        )
        self.claim = claim_of(header["claim"])
        # What the rules of the body prove, where a part of it was left open.
        self.goal = claim_of(header["goal"]) if "goal" in header else self.claim

    def line(self) -> list[str]:
        """Return the words of the next line."""
        self.number += 1
        line = self._read()
        try:
            text = line.decode("ascii")
        except UnicodeDecodeError:
            raise Refused(f"line {self.number}: not in ASCII") from None
        if not text.endswith("\n"):
            raise Refused(f"line {self.number}: the proof ends here, and is not complete")
        return text[:-1].split(" ")

    def end(self) -> None:
        """Refuse what follows a complete proof."""
        self.number += 1
        if self._read():
            raise Refused(f"line {self.number}: the proof is complete, and this follows")

    @contextmanager
    def named(self) -> Iterator[None]:
        """Name the line that was read last in what is refused, unless one is named."""
        number = self.number
        try:
            yield
        except Refused as refused:
            if str(refused).startswith("line "):
                raise
            raise type(refused)(f"line {number}: {refused}") from None

    def _read(self) -> bytes:
        try:
            line = self._stream.readline(_LONGEST_LINE + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise Refused(f"line {self.number}: truncated or damaged: {error}") from error
        if len(line) > _LONGEST_LINE:
            raise Refused(f"line {self.number}: longer than {_LONGEST_LINE} bytes")
        return line


@contextmanager
def opened(proof: IO[bytes] | bytes) -> Iterator[Document]:
    """Open a proof, packed with gzip or not."""
    stream = BytesIO(proof) if isinstance(proof, bytes) else proof
    # A pipe cannot go back to its start.
    reader = BufferedReader(cast(RawIOBase, stream))
    try:
        if reader.peek(2)[:2] == b"\x1f\x8b":
            with gzip.GzipFile(fileobj=reader) as unpacked:
                yield Document(cast(IO[bytes], unpacked))
        else:
            yield Document(reader)
    finally:
        reader.detach()


def fingerprint(instance: Mapping[str, Any]) -> str:
    """Return the SHA-256 of what decides the answer to an instance, keys sorted, no blanks.

    That is all but its name, its context, and the samples that no engine sees.
    """
    data = {key: value for key, value in instance.items() if key not in _ASIDE}
    canonical = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8")).hexdigest()


def claim_of(data: object) -> Claim:
    """Read a claim: ``{"bound": 12}``, ``{"bound": "3/4"}`` or ``{"infeasible": true}``."""
    if data == {"infeasible": True} and isinstance(data, dict) and data["infeasible"] is True:
        return Claim(None)
    if isinstance(data, dict) and set(data) == {"bound"}:
        bound = data["bound"]
        if isinstance(bound, int) and not isinstance(bound, bool):
            return Claim(bound)
        if isinstance(bound, str) and _FRACTION.fullmatch(bound):
            return Claim(Fraction(bound))
    raise Refused("header: a claim is a bound, an integer or a fraction, or that nothing is")


def whole_numbers(words: list[str], digits: int = 18) -> list[int]:
    """Read whole numbers without a sign, of at most so many digits: 18 fit 64 bits."""
    # Lines are in ASCII, where no other characters are digits.
    if not all(word.isdigit() and len(word) <= digits for word in words):
        raise Refused(f"whole numbers of at most {digits} digits are wanted")
    return [int(word) for word in words]


def signed_number(word: str, digits: int = 18) -> int:
    """Read a whole number that may have a minus; see :func:`whole_numbers`."""
    (number,) = whole_numbers([word.removeprefix("-")], digits)
    return -number if word.startswith("-") else number


def refuse_unknown(instance: Mapping[str, Any], keys: set[str], parameters: set[str]) -> None:
    """Refuse an instance that says more than a kind of proof knows: it may be a constraint.

    So are weights of samples that 64 bits may not add up.
    """
    common = {"format", "version", "problem", "name", "context", "parameters"}
    unknown = sorted({*instance} - common - keys | {*instance["parameters"]} - parameters)
    if unknown:
        raise Undecided(f"instance: proofs do not know {', '.join(unknown)}")
    most = max(instance["parameters"].get("class_weights") or (1,))
    if sum(abs(int(w)) for w in instance.get("weights") or ()) * most >= 2**53:
        raise Undecided("weights are too large for the checker")


def _object(line: bytes) -> dict[str, Any]:
    try:
        header = json.loads(line)
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise Refused("header: the first line is no JSON") from error
    if not isinstance(header, dict):
        raise Refused("header: the first line is no JSON object")
    return header
