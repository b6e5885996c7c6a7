"""Proofs of the bounds of results: made after a solve, whatever the engine."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from inspect import signature
from typing import Any

from cpx.answers.proof import Proof
from cpx.answers.result import Result, Status
from cpx.backends.progress import Progress
from cpx.check.proofs import Claim, Refused, Undecided, proof_of, provable
from cpx.check.proofs.document import VERSION, fingerprint
from cpx.errors import EngineError, InvalidOption
from cpx.modelling.base import Problem
from cpx.options import SolveOptions
from cpx.processes.interrupts import noted
from cpx.support.lazy_imports import named_object
from cpx.support.one_thread import one_thread

__all__ = ["prove", "require_provable", "with_proof"]

_SHORTEST = 0.1  # seconds
_SHORT = "the time was too short, or the prover can do no better"


def require_provable(problem: object) -> None:
    """Refuse a problem of a kind without proofs, by its name."""
    kind = getattr(problem, "kind", type(problem).__name__)
    known = proof_of(kind)
    if known is None:
        raise InvalidOption(
            f"proof: there are none for {kind}; there are for {', '.join(provable())}"
        )
    refusal = known[1].refusal
    if refusal and (why := named_object(refusal, f"proofs of {kind}", EngineError)(problem)):
        raise InvalidOption(f"proof: {why}")


def with_proof(
    problem: Problem,
    result: Result,
    seconds: float | None = None,
    record: Sequence[object] = (),
) -> Result:
    """Return a result with the proof that :func:`prove` makes; the exact search is trusted.

    A bound that is found to be wrong makes the result one of status ERROR; what is not proved in
    time is said in a warning. Ctrl-C ends the proof, not the program. Whatever else happens here,
    the answer is there, and stays: a warning says why there is no proof.
    """
    try:
        trusted = result.backend == "search"
        proof = prove(problem, result, seconds, trusted=trusted, record=record)
    except Undecided as undecided:
        return result.with_warnings(f"no proof was made: {undecided}")
    except Refused as refused:
        told = f"proof failed: {refused}"
        return replace(result, status=Status.ERROR, error=told).with_warnings(told)
    except (Exception, KeyboardInterrupt) as error:
        return result.with_warnings(f"no proof was made: {type(error).__name__}: {error}")
    result = replace(result, proof=proof)
    if proof is None:
        told = "nothing is claimed" if _claimed(result) is None else _SHORT
        return result.with_warnings(f"no proof was made: {told}")
    if not proof.complete:
        return result.with_warnings(
            f"the proof is of the bound {proof.bound}, that of the engine is {result.bound}: "
            f"{_SHORT}"
        )
    return result


def prove(
    problem: Problem,
    result: Result,
    seconds: float | None = None,
    *,
    trusted: bool = False,
    record: Sequence[object] = (),
) -> Proof | None:
    """Make a proof of the bound of a result, or of its infeasibility.

    result: Of any engine.
    seconds: Time to take. A proof that is not complete by then proves a weaker bound, and says so
        by :attr:`~cpx.answers.proof.Proof.complete`.
    trusted: Whether to write a proof without looking at the sets that its checker will count.
        Where the bound is wrong, it is the checker that finds out.
    record: What the engine has written down of its search, as ``Progress.record``. The proof says
        no more than without it, but takes less time.
    Returns: None where the result claims nothing, and where nothing was proved in time.
    Raises InvalidOption: For a kind of problem without proofs.
    Raises Refused: Where the claim was found to be wrong.
    """
    require_provable(problem)
    goal = _claimed(result)
    if goal is None:
        return None
    end = math.inf if seconds is None else time.perf_counter() + seconds
    found = proof_of(problem.kind)
    assert found is not None  # it was required above
    (name, kind), instance = found, problem.to_dict()
    make = named_object(kind.prove, f"prover of kind {name}", EngineError)
    of_all = problem.side_constraints and not kind.keeps_side_constraints
    if of_all and goal.bound is None:
        raise Undecided("of such a problem it is not proved that side constraints contradict")
    made = goal
    known: dict[str, Any] = {"trusted": trusted, "problem": problem}
    if not of_all:
        # A search that kept side constraints has not looked at the other answers.
        known["record"] = record
    taken = signature(make).parameters
    make = partial(make, **{name: value for name, value in known.items() if name in taken})
    with noted(stop := threading.Event()), one_thread():

        def over() -> bool:
            return stop.is_set() or time.perf_counter() > end

        try:
            claim, lines = make(instance, goal, over)
        except Undecided:
            raise
        except Refused:
            if not of_all:
                raise
            # An answer that breaks them is better.
            made = _of_all(problem, end)
            claim, lines = make(instance, made, over)
    if claim is None:
        return None
    header: dict[str, Any] = {
        "format": "cpx-proof",
        "version": VERSION,
        "kind": name,
        "problem": problem.kind,
        "instance": fingerprint(instance),
        "claim": claim.to_dict(),
    }
    if claim != goal:
        header["goal"] = made.to_dict()
    told = None
    if kind.rows:
        answer = result.explanation
        features = () if answer is None else answer.features
        rows = named_object(kind.rows, f"rows of proofs of kind {name}", EngineError)
        told = partial(rows, problem, claim, tuple(lines), features)
    return Proof(header, tuple(lines), told)


def _of_all(problem: Any, end: float) -> Claim:
    """Return the bound of all answers, whether they keep the side constraints or not."""
    from cpx.backends.search import Search

    left = None if end == math.inf else max(end - time.perf_counter(), _SHORTEST)
    free, options = replace(problem, side_constraints=()), SolveOptions(time_limit=left)
    progress = Progress(free, options)
    outcome = Search().solve(free, options, progress)
    bound = progress.objective if outcome.proved else progress.best_bound
    if bound is None:
        raise Undecided("without the side constraints no bound was found in time")
    return Claim(bound)


def _claimed(result: Result) -> Claim | None:
    """Return what a result claims, None for nothing."""
    if result.status is Status.INFEASIBLE:
        return Claim(None)
    if result.bound is None or result.status is Status.ERROR:
        return None
    return Claim(result.bound)
