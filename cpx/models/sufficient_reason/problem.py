"""Minimum sufficient reasons of tree models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from cpx.answers.explanation import Explanation
from cpx.answers.rule import Rule
from cpx.answers.values import Value
from cpx.data.condition import ColumnCondition
from cpx.errors import InvalidInstance
from cpx.modelling.encodings import stated_in
from cpx.modelling.parameters import CONTEXT, NAME, parameter
from cpx.modelling.row import Row
from cpx.modelling.side_constraints.form import NO_SIDE_CONSTRAINTS, SideConstraints
from cpx.modelling.side_constraints.parameter import SIDE_CONSTRAINTS
from cpx.modelling.statement import Encoding
from cpx.models.sufficient_reason import parameters as declared
from cpx.models.sufficient_reason.features import (
    LEVELS,
    Features,
    Level,
    Spans,
    conditions,
    kept,
    widened,
)
from cpx.models.sufficient_reason.form import (
    DEFINITIONS,
    Definition,
    Leaves,
    Losses,
    automatic_unit,
    losses_of,
    rounded,
)
from cpx.models.sufficient_reason.minimum_subset.form import LossForm
from cpx.models.sufficient_reason.minimum_subset.problem import SUBSET_ENCODINGS, WEIGHTS
from cpx.models.sufficient_reason.text import ReasonText
from cpx.support.validation import Share
from cpx.trees.form import Label, TreeModel
from cpx.trees.hold import hold, hold_reason, values

if TYPE_CHECKING:
    from cpx.models.sufficient_reason.sufficiency.oracle import SufficiencyOracle

__all__ = ["DEFINITIONS", "LEVELS", "SufficientReason"]

# Beside the problems, which are pickled and compared without them.
_oracles: WeakKeyDictionary[SufficientReason, SufficiencyOracle] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class SufficientReason(ReasonText):
    """Find a smallest sufficient reason of a tree model's class for x.

    A reason is a set S of attributes such that the model gives its class to every row that
    agrees with x on S, whatever the other attributes are. What is meant by it is said by:

    - the definition. ``sufficient``: no row that agrees on S has another class; for one tree,
      S meets the conflicts with x of every leaf of another class. ``majoritary``: of every
      tree of a majority that wins whatever the others vote for, S implies its vote for the
      class [1]_. ``tree-specific``: against each rival class, the sum of what each tree gives at
      the worst of the leaves that S lets it reach still wins [2]_. A majoritary reason is
      tree-specific, a tree-specific one is sufficient, and not the other way round: a
      minimum by one of the latter two can be larger than the minimum sufficient reason;
    - the level. ``attributes``: features are columns; two rows agree where no test of the
      model tells them apart, and other attributes take the values they can have, see
      :class:`cpx.trees.Attribute`. ``intervals``: features are the ends of the interval of x
      between thresholds; a column with one end kept is bounded on that side only.
      ``conditions``: features are the tests of the model, each free, also where two tests of a
      column contradict each other;
    - ties, which are decided as the model decides them, in exact arithmetic.

    Parameters
    ----------
    tree_model : TreeModel
    x : sequence of d numbers, mapping, pandas.Series or pandas.DataFrame of one row
        The explained row; NaN for a missing value.
    level : {"attributes", "intervals", "conditions"}
    definition : {"sufficient", "majoritary", "tree-specific"}, optional
        Default: ``sufficient`` for one tree, ``majoritary`` for votes, else
        ``tree-specific``. ``sufficient`` is stated for one tree only; for several, answers
        can be evaluated and checked, and :mod:`cpx.models.sufficient_reason.methods` finds them.
    weights : sequence of int, optional
        A positive weight per feature; the weight of the reason is minimised. Default: all 1.
    required, forbidden : sequence of int or str
        Features that must, and must not, be in S: attributes by number or name, the others by
        number or as they are printed; the name of a column is both ends of its interval. A
        contradiction is a valid problem without a solution,
        and so is one where only a forbidden feature keeps the class.
    label : label of a class, optional
        The class that is to be explained, to be sure of it: anything else than the class the
        model gives x is refused.
    unit : Fraction, int or str, optional
        For ``tree-specific``, what losses of leaves (by how much a leaf is worse for the class
        than that of x) are rounded up to multiples of, and the slack (by how much x wins)
        down to: engines need small integers. Reasons of the rounded numbers are reasons of
        the exact ones, but there can be smaller ones of the latter. 0 never rounds.
        Default: 0 where the exact numbers have at most 20 bits, else a power of two,
        about a millionth of the slack.
    name : str
        Name of the instance, free.
    context : mapping
        Where the instance comes from, free; ``class`` is what the class is called.

    Raises
    ------
    InvalidInstance, DataError
        Naming the argument and its value; DataError for the row.

    References
    ----------
    .. [1] G. Audemard, S. Bellart, L. Bounia, F. Koriche, J.-M. Lagniez, P. Marquis: Trading
       Complexity for Sparsity in Random Forest Explanations, AAAI 2022 (majoritary reasons).
    .. [2] G. Audemard, J.-M. Lagniez, P. Marquis, N. Szczepanski: Computing Abductive
       Explanations for Boosted Trees, AISTATS 2023 (tree-specific explanations).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from cpx import solve
    >>> from cpx.trees import read_model
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = read_model(DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y))
    >>> problem = SufficientReason(tree, X.iloc[0], context={"class": "setosa"})
    >>> print(solve(problem).explanation.guarantee)
    petal width (cm) <= 0.8 forces setosa, whatever the other 3 columns are
    """

    tree_model: TreeModel = field(metadata=declared.MODEL)
    x: Row = field(metadata=declared.ROW)
    level: Level = field(
        default="attributes",
        metadata=parameter(
            declared.LevelName(LEVELS),
            "what features are: columns, ends of intervals or the tests of the model",
            needed=True,
        ),
    )
    definition: Definition | None = field(
        default=None,
        metadata=parameter(
            declared.DefinitionName(DEFINITIONS), "what a reason must keep", needed=True
        ),
    )
    weights: tuple[int, ...] | None = field(default=None, metadata=WEIGHTS)
    required: tuple[Any, ...] = field(
        default=(),
        metadata=parameter(declared.Features(), "features that must be chosen", place=1),
    )
    forbidden: tuple[Any, ...] = field(
        default=(),
        metadata=parameter(declared.Features(), "features that must not be chosen", place=1),
    )
    label: Label | None = field(default=None, metadata=declared.LABEL)
    unit: Share | None = field(
        default=None,
        metadata=parameter(
            declared.Unit(),
            "what losses of leaves are rounded up to multiples of; 0 is exact",
            needed=True,
        ),
    )
    name: str = field(default="", metadata=NAME)
    context: Mapping[str, Any] = field(default_factory=dict, metadata=CONTEXT)
    side_constraints: SideConstraints = field(
        default=NO_SIDE_CONSTRAINTS, kw_only=True, metadata=SIDE_CONSTRAINTS
    )

    kind: ClassVar[str] = "sufficient-reason"
    encodings: ClassVar[tuple[Encoding[LossForm], ...]] = SUBSET_ENCODINGS

    def _validate(self) -> None:
        """Refuse numbers that are too large to be stated."""
        if not self._unstated:
            _ = self.losses

    def automatic_unit(self) -> Fraction:
        """Return the unit that is used unless one is given."""
        if self.definition != "tree-specific":
            return Fraction(0)
        return automatic_unit(self._exact_losses, self.features.model.exact.exponent)

    # ----------------------------------------------------------- the problem

    @cached_property
    def features(self) -> Features:
        """What a reason is made of, with the values of x."""
        return Features(self.tree_model, self.x, self.level)

    @property
    def free(self) -> tuple[TreeModel, np.ndarray[Any, np.dtype[np.float64]]]:
        """The model whose attributes are the features of this problem, and x as its row."""
        return self.features.model, self.features.row

    @cached_property
    def label_index(self) -> int:
        """Index of the class of x."""
        return int(self.tree_model.predict_index(np.array(self.x, dtype=np.float64))[0])

    @property
    def n_features(self) -> int:
        """Number n of attributes, interval ends or conditions."""
        return len(self.features)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """What each feature means, with the values of x: true of x."""
        return self.features.words

    @property
    def _unstated(self) -> str:
        """Why the definition has no statement for engines; see ``definition``."""
        trees = len(self.tree_model.trees)
        if self.definition != "sufficient" or trees == 1:
            return ""
        return (
            f"the definition sufficient is stated for one tree, this model has {trees}: ask for "
            "another definition, or an engine that needs no statement, such as hitting-sets"
        )

    @cached_property
    def _all_leaves(self) -> Leaves:
        return Leaves(self.features.model, self.features.cells, self.features.ends)

    def _losses_by(self, definition: Definition) -> Losses:
        return losses_of(self.features.model, self._all_leaves, self.label_index, definition)

    @cached_property
    def _exact_losses(self) -> Losses:
        assert self.definition is not None
        return self._losses_by(self.definition)

    @cached_property
    def _losing(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """The leaves by which something is lost, shape (N,)."""
        rows = self._exact_losses[0]
        return (
            np.any([np.asarray(row > 0, dtype=bool) for row in rows], axis=0)
            if rows
            else (np.zeros(len(self._all_leaves.tree), dtype=bool))
        )

    @cached_property
    def losses(self) -> LossForm:
        """What a reason must exclude and may lose.

        Raises
        ------
        InvalidOption
            When the definition has no statement.
        """
        stated_in(self)  # or says why not
        assert self.unit is not None
        exponent = self.features.model.exact.exponent
        try:
            return self._loss_form(rounded(self._exact_losses, Fraction(self.unit), exponent))
        except InvalidInstance as error:
            raise InvalidInstance(f"unit {self.unit} is too small: {error}") from error

    def _loss_form(self, losses: Losses) -> LossForm:
        leaves, weights = self._all_leaves, self.weight_array
        excludes, tree = leaves.excludes, leaves.tree
        return LossForm.of(excludes, tree, *losses, weights, self.required, self.forbidden)

    @property
    def _stricter(self) -> Callable[[], LossForm] | None:
        # What leaves of a forest of averages lose are large numbers, slow to state.
        if not self._unstated or self.tree_model.rule != "vote":
            return None
        return lambda: self._loss_form(self._losses_by("majoritary"))

    @property
    def _row_oracle(self) -> Callable[[], SufficiencyOracle] | None:
        # The definition of all rows; which counterexample an oracle finds depends on what it was
        # asked before.
        return partial(self.row_oracle, new=True) if self.definition == "sufficient" else None

    def row_oracle(self, new: bool = False) -> SufficiencyOracle:
        """Return what decides sets by all rows, and remembers its answers."""
        from cpx.models.sufficient_reason.sufficiency.oracle import SufficiencyOracle

        if new or self not in _oracles:
            model, cells, ends = self.features.model, self.features.cells, self.features.ends
            _oracles[self] = SufficiencyOracle(model, cells, ends=ends)
        return _oracles[self]

    def enough(self, features: tuple[int, ...]) -> bool:
        """Say whether the features are a reason by the definition."""
        if not self._unstated:
            return self.losses.holds(features)
        oracle = self.row_oracle()
        free = oracle.everything & ~oracle.bits(features)
        # Unlike counterexample(), this searches for nothing that is known already.
        return not free or oracle.change(free) is None

    def _hold(self, explanation: Explanation) -> None:
        """Ask the live model of the trees, if there is one, about rows that keep the reason."""
        model, S = self.tree_model, explanation.rule.features
        if model.live is None:
            return
        if self.level == "attributes":
            hold_reason(model, self.x, S)
            return
        pools = values(model)

        def keep(a: int, some: Iterable[int]) -> None:
            rows = np.tile(np.array(self.x), (len(pools[a]), 1))
            rows[:, a] = pools[a]
            pools[a] = pools[a][np.isin(model.cells(rows)[:, a], [*some])]

        if self.level == "intervals":
            for a, (low, high) in self._spans(S).items():
                keep(a, range(low, high + 1))
        else:
            tests, own = conditions(model), model.cells(np.array(self.x))
            for a, j in (tests[i] for i in S):
                left = model.lefts(a, j)
                keep(a, np.flatnonzero(left == left[own[a]]).tolist())
        hold(model, self.x, pools, seed=1)

    # ------------------------------------------------------------- sentences

    def explanation(self, features: Iterable[int]) -> Explanation:
        """Return the reason with the cells of x in words; :meth:`conclude` widens them."""
        called = str(self.context.get("class", self.label))
        return Explanation(Rule.of(features, self.features.conditions, called))

    def _conditions(self, S: tuple[int, ...]) -> tuple[ColumnCondition, ...]:
        if self.level == "conditions":
            return ()
        ranges = self._ranges(S)
        if ranges is None:
            return ()
        return tuple(kept(self.tree_model, a, ranges[a], self.x[a]) for a in ranges)

    def _spans(self, S: tuple[int, ...]) -> dict[int, tuple[int, int]]:
        """Return the first and last cell that features leave to their columns."""
        if self.features.ends is not None:
            return self.features.ends.spans(S)
        cells = self.features.cells.tolist()
        return {a: (cells[a], cells[a]) for a in S}

    def _ranges(self, S: tuple[int, ...]) -> dict[int, Spans] | None:
        """Return the cells that the columns of a reason may have, None when S is none."""
        model = self.tree_model
        if self._unstated:
            from cpx.models.sufficient_reason.sufficiency.widening import widest_ranges

            return widest_ranges(self.row_oracle(), self._spans(S))
        if not self.losses.holds(S):
            return None
        leaves = self._all_leaves.only(self._losing)
        return widened(model, self.losses, leaves, self._spans(S))

    def _conclude(
        self, explanation: Explanation, proved: bool, objective: Value | None, bound: Value | None
    ) -> Explanation:
        """Return the explanation with what was proved, what it forces, and in what sense.

        Its words then have, for each attribute, the sides of its cell that matter; for the
        full definition of several trees, the widest interval that still forces the class.
        """
        rule = explanation.rule
        rule = replace(rule, conditions=self._conditions(rule.features))
        return super()._conclude(replace(explanation, rule=rule), proved, objective, bound)

    def units(self, size: int) -> str:
        """Count attributes or conditions."""
        return f"{size} {self.features.unit}{'s' * (size != 1)}"
