"""The most likely sufficient explanation: attributes whose values make the class expected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Literal

from cpx.answers.evaluation import Evaluation
from cpx.answers.explanation import Explanation
from cpx.answers.values import Value
from cpx.data.coding import Coding
from cpx.data.fitted.distribution import StateDistribution
from cpx.errors import InvalidInstance
from cpx.modelling.base import Problem
from cpx.modelling.parameters import CONTEXT, NAME, Integer, ShareOf, parameter
from cpx.modelling.row import Row
from cpx.modelling.side_constraints.form import NO_SIDE_CONSTRAINTS, SideConstraints
from cpx.modelling.side_constraints.parameter import SIDE_CONSTRAINTS
from cpx.models.expected_prediction.base import ExpectedPrediction
from cpx.models.expected_prediction.form import TableSumForm
from cpx.models.expected_prediction.leaves import Predicted
from cpx.models.expected_prediction.likeliest import Likeliest
from cpx.models.expected_prediction.parameters import (
    DISTRIBUTION,
    FORBIDDEN,
    LABEL,
    MODEL,
    PREDICTION,
    REQUIRED,
    ROW,
    STATES,
    UNIT,
)
from cpx.models.expected_prediction.text import (
    likelihood_words,
)
from cpx.support.validation import Share
from cpx.trees.form import Label, TreeModel

__all__ = ["MLSE"]


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
        component for each class: the probability of the component of the class, the
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
    >>> from cpx.data.fitted.tree_mixture import ONE, TreeMixture
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
        if self.prediction == "posterior":
            most = self.scores.most_expected(self.k, self.required, self.forbidden)
            return round(most / Fraction(self.unit))
        whole = Fraction(leaves.base + sum(self.scores.tree_maxima(())), leaves.scale)
        # Each leaf may be rounded up by a half.
        return int(whole / Fraction(self.unit)) + len(leaves.values) + 2
