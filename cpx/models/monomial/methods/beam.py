"""Beam search over monomials: how sets of features are ranked, and whom it gives a start."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from heapq import nsmallest

import numpy as np
from numpy.typing import NDArray

from cpx.answers.values import Value
from cpx.backends.base import Backend, Progress, StartWith
from cpx.compiled.library import has_kernels
from cpx.models.monomial.form import MonomialForm, WeightedMonomial, allowed

_SMALL = 2_000
"""Truth values of a table of samples: with fewer, engines end before a hint would help."""

Floats = NDArray[np.float64]
Features = tuple[int, ...]


def start(engine: Backend, form: MonomialForm) -> StartWith | None:
    """Begin with beam search, so that there is a value; told as a hint where those are poor."""
    m, d = form.shape
    needed = engine._start == "needed"
    if not (needed or engine.needs_model):
        return None
    hint = needed and m * d >= _SMALL
    if not has_kernels():
        return StartWith("beam", "beam search", hint, "required features")
    from cpx.models.monomial.search.optimise import begin

    return StartWith(begin, "beam search", hint, "required features")


class MonomialLevels:
    """The sets of one size after another, the most promising ones of each.

    They are ranked by the problem's own objective, equal ones by feature number. Those outside
    the limits on coverage and precision come last, those that cover too little are dropped.
    """

    def __init__(self, form: MonomialForm, width: int, progress: Progress) -> None:
        self.form, self.width = form, width
        self.ranking = _Ranking(form)
        # Only floats have fast products. Sums of weights are exact in them below 2**53; beyond,
        # the ranking is approximate, while every value that is reported is recomputed.
        self.agreement: Floats = form.agreement.astype(np.float64)
        self.scored = 0
        self.sizes = {"samples": form.shape[0], "features": form.shape[1]}

    def __iter__(self) -> Iterator[list[Features]]:
        """Yield the sets of each size, from the required features on."""
        beam: list[Features] = [self.form.required]
        yield beam
        for _ in range(len(self.form.required), self.form.k):
            beam = self.best_extensions(beam)
            if not beam:
                return
            yield beam

    @property
    def message(self) -> str:
        """How much was done."""
        return f"{self.scored} sets scored"

    def best_extensions(self, beam: list[Features]) -> list[Features]:
        """Return the best sets with one feature more, the best first."""
        covers = np.array([self.form.covered(chosen) for chosen in beam], dtype=np.float64)
        columns = self.ranking.columns
        # sums[c, s, j]: over the samples covered by set s and feature j, of column c.
        sums = np.array([(covers * column) @ self.agreement for column in columns])
        extensions = {
            tuple(sorted((*chosen, j))): (s, j)
            for s, chosen in enumerate(beam)
            for j in allowed(self.form, chosen)
        }
        self.scored += len(extensions)
        ranked = (
            (key, features)
            for features, (s, j) in extensions.items()
            if (key := self.ranking.key([int(total) for total in sums[:, s, j]])) is not None
        )
        return [features for _, features in nsmallest(self.width, ranked)]


class _Ranking:
    """What a set of features is worth, from sums over the samples that it covers.

    columns (c, m): What is summed: the weight of the agreeing samples and of all, where they
        matter, and by how much covering a sample changes the cost.
    """

    def __init__(self, form: MonomialForm) -> None:
        self.limits = form.limits
        columns = []
        if self.limits is not None:
            weights = self.limits.weights
            columns += [np.where(self.limits.same, weights, 0), weights]
        if isinstance(form, WeightedMonomial):
            columns.append(form.cost_covered - form.cost_uncovered)
        self.columns: Floats = np.array(columns, dtype=np.float64)

    def key(self, sums: list[int]) -> tuple[Value, ...] | None:
        """Return what sorts sets, the best first; None where no superset can be allowed.

        Sets within the limits come first, by the objective. The others follow, because more
        features may bring them within: what covers too much by the excess, what is not
        precise enough by its precision.
        """
        limits = self.limits
        if limits is None:
            return (sums[0],)
        agreeing, covered, *change = sums
        if covered < limits.least:
            # A superset covers no more.
            return None
        precision = Fraction(agreeing, covered) if covered else Fraction(0)
        value = change[0] if change else -precision
        if limits.allow(covered, agreeing):
            return (0, value)
        excess = 0 if limits.most is None else max(0, covered - limits.most)
        return (1, excess, -precision, value)
