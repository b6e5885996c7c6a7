"""What problems of expected predictions share: exact scores, their units and sums of tables."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray

from cpx.answers.explanation import Explanation
from cpx.answers.rule import Rule
from cpx.data.coding import Coding
from cpx.data.condition import ColumnCondition
from cpx.data.fitted.distribution import StateDistribution, as_mixture
from cpx.data.fitted.tree_mixture import ONE, TreeMixture
from cpx.errors import InvalidInstance
from cpx.modelling.encodings import stated_in
from cpx.modelling.side_constraints.form import SideConstraints
from cpx.modelling.side_constraints.statement import constrained
from cpx.modelling.statement import Encoding, Statement, Values
from cpx.models.expected_prediction.encodings import products, tables
from cpx.models.expected_prediction.exact_scores import ExactScores
from cpx.models.expected_prediction.form import ExpectationForm, TableSumForm
from cpx.models.expected_prediction.leaves import LeafForm, Predicted
from cpx.models.expected_prediction.likelihood import STEPS, LikelihoodFloor, bits_of
from cpx.models.expected_prediction.posterior import (
    PosteriorScores,
    certain_leaf,
    refuse_no_classes,
)
from cpx.models.expected_prediction.tables import (
    MOST_ENTRIES,
    MOST_TESTS,
    LeafTables,
    merged,
)
from cpx.models.expected_prediction.text import (
    ExpectationText,
    state_conditions,
)
from cpx.support.validation import Share
from cpx.trees.form import TreeModel

EXPECTATION_ENCODINGS: tuple[Encoding[TableSumForm], ...] = (
    Encoding("products", products),
    Encoding("tables", tables),
)

_BITS = 40
"""Scores have about so many bits unless a unit is given."""

_FINE = 2**20
"""What is less than this part of the greatest score is little."""


def penalty_of(probability: Fraction, size: int) -> int:
    """Return by how much a set is the less likely choice: its improbability, then its size.

    probability: Of the values of x in some attributes.
    size: How many attributes these are.

    >>> penalty_of(Fraction(1, 4), 1), penalty_of(Fraction(1), 2)
    (2097153, 2)
    """
    return round(STEPS * bits_of(probability)) + size


class ExpectedPrediction(ExpectationText):
    """What the problems share: exact expected scores of sets of attributes, and their tables."""

    tree_model: TreeModel
    x: tuple[float, ...]
    coding: Coding
    distribution: StateDistribution
    required: tuple[int, ...]
    forbidden: tuple[int, ...]
    prediction: Predicted
    unit: Share | None
    name: str

    encodings: ClassVar[tuple[Encoding[TableSumForm], ...]] = EXPECTATION_ENCODINGS

    # ------------------------------------------------------------------ what is known of x

    @cached_property
    def label_index(self) -> int:
        """Index of the class of x."""
        return int(self.tree_model.predict_index(np.array(self.x, dtype=np.float64))[0])

    @cached_property
    def rival_index(self) -> int | None:
        """Index of the runner-up, whose score is compared with that of the class; None of two."""
        model = self.tree_model
        if self.prediction != "score" or model.rule != "sum" or len(model.base) < 3:
            return None
        totals = model.totals(np.array(self.x, dtype=np.float64))[0].tolist()
        return max(
            (k for k in range(len(totals)) if k != self.label_index), key=totals.__getitem__
        )

    @property
    def n_features(self) -> int:
        """Number A of attributes."""
        return len(self.coding.columns)

    @cached_property
    def codes(self) -> NDArray[np.int32]:
        """The states of x, shape (A,)."""
        return np.asarray(self.coding.codes(np.array([self.x]))[0], dtype=np.int32)

    @cached_property
    def conditions(self) -> tuple[ColumnCondition, ...]:
        """What each attribute says of x."""
        return state_conditions(self.tree_model, self.coding, self.x, self.codes)

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """What each attribute says of x, in words."""
        return tuple(map(str, self.conditions))

    @cached_property
    def leaves(self) -> LeafForm:
        """The leaves of the model, signed for the class of x."""
        own = self.label_index
        if self.prediction == "posterior":
            refuse_no_classes(self.distribution, len(self.tree_model.classes))
            return certain_leaf(self.coding)
        return LeafForm.of(self.tree_model, self.coding, own, self.prediction, self.rival_index)

    @cached_property
    def scores(self) -> ExactScores:
        """Exact expected scores and probabilities of sets of attributes."""
        given = self.leaves, self.distribution, self.codes
        if self.prediction == "posterior":
            return PosteriorScores(*given, label=self.label_index)
        return ExactScores(*given)

    def _refuse_impossible(self) -> None:
        """Refuse a row that cannot be, for nothing is expected of what cannot be known."""
        if np.isneginf(self.distribution.log_likelihood(self.codes[None, :])[0]):
            raise InvalidInstance("distribution: the row has the probability 0 under it")

    # ------------------------------------------------------------------ integers

    @cached_property
    def greatest_sum(self) -> Fraction:
        """No sum of leaves, one of each tree, has a greater absolute value."""
        leaves = self.leaves
        starts = np.flatnonzero(np.diff(leaves.tree, prepend=-1))
        best = np.maximum.reduceat(np.abs(leaves.values), starts).tolist()
        return Fraction(abs(leaves.base) + sum(best), leaves.scale)

    def automatic_unit(self) -> Fraction:
        """Return the unit that is used unless one is given: scores then have some 40 bits."""
        leaves = self.leaves
        whole = self.greatest_sum * leaves.divisor
        bits = (
            _BITS - (whole.numerator.bit_length() - whole.denominator.bit_length()) if whole else 0
        )
        return Fraction(2) ** -bits / leaves.divisor

    @property
    def roundings(self) -> int:
        """How many numbers are rounded to units for the score of a set, at most."""
        return len(self.leaves.values) + 1 if self.by_leaf else 0

    @property
    def by_leaf(self) -> bool:
        """Whether scores are rounded leaf by leaf, as a sum of tables has them."""
        return self.distribution.factorised and self.prediction == "score"

    @cached_property
    def forgiven(self) -> int:
        """How many units rounding may take from a set: nothing is decided by so little.

        In units so coarse that this were no little thing, what is counted in them decides.
        """
        lost = self.roundings * Fraction(self.unit or 0)
        return self.roundings if lost * _FINE <= self.greatest_sum else 0

    @property
    @abstractmethod
    def rounding(self) -> Literal["nearest", "down"]:
        """How the leaves are rounded."""

    @cached_property
    def leaf_tables(self) -> LeafTables:
        """What the leaves add, in units; under independent attributes."""
        assert self.unit is not None
        return LeafTables(self.scores, Fraction(self.unit), self.rounding)

    @property
    def base(self) -> int:
        """What a set is worth before any leaf adds to it, in units; under independence."""
        return self.leaf_tables.base

    @property
    def _unstated(self) -> str:
        """Why the expected score is no sum of tables; empty where it is one."""
        if not self.distribution.factorised:
            return (
                f"the expected prediction under the distribution {self.distribution.structure!r} "
                "is no sum over trees, so that no encoding has it: ask for an engine that needs "
                "no statement, such as beam, or for a factorised distribution"
            )
        if not self.by_leaf:
            return (
                f"the expected {self.prediction} is no sum over trees, so that no encoding has "
                "it: ask for an engine that needs no statement, such as beam"
            )
        return self._too_deep()

    def _too_deep(self) -> str:
        deepest = self.leaf_tables.deepest
        if deepest > MOST_TESTS:
            return (
                f"a leaf of the model tests {deepest} attributes, and no more than {MOST_TESTS} "
                "can be tabulated: ask for an engine that needs no statement, such as beam"
            )
        entries = self.leaf_tables.layout.entries
        if entries > MOST_ENTRIES:
            return (
                f"the tables of what leaves add would have {entries} entries, and no more than "
                f"{MOST_ENTRIES} are made: ask for an engine that needs no statement, such as beam"
            )
        return ""

    @cached_property
    def table_sum(self) -> TableSumForm:
        """The problem as a sum of tables.

        Raises
        ------
        InvalidOption
            When it is none, or one too large.
        """
        stated_in(self)  # or says why not
        return self._table_sum()

    @abstractmethod
    def _table_sum(self) -> TableSumForm:
        """Return the problem as a sum of tables; it is stated."""

    def _sum_of(self, terms: Iterable[Any], base: int, k: int, **more: Any) -> TableSumForm:
        found, constant = merged(terms)
        return TableSumForm(
            n_features=self.n_features,
            features=tuple(np.array(term.features, dtype=np.int32) for term in found),
            tables=tuple(term.table for term in found),
            constant=base + constant,
            k=k,
            penalties=self.penalties,
            required=self.required,
            forbidden=self.forbidden,
            side=self._side,
            **more,
        )

    @property
    def least_probability(self) -> Fraction | None:
        """What the probability of a set must be at least."""
        return None

    @cached_property
    def likelihood_floor(self) -> LikelihoodFloor | None:
        """How likely a set must be, where that is asked for."""
        least = self.least_probability
        return None if least is None else LikelihoodFloor(self.scores, least)

    @property
    def _side(self) -> SideConstraints:
        """Side constraints of the statement, and how likely sets must be."""
        likely = self.likelihood_floor
        if likely is None:
            return self.side_constraints
        return SideConstraints((*self.side_constraints, likely.side()))

    @cached_property
    def penalties(self) -> NDArray[np.int64]:
        """The penalty of each attribute, where all are independent; shape (A,)."""
        rows = zip(as_mixture(self.distribution).tables[0], self.codes.tolist(), strict=True)
        shares = [Fraction(int(table[0, state]), ONE) for table, state in rows]
        return np.array([penalty_of(share, 1) for share in shares], dtype=np.int64)

    def tie(self, chosen: Iterable[int]) -> int:
        """Return the penalty of a set: of those of equal value one of the least is wanted."""
        S = sorted({*chosen})
        if self.distribution.factorised:
            return int(self.penalties[S].sum())
        return penalty_of(self.scores.probability(S), len(S))

    def form(self) -> ExpectationForm:
        """Return the problem by its exact scores, and as a sum of tables where it is one."""
        most, least = self._limits()
        return ExpectationForm(
            self.scores,
            self.n_features,
            most,
            self.required,
            self.forbidden,
            least,
            Fraction(self.unit or 1),
            self._component,
            None if self._unstated else self.table_sum,
            self.likelihood_floor,
        )

    @abstractmethod
    def _limits(self) -> tuple[int, Fraction | None]:
        """Return how many attributes are chosen at most, and the least score, if any."""

    def _component(self, number: int) -> TableSumForm | None:
        if self.prediction != "score":
            return None
        whole, only = as_mixture(self.distribution), slice(number, number + 1)
        changes: dict[str, Any] = {
            "distribution": TreeMixture(np.array([ONE]), whole.parents[only], whole.tables[only])
        }
        if self.likelihood_floor is not None:  # of the mixture
            changes["min_probability"] = None
        part: Self = replace(cast(Any, self), **changes)
        return None if part._unstated else part.table_sum

    def model(self, encoding: str | None = None) -> Statement:
        """State the problem in an encoding; the default is the first."""
        return constrained(stated_in(self, encoding).build(self.table_sum), self._side)

    def decode(self, values: Values) -> Explanation:
        """Return the explanation by the attributes whose X is true."""
        return self.explanation(np.flatnonzero(values["X"][: self.n_features]).tolist())

    def explanation(self, features: Iterable[int]) -> Explanation:
        """Return the explanation by these attributes; :meth:`conclude` adds its figures."""
        called = str(self.context.get("class", self.label))
        return Explanation(Rule.of(features, self.conditions, called))

    def _may_choose(self, S: tuple[int, ...]) -> bool:
        if not {*S}.issuperset(self.required) or not {*S}.isdisjoint(self.forbidden):
            return False
        if self.likelihood_floor is not None and not self.likelihood_floor.allows(S):
            return False
        return self.side_constraints.allow(S)
