"""Smallest sufficient reasons of tree models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self
from weakref import WeakKeyDictionary

import numpy as np

from cpx.errors import InvalidInstance, InvalidOption, nearest
from cpx.explanation import Explanation
from cpx.models.arguments import Share, feature_list, weight_list
from cpx.models.base import Encoding
from cpx.models.losses import LossForm
from cpx.models.reasons import saved, sentences
from cpx.models.reasons.forming import Definition, Leaves, automatic_unit, losses_of, rounded
from cpx.models.reasons.level import conditional, conditions
from cpx.models.reasons.row import Row, row_values
from cpx.models.reasons.words import interval_text, sides_that_matter
from cpx.models.smallest import SMALLEST_ENCODINGS, SmallestSet
from cpx.models.wording import class_words
from cpx.rules import Rule
from cpx.trees.form import Label, TreeModel
from cpx.values import Value

if TYPE_CHECKING:
    from cpx.reasons import SufficiencyOracle

__all__ = ["DEFINITIONS", "LEVELS", "SufficientReason"]

Level = Literal["attributes", "conditions"]

# Beside the problems, which are pickled and compared without them.
_oracles: WeakKeyDictionary[SufficientReason, SufficiencyOracle] = WeakKeyDictionary()

LEVELS: tuple[Level, ...] = ("attributes", "conditions")
DEFINITIONS: tuple[Definition, ...] = ("sufficient", "majoritary", "tree-specific")


@dataclass(frozen=True, eq=False)
class SufficientReason(SmallestSet):
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
      :class:`cpx.trees.Attribute`. ``conditions``: features are the tests of the model, each
      free, also where two tests of a column contradict each other;
    - ties, which are decided as the model decides them, in exact arithmetic.

    Parameters
    ----------
    tree_model : TreeModel
    x : sequence of d numbers, mapping, pandas.Series or pandas.DataFrame of one row
        The explained row; NaN for a missing value.
    level : {"attributes", "conditions"}
    definition : {"sufficient", "majoritary", "tree-specific"}, optional
        Default: ``sufficient`` for one tree, ``majoritary`` for votes, else
        ``tree-specific``. ``sufficient`` is stated for one tree only; for several, answers
        can be evaluated and checked, and :mod:`cpx.reasons` finds them.
    weights : sequence of int, optional
        A positive weight per feature; the reason of least weight is sought. Default: all 1.
    required, forbidden : sequence of int or str
        Features that must, and must not, be in S: attributes by number or name, conditions by
        number or as they are printed. A contradiction is a valid problem without a solution,
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
    >>> problem = SufficientReason(tree, X.iloc[60], context={"class": "versicolor"})
    >>> print(solve(problem).explanation.guarantee)
    0.8 < petal width (cm) <= 1.75 forces versicolor, whatever the other 3 columns are
    """

    tree_model: TreeModel
    x: Row
    level: Level = "attributes"
    definition: Definition | None = None
    weights: tuple[int, ...] | None = None
    required: tuple[Any, ...] = ()
    forbidden: tuple[Any, ...] = ()
    label: Label | None = None
    unit: Share | None = None
    name: str = ""
    context: Mapping[str, Any] = field(default_factory=dict)

    kind: ClassVar[str] = "sufficient-reason"
    encodings: ClassVar[tuple[Encoding[LossForm], ...]] = SMALLEST_ENCODINGS

    def __post_init__(self) -> None:
        model = self.tree_model
        if not isinstance(model, TreeModel):
            raise InvalidInstance(f"tree_model must be a TreeModel, got {type(model).__name__}")
        if self.level not in LEVELS:
            raise InvalidInstance(f"level must be one of {', '.join(LEVELS)}, got {self.level!r}")
        object.__setattr__(self, "x", row_values(model, self.x))
        if self.level == "conditions":
            self._refuse_missing()
        object.__setattr__(self, "label", self._given_label())
        object.__setattr__(self, "definition", self._known_definition())
        for which in ("required", "forbidden"):
            value = feature_list(which, self._indices(which), self.n_features)
            object.__setattr__(self, which, value)
        if self.weights is not None:
            weights = weight_list("weights", self.weights, self.n_features)
            object.__setattr__(self, "weights", weights)
        if not isinstance(self.name, str):
            raise InvalidInstance(f"name must be a string, got {self.name!r}")
        if not isinstance(self.context, Mapping):
            raise InvalidInstance(f"context must be an object, got {self.context!r}")
        object.__setattr__(self, "unit", self._known_unit())
        if self.stated:
            _ = self.form  # found out now: numbers that are too large

    # ------------------------------------------------------------ arguments

    def _refuse_missing(self) -> None:
        for a in self.tree_model.used:
            if np.isnan(self.x[a]):
                raise InvalidInstance(
                    f"level conditions is for rows without missing values, and "
                    f"{self.tree_model.attributes[a].name!r} of x is missing"
                )

    def _given_label(self) -> Label:
        predicted = self.tree_model.classes[self.label_index]
        if self.label is not None and (
            self.label != predicted or isinstance(self.label, str) != isinstance(predicted, str)
        ):
            raise InvalidInstance(f"label is {self.label!r}, and the model gives x {predicted!r}")
        return predicted

    def _known_definition(self) -> Definition:
        model, definition = self.tree_model, self.definition
        votes = model.rule == "vote" and model.decision == "first"
        if definition is None:
            if len(model.trees) == 1:
                return "sufficient"
            return "majoritary" if votes else "tree-specific"
        if definition not in DEFINITIONS:
            raise InvalidInstance(
                f"definition must be one of {', '.join(DEFINITIONS)}, got {definition!r}"
            )
        if definition == "majoritary" and not votes:
            raise InvalidInstance(
                f"definition majoritary is for models that vote, this one has {model.rule}"
            )
        return definition

    def _known_unit(self) -> Fraction:
        if self.unit is None:
            if self.definition != "tree-specific":
                return Fraction(0)
            return automatic_unit(self._exact_losses, self._free_model.exact.exponent)
        try:
            unit = Fraction(self.unit)
        except (TypeError, ValueError, ZeroDivisionError, OverflowError):
            unit = Fraction(-1)
        if unit < 0 or self.unit is True:
            raise InvalidInstance(f"unit must be a fraction of at least 0, got {self.unit!r}")
        if unit and self.definition != "tree-specific":
            raise InvalidInstance(f"unit is for tree-specific reasons, got {self.unit!r}")
        return unit

    def _indices(self, which: str) -> Any:
        value = getattr(self, which)
        if isinstance(value, str) or not isinstance(value, Iterable):
            return value
        return [self._index(which, v) if isinstance(v, str) else v for v in value]

    def _index(self, which: str, name: str) -> int:
        names = self._plain_names
        if names.count(name) != 1:
            what = f"several {self._unit_name}s" if name in names else f"no {self._unit_name}"
            near = "" if name in names else nearest(name, names)
            raise InvalidInstance(f"{which}: {name!r} names {what} of the model{near}")
        return names.index(name)

    # ----------------------------------------------------------- the problem

    @cached_property
    def _free_model(self) -> TreeModel:
        """The model whose attributes are the features: itself, or over its conditions."""
        return self.tree_model if self.level == "attributes" else conditional(self.tree_model)

    @cached_property
    def _cells(self) -> np.ndarray[Any, np.dtype[np.int32]]:
        """The cells of x in :attr:`_free_model`, shape (n,)."""
        cells = self.tree_model.cells(np.array(self.x, dtype=np.float64))
        if self.level == "attributes":
            return cells
        return np.array([cells[a] > j for a, j in conditions(self.tree_model)], dtype=np.int32)

    @property
    def free(self) -> tuple[TreeModel, np.ndarray[Any, np.dtype[np.float64]]]:
        """The model whose attributes are the features of this problem, and x as its row."""
        if self.level == "attributes":
            return self.tree_model, np.array(self.x, dtype=np.float64)
        return self._free_model, self._cells.astype(np.float64)

    @cached_property
    def label_index(self) -> int:
        """Index of the class of x."""
        return int(self.tree_model.predict_index(np.array(self.x, dtype=np.float64))[0])

    @property
    def n_features(self) -> int:
        """Number n of attributes, or of conditions."""
        return self._free_model.n_attributes

    @cached_property
    def _plain_names(self) -> list[str]:
        if self.level == "attributes":
            return [a.name for a in self.tree_model.attributes]
        return list(self.feature_names)

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """What each feature means, with the values of x: true of x."""
        model, cells = self.tree_model, self._cells.tolist()
        if self.level == "attributes":
            return tuple(interval_text(model, a, c, c, self.x[a]) for a, c in enumerate(cells))
        tests = conditions(model)
        return tuple(model.condition(a, j, not c) for (a, j), c in zip(tests, cells))

    @property
    def stated(self) -> bool:
        """Whether the definition has a statement for engines; see ``definition``."""
        return self.definition != "sufficient" or len(self.tree_model.trees) == 1

    @cached_property
    def _all_leaves(self) -> Leaves:
        return Leaves(self._free_model, self._cells)

    @cached_property
    def _exact_losses(self) -> Any:
        assert self.definition is not None
        return losses_of(self._free_model, self._all_leaves, self.label_index, self.definition)

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
    def form(self) -> LossForm:
        """The problem as plain arrays.

        Raises
        ------
        InvalidOption
            When the definition has no statement.
        """
        self._require_stated()
        assert self.unit is not None
        exponent = self._free_model.exact.exponent
        rows, slacks = rounded(self._exact_losses, Fraction(self.unit), exponent)
        leaves = self._all_leaves.only(self._losing)
        try:
            return LossForm.of(
                leaves.excludes,
                leaves.tree,
                [row[self._losing] for row in rows],
                slacks,
                self.weight_array,
                self.required,
                self.forbidden,
            )
        except InvalidInstance as error:
            raise InvalidInstance(f"unit {self.unit} is too small: {error}") from error

    def stated_in(self, name: str | None = None) -> Encoding[Any]:
        """Return the encoding; a definition that has no statement is refused."""
        encoding = self.encoding(name)
        self._require_stated()
        return encoding

    def _require_stated(self) -> None:
        if not self.stated:
            raise InvalidOption(
                "the definition sufficient is stated for one tree, this model has "
                f"{len(self.tree_model.trees)}: ask for another definition"
            )

    def oracle_of_rows(self) -> SufficiencyOracle:
        """Return what decides sets of features by :attr:`free`, and remembers its answers."""
        from cpx.reasons import SufficiencyOracle

        if self not in _oracles:
            _oracles[self] = SufficiencyOracle(self._free_model, self._cells)
        return _oracles[self]

    def enough(self, features: tuple[int, ...]) -> bool:
        """Say whether the features are a reason by the definition."""
        if self.stated:
            return self.form.holds(features)
        return self.oracle_of_rows().counterexample(features) is None

    # ------------------------------------------------------------- sentences

    def explanation(self, features: Iterable[int]) -> Explanation:
        """Return the reason in words: for each attribute, the sides of its cell that matter."""
        called = class_words(str(self.context.get("class", self.label)))
        rule = Rule.of(features, list(self.feature_names), called)
        return Explanation(replace(rule, conditions=self._conditions(rule.features)))

    def _conditions(self, S: tuple[int, ...]) -> tuple[str, ...]:
        if self.level == "conditions" or not self.stated or not self.form.holds(S):
            return ()
        model, cells = self.tree_model, tuple(self._cells.tolist())
        leaves = self._all_leaves.only(self._losing)
        ranges = sides_that_matter(self.form, leaves, cells, tuple(model.sizes.tolist()), S)
        return tuple(interval_text(model, a, *ranges[a], self.x[a]) for a in S)

    def conclude(
        self, explanation: Explanation, proved: bool, objective: Value | None, bound: Value | None
    ) -> Explanation:
        """Return the explanation with what was proved, what it forces, and in what sense."""
        told = super().conclude(explanation, proved, objective, bound)
        return replace(
            told, guarantee=sentences.forces(self, told.rule), notes=sentences.sense(self)
        )

    def brief(self) -> list[str]:
        """Return definition, level and sizes of the model."""
        trees = len(self.tree_model.trees)
        size = [f"{trees} tree{'s' * (trees != 1)}", self.units(self.n_features)]
        return [str(self.definition), *size]

    def facts(self) -> dict[str, str]:
        """Return the model, x, definition, level and ties."""
        model = self.tree_model
        kinds = f"{len(model.trees)} trees, {len(model.classes)} classes, rule {model.rule}"
        return {
            "model": f"{kinds}, {model.n_attributes} attributes, {len(model.used)} tested",
            "class": str(self.label),
            "definition": str(self.definition),
            "level": f"{self.level}, {self.units(self.n_features)}",
            "unit": f"{self.unit}" if self.unit else "0, exact",
            "ties": sentences.ties(self),
            **self.choice_facts(),
        }

    def claim(self) -> str:
        """Name the definition."""
        return sentences.claim(self)

    @property
    def _unit_name(self) -> str:
        return "attribute" if self.level == "attributes" else "condition"

    def units(self, size: int) -> str:
        """Count attributes or conditions."""
        return f"{size} {self._unit_name}{'s' * (size != 1)}"

    def notes(self) -> tuple[str, ...]:
        """Return what is degenerate; solved all the same."""
        return (*self.base_notes(), *sentences.warnings(self))

    # -------------------------------------------------------------- its file

    def to_dict(self) -> dict[str, Any]:
        """Return the saved form, version 1; the model is stored in it."""
        return saved.written(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read the saved form; unknown keys and parameters are refused by name."""
        return cls(**saved.read(data))
