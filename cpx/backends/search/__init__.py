"""Exact search: branch and bound on bitsets, as machine code.

The package's own engine for problems that can hand over plain arrays (``search_form()``).

- ``sample_weights``, ``presolve``: good and bad samples; fewer samples and features;
- ``bitsets``, ``root``: packing, popcounts, compaction; the packed problem;
- ``objective``: the cost of a set of features, and its limits;
- ``bounds``: bounds for all sets below a node, with proofs;
- ``tree``, ``stack``: depth-first branch and bound;
- ``pairs``, ``limits``, ``bad_columns``: the last two levels of the tree;
- ``beam``: the first incumbent, by beam search;
- ``driver``: root, threads, global bound, tie-break among the optimal sets;
- ``linear``, ``ratio``: a linear objective, and precision;
- ``enumeration``, ``solution_pool``: the n best sets, and all optimal ones;
- ``max_weight``: the same for weights of either sign, as pricing needs it;
- ``rule_sets``: sets of rules; ``kernel_rules``: rules of kernel machines.

Its inner loops are kernels (:mod:`cpx.compiled`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from cpx.answers.result import Termination
from cpx.backends.base import Backend, Outcome, Progress
from cpx.backends.engine_options import EngineOption
from cpx.backends.interruptible import run_interruptibly
from cpx.compiled.machine_code import load
from cpx.errors import InvalidOption, shown
from cpx.models.base import form_of

if TYPE_CHECKING:
    from cpx.models.base import Problem
    from cpx.models.kernel_rule.form import DNFForm
    from cpx.models.monomial.form import RatioMonomial, WeightedMonomial
    from cpx.models.rule_set.form import RuleSelection
    from cpx.options import SolveOptions

__all__ = ["Search"]


class Search(Backend):
    """Branch and bound on bitsets: exact, anytime.

    Among the optimal sets of features the answer is the one with the fewest features, and of
    these the lexicographically first, whatever the number of threads.
    """

    name: ClassVar[str] = "search"
    requires: ClassVar[dict[str, str]] = {"llvmlite": "llvmlite>=0.45,<0.60"}
    supported_options: ClassVar[frozenset[str]] = frozenset({"threads", "gap", "hint"})
    needs_model: ClassVar[bool] = False
    summary: ClassVar[str] = "branch and bound on bitsets, our own: exact, anytime"

    @classmethod
    def preload(cls) -> None:
        """Load the compiled kernels, and link them by a first use."""
        import numpy as np

        from cpx.data import Samples
        from cpx.models.monomial.k_monomial import KMonomial
        from cpx.options import SolveOptions

        load()
        samples = Samples(np.array([[1, 0], [0, 1], [1, 1]], bool), np.array([1, 1, 0], bool))
        problem = KMonomial(samples, k=2)
        cls().solve(problem, SolveOptions(), Progress(problem, SolveOptions()))

    def options(self) -> Mapping[str, EngineOption]:
        """Return those of monomials: the beam of the first incumbent, the nodes of the tie-break.

        Problems of other kinds are searched without them.
        """
        return {
            "beam_width": EngineOption(int, least=1, most=10_000),
            "tie_nodes": EngineOption(int, least=0),
        }

    def solve(self, problem: Problem, options: SolveOptions, progress: Progress) -> Outcome:
        """Presolve and search; see :class:`~cpx.backends.base.Backend`."""
        from cpx.models.kernel_rule.form import DNFForm
        from cpx.models.rule_set.form import RuleSelection

        with progress.phase("state"):
            form = _form_of(problem)
        if progress.interrupted or progress.expired:
            return Outcome(False, progress.why_stopped(), "stopped before the search")
        if isinstance(form, DNFForm):
            return _formula(problem, form, options, progress)
        if isinstance(form, RuleSelection):
            return _select(problem, form, options, progress)
        with progress.phase("compile"):
            load()
            from cpx.backends.search.presolve import reduce

            reduced = reduce(form)
        if reduced is None:
            return Outcome(True, Termination.COMPLETED, "required features contradict")
        sizes = {"samples": reduced.weights.size, "features": reduced.features.size}
        if options.hint_features is not None and progress.objective is None:
            progress.found(problem.explanation(options.hint_features))
        from cpx.backends.search.linear import optimise
        from cpx.backends.search.ratio import optimise_ratio
        from cpx.models.monomial.form import RatioMonomial

        search = optimise_ratio if isinstance(form, RatioMonomial) else optimise
        with progress.phase("solve"):
            outcome = run_interruptibly(lambda: search(problem, reduced, progress), progress)
        outcome.sizes = sizes
        return outcome


def _formula(
    problem: Problem, form: DNFForm, options: SolveOptions, progress: Progress
) -> Outcome:
    from cpx.backends.search.kernel_rules import solve_dnf

    if options.hint_features is not None and progress.objective is None:
        progress.found(problem.explanation(options.hint_features))
    with progress.phase("solve"):
        return run_interruptibly(lambda: solve_dnf(problem, form, progress), progress)


def _select(
    problem: Problem, form: RuleSelection, options: SolveOptions, progress: Progress
) -> Outcome:
    from cpx.backends.search.rule_sets import optimise_sets

    if options.hint_features is not None and progress.objective is None:
        progress.found(problem.explanation(options.hint_features))
    return run_interruptibly(lambda: optimise_sets(problem, form, progress), progress)


def _form_of(problem: Problem) -> WeightedMonomial | RatioMonomial | RuleSelection | DNFForm:
    from cpx.models.kernel_rule.form import DNFForm
    from cpx.models.monomial.form import RatioMonomial, WeightedMonomial
    from cpx.models.rule_set.form import RuleSelection

    form = form_of(problem)
    if not isinstance(form, WeightedMonomial | RatioMonomial | RuleSelection | DNFForm):
        raise InvalidOption(
            f"backend 'search' cannot solve problems of kind {shown(problem.kind)}"
        )
    return form
