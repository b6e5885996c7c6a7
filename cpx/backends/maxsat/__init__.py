"""MaxSAT through PySAT: core-guided, stratified and model-improving search.

CPMpy's transformations and a direct path for clausal statements compile to weighted
clauses (:mod:`~cpx.backends.maxsat.wcnf`); the searches are PySAT's RC2 with events
(:mod:`~cpx.backends.maxsat.core`) and a weighted linear search of our own
(:mod:`~cpx.backends.maxsat.linear_search`). Install: ``pip install 'python-sat[pb]' cpmpy``.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

from cpx.answers.result import Termination
from cpx.backends.base import DECLINED, Backend, Outcome, Progress
from cpx.backends.maxsat.cardinality import AT_MOST
from cpx.backends.maxsat.oracle import SOLVERS, Stopped
from cpx.backends.progress import run_interruptibly
from cpx.errors import InvalidOption
from cpx.options import EngineOption, SolveOptions

if TYPE_CHECKING:
    from cpx.backends.maxsat.search import Search
    from cpx.backends.maxsat.wcnf import Compiled
    from cpx.modelling.base import Problem
    from cpx.modelling.statement import Statement

__all__ = ["MaxSat"]


class MaxSat(Backend):
    """Weighted partial MaxSAT: three exact searches that report both bounds as they go.

    ``rc2`` raises the lower bound core by core, ``stratified`` does so from the heaviest
    costs down, ``lsu`` improves solutions and is the strongest of the three at that. Where a
    statement has a known solution and better ones only, the first two look for less than it costs
    after half a second, which a totalizer says: then they refute that in few large steps.

    >>> MaxSat("lsu").solver
    'lsu'
    """

    name: ClassVar[str] = "maxsat"
    solvers: ClassVar[tuple[str, ...]] = ("rc2", "stratified", "lsu")
    _preferred_encodings: ClassVar[tuple[str, ...]] = ("triples", "narrowed")
    _compiles_to: ClassVar[str] = "wcnf"
    requires: ClassVar[dict[str, str]] = {
        "pysat": "python-sat[pb]>=1.9.dev2,<2",
        "cpmpy": "cpmpy>=1.1,<1.2",
    }
    supported_options: ClassVar[frozenset[str]] = frozenset({"seed", "gap", "hint"})
    summary: ClassVar[str] = "MaxSAT, PySAT: core-guided, stratified, improving; exact, anytime"

    @classmethod
    def _preload(cls) -> None:
        """Import what compiles and what searches as well."""
        super()._preload()
        import_module("cpx.backends.maxsat.chain")
        import_module("cpx.backends.maxsat.linear_search")
        import_module("cpx.backends.maxsat.wcnf")
        import_module("cpx.backends.normal_forms")
        import_module("cpx.modelling.blocks")

    def options(self) -> Mapping[str, EngineOption]:
        """Return the options of RC2, the SAT solver, and the encoding of cardinalities."""
        return {
            "oracle": EngineOption(str, choices=SOLVERS),
            "adapt": EngineOption(bool),
            "exhaust": EngineOption(bool),
            "minz": EngineOption(bool),
            "trim": EngineOption(int, least=0),
            "at_most": EngineOption(str, choices=AT_MOST),
        }

    def solve(self, problem: Problem, options: SolveOptions, progress: Progress) -> Outcome:
        """State, compile and solve; see :class:`~cpx.backends.base.Backend`."""
        return run_interruptibly(lambda: self._solve(problem, options, progress), progress)

    def _solve(self, problem: Problem, options: SolveOptions, progress: Progress) -> Outcome:
        outcome = Outcome(proved=False, termination=Termination.COMPLETED)
        try:
            self._run(problem, options, progress, outcome)
        except InvalidOption as refused:  # more clauses than the encoding asked for can have
            return Outcome(False, Termination.COMPLETED, DECLINED, warnings=[str(refused)])
        except Stopped:
            # The last model may have met the bound: then the stop is a proof.
            if outcome.proved:
                outcome.raw_status = "OPTIMUM FOUND"
            else:
                outcome.raw_status = "STOPPED"
                outcome.termination = progress.why_stopped()
        return outcome

    def _run(
        self, problem: Problem, options: SolveOptions, progress: Progress, outcome: Outcome
    ) -> None:
        from cpx.backends.maxsat.search import Search
        from cpx.backends.maxsat.wcnf import compile_statement

        def check() -> None:
            if progress.should_stop:
                raise Stopped

        with progress.phase("state"):
            statement = problem.model(options.encoding)
            progress.stated(statement)
        check()
        with progress.phase("compile"):
            compiled = compile_statement(statement, check, options.engine.get("at_most"))
        outcome.sizes = compiled.sizes
        hint = _hint(problem, statement, compiled, options, progress, outcome)
        check()
        with progress.phase("solve"):
            search = Search(statement, compiled, progress)
            try:
                with search.oracle.watched():
                    feasible = self._search(search, hint)
                outcome.raw_status = "OPTIMUM FOUND" if feasible else "UNSATISFIABLE"
                outcome.proved = not feasible
            finally:
                progress.count(**search.oracle.statistics())
                search.oracle.delete()
                if search.upper is not None:
                    outcome.claimed = compiled.objective(search.upper)
                    outcome.proved = search.solved

    def _search(self, search: Search, hint: list[int] | None) -> bool:
        from cpx.backends.maxsat.core import core_guided
        from cpx.backends.maxsat.linear_search import linear_search

        if not search.start(hint):
            return False
        if search.compiled.wide:
            from cpx.backends.maxsat.rounding import rounds_of_bounds

            rounds_of_bounds(search, share=0.2 if self.solver == "lsu" else 0.8)
        if search.solved:
            return True
        if self.solver == "lsu":
            linear_search(search)
        else:
            # Where a solution and better ones only are left, it is a good one.
            good = search.statement.known is not None
            core_guided(search, stratified=self.solver == "stratified", only_better=good)
        return True


def _hint(
    problem: Problem,
    statement: Statement,
    compiled: Compiled,
    options: SolveOptions,
    progress: Progress,
    outcome: Outcome,
) -> list[int] | None:
    features = options.hint_features
    if features is None:
        return None
    if progress.found(problem.explanation(features)) is None:
        outcome.warnings.append("the hint breaks a constraint of the problem and is not used")
        return None
    return compiled.literals(statement.complete(features))
