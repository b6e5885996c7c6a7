"""The fewest attributes that make a model expect its class surely enough."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any, ClassVar, Literal

from cpx.answers.evaluation import Evaluation
from cpx.answers.explanation import Explanation
from cpx.answers.values import Value
from cpx.data.coding import Coding
from cpx.data.fitted.distribution import StateDistribution
from cpx.errors import InvalidInstance, shown
from cpx.modelling.base import Problem
from cpx.modelling.claims import asked
from cpx.modelling.parameters import CONTEXT, NAME, Choice, parameter
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
    Number,
)
from cpx.models.expected_prediction.tables import MOST_TESTS
from cpx.models.expected_prediction.text import reached_words
from cpx.support.validation import Share
from cpx.trees.form import Label, TreeModel

Measure = Literal["expectation", "probability-bound"]


@dataclass(frozen=True, eq=False)
class FewestExpected(ExpectedPrediction):
    """Find the fewest attributes whose expected prediction reaches a threshold.

    The dual of :class:`~cpx.models.expected_prediction.problem.MLSE`, with its sets, scores and
    ties: of the smallest sets one of greatest probability is wanted. What must reach the threshold
    tau is said by the measure:

    - ``expectation``: the expected score EP(S) of the class of x;
    - ``probability-bound``: the lower bound ``(EP(S) - T) / (U(S) - T)`` on the probability that a
      row with these values of x gets its class, where T is the score above which a row gets it
      and U(S) the sum over the trees of the greatest leaf that such a row reaches. So at least
      the share tau of these rows gets the class [1]_.

    Parameters
    ----------
    threshold : Fraction, int, float or str
        tau, exact: a float means the decimal number it is printed as. For a probability bound
        above 0 and at most 1. One that no set reaches is a valid problem without a solution.
    measure : {"expectation", "probability-bound"}
    unit : Fraction, int or str, optional
        What scores are rounded down to multiples of, leaf by leaf, under a factorised
        distribution. What is lost so, a unit for each leaf at most, is not asked for while it is
        less than a millionth of the score: no set that reaches the threshold is missed, and one
        that is given may be below it by that, which the answer names. In coarser units, a set
        that reaches the threshold reaches it exactly, and a smaller one may miss it by rounding.
        Other distributions are not rounded. Default: such that scores have about 40 bits.

    Notes
    -----
    The other parameters are those of :class:`~cpx.models.expected_prediction.problem.MLSE`.

    References
    ----------
    .. [1] E. Wang, P. Khosravi, G. Van den Broeck: Probabilistic Sufficient Explanations, IJCAI
       2021, theorem 1 with >= in place of >, which it needs where U is reached.

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
    >>> problem = FewestExpected(model, (1, 1), coding, even, "3/4", "probability-bound")
    >>> str(solve(problem).explanation)
    'a = 1 => yes'
    """

    tree_model: TreeModel = field(metadata=MODEL)
    x: Row = field(metadata=ROW)
    coding: Coding = field(metadata=STATES)
    distribution: StateDistribution = field(metadata=DISTRIBUTION)
    threshold: Share = field(metadata=parameter(Number(), "tau, what must be reached"))
    measure: Measure = field(
        default="expectation",
        metadata=parameter(
            Choice(("expectation", "probability-bound")), "what must reach tau", needed=True
        ),
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

    kind: ClassVar[str] = "fewest-expected"

    def _validate(self) -> None:
        """Refuse a threshold that means nothing, and what MLSE refuses."""
        self._refuse_impossible()
        if self.measure == "expectation":
            return
        if not 0 < self.tau <= 1:
            raise InvalidInstance(
                f"threshold must be above 0 and at most 1 for a probability bound, got "
                f"{shown(str(self.threshold))}"
            )
        own = self.scores.expected(range(self.n_features))
        if own <= self.leaves.threshold:
            raise InvalidInstance(
                f"measure probability-bound: the score of x is {float(own):g}, not above "
                f"{float(self.leaves.threshold):g}, so that nothing is known of its class"
            )

    @property
    def tau(self) -> Fraction:
        """The threshold."""
        return Fraction(self.threshold)

    @property
    def rounding(self) -> Literal["nearest", "down"]:
        """Down: by how much units are below the score is known, and of one sign."""
        return "down"

    @property
    def bounded(self) -> bool:
        """Whether the measure is the probability bound."""
        return self.measure == "probability-bound"

    @property
    def roundings(self) -> int:
        """How many numbers are rounded down for a set: leaves, the base, the greatest leaves."""
        if not self.by_leaf:
            return 0
        return super().roundings + self.bounded * len(self.tree_model.trees)

    @cached_property
    def target(self) -> int:
        """What the tables must add up to, in units.

        It is less than the threshold by what rounding may take away, so that no set that reaches
        the threshold is missed.
        """
        assert self.unit is not None
        needed = self.leaves.threshold * (1 - self.tau) if self.bounded else self.tau
        return ceil(needed / Fraction(self.unit)) - self.forgiven

    @cached_property
    def base(self) -> int:
        """What a set is worth before any leaf adds to it, in units; under independence."""
        tables = self.leaf_tables
        if not self.bounded:
            return tables.base
        assert self.unit is not None
        scale = self.leaves.scale * Fraction(self.unit)
        return tables.rounded(self.leaves.base * (1 - self.tau) / scale)

    @property
    def _unstated(self) -> str:
        """Why there is no sum of tables; empty where there is one."""
        told = super()._unstated
        if told or not self.bounded:
            return told
        widest = int(self.leaf_tables.by_tree.sizes.max())
        if widest <= MOST_TESTS:
            return ""
        return (
            f"a tree of the model tests {widest} attributes, and its greatest leaf can be "
            f"tabulated over {MOST_TESTS} at most: ask for the measure expectation, or for an "
            "engine that needs no statement, such as beam"
        )

    def _table_sum(self) -> TableSumForm:
        tables = self.leaf_tables
        terms = tables.terms()
        if self.bounded:
            terms += tables.maxima(-self.tau)
        return self._sum_of(terms, self.base, self.n_features, target=self.target)

    def _limits(self) -> tuple[int, Fraction | None]:
        # A probability bound needs a score of the class.
        return self.n_features, Fraction(self.leaves.threshold if self.bounded else self.tau)

    def reaches(self, chosen: Iterable[int]) -> bool:
        """Say whether a set reaches the threshold, under a factorised distribution in units."""
        S = tuple(chosen)
        if not self._unstated:
            return self.table_sum.value(S) >= self.target
        if self.by_leaf:
            return self._in_units(S) >= self.target
        if not self.bounded:
            return self.scores.at_least(S, self.tau)
        T, U = self.leaves.threshold, self.scores.greatest(S)
        if U <= T:
            return self.scores.bound(S) >= self.tau
        return self.scores.at_least(S, T + self.tau * (U - T))

    def _in_units(self, S: tuple[int, ...]) -> int:
        tables = self.leaf_tables
        total = tables.value(S) - tables.base + self.base
        if self.bounded:
            assert self.unit is not None
            scale = self.leaves.scale * Fraction(self.unit)
            total += sum(
                tables.rounded(-self.tau * best / scale) for best in self.scores.tree_maxima(S)
            )
        return total

    def evaluate(self, explanation: Explanation) -> Evaluation:
        """Return the number of attributes, the penalty, and whether the set reaches tau."""
        S = explanation.features
        return Evaluation(
            len(S), feasible=self._may_choose(S) and self.reaches(S), tie=self.tie(S)
        )

    @property
    def reached(self) -> str:
        """What must be reached, in words."""
        return reached_words(asked(self), self.measured)

    @property
    def within(self) -> int:
        """Units that rounding may take from what is reached."""
        return self.forgiven

    def _facts(self) -> dict[str, str]:
        """Return the model, the class, the distribution and the parameters."""
        return {**super()._facts(), "asked": self.reached}

    def _brief(self) -> list[str]:
        """Return sizes of the model, the distribution, and what is asked."""
        return [*super()._brief(), self.reached]

    def _notes(self) -> tuple[str, ...]:
        """Return what is degenerate; solved all the same."""
        found = super()._notes()
        if not self._unstated:
            most = self.table_sum.constant + sum(
                int(table.max()) for table in self.table_sum.tables
            )
            if most < self.target:
                best = "" if self.bounded else f": every set has at most {self.in_units(most)}"
                found += (f"no set has {self.reached} with leaves rounded down{best}",)
        return found

    def _tie_step(self, objective: Value) -> Problem | None:
        """Return the problem to find the likeliest set of this size."""
        return Likeliest(self, self.table_sum, int(objective), self.target)

    def _trivial_bound(self) -> int:
        """Return the number of required attributes, or how many are needed where that is plain."""
        asked = self.required, self.forbidden
        if self.prediction == "posterior" and not self.bounded:
            for size in range(len(self.required), self.n_features + 1):
                if self.scores.most_expected(size, *asked) >= self.tau:
                    return size
        return len(self.required)
