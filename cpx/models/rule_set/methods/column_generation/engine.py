"""Column generation as an engine: rule sets learned from samples, with bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal

from cpx.answers.result import Termination
from cpx.backends.base import Backend, Outcome
from cpx.backends.progress import run_interruptibly
from cpx.models.rule_set.methods.column_generation.learnable import Learnable, Listener
from cpx.models.rule_set.methods.column_generation.learner import Learner
from cpx.models.rule_set.methods.column_generation.table import Features
from cpx.models.rule_set.methods.column_generation.zero_one import by_number_of_rules, least_of_all

if TYPE_CHECKING:
    from cpx.backends.base import Progress
    from cpx.modelling.base import Problem
    from cpx.options import SolveOptions

__all__ = ["ColumnGeneration"]


class ColumnGeneration(Backend):
    """Learns sets of rules by column generation on the Hamming loss [1]_.

    Its bound of the Hamming loss is that of the linear programme over all rules. The zero-one
    loss has a bound of its own, by the number of rules. Where all rules can be listed, the
    exact search goes through their sets at the end.

    References
    ----------
    .. [1] S. Dash, O. Gunluk, D. Wei: Boolean Decision Rules via Column Generation, NeurIPS
       2018.
    """

    name: ClassVar[str] = "column-generation"
    requires: ClassVar[dict[str, str]] = {
        "highspy": "highspy>=1.11,<1.15",
        "pulp": "pulp>=3.3.1,<4",
    }
    _needs_kernels: ClassVar[bool] = True
    supported_options: ClassVar[frozenset[str]] = frozenset({"threads", "seed", "gap", "hint"})
    needs_model: ClassVar[bool] = False
    _start: ClassVar[Literal["given", "needed", "own"]] = "own"
    summary: ClassVar[str] = "column generation: rule sets learned from samples, with a bound"

    @classmethod
    def _preload(cls) -> None:
        """Load HiGHS, and the exact search."""
        from cpx.backends.search import Search

        super()._preload()
        Search._preload()

    def accepts(self, problem: Problem) -> bool:
        """Whether rules are to be learned."""
        return isinstance(problem, Learnable)

    def _keeps_side_constraints(self, problem: Problem) -> bool:
        """Whether rules are to be learned: master, pricing and selection have them."""
        return self.accepts(problem)

    def solve(self, problem: Problem, options: SolveOptions, progress: Progress) -> Outcome:
        """Learn, then prove; see :class:`~cpx.backends.base.Backend`."""
        assert isinstance(problem, Learnable)
        with progress.phase("compile"):
            self._preload()
            run = _Run(problem, options, progress)
        with progress.phase("solve"):
            return run_interruptibly(run.outcome, progress)


class _Run:
    def __init__(self, problem: Learnable, options: SolveOptions, progress: Progress) -> None:
        self._problem, self._options, self._progress = problem, options, progress
        self._hamming = problem.loss == "hamming"
        left = progress.remaining
        self._learner = Learner(
            problem.merged(),
            math.inf if left is None else left,
            options.threads,
            options.seed,
            map(problem.literals, options.hint_features or ()),
            Listener(
                self._found,
                self._proved if self._hamming else lambda bound: None,
                lambda: progress.should_stop,
                progress.cancel,
            ),
        )

    def _found(self, rules: Sequence[Features]) -> None:
        self._progress.found(self._problem.explanation_of(rules))

    def _proved(self, bound: Fraction) -> None:
        self._progress.bound(bound * self._problem.scale)

    def outcome(self) -> Outcome:
        progress, learner = self._progress, self._learner
        self._found(())
        # The Hamming loss is no lower.
        self._proved(least_of_all(learner.table, learner.price))
        learner.run()
        if learner.infeasible:
            return Outcome(
                True, Termination.COMPLETED, "the side constraints contradict each other"
            )
        generation = learner.generation
        if self._hamming and progress.record is not None:
            progress.record.append(generation.recorded())
        message = [f"{len(generation.rounds)} rounds, {len(generation.rules)} rules"]
        message += ["no rule is left to add"] * generation.closed
        if not progress.should_stop:
            message += self._prove()
        proved = learner.infeasible or progress.objective == progress.best_bound
        why = Termination.COMPLETED if proved else progress.why_stopped()
        if why is Termination.COMPLETED and not (generation.closed or progress.gap_reached):
            # Each step has a share of the time.
            why = Termination.TIME_LIMIT
        return Outcome(
            proved,
            why,
            ", ".join(message),
            progress.objective if proved else None,
            {"rounds": len(generation.rounds), "rules": len(generation.rules)},
            [] if self._hamming else [self._of_hamming()],
        )

    def _prove(self) -> list[str]:
        """Raise the bound in the time that is left; say how."""
        from cpx.backends.search import Search

        problem, progress, learner = self._problem, self._progress, self._learner
        if not progress.problem._unstated:
            searched = Search().solve(progress.problem, self._options, progress)
            learner.infeasible = searched.proved and progress.objective is None
            return [f"all rules: {searched.raw_status}"]
        if self._hamming:
            return []
        by_number_of_rules(
            learner.table,
            problem.max_literals,
            learner.price,
            Fraction(int(progress.objective or 0), problem.scale),
            learner.generation.rules,
            seed=self._options.seed,
            threads=self._options.threads,
            seconds=learner.left(),
            stop=lambda: progress.should_stop,
            proved=self._proved,
            side=learner.side,
            record=progress.record,
        )
        return []

    def _of_hamming(self) -> str:
        learner = self._learner
        found = f"{float(learner.hamming.value):g} was found, " * learner.hamming.known
        return (
            f"Hamming loss and price, another objective: {found}every set of rules has at least "
            f"{float(learner.hamming_bound):g}; that is no bound of the zero-one loss"
        )
