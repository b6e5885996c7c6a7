"""The same-decision probability: how many rows with some values of x get the class of x."""

from __future__ import annotations

from collections.abc import Iterable
from math import log, prod, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.data.fitted.distribution import StateDistribution, as_mixture
from cpx.data.fitted.tree_mixture import TreeMixture
from cpx.data.oracle import PrecisionEstimate
from cpx.models.expected_prediction.answer import SampledMean
from cpx.models.expected_prediction.base import ExpectedPrediction
from cpx.models.expected_prediction.paths import cells_of_states
from cpx.models.expected_prediction.regions import margins_of
from cpx.support.validation import open_unit, positive_integer, valid_seed

_MOST_ROWS = 4096
"""So many rows of states are enumerated; of more, some are drawn."""


class SameDecision:
    """Asks how probable the class of x is given the values of x in some attributes.

    Parameters
    ----------
    problem : MLSE or FewestExpected
        With the model, the distribution and x.

    Examples
    --------
    >>> from cpx.data.coding import Coding
    >>> from cpx.data.fitted.tree_mixture import ONE, TreeMixture
    >>> from cpx.models.expected_prediction.problem import MLSE
    >>> from cpx.trees import Attribute, Tree, TreeModel
    >>> stumps = [Tree([a, -1, -1], [0] * 3, [0] * 3, [[0.0], [2.0 - a]], (0,)) for a in (0, 1)]
    >>> model = TreeModel([Attribute(n, "boolean") for n in "ab"], ["no", "yes"], stumps,
    ...                   [[0.5], [0.5]], "sum", "positive", [-2.5])
    >>> coding = Coding.fit([[0, 0], [1, 1]], names=["a", "b"], cuts=model.thresholds)
    >>> third = [[ONE // 4, 3 * ONE // 4]]
    >>> asked = SameDecision(MLSE(model, (1, 1), coding, TreeMixture([ONE], None, [[third] * 2]),
    ...                           k=1))
    >>> round(asked.exact([0]), 6), round(asked.exact([]), 6), asked.sampled([0], 1000).value
    (0.75, 0.5625, 0.723)
    """

    def __init__(self, problem: ExpectedPrediction) -> None:
        self.problem = problem
        coding, used = problem.coding, {*problem.tree_model.used}
        # For each attribute that the model tests: the columns tested, and their cells by state.
        self._tested: dict[int, tuple[list[int], NDArray[np.int64]]] = {}
        self._marginals: dict[tuple[int, ...], StateDistribution] = {}
        for a, columns in enumerate(coding.columns):
            tested = [i for i, c in enumerate(columns) if c in used]
            if tested:
                cells = cells_of_states(problem.tree_model, coding, a)[:, tested]
                self._tested[a] = [columns[i] for i in tested], cells

    def same(self, codes: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which rows of states get the class of x; (n, A) to (n,)."""
        decided = self.problem.tree_model.decide(self._totals(codes))
        return np.asarray(decided == self.problem.label_index)

    def probabilities(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        """Return what a model says for the class of x: (n, A) to (n,).

        The probability, which follows where log-odds are added up, or the share of votes.
        """
        model, label = self.problem.tree_model, self.problem.label_index
        power = 2**model.exact.exponent
        if model.rule != "sum":
            whole = len(model.trees) * power
            return np.array([int(own) / whole for own in self._totals(codes)[:, label]])
        own = (margins_of(row, label) for row in self._totals(codes).tolist())
        odds = np.array([[margin / power for margin in margins] for margins in own])
        with np.errstate(over="ignore"):
            return np.asarray(1 / (1 + np.exp(-odds).sum(axis=1)))

    def _totals(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Return the scores of rows of states, as integers."""
        model = self.problem.tree_model
        cells = np.zeros((len(codes), model.n_attributes), dtype=np.int32)
        for a, (columns, of_state) in self._tested.items():
            cells[:, columns] = of_state[codes[:, a]]
        return model.totals_of(cells)

    def sampled(
        self, chosen: Iterable[int], m: int = 1000, seed: int = 0, confidence: float = 0.95
    ) -> PrecisionEstimate:
        """Estimate the probability on rows drawn given the values of x in the chosen attributes.

        Parameters
        ----------
        chosen : iterable of int
            Attributes.
        m : int
            Number of rows.
        seed : int
        confidence : float
            Of the exact (Clopper-Pearson) limits, between 0 and 1.

        Returns
        -------
        PrecisionEstimate
            The share of the class of x, with its limits.
        """
        level = open_unit("confidence", confidence)
        agreeing = int(self.same(self.drawn(chosen, m, seed)).sum())
        return PrecisionEstimate.measured(agreeing, m, level)

    def mean_probability(
        self, chosen: Iterable[int], m: int = 1000, seed: int = 0, confidence: float = 0.95
    ) -> SampledMean:
        """Estimate what the model says at the mean of rows with the values of some attributes.

        The limits are those of the empirical Bernstein inequality, each with half of what the
        confidence leaves (Maurer and Pontil, COLT 2009, theorem 4).

        Parameters
        ----------
        chosen, m, seed, confidence
            As for :meth:`sampled`.
        """
        level = open_unit("confidence", confidence)
        said = self.probabilities(self.drawn(chosen, m, seed))
        mean, odds = float(said.mean()), log(4 / (1 - level))
        off = 1.0
        if m > 1:
            off = sqrt(2 * float(said.var(ddof=1)) * odds / m) + 7 * odds / (3 * (m - 1))
        return SampledMean(mean, max(0.0, mean - off), min(1.0, mean + off), m, level)

    def drawn(self, chosen: Iterable[int], m: int, seed: int) -> NDArray[np.int32]:
        """Draw rows of states given those of x in the chosen attributes; what matters of them."""
        rng, S = np.random.default_rng(valid_seed(seed)), sorted({*chosen})
        kept, mixture = self._marginal(S)
        held = [kept.index(a) for a in S]
        found = mixture.sample_given(positive_integer("m", m), self.problem.codes[kept], held, rng)
        rows = np.zeros((m, self.problem.n_features), dtype=np.int32)
        rows[:, kept] = found
        return rows

    def _marginal(self, chosen: list[int]) -> tuple[list[int], StateDistribution]:
        """Return the attributes that matter, and their distribution; all where there are edges.

        Of independent attributes, those that are neither known nor tested are left out.
        """
        whole = self.problem.distribution
        kept = tuple(sorted({*self._tested, *chosen}))
        if not whole.edgeless or not kept:
            return list(range(whole.n_attributes)), whole
        if kept not in self._marginals:
            mixture = as_mixture(whole)
            tables = tuple(tuple(of_all[a] for a in kept) for of_all in mixture.tables)
            self._marginals[kept] = TreeMixture(mixture.weights, mixture.parents[:, kept], tables)
        return list(kept), self._marginals[kept]

    def exact(self, chosen: Iterable[int]) -> float | None:
        """Return the probability, by enumeration; None where there are too many rows of states.

        Only attributes that the model tests are enumerated, and only where they are not chosen.
        """
        held = {*chosen}
        sizes = self.problem.coding.cardinalities
        free = [a for a in self._tested if a not in held]
        if prod(sizes[a] for a in free) > _MOST_ROWS:
            return None
        count = prod(sizes[a] for a in free)
        grid = np.indices([sizes[a] for a in free]).reshape(len(free), count).T
        rows = np.repeat(self.problem.codes[None, :], len(grid), axis=0)
        rows[:, free] = grid
        same = self.same(rows)
        if same.all():
            return 1.0  # the sum of all probabilities is rounded
        rows = rows[same]
        masks: list[Any] = [None] * len(sizes)
        for a in held:
            masks[a] = np.arange(sizes[a]) == self.problem.codes[a]
        whole = self.problem.distribution.event_probability(masks)
        if not len(rows):
            return 0.0
        for a in free:
            masks[a] = np.arange(sizes[a]) == rows[:, a, None]
        found = np.sum(self.problem.distribution.event_probability(masks))
        return min(1.0, float(found / whole))
