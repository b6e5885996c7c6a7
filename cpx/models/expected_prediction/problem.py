"""Expected predictions: choose attributes of x whose values make the model expect its class."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray

from cpx.answers.evaluation import Evaluation
from cpx.answers.explanation import Explanation
from cpx.answers.rule import Rule
from cpx.answers.values import Value
from cpx.data.coding import Coding
from cpx.data.condition import ColumnCondition
from cpx.data.fitted.distribution import StateDistribution, as_mixture
from cpx.data.fitted.tree_mixture import ONE, TreeMixture
from cpx.errors import InvalidInstance
from cpx.modelling.base import Problem
from cpx.modelling.encodings import stated_in
from cpx.modelling.parameters import CONTEXT, NAME, Choice, Integer, ShareOf, parameter
from cpx.modelling.row import Row
from cpx.modelling.side_constraints.form import NO_SIDE_CONSTRAINTS, SideConstraints
from cpx.modelling.side_constraints.parameter import SIDE_CONSTRAINTS
from cpx.modelling.side_constraints.statement import constrained
from cpx.modelling.statement import Encoding, Statement, Values
from cpx.models.expected_prediction import parameters as declared
from cpx.models.expected_prediction.encodings import products, tables
from cpx.models.expected_prediction.exact_scores import ExactScores
from cpx.models.expected_prediction.form import ExpectationForm, TableSumForm
from cpx.models.expected_prediction.leaves import LeafForm, Predicted
from cpx.models.expected_prediction.likeliest import Likeliest
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
    likelihood_words,
    state_conditions,
)
from cpx.models.sufficient_reason import parameters as of_rows
from cpx.support.validation import Share
from cpx.trees.form import Label, TreeModel

__all__ = ["EXPECTATION_ENCODINGS", "MLSE", "ExpectedPrediction", "penalty_of"]

EXPECTATION_ENCODINGS: tuple[Encoding[TableSumForm], ...] = (
    Encoding("products", products),
    Encoding("tables", tables),
)

# Parameters of all these problems.
MODEL = parameter(of_rows.Model(), "the tree model", key="model", place=1)
ROW = parameter(of_rows.RowValues(), "the row, null for a missing value", key="x", place=1)
STATES = parameter(declared.States(), "the states of the attributes", key="coding", place=2)
DISTRIBUTION = parameter(
    declared.DistributionOfStates(),
    "the distribution over the states",
    key="distribution",
    place=2,
)
REQUIRED = parameter(declared.Attributes("attribute"), "attributes that must be chosen", place=1)
FORBIDDEN = parameter(
    declared.Attributes("attribute"), "attributes that must not be chosen", place=1
)
LABEL = parameter(of_rows.LabelOfRow(), "the class of the row", key="class", needed=True)
PREDICTION = parameter(
    Choice(("score", "probability", "decision", "posterior"), unsaved="score"),
    "what is expected of a row: its score, the probability of the class, whether it gets it, or "
    "the probability of its component of the distribution",
)
UNIT = parameter(
    declared.Unit(), "what scores are rounded to multiples of, leaf by leaf", needed=True
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
        leaves, best = self.leaves, dict[int, int]()
        for tree, value in zip(leaves.tree.tolist(), leaves.values.tolist(), strict=True):
            best[tree] = max(best.get(tree, 0), abs(value))
        return Fraction(abs(leaves.base) + sum(best.values()), leaves.scale)

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


@dataclass(frozen=True, eq=False)
class MLSE(ExpectedPrediction):
    """Find the most likely sufficient explanation: at most k attributes of greatest expectation.

    A set S of attributes stands for what is known of x: the states of these attributes. Under a
    distribution of rows, the expected prediction EP(S) is the mean score of the rows that have
    these states [1]_. A score is the log-odds of the class of x for boosting, its average
    probability or its share of votes for forests and single trees. EP(S) is maximised, and among
    the sets of greatest expectation the probability Pr(S) of these states is.

    Parameters
    ----------
    tree_model : TreeModel
        Of scores of more than two classes that are added up, what is expected is the log-odds of
        the class against the runner-up of x; no expectation then bounds a probability.
    x : sequence of d numbers, mapping, pandas.Series or pandas.DataFrame of one row
        The explained row; NaN for a missing value.
    coding : Coding
        The states of the attributes, which are what is chosen from.
    distribution : TreeMixture or Circuit
        Over these states.
    k : int
        The greatest number of attributes.
    min_probability : Fraction, int, float or str, optional
        What Pr(S) must be at least, above 0 and at most 1, exact. Under a factorised distribution
        logarithms are counted in steps of 2**-20 bit for each attribute, in favour of a set.
    required, forbidden : sequence of int or str
        Attributes that must, and must not, be chosen, by number or name. A contradiction is a
        valid problem without a solution.
    prediction : {"score", "probability", "decision", "posterior"}
        What is expected of a row: ``"score"``, the log-odds, average probability or share of
        votes; ``"probability"``, what follows from a sum of trees, the sigmoid of its score or
        the softmax of several, rounded to 2**-40; ``"decision"``, whether it gets the class, so
        that EP(S) is the same-decision probability. The latter two are exact while the trees cut
        the rows into few regions, and refused otherwise. ``"posterior"``, under a mixture with a
        component for each of two classes: the probability of the component of the class, the
        expectation of what the mixture itself says of it [1]_ (case iv of section 4.2).
    unit : Fraction, int or str, optional
        What scores are rounded to multiples of; the objective counts in it. Under a factorised
        distribution each leaf is rounded, to the nearest integer and of two to the even one, and
        otherwise their sum. Default: such that scores have about 40 bits. Engines that count in
        floats prove more with a coarser one.
    label : label of a class, optional
        The class that is to be explained, to be sure of it: anything else than the class the
        model gives x is refused.
    name : str
        Name of the instance, free.
    context : mapping
        Where the instance comes from, free; ``class`` is what the class is called.

    Raises
    ------
    InvalidInstance, DataError
        Naming the argument and its value; DataError for the row.

    Notes
    -----
    Two likelihoods are compared by penalties: ``round(2**20 log2(1 / Pr)) + 1`` for each
    attribute, where all are independent, and the same of Pr(S) otherwise, with the size of S. So
    no attribute is chosen without need: without it the set would have a smaller penalty. Sets
    whose values differ by no more than rounding may, which the claim names, count as equal, and
    needless attributes are left out by exact fractions.

    References
    ----------
    .. [1] E. Wang, P. Khosravi, G. Van den Broeck: Probabilistic Sufficient Explanations, IJCAI
       2021, definitions 2 to 5.

    Examples
    --------
    >>> from cpx import solve
    >>> from cpx.trees import Attribute, Tree
    >>> stumps = [Tree([a, -1, -1], [0] * 3, [0] * 3, [[0.0], [2.0 - a]], (0,)) for a in (0, 1)]
    >>> model = TreeModel([Attribute(n, "boolean") for n in "ab"], ["no", "yes"], stumps,
    ...                   [[0.5], [0.5]], "sum", "positive", [-1.0])
    >>> coding = Coding.fit([[0, 0], [1, 1]], names=["a", "b"], cuts=model.thresholds)
    >>> half = [[ONE // 2, ONE // 2]]
    >>> even = TreeMixture([ONE], None, [[half, half]])
    >>> problem = MLSE(model, {"a": 1, "b": 1}, coding, even, k=1)
    >>> result = solve(problem)
    >>> str(result.explanation), result.explanation.expected, result.explanation.bound
    ('a = 1 => yes', 1.5, 0.75)
    """

    tree_model: TreeModel = field(metadata=MODEL)
    x: Row = field(metadata=ROW)
    coding: Coding = field(metadata=STATES)
    distribution: StateDistribution = field(metadata=DISTRIBUTION)
    k: int = field(
        metadata=parameter(Integer(0, "n_features"), "the greatest number of attributes")
    )
    min_probability: Share | None = field(
        default=None,
        metadata=parameter(ShareOf(optional=True), "what the probability of the values must be"),
    )
    required: tuple[Any, ...] = field(default=(), metadata=REQUIRED)
    forbidden: tuple[Any, ...] = field(default=(), metadata=FORBIDDEN)
    prediction: Predicted = field(default="score", metadata=PREDICTION)
    unit: Share | None = field(default=None, metadata=UNIT)
    label: Label | None = field(default=None, metadata=LABEL)
    name: str = field(default="", metadata=NAME)
    context: Mapping[str, Any] = field(default_factory=dict, metadata=CONTEXT)
    side_constraints: SideConstraints = field(
        default=NO_SIDE_CONSTRAINTS, kw_only=True, metadata=SIDE_CONSTRAINTS
    )

    kind: ClassVar[str] = "mlse"
    sense: ClassVar[Literal["min", "max"]] = "max"

    def _validate(self) -> None:
        """Refuse a row of unknown states, and a model without a score for its class."""
        _ = self.leaves
        self._refuse_impossible()
        if self.min_probability == 0:
            raise InvalidInstance("min_probability must be above 0, got 0")

    @property
    def least_probability(self) -> Fraction | None:
        """What the probability of a set must be at least."""
        return None if self.min_probability is None else Fraction(self.min_probability)

    @property
    def rounding(self) -> Literal["nearest", "down"]:
        """To the nearest integer."""
        return "nearest"

    def _table_sum(self) -> TableSumForm:
        return self._sum_of(self.leaf_tables.terms(), self.base, self.k)

    def _limits(self) -> tuple[int, Fraction | None]:
        return self.k, None

    def value(self, chosen: Iterable[int]) -> int:
        """Return the expected score of a set in units, rounded."""
        if self.by_leaf:
            return (self.leaf_tables if self._unstated else self.table_sum).value(chosen)
        assert self.unit is not None
        return self.scores.rounded(chosen, Fraction(self.unit))

    def evaluate(self, explanation: Explanation) -> Evaluation:
        """Return the expected score in units, the penalty, and whether the set may be chosen."""
        S = explanation.features
        feasible = len(S) <= self.k and self._may_choose(S)
        return Evaluation(self.value(S), feasible=feasible, tie=self.tie(S))

    @property
    def within(self) -> int:
        """Units by which another set may be better for all that rounding tells."""
        return self._tolerance or self.roundings or 1

    def _facts(self) -> dict[str, str]:
        """Return the model, the class, the distribution and the parameters."""
        likely = {} if self.min_probability is None else {"likely": self._likely}
        return {**super()._facts(), "k": str(self.k), **likely}

    def _brief(self) -> list[str]:
        """Return sizes of the model, the distribution, and k."""
        likely = [] if self.min_probability is None else [self._likely]
        return [*super()._brief(), f"k {self.k}", *likely]

    @property
    def _likely(self) -> str:
        return likelihood_words(self.min_probability or 1)

    def _notes(self) -> tuple[str, ...]:
        """Return what is degenerate; solved all the same."""
        found = super()._notes()
        if len({*self.required}) > self.k:
            found += (f"{len(self.required)} attributes are required and k is {self.k}",)
        return found

    @property
    def _tolerance(self) -> int:
        """Twice what rounding can part two sets of the same expectation by, in units.

        Each of the roundings is off by a half at most, so that of two sets of the same expected
        score one has no more than this by half. Within that of the greatest value is every set of
        the greatest expectation; and one without needless attributes is within it of these.
        """
        return 2 * self.forgiven

    def _tie_step(self, objective: Value) -> Problem | None:
        """Return the problem to find the likeliest set that may be as good, but for rounding."""
        if self._unstated:
            return None
        return Likeliest(self, self.table_sum, self.k, int(objective) - self.forgiven)

    def _shortened(self, explanation: Explanation) -> Explanation:
        """Leave out attributes without which no less is expected, by exact fractions."""
        S = explanation.features
        while True:
            expected = self.scores.expected(S)
            without = [tuple(a for a in S if a != j) for j in S]
            enough = [
                T
                for T in without
                if self._may_choose(T)
                and self.scores.at_least(T, expected)
                and (self._tolerance or self.value(T) == self.value(S))
            ]
            if not enough:
                return explanation if explanation.features == S else self.explanation(S)
            S = min(enough, key=self.tie)

    def _trivial_bound(self) -> int:
        """Return the sum of the greatest leaves of all trees, in units."""
        assert self.unit is not None
        leaves = self.leaves
        best = self.scores.best_set(self.k, self.required, self.forbidden)
        if best is not None:
            return self.value(best)
        whole = Fraction(leaves.base + sum(self.scores.tree_maxima(())), leaves.scale)
        # Each leaf may be rounded up by a half.
        return int(whole / Fraction(self.unit)) + len(leaves.values) + 2
