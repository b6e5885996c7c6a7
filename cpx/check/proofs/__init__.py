"""Checker of proofs of optimality and infeasibility: files that prove a bound of an instance.

Any program may have made a proof; the checker trusts nothing in it. :func:`proved` returns what it
proves, or says where it fails. Each kind of proof has a checker in the folder of its family,
written from the page "The format of proofs"; nothing is imported from statements or
engines.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from cpx.check.claims import number
from cpx.check.proofs.document import Claim, Refused, Undecided, fingerprint, opened
from cpx.check.result_fields import plain
from cpx.support.families import ProofKind, families
from cpx.support.lazy_imports import named_object
from cpx.support.one_thread import one_thread

__all__ = [
    "Claim",
    "Refused",
    "Undecided",
    "covers",
    "proof_kind",
    "proof_of",
    "provable",
    "proved",
]


def proof_kind(name: str) -> ProofKind | None:
    """Return the kind of proof of a name in documents, None where no family has registered it."""
    return next((f.proofs[name] for f in families() if name in f.proofs), None)


def proof_of(problem: str) -> tuple[str, ProofKind] | None:
    """Return name and kind of the proofs of a kind of problem, None where it has none."""
    kinds = ((name, kind) for family in families() for name, kind in family.proofs.items())
    return next(((name, kind) for name, kind in kinds if problem in kind.problems), None)


def provable() -> list[str]:
    """Return the kinds of problems that have proofs."""
    return [p for family in families() for kind in family.proofs.values() for p in kind.problems]


def proved(instance: Mapping[str, Any], proof: IO[bytes] | bytes) -> Claim:
    r"""Return what a proof proves of an instance.

    Parameters
    ----------
    instance : dict
        A saved instance, as :meth:`cpx.models.Problem.to_dict` returns it.
    proof : binary file, or bytes
        As it was saved, packed with gzip or not.

    Raises
    ------
    Refused
        Where it proves nothing; the message says what is wrong, and in which line.

    Examples
    --------
    >>> instance = {"problem": "k-monomial", "parameters": {"k": 1}, "samples": ["10", "01"],
    ...             "labels": "11", "features": ["a", "b"]}
    >>> header = (
    ...     '{"format": "cpx-proof", "version": 1, "kind": "monomial", "problem": "k-monomial", '
    ...     f'"instance": "{fingerprint(instance)}", "claim": {{"bound": %d}}}}'
    ... )
    >>> proved(instance, (header % 0 + "\nbounded\n").encode())
    Claim(bound=0)
    >>> proved(instance, (header % 1 + "\nbounded\n").encode())
    Traceback (most recent call last):
        ...
    cpx.check.proofs.document.Refused: a better rule has the required features alone
    """
    # Matrices have a few hundred rows: threads that waited for each other took nine tenths of the
    # processor time.
    with one_thread(), opened(proof) as document:
        kind = proof_kind(document.kind)
        if kind is None:
            raise Refused(f"header: no kind of proof is called {document.kind[:40]!r}")
        if document.problem != instance["problem"] or document.problem not in kind.problems:
            raise Refused(
                f"header: a proof of kind {document.kind} for {document.problem[:40]!r}, and the "
                f"instance is one of {instance['problem']!r}"
            )
        if document.instance != fingerprint(plain(instance)):
            raise Refused("header: the proof is of another instance")
        named_object(kind.check, f"checker of proofs of kind {document.kind}", Refused)(
            instance, document
        )
        return document.claim


def covers(claim: Claim, result: Mapping[str, Any]) -> bool:
    """Whether a proved claim leaves nothing of what a result says of its bound to be trusted."""
    if result["status"] == "INFEASIBLE" or claim.bound is None:
        return result["status"] == "INFEASIBLE" and claim.bound is None
    values = [number(result[name]) for name in ("bound", "objective")]
    known = [value for value in values if value is not None]
    return values[0] is not None and min(known) <= claim.bound <= max(known)
