"""The expected probability where the distribution is the classifier: the posterior of a class.

Of a mixture with a component for each class, the probability of the class c is Pr(c | x), and its
expectation given z is Pr(c | z): the weight of the component after z is seen. That is case (iv) of
Wang, Khosravi and Van den Broeck, section 4.2. A row with z has the greatest probability where
each attribute that is not known has the state that speaks most for the class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.data.coding import Coding
from cpx.data.fitted.distribution import StateDistribution, as_mixture
from cpx.data.fitted.tree_mixture import TreeMixture
from cpx.errors import InvalidInstance, InvalidOption
from cpx.models.expected_prediction.evaluator import Evaluator, Extensions
from cpx.models.expected_prediction.exact_scores import ExactScores
from cpx.models.expected_prediction.leaves import LeafForm, has_probability
from cpx.models.expected_prediction.state_sets import StateSets, runs_of_rows
from cpx.trees.form import TreeModel

Floats = NDArray[np.float64]


def refuse_no_classes(distribution: StateDistribution, classes: int) -> None:
    """Refuse a distribution that is not two classes of independent attributes.

    Raises InvalidInstance: Saying so.
    """
    mixture = isinstance(distribution, TreeMixture) and distribution.edgeless
    if not mixture or distribution.n_components != 2 or classes != 2:
        raise InvalidInstance(
            "prediction posterior needs a mixture of two components without edges, one for each "
            f"class of two: got {distribution.structure}, {distribution.n_components} components, "
            f"{classes} classes"
        )


def certain_leaf(coding: Coding) -> LeafForm:
    """Return leaves of what a probability is at least and at most; one above 1/2 decides."""
    none = np.zeros(0, dtype=np.int64)
    runs = [runs_of_rows(np.zeros((0, len(s)), dtype=np.bool_)) for s in coding.states]
    limits, alone = np.array([0, 1], dtype=object), np.zeros(2, dtype=np.int64)
    masks = StateSets(runs)
    return LeafForm(limits, alone, none, none, none, masks, 0, 0, 1, Fraction(1, 2), False)


def log_odds_terms(model: TreeModel, coding: Coding) -> tuple[float, list[Floats]]:
    """Return what a model adds to the log-odds of its second class: always, and for each state.

    Raises InvalidOption: For a model that is no sum of log-odds of one attribute each.
    """
    told = "distribution conformant is for models of two classes that add up log-odds of one "
    if len(model.classes) != 2 or not has_probability(model):
        raise InvalidOption(f"{told}attribute each, such as logistic regression or naive Bayes")
    leaves = LeafForm.of(model, coding, 1)
    if np.diff(leaves.starts).max(initial=0) > 1:
        raise InvalidOption(f"{told}attribute each: a tree of this one tests several together")
    terms = [np.zeros(len(states)) for states in coding.states]
    values = [int(value) / leaves.scale for value in leaves.values.tolist()]
    base = int(leaves.base) / leaves.scale
    tested = {leaf: test for test, leaf in enumerate(leaves.leaf.tolist())}
    for leaf, value in enumerate(values):
        if leaf in tested:
            mask = int(leaves.mask[tested[leaf]])
            terms[leaves.attribute[tested[leaf]]][leaves.masks.states(mask)] += value
        else:
            base += value
    return base, terms


@dataclass(frozen=True, eq=False)
class PosteriorEvaluator(Evaluator):
    """The posterior of a class given many sets at once, in floats."""

    label: int = 0

    @cached_property
    def _own(self) -> Floats:
        """What each component says for the class, shape (2, 1)."""
        return np.eye(2)[:, self.label : self.label + 1]

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

    def expected(self, chosen: Iterable[int]) -> Fraction:
        """Return the posterior given the states of x in the chosen attributes."""
        joint = self._joint({*chosen})
        return Fraction(joint[self.label], sum(joint))

    def greatest(self, chosen: Iterable[int]) -> Fraction:
        """Return the greatest probability of a row with these states of x; some row has it."""
        own, other = (self._joint({*chosen})[c] for c in (self.label, 1 - self.label))
        for a in {*range(len(self.codes))}.difference(chosen):
            up, down = self._best[a]
            own, other = own * up, other * down
        return Fraction(own, own + other)

    def best_set(
        self, k: int, required: Iterable[int] = (), forbidden: Iterable[int] = ()
    ) -> tuple[int, ...]:
        """Return at most k attributes of the greatest posterior: log-odds add up over them."""
        own, other = as_mixture(self.distribution).tables[:: 1 - 2 * self.label]
        shares = zip(own, other, self.codes.tolist(), strict=True)
        ratios = [Fraction(int(one[0, s]), int(two[0, s])) for one, two, s in shares]
        held, banned = {*required}, {*forbidden}
        more = [a for a, ratio in enumerate(ratios) if ratio > 1 and a not in held | banned]
        more.sort(key=ratios.__getitem__, reverse=True)
        return tuple(sorted([*held, *more[: max(0, k - len(held))]]))

    @cached_property
    def _best(self) -> list[tuple[int, int]]:
        """Of each attribute, the probabilities of the state that speaks most for the class."""
        tables = as_mixture(self.distribution).tables
        pairs = zip(tables[self.label], tables[1 - self.label], strict=True)
        return [
            max(zip(own[0].tolist(), other[0].tolist()), key=lambda both: Fraction(*both))
            for own, other in pairs
        ]

    @cached_property
    def evaluator(self) -> PosteriorEvaluator:
        """The same of many sets at once, in floats."""
        return PosteriorEvaluator(self.leaves, self.distribution, self.codes, self.label)

    def _near(self, S: tuple[int, ...]) -> tuple[float, float]:
        """Return the posterior as a float, and by how much it is off: it is rounded once."""
        return float(self.expected(S)), 2.0**-52
