"""Engines that break the contract, each in one way, for the conformance suite to catch."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np

from cpx.answers.result import Termination
from cpx.backends.base import Backend, Outcome
from cpx.backends.cpsat import CpSat
from cpx.options import SolveOptions
from cpx.testing import conformance


class Right(CpSat):
    """The engine that all others are, but for one thing."""

    name: ClassVar[str] = "right"
    supported_options: ClassVar[frozenset[str]] = frozenset({"threads", "seed", "gap", "hint"})


class BoundByOne(Right):
    name: ClassVar[str] = "bound-by-one"

    def solve(self, problem, options, progress):
        outcome = super().solve(problem, options, progress)
        if progress.objective is not None:
            progress.bound(int(progress.objective) + (1 if problem.sense == "min" else -1))
        return outcome


class ForgottenOffset(Right):
    name: ClassVar[str] = "forgotten-offset"

    def solve(self, problem, options, progress):
        outcome = super().solve(problem, options, progress)
        if outcome.claimed is None:
            return outcome
        offset = problem.model(options.encoding).offset
        return replace(outcome, claimed=outcome.claimed - offset)


class FirstIsOptimal(Right):
    name: ClassVar[str] = "first-is-optimal"

    def solve(self, problem, options, progress):
        width = len(problem.model(options.encoding).variables["X"])
        value = progress.incumbent({"X": np.zeros(width, dtype=np.int64)})
        if value is None:
            return super().solve(problem, options, progress)
        return Outcome(True, Termination.COMPLETED, "OPTIMAL", value)


class AlwaysProved(Right):
    name: ClassVar[str] = "always-proved"

    def solve(self, problem, options, progress):
        # The first set that it meets, whatever the limit: stating ends at it, and never would be.
        progress.found(problem.explanation(()))
        return Outcome(True, Termination.COMPLETED)


class IgnoresHint(Right):
    name: ClassVar[str] = "ignores-hint"

    def solve(self, problem, options, progress):
        plain = replace(options, hint=None) if type(options).__name__ != "_Recorded" else None
        if plain is None:
            # Not a look at the hint or the threads.
            return Outcome(False, Termination.COMPLETED, f"{options.seed} {options.gap}")
        return super().solve(problem, plain, progress)


class IgnoresThreads(Right):
    name: ClassVar[str] = "ignores-threads"

    def solve(self, problem, options, progress):
        plain = SolveOptions(
            time_limit=options.time_limit,
            seed=options.seed,
            gap=options.gap,
            hint=options.hint_features,
        )
        return super().solve(problem, plain, progress)


class IgnoresSeed(Right):
    name: ClassVar[str] = "ignores-seed"
    turns: ClassVar[Iterator[int]] = itertools.count()

    def solve(self, problem, options, progress):
        outcome = super().solve(problem, options, progress)
        if outcome.proved and progress.explanation is not None and "X" in _arrays(problem):
            best = progress.objective
            width = len(problem.model(options.encoding).variables["X"])
            size, as_good = len(progress.explanation.features), []
            for features in itertools.combinations(range(width), size):
                found = problem.explanation(features)
                seen = problem.evaluate(found)
                if seen.feasible and seen.objective == best:
                    as_good.append(found)
            # Another one each time: by chance it could be the same.
            progress.explanation = as_good[next(self.turns) % len(as_good)]
        return outcome


class Prints(Right):
    name: ClassVar[str] = "prints"

    def solve(self, problem, options, progress):
        print("hello")
        return super().solve(problem, options, progress)


class Overruns(Right):
    name: ClassVar[str] = "overruns"

    def solve(self, problem, options, progress):
        if options.time_limit is not None:
            # Promptness is processor time.
            end = time.process_time() + conformance._PROMPT_SECONDS
            while time.process_time() < end:
                pass
        return super().solve(problem, options, progress)


class Hangs(Right):
    name: ClassVar[str] = "hangs"

    def solve(self, problem, options, progress):
        time.sleep(3600)
        return super().solve(problem, options, progress)


def _arrays(problem):
    return problem.model().variables


BROKEN: dict[type[Backend], str] = {
    BoundByOne: "solves monomial",
    ForgottenOffset: "solves monomial",
    FirstIsOptimal: "solves monomial",
    AlwaysProved: "keeps_a_short_limit",
    IgnoresHint: "reads_what_it_supports",
    IgnoresThreads: "reads_what_it_supports",
    IgnoresSeed: "repeats_itself",
    Prints: "prints_nothing",
    Overruns: "keeps_a_short_limit",
}
"""And the check that has to catch each."""
