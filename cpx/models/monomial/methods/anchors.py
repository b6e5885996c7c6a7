"""Anchors by the authors' package, as a backend.

M. T. Ribeiro, S. Singh, C. Guestrin: Anchors: High-Precision Model-Agnostic Explanations
(AAAI 2018), and their package ``anchor-exp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cpx.answers.result import Termination
from cpx.backends.base import Outcome, Progress
from cpx.data.distributions import Perturbed
from cpx.errors import DataError
from cpx.modelling.base import Problem
from cpx.models.monomial.form import allowed, monomial_form
from cpx.models.monomial.methods.queries import (
    CountedOracle,
    QueryMethod,
    fresh_generator,
    refusal,
)
from cpx.options import SolveOptions
from cpx.support.shares import share_text

__all__ = ["Anchors"]

THRESHOLD = 0.95
"""Precision an anchor is to have, unless the problem has a least precision.

This and what follows are the package's own defaults.
"""

_DELTA = 0.1
_TOLERANCE = 0.15
_BATCH = 100
_WIDTH = 4


class Anchors(QueryMethod):
    """The anchor of widest coverage that the package ``anchor-exp`` takes for precise.

    The package's beam search (``AnchorBaseBeam.anchor_beam``) runs over the literals and the
    distribution of the problem: a candidate is judged on samples of D given z_S = x_S. At
    most k conditions are asked for (``max_anchor_size``). It starts from the required
    features, and never sees the forbidden ones.

    The package's tabular front end, ``AnchorTabularExplainer.explain_instance``, is not used:
    it has columns in place of our conditions, and in version 0.0.2.0 it does not hand its
    ``beam_size`` on, so that its search is greedy.

    What the package estimates is told in ``raw_status``. The figures of the result are
    measured on the samples of the problem like those of every engine.

    The package counts the samples of a rule that happen to satisfy one condition more as
    samples of the longer rule. For distributions that condition this is right; for
    ``perturbed``, which writes values in, these are other samples than those of the longer
    rule, and its estimates can be far off. A warning says so.
    """

    name: ClassVar[str] = "anchors"
    requires: ClassVar[dict[str, str]] = {"anchor": "anchor-exp>=0.0.2,<0.1"}
    summary: ClassVar[str] = "Anchors of Ribeiro et al., by the package anchor-exp"

    def ask(
        self, problem: Problem, options: SolveOptions, progress: Progress, counted: CountedOracle
    ) -> Outcome:
        """Run the package's search; see :class:`~cpx.backends.base.Backend`."""
        form = monomial_form(problem)
        assert form is not None  # accepts() says so
        free = allowed(form, form.required)
        size = min(form.k - len(form.required), len(free))
        if size <= 0:
            progress.found(problem.explanation(form.required))
            return Outcome(False, Termination.COMPLETED, "nothing to choose")
        limit = None if form.limits is None else form.limits.precision
        threshold = THRESHOLD if limit is None else float(limit)
        rng = fresh_generator(options.seed)
        found = _anchor(counted, form.required, free, size, threshold, rng)
        features = [*form.required, *(free[j] for j in found["feature"])]
        precision = found["precision"][-1] if found["feature"] else found["all_precision"]
        coverage = found["coverage"][-1] if found["feature"] else 1.0
        warnings = []
        if isinstance(counted.oracle.distribution, Perturbed):
            warnings.append(
                "the package reuses the samples of shorter rules, which is wrong for the "
                "distribution 'perturbed': trust the precision on fresh samples, not its own"
            )
        if precision < threshold:
            warnings.append(
                f"no rule of at most {form.k} condition{'s' * (form.k != 1)} reached the "
                f"precision {threshold:g} that Anchors looks for; this is the most precise it met"
            )
        anchor = problem.explanation(features)
        if progress.found(anchor) is None:
            warnings.append(refusal(f"the anchor {sorted(features)}", anchor))
        figures = f"precision {share_text(precision)}, coverage {share_text(coverage)}"
        message = f"the package's estimates: {figures}"
        return Outcome(False, Termination.COMPLETED, message, warnings=warnings)


def _anchor(
    counted: CountedOracle,
    required: Sequence[int],
    free: Sequence[int],
    size: int,
    threshold: float,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Return the package's record of its anchor; features are positions in ``free``."""
    from anchor.anchor_base import AnchorBaseBeam

    def sample(
        present: Sequence[int], m: int, compute_labels: bool = True
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.int64]]:
        # The package keeps rows to show as examples; rows without columns are the cheapest.
        rows = np.empty((m, 0), dtype=np.bool_)
        same = np.zeros(m, dtype=np.int64)
        try:
            drawn, agreement = counted.oracle.draw(
                m, [*required, *(free[j] for j in present)], rng
            )
        except DataError:
            # A rule that D gives no mass covers nothing: no sample speaks for it.
            return rows, np.zeros((m, len(free)), dtype=np.bool_), same
        if compute_labels:
            same = counted.same(drawn).astype(np.int64)
        return rows, agreement[:, free], same

    found: dict[str, Any] = AnchorBaseBeam.anchor_beam(
        sample,
        delta=_DELTA,
        epsilon=_TOLERANCE,
        batch_size=_BATCH,
        desired_confidence=threshold,
        beam_size=_WIDTH,
        max_anchor_size=size,
    )
    return found
