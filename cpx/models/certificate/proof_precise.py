"""Proofs about certificates of a given error: no rule of fewer features is precise.

That a certificate of error epsilon has at least b features says that no rule of at most b - 1
features covers something with a precision of 1 - epsilon or more. So a proof has the lines of one
of :mod:`~cpx.models.monomial.proof_check` that rules with this limit do not exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from cpx.check.proofs.document import Claim, Document, Refused, refuse_unknown
from cpx.models.monomial.proof_check import Question, check_box

__all__ = ["check", "rules"]

_INSTANCE = {"samples", "labels", "weights", "features", "groups", "unseen", "where"}
_PARAMETERS = {"epsilon", "required", "forbidden"}


def rules(instance: Mapping[str, Any], claim: Claim) -> Question:
    """Return the rules that a claim says are not there; of no bound, all of any size."""
    refuse_unknown(instance, _INSTANCE, _PARAMETERS)
    if isinstance(claim.bound, Fraction):
        raise Refused("header: the objective is an integer")
    most = len(instance["samples"][0])
    limits = {
        "k": most if claim.bound is None else min(most, claim.bound - 1),
        "min_precision": str(1 - Fraction(instance["parameters"]["epsilon"])),
    }
    chosen = {name: instance["parameters"].get(name, []) for name in ("required", "forbidden")}
    asked = {**instance, "problem": "negative-only", "parameters": {**chosen, **limits}}
    return Question(asked, Claim(None))


def check(instance: Mapping[str, Any], document: Document) -> None:
    """Refuse a proof that does not prove its claim about an instance."""
    root = rules(instance, document.claim).root
    if root is not None:
        root.refuse_chosen()
        check_box(root, document, root.goal)
    document.end()
