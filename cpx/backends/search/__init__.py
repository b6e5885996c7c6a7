"""Exact search: branch and bound on bitsets, in C.

The package's own engine for problems that can hand over plain arrays (``search_form()``).

- ``presolve``: good and bad samples; fewer samples and features;
- ``bitsets``, ``root``: packing, popcounts, compaction; the packed problem;
- ``objective``: the cost of a set of features, and its limits;
- ``bounds``: bounds for all sets below a node, with proofs;
- ``tree``, ``stack``: the depth-first walk, and branch and bound;
- ``pairs.h``, ``bad_columns``: the last two levels of the tree;
- ``beam``: the first incumbent, by beam search;
- ``driver``: root, threads, global bound, tie-break among the optimal sets;
- ``optimise``: the search for a linear objective, and around it for precision;
- ``enumeration``, ``solution_pool``: the n best sets, or all optimal ones, on the same walk;
- ``max_weight``: the same for weights of either sign, as pricing needs it;
- ``rule_sets``: sets of rules; ``kernel_rules``: rules of kernel machines; ``table_sums``:
  expected predictions that are sums of tables; ``known_attributes``: the others.

Its inner loops are kernels (:mod:`cpx.compiled`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import cache, partial
from typing import ClassVar

import numpy as np

from cpx.answers.result import Termination
from cpx.backends.base import Backend, Outcome, Progress
from cpx.backends.branch_on_violations import branch_on_violations
from cpx.backends.progress import run_interruptibly
from cpx.data.samples import Samples
from cpx.modelling.base import Problem, form_of
from cpx.models.expected_prediction.form import ExpectationForm, TableSumForm, expectation_form_of
from cpx.models.kernel_rule.form import DNFForm
from cpx.models.monomial.form import RatioMonomial, WeightedMonomial
from cpx.models.monomial.weighted import KMonomial
from cpx.models.rule_set.form import RuleSelection
from cpx.options import EngineOption, SolveOptions

__all__ = ["Search"]

_KEEPING = WeightedMonomial | RatioMonomial | RuleSelection | DNFForm
"""Forms whose search keeps side constraints by itself."""


class Search(Backend):
    """Branch and bound on bitsets: exact, anytime.

    Among the optimal sets of features the answer is the one with the fewest features, and of
    these the lexicographically first, whatever the number of threads.
    """

    name: ClassVar[str] = "search"
    requires: ClassVar[dict[str, str]] = {"numpy": "numpy>=2.0,<3"}
    needs_kernels: ClassVar[bool] = True
    supported_options: ClassVar[frozenset[str]] = frozenset({"threads", "gap", "hint"})
    needs_model: ClassVar[bool] = False
    summary: ClassVar[str] = "branch and bound on bitsets, our own: exact, anytime"

    @classmethod
    def preload(cls) -> None:
        """Import the parts of the search, by a first use."""
        _first_use()

    def options(self) -> Mapping[str, EngineOption]:
        """Return those of monomials: the beam of the first incumbent, the nodes of the tie-break.

        Problems of other kinds are searched without them.
        """
        return {
            "beam_width": EngineOption(int, least=1, most=10_000),
            "tie_nodes": EngineOption(int, least=0),
        }

    def accepts(self, problem: Problem) -> bool:
        """Whether the problem has plain arrays of a form that the search knows."""
        return isinstance(_form_of(problem), _KEEPING | TableSumForm | ExpectationForm)

    def keeps_side_constraints(self, problem: Problem) -> bool:
        """Whether its search does, or features can be required and forbidden one by one."""
        searched = isinstance(form_of(problem), RuleSelection | DNFForm)
        return searched or hasattr(problem, "required")

    def solve(self, problem: Problem, options: SolveOptions, progress: Progress) -> Outcome:
        """Presolve and search; see :class:`~cpx.backends.base.Backend`."""
        with progress.phase("state"):
            form = _form_of(problem)
        if problem.side_constraints and not isinstance(form, _KEEPING):
            return branch_on_violations(problem, options, progress, self.solve)
        if progress.interrupted or progress.expired:
            return Outcome(False, progress.why_stopped(), "stopped before the search")
        sizes: dict[str, int] = {}
        work: Callable[[], Outcome]
        if isinstance(form, ExpectationForm):
            from cpx.models.expected_prediction.search.known_attributes import (
                solve_known_attributes,
            )

            work = partial(solve_known_attributes, problem, form, progress)
        elif isinstance(form, DNFForm):
            from cpx.models.kernel_rule.search import solve_dnf

            work = partial(solve_dnf, problem, form, progress)
        elif isinstance(form, RuleSelection):
            from cpx.models.rule_set.search import optimise_sets

            work = partial(optimise_sets, problem, form, progress)
        elif isinstance(form, TableSumForm):
            from cpx.models.expected_prediction.search.table_sums import solve_table_sum

            work = partial(solve_table_sum, problem, form, progress)
        else:
            assert isinstance(form, WeightedMonomial | RatioMonomial)  # accepts() says so
            with progress.phase("compile"):
                from cpx.models.monomial.search.optimise import optimise, optimise_ratio
                from cpx.models.monomial.search.presolve import reduce

                reduced = reduce(form)
            if reduced is None:
                return Outcome(
                    True, Termination.COMPLETED, "the constraints contradict each other"
                )
            sizes = {"samples": reduced.weights.size, "features": reduced.features.size}
            search = optimise_ratio if isinstance(form, RatioMonomial) else optimise
            work = partial(search, problem, reduced, progress)
        if options.hint_features is not None and progress.objective is None:
            progress.found(problem.explanation(options.hint_features))
        # The selection of rules tells its phases itself.
        phase = nullcontext() if isinstance(form, RuleSelection) else progress.phase("solve")
        with phase:
            outcome = run_interruptibly(work, progress)
        outcome.sizes = sizes or outcome.sizes
        return outcome


@cache
def _first_use() -> None:
    """Solve a problem of three samples, once in a process."""
    samples = Samples(np.array([[1, 0], [0, 1], [1, 1]], bool), np.array([1, 1, 0], bool))
    problem = KMonomial(samples, k=2)
    Search().solve(problem, SolveOptions(), Progress(problem, SolveOptions()))


def _form_of(problem: Problem) -> object:
    """Return the plain arrays of a problem, or the scores of what is no sum of tables."""
    form = form_of(problem)
    return expectation_form_of(problem) if form is None else form
