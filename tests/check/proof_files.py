"""Proofs as files, and small changes of them."""

from __future__ import annotations

import json

import numpy as np

from cpx.check.proofs import Claim, proof_of
from cpx.check.proofs.document import fingerprint
from cpx.modelling.base import Problem


def document(problem: Problem, lines: list[str], claim: Claim, goal: Claim | None = None) -> bytes:
    """Return a proof as a file has it."""
    header = {
        "format": "cpx-proof",
        "version": 1,
        "kind": proof_of(problem.kind)[0],
        "problem": problem.kind,
        "instance": fingerprint(problem.to_dict()),
        "claim": claim.to_dict(),
    }
    if goal is not None:
        header["goal"] = goal.to_dict()
    return "\n".join([json.dumps(header), *lines, ""]).encode()


def altered(lines: list[str], rng: np.random.Generator) -> list[str]:
    """Return the lines with one of them dropped, doubled, exchanged, or one word altered."""
    out = list(lines)
    if not out:
        return ["bound 1 0"]
    at, other = (int(i) for i in rng.integers(0, len(out), 2))
    kind = int(rng.integers(7))
    if kind == 0:
        del out[at]
    elif kind == 1:
        out.insert(at, out[at])
    elif kind == 2:
        out[at], out[other] = out[other], out[at]
    else:
        words = out[at].split(" ")
        word = int(rng.integers(0, len(words)))
        try:
            number = int(words[word])
            change = (-1, 1, 1000, -number // 2, 10**15)[rng.integers(5)]
            words[word] = str(max(0, number + change))
        except ValueError:
            words[word] = ("over", "bounded", "0", "split", "breaks")[rng.integers(5)]
        out[at] = " ".join(words)
    return out
