"""Exact search, as machine code: the package's own engine.

It takes problems that hand over plain arrays of a form for which a family has registered a search
(:mod:`~cpx.backends.search.form_search`). What families share is here:

- ``best_first``: the tree of open nodes, its bound and threads; ``work_sharing``: tasks that idle
  threads take;
- ``branch_on_violations``: side constraints, for searches that require and forbid alone;
- ``bitsets``: packing, popcounts, compaction;
- ``side_constraints``, ``remaining_constraints``: side constraints in the kernels.

Its inner loops are kernels (:mod:`cpx.compiled`).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from functools import partial
from typing import ClassVar

from cpx.backends.base import Backend, Outcome, Progress
from cpx.backends.progress import run_interruptibly
from cpx.backends.search.branch_on_violations import branch_on_violations
from cpx.backends.search.form_search import FormSearch, load_searches, search_of
from cpx.errors import InvalidOption
from cpx.modelling.base import Problem
from cpx.options import EngineOption, SolveOptions

__all__ = ["FormSearch", "Search"]


class Search(Backend):
    """Branch and bound on bitsets: exact, anytime.

    Among the optimal sets of features the answer is the one with the fewest features, and of
    these the lexicographically first, whatever the number of threads.
    """

    name: ClassVar[str] = "search"
    requires: ClassVar[dict[str, str]] = {"numpy": "numpy>=2.0,<3"}
    _needs_kernels: ClassVar[bool] = True
    supported_options: ClassVar[frozenset[str]] = frozenset({"threads", "gap", "hint"})
    needs_model: ClassVar[bool] = False
    summary: ClassVar[str] = "branch and bound on bitsets, our own: exact, anytime"

    @classmethod
    def _preload(cls) -> None:
        """Load the kernels, and the searches of all families."""
        from cpx.compiled.library import load

        load()
        load_searches()

    def options(self) -> Mapping[str, EngineOption]:
        """Return those of monomials: the beam of the first incumbent, the nodes of the tie-break.

        Problems of other kinds are searched without them. ``cluster`` is the address of a Dask
        scheduler, whose workers search in place of threads.
        """
        return {
            "beam_width": EngineOption(int, least=1, most=10_000),
            "cluster": EngineOption(str),
            "tie_nodes": EngineOption(int, least=0),
        }

    def accepts(self, problem: Problem) -> bool:
        """Whether the problem has plain arrays of a form that the search knows."""
        return search_of(problem.form()) is not None

    def _keeps_side_constraints(self, problem: Problem) -> bool:
        """Whether its search does, or features can be required and forbidden one by one."""
        search = search_of(problem.form())
        keeps = search is not None and search.keeps_side_constraints
        return keeps or hasattr(problem, "required")

    def solve(self, problem: Problem, options: SolveOptions, progress: Progress) -> Outcome:
        """Hand the form to its search; see :class:`~cpx.backends.base.Backend`."""
        with progress.phase("state"):
            form = problem.form()
        search = search_of(form)
        assert search is not None  # accepts() says so
        if "cluster" in options.engine and not search.takes_cluster:
            raise InvalidOption(
                f"cluster: problems of kind {problem.kind!r} are not searched on a cluster"
            )
        if problem.side_constraints and not search.keeps_side_constraints:
            return branch_on_violations(problem, options, progress, self.solve)
        if progress.interrupted or progress.expired:
            return Outcome(False, progress.why_stopped(), "stopped before the search")
        if options.hint_features is not None and progress.objective is None:
            progress.found(problem.explanation(options.hint_features))
        with nullcontext() if search.tells_phases else progress.phase("solve"):
            return run_interruptibly(partial(search.solve, problem, form, progress), progress)
