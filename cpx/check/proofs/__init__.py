"""Checker of proofs of optimality and infeasibility: files that prove a bound of an instance.

Any program may have made a proof; the checker trusts nothing in it. :func:`proved` returns what it
proves, or says where it fails. Each kind of proof is a module here, written from the page "Proofs"
of the documentation; nothing is imported from models or engines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import IO, Any

from cpx.check.claims import number
from cpx.check.proofs.document import Claim, Document, Refused, Undecided, fingerprint, opened
from cpx.check.result_fields import plain
from cpx.models.certificate import proof_check as certificates
from cpx.models.expected_prediction import proof_check as expected
from cpx.models.kernel_rule import proof_check as kernel_rules
from cpx.models.monomial import proof_check as monomials
from cpx.models.rule_set import learning_proof_check as learning
from cpx.models.rule_set import proof_check as rule_sets
from cpx.models.sufficient_reason import proof_check as reasons
from cpx.support.one_thread import one_thread

__all__ = ["PROVABLE", "Claim", "Refused", "Undecided", "covers", "proved"]

_Check = Callable[[Mapping[str, Any], Document], None]

_KINDS: dict[str, tuple[tuple[str, ...], _Check]] = {
    monomials.NAME: (monomials.KINDS, monomials.check),
    rule_sets.NAME: (rule_sets.KINDS, rule_sets.check),
    learning.NAME: (learning.KINDS, learning.check),
    reasons.NAME: (reasons.KINDS, reasons.check),
    certificates.NAME: (certificates.KINDS, certificates.check),
    expected.NAME: (expected.KINDS, expected.check),
    kernel_rules.NAME: (kernel_rules.KINDS, kernel_rules.check),
}
"""Kinds of proof: the problems that they are for, and their checkers."""

PROVABLE = {problem: kind for kind, (problems, _) in _KINDS.items() for problem in problems}
"""The kind of proof of each kind of problem that has proofs."""


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
        if document.kind not in _KINDS:
            raise Refused(f"header: no kind of proof is called {document.kind[:40]!r}")
        problems, check = _KINDS[document.kind]
        if document.problem != instance["problem"] or document.problem not in problems:
            raise Refused(
                f"header: a proof of kind {document.kind} for {document.problem[:40]!r}, and the "
                f"instance is one of {instance['problem']!r}"
            )
        if document.instance != fingerprint(plain(instance)):
            raise Refused("header: the proof is of another instance")
        check(instance, document)
        return document.claim


def covers(claim: Claim, result: Mapping[str, Any]) -> bool:
    """Whether a proved claim leaves nothing of what a result says of its bound to be trusted."""
    if result["status"] == "INFEASIBLE" or claim.bound is None:
        return result["status"] == "INFEASIBLE" and claim.bound is None
    values = [number(result[name]) for name in ("bound", "objective")]
    known = [value for value in values if value is not None]
    return values[0] is not None and min(known) <= claim.bound <= max(known)
