"""The search for a lightest change as an engine runs it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cpx.answers.result import Termination
from cpx.backends.base import Outcome, Progress
from cpx.models.sufficient_reason.judge_change import Change
from cpx.models.sufficient_reason.methods.smallest_change import SmallestChange, contrastive

if TYPE_CHECKING:
    from cpx.models.sufficient_reason.contrast_answer import Contrast
    from cpx.models.sufficient_reason.form import ChangeForm
    from cpx.options import SolveOptions

__all__ = ["change_of", "shown_least", "solve_change"]

_MOST_LEAVES = 100_000
"""Of models for which that is shown: the judge reads a leaf in some .1 ms."""

_SHOW_SECONDS = 2.0
"""For finding which sets show that no change is lighter."""


def solve_change(
    problem: Any, form: ChangeForm, options: SolveOptions, progress: Progress
) -> Outcome:
    """Search for a lightest change; see :class:`~cpx.backends.base.Backend`."""
    left = progress.remaining
    if left == 0:
        return Outcome(False, progress.why_stopped(), "stopped before the search")
    with progress.phase("solve"):
        found = contrastive(
            form.model,
            form.x,
            weights=form.weights,
            must_keep=form.frozen,
            targets=form.wanted,
            time_limit=left,
            seed=options.seed,
            stop=lambda: progress.should_stop,
        )
    if found.attributes is not None and found.cells is not None:
        best = problem.change(found.attributes, found.cells)
        change = change_of(form, best.features, form.x)
        progress.found(shown_least(best, change, found, _SHOW_SECONDS))
    progress.count(calls=found.calls)
    if found.lower is not None:
        progress.bound(found.lower)
    return Outcome(
        found.proved,
        Termination.COMPLETED if found.proved else progress.why_stopped(),
        f"{found.rounds} hitting sets, {found.calls} calls",
        found.upper,
    )


def shown_least(best: Contrast, change: Change, found: SmallestChange, seconds: float) -> Contrast:
    """Return a change with what shows that none is lighter, where that is proved and found.

    change: It as it is judged.
    """
    leaves = sum(len(tree["attribute"]) - len(tree["split"]) for tree in change.model["trees"])
    if not found.proved or found.lower is None or leaves > _MOST_LEAVES:
        return best
    sets = change.showing(found.reasons, found.lower, seconds)
    if sets is not None:
        return replace(best, sets=tuple(map(tuple, sets)))
    return replace(best, gains=change.gains_too_little(found.lower))


def change_of(form: ChangeForm, columns: Sequence[int], row: Sequence[float]) -> Change:
    """Return a change as it is judged."""
    classes = [form.model.classes[c] for c in form.wanted]
    x, new = ([None if v != v else float(v) for v in one] for one in (form.x, row))
    return Change(form.model.saved_form, x, new, classes, form.frozen, form.weights, columns)
