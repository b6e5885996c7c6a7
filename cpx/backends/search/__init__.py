"""Exact search: branch and bound on bitsets, compiled by Numba.

The package's own engine for problems that can hand over plain arrays (``search_form()``).

- ``presolve``: fewer and lighter rows, fewer columns;
- ``bits``, ``jit``: bitsets, popcounts, compaction;
- ``bounds``: what no completion of a set can do better, with proofs;
- ``tree``, ``pairs``: depth-first over sets, and its last two levels;
- ``heuristics``: greedy and beam search;
- ``driver``: the root, threads, the global bound, the choice among equally good sets.

Only this module may be imported without Numba.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from cpx.backends.base import Backend, Outcome, Progress
from cpx.backends.running import run_interruptibly
from cpx.errors import InvalidOption
from cpx.result import Termination

if TYPE_CHECKING:
    from cpx.backends.search.presolve import Reduced
    from cpx.models.base import Problem
    from cpx.models.monomial import WeightedMonomial
    from cpx.options import SolveOptions

__all__ = ["Search"]

_BEAM_WIDTH = 16
_TIE_NODES = 5_000_000
"""Nodes spent at most on the choice among equally good sets, beside those of the proof."""


class Search(Backend):
    """Branch and bound on bitsets: exact, anytime.

    Among the optimal sets of features the answer is the one with the fewest features, and of
    these the lexicographically first, whatever the number of threads.
    """

    name: ClassVar[str] = "search"
    requires: ClassVar[dict[str, str]] = {"numba": "numba>=0.61,<0.70"}
    honours: ClassVar[frozenset[str]] = frozenset({"threads", "gap", "hint"})
    encodes: ClassVar[bool] = False
    summary: ClassVar[str] = "branch and bound on bitsets, our own: exact, anytime"

    @classmethod
    def preload(cls) -> None:
        """Load the compiled kernels as well, or compile them when they were never used."""
        super().preload()
        _load_kernels()

    def solve(self, problem: Problem, options: SolveOptions, progress: Progress) -> Outcome:
        """Presolve and search; see :class:`~cpx.backends.base.Backend`."""
        with progress.phase("state"):
            form = _form_of(problem)
        if progress.interrupted or progress.expired:
            return Outcome(False, progress.why_stopped(), "stopped before the search")
        with progress.phase("compile"):
            _load_kernels()
            from cpx.backends.search.presolve import reduce

            reduced = reduce(form)
        if reduced is None:
            return Outcome(True, Termination.COMPLETED, "required features contradict")
        sizes = {"samples": reduced.weights.size, "features": reduced.features.size}
        if options.hint_features is not None and progress.objective is None:
            progress.found(problem.explanation(options.hint_features))
        with progress.phase("solve"):
            outcome = run_interruptibly(lambda: _search(problem, reduced, progress), progress)
        outcome.sizes = sizes
        return outcome


def _form_of(problem: Problem) -> WeightedMonomial:
    from cpx.models.monomial import WeightedMonomial

    offer = getattr(problem, "search_form", None)
    form = None if offer is None else offer()
    if not isinstance(form, WeightedMonomial):
        raise InvalidOption(f"backend 'search' cannot solve problems of kind {problem.kind!r}")
    return form


def _load_kernels() -> None:
    """Load or compile the kernels on a toy, so that it is not counted as solving."""
    global _loaded
    if _loaded:
        return
    import numpy as np

    from cpx.backends.search.driver import explore, first_optimal
    from cpx.backends.search.heuristics import beam
    from cpx.backends.search.root import Root
    from cpx.models.monomial import WeightedMonomial

    agreement = np.array([[j != i for j in range(4)] for i in range(4)])
    costs, none = np.array([1, 1, 2, 1]), np.zeros(4, dtype=np.int64)
    groups = np.arange(4)
    beam(WeightedMonomial(agreement, costs, none, 4), 2)
    explore(Root.of(agreement, costs, 4, groups, 4), 6, 1, lambda _: False)
    first_optimal(agreement, costs, 4, groups, 0, 4, 1, lambda _: False)
    _loaded = True


_loaded = False


def _search(problem: Problem, reduced: Reduced, progress: Progress) -> Outcome:
    from cpx.backends.search.driver import explore
    from cpx.backends.search.heuristics import beam_columns
    from cpx.backends.search.root import Root

    def report(columns: list[int]) -> None:
        progress.found(problem.explanation(reduced.original(columns)))

    def watch(workers: object) -> bool:
        cost, columns = workers.best()  # type: ignore[attr-defined]
        assert progress.objective is not None
        if columns is not None and reduced.value(cost) < progress.objective:
            report(columns)
        progress.bound(reduced.value(workers.bound()))  # type: ignore[attr-defined]
        return progress.should_stop

    report([])
    progress.bound(reduced.base)
    assert progress.objective is not None
    if reduced.k == 0:
        progress.bound(progress.objective)
        return Outcome(True, Termination.COMPLETED, "0 nodes", progress.objective)
    root = Root.of(reduced.agreement, reduced.weights, reduced.bad, reduced.groups, reduced.k)
    report(beam_columns(root, _BEAM_WIDTH))
    limit = -((reduced.base - progress.objective) // reduced.scale)
    done = explore(root, limit, progress.options.threads, watch)
    told = f"{done.nodes} nodes"
    if done.columns is not None:
        report(done.columns)
    progress.bound(min(reduced.value(done.bound), progress.objective))
    if progress.best_bound != progress.objective:
        return Outcome(False, progress.why_stopped(), told, progress.objective)
    cost = (progress.objective - reduced.base) // reduced.scale
    warnings: list[str] = []
    if root.covered_bad == cost:
        first: list[int] | None = []
    elif done.first:
        first = done.columns
    else:
        first, warnings = _settle(problem, reduced, progress, cost, done.nodes)
    if first is not None:
        progress.explanation = problem.explanation(reduced.original(first))
    return Outcome(True, Termination.COMPLETED, told, progress.objective, warnings=warnings)


def _settle(
    problem: Problem, reduced: Reduced, progress: Progress, cost: int, nodes: int
) -> tuple[list[int] | None, list[str]]:
    """Find the first of the optimal sets of a cost known optimal; or say why not."""
    from cpx.backends.search.driver import Cut, first_optimal

    assert progress.explanation is not None
    known = problem.shortened(progress.explanation).features
    most = min(len(known) - len(reduced.fixed), reduced.k)

    def stop(spent: int) -> bool:
        return progress.interrupted or progress.expired or spent > _TIE_NODES + nodes

    try:
        columns = first_optimal(
            reduced.agreement,
            reduced.weights,
            reduced.bad,
            reduced.groups,
            cost,
            most,
            progress.options.threads,
            stop,
        )
    except Cut:
        return None, [
            "optimal, but whether it is the shortest and first of the optimal rules was not"
            " settled"
        ]
    return columns, []
