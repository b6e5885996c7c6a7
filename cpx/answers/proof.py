"""The proof of a result: what is claimed, and the lines that a checker follows."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cpx.answers.proof_rows import ProofRows
from cpx.answers.values import Value, from_json, plural
from cpx.support.files import write_atomic

__all__ = ["Proof"]


@dataclass(frozen=True, eq=False)
class Proof:
    """A proof as :func:`cpx.solve` makes it and :func:`cpx.check.proofs.proved` checks it.

    Attributes
    ----------
    header : dict
        Format, kind, fingerprint of the instance, and the claim; see the page "Proofs".
    lines : tuple of str
        The body.
    rows : ProofRows, optional
        What a proof about a minimum sufficient reason says, in words.

    Examples
    --------
    >>> from cpx import KMonomial, Samples, solve
    >>> problem = KMonomial(Samples([[1, 0], [0, 1]], [1, 0], features=("a", "b")), k=1)
    >>> proof = solve(problem, "search", proof=True).proof
    >>> proof.bound, proof.complete, proof.lines
    (0, True, ('counted',))
    """

    header: Mapping[str, Any]
    lines: tuple[str, ...]
    rows: ProofRows | None = None

    @property
    def bound(self) -> Value | None:
        """The bound that is claimed; None where the claim is that there is no solution."""
        return from_json("bound", self.header["claim"].get("bound"))

    @property
    def complete(self) -> bool:
        """Whether the claim is all that was to be proved."""
        return "goal" not in self.header

    def to_bytes(self) -> bytes:
        """Return the proof as a file has it."""
        return "\n".join([json.dumps(self.header), *self.lines, ""]).encode("ascii")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the proof, gzipped when the name ends in ``.gz``; whole or not at all."""
        data = self.to_bytes()
        if str(path).endswith(".gz"):
            data = gzip.compress(data, mtime=0)
        write_atomic(path, data)

    def __str__(self) -> str:
        claimed = "no solution" if self.bound is None else f"bound {self.bound}"
        told = f"of {claimed}, {plural(len(self.lines), 'line')}"
        return told if self.rows is None else f"{told}: {self.rows.headline}"
