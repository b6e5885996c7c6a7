"""The expected probability where the distribution is the classifier: the posterior of a class.

Of a mixture with a component for each class, the probability of the class c is Pr(c | x), and its
expectation given z is Pr(c | z): the weight of the component after z is seen. That is case (iv) of
Wang, Khosravi and Van den Broeck, section 4.2. Of two classes, a row with z has the greatest
probability where each attribute that is not known has the state that speaks most for the class;
of more, it has no more than where that is so against each other class by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.data.coding import Coding
from cpx.data.fitted.distribution import StateDistribution, as_mixture
from cpx.data.fitted.tree_mixture import TreeMixture
from cpx.errors import InvalidInstance, InvalidOption
from cpx.models.expected_prediction.evaluator import Evaluator, Extensions
from cpx.models.expected_prediction.exact_scores import ExactScores
from cpx.models.expected_prediction.greatest_posterior import greatest_posterior
from cpx.models.expected_prediction.leaves import LeafForm, has_probability
from cpx.models.expected_prediction.state_sets import StateSets, runs_of_rows
from cpx.trees.form import TreeModel

Floats = NDArray[np.float64]


def refuse_no_classes(distribution: StateDistribution, classes: int) -> None:
    """Refuse a distribution that is not one of independent attributes for each class.

    Raises InvalidInstance: Saying so.
    """
    mixture = isinstance(distribution, TreeMixture) and distribution.edgeless
    if not mixture or distribution.n_components != classes:
        raise InvalidInstance(
            "prediction posterior needs a mixture without edges of one component for each "
            f"class: got {distribution.structure}, {distribution.n_components} components, "
            f"{classes} classes"
        )


def certain_leaf(coding: Coding) -> LeafForm:
    """Return leaves of what a probability is at least and at most; one above 1/2 decides."""
    none = np.zeros(0, dtype=np.int64)
    runs = [runs_of_rows(np.zeros((0, len(s)), dtype=np.bool_)) for s in coding.states]
    limits, alone = np.array([0, 1], dtype=object), np.zeros(2, dtype=np.int64)
    masks = StateSets(runs)
    return LeafForm(limits, alone, none, none, none, masks, 0, 0, 1, Fraction(1, 2), False)


def log_odds_terms(model: TreeModel, coding: Coding) -> tuple[Floats, list[Floats]]:
    """Return the log-odds of each class against the first: always, and of each state.

    Returns base (C,), and of each attribute (C, states).
    Raises InvalidOption: For a model that is no sum of log-odds of one attribute each.
    """
    told = "distribution conformant is for models that add up log-odds of one attribute each"
    if not has_probability(model):
        raise InvalidOption(f"{told}, such as logistic regression or naive Bayes")
    classes = len(model.classes)
    base = np.zeros(classes)
    terms = [np.zeros((classes, len(states))) for states in coding.states]
    for c in range(1, classes):
        leaves = LeafForm.of(model, coding, c, rival=0)
        if np.diff(leaves.starts).max(initial=0) > 1:
            raise InvalidOption(f"{told}: a tree of this one tests several together")
        values = [int(value) / leaves.scale for value in leaves.values.tolist()]
        base[c] = int(leaves.base) / leaves.scale
        tested = {leaf: test for test, leaf in enumerate(leaves.leaf.tolist())}
        for leaf, value in enumerate(values):
            if leaf in tested:
                mask = int(leaves.mask[tested[leaf]])
                terms[leaves.attribute[tested[leaf]]][c, leaves.masks.states(mask)] += value
            else:
                base[c] += value
    return base, terms


@dataclass(frozen=True, eq=False)
class PosteriorEvaluator(Evaluator):
    """The posterior of a class given many sets at once, in floats."""

    label: int = 0

    @cached_property
    def _own(self) -> Floats:
        """What each component says for the class, shape (C, 1)."""
        return np.eye(self.distribution.n_components)[:, self.label : self.label + 1]

    def evaluate(self, observed: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Return the posteriors and the log-probabilities of N sets, (N, A) to twice (N,)."""
        seen = np.atleast_2d(np.asarray(observed, dtype=np.bool_))
        return self._mixed(self._joint(seen), self._own)

    def _extended(
        self, seen: NDArray[np.bool_], stop: Callable[[], bool], run: Any, threads: int
    ) -> Extensions:
        joint = self._joint(seen)
        more = joint[:, :, None] + np.where(seen, 0.0, self.log_states[:, None])
        means = self._mixed(joint, self._own)
        return Extensions(*means, *self._mixed(more, self._own[..., None]))


@dataclass(frozen=True, eq=False)
class PosteriorScores(ExactScores):
    """The posterior of a class given the states of x in some attributes, in exact fractions."""

    label: int = 0
    _found: dict[Any, tuple[tuple[int, ...] | None, Fraction]] = field(
        default_factory=dict, repr=False
    )

    def expected(self, chosen: Iterable[int]) -> Fraction:
        """Return the posterior given the states of x in the chosen attributes."""
        joint = self._joint({*chosen})
        return Fraction(joint[self.label], sum(joint))

    def greatest(self, chosen: Iterable[int]) -> Fraction:
        """Return what no row with these states of x has more than; of two classes one has it."""
        joint, whole = self._joint({*chosen}), Fraction(1)
        free = {*range(len(self.codes))}.difference(chosen)
        for c, best in self._best.items():
            pairs = [best[a] for a in free]
            own = joint[self.label] * prod(up for up, _ in pairs)
            whole += Fraction(joint[c] * prod(down for _, down in pairs), own)
        return 1 / whole

    def best_set(
        self, k: int, required: Iterable[int] = (), forbidden: Iterable[int] = ()
    ) -> tuple[int, ...] | None:
        """Return at most k attributes of the greatest posterior; None where it is not proved."""
        return self._greatest(k, tuple(required), tuple(forbidden))[0]

    def most_expected(
        self, k: int, required: Iterable[int] = (), forbidden: Iterable[int] = ()
    ) -> Fraction:
        """Return what no such set has more than."""
        best, most = self._greatest(k, tuple(required), tuple(forbidden))
        return most if best is None else self.expected(best)

    def _greatest(
        self, k: int, required: tuple[int, ...], forbidden: tuple[int, ...]
    ) -> tuple[tuple[int, ...] | None, Fraction]:
        asked = k, required, forbidden
        if asked not in self._found:
            mixture = as_mixture(self.distribution)
            states = self.codes.tolist()
            shares = [[int(t[0, s]) for t, s in zip(of, states)] for of in mixture.tables]
            self._found[asked] = greatest_posterior(
                mixture.weights.tolist(), shares, self.label, k, required, forbidden
            )
        return self._found[asked]

    @cached_property
    def _best(self) -> dict[int, list[tuple[int, int]]]:
        """Of each other class and attribute, the state that speaks most against that class.

        Each with its probabilities under the class of x and under the other one.
        """
        tables = as_mixture(self.distribution).tables
        return {
            c: [
                max(zip(own[0].tolist(), one[0].tolist()), key=lambda both: Fraction(*both))
                for own, one in zip(tables[self.label], other, strict=True)
            ]
            for c, other in enumerate(tables)
            if c != self.label
        }

    @cached_property
    def evaluator(self) -> PosteriorEvaluator:
        """The same of many sets at once, in floats."""
        return PosteriorEvaluator(self.leaves, self.distribution, self.codes, self.label)

    def _near(self, S: tuple[int, ...]) -> tuple[float, float]:
        """Return the posterior as a float, and by how much it is off: it is rounded once."""
        return float(self.expected(S)), 2.0**-52
