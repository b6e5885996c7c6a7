"""Exact search over sets of rules: branch and bound on bitsets, anytime."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cpx.backends.base import Outcome
from cpx.backends.search.sets.bitsets import WORK, BitsetSearch
from cpx.backends.search.sets.driver import Explorer
from cpx.backends.search.sets.incumbent import Incumbent
from cpx.backends.search.sets.multipliers import Relaxation
from cpx.models.rulesets.form import RuleSelection
from cpx.result import Termination

if TYPE_CHECKING:
    from cpx.backends.base import Progress
    from cpx.models.base import Problem

__all__ = ["load_kernels", "optimise_sets"]


def optimise_sets(problem: Problem, form: RuleSelection, progress: Progress) -> Outcome:
    if not form.allows(form.required):
        # Limits never get tighter when a rule is left out: nothing else is allowed either.
        return Outcome(True, Termination.COMPLETED, "the required rules break a limit")
    with progress.phase("compile"):
        load_kernels()
        presolved = form.presolved
    merged = presolved.form
    rules = np.array([r for r in presolved.kept if r not in form.required], dtype=np.int64)
    start = form.required if progress.explanation is None else progress.explanation.features
    with progress.phase("solve"):
        known = Incumbent(form, problem, progress, presolved.translate(start))
        explorer = Explorer(merged, rules, known, lambda: progress.should_stop)
        explorer.run(max(1, progress.options.threads), lambda: progress.bound(explorer.bound()))
        progress.bound(explorer.bound())
    told = f"{explorer.nodes} nodes, {explorer.parts} parts"
    proved = progress.objective is not None and progress.best_bound == progress.objective
    if proved:
        progress.explanation = problem.explanation(known.key[2])
    why = Termination.COMPLETED if proved else progress.why_stopped()
    claimed = None if progress.objective is None else int(progress.objective)
    sizes = {"rules": len(rules), "rows": int(np.count_nonzero(merged.worth))}
    return Outcome(proved, why, told, claimed, sizes)


def load_kernels() -> None:
    """Load or compile the kernels on a toy, so that it is not counted as solving."""
    global _loaded
    if not _loaded:
        rules, ones = np.arange(3), np.ones(3, dtype=np.int64)
        toy = RuleSelection(~np.eye(3, dtype=bool), ones, 0 * ones, 0, (), (), ones, ones)
        relaxation = Relaxation(toy, (), rules)
        relaxation.climb(1.0, 0.1)
        relaxation.certify()
        part = BitsetSearch(toy, (), rules, relaxation.paid(), (4, 0))
        part.run(WORK, lambda: False, lambda found: (4, 0))
        _loaded = True


_loaded = False
