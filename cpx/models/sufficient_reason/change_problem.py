"""Changes of least weight that give a row another class, as a problem that can be saved."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cpx.answers.evaluation import Evaluation
from cpx.answers.explanation import Explanation
from cpx.answers.rule import Literal, Rule
from cpx.answers.values import Value, class_words, plural
from cpx.data.condition import ColumnCondition, value_text
from cpx.modelling.base import Problem
from cpx.modelling.claims import claimed
from cpx.modelling.encodings import stated_in
from cpx.modelling.parameters import CONTEXT, NAME, parameter
from cpx.modelling.row import Row
from cpx.modelling.statement import Encoding, Statement, Values
from cpx.models.sufficient_reason import parameters as declared
from cpx.models.sufficient_reason.change_encoding import (
    CHANGE_ENCODINGS,
    bits_of_scores,
    options_of,
)
from cpx.models.sufficient_reason.contrast_answer import Contrast
from cpx.models.sufficient_reason.features import Features
from cpx.models.sufficient_reason.form import ChangeForm
from cpx.models.sufficient_reason.minimum_subset.problem import WEIGHTS
from cpx.models.sufficient_reason.new_values import changed, new_values, ranges_of_cells
from cpx.trees.conditions import has_value
from cpx.trees.form import Label, TreeModel
from cpx.trees.hold import hold_change

__all__ = ["MinimumChange"]

_MOST_BITS = 30
"""Of sums of a statement: engines that count in floats want few."""


@dataclass(frozen=True, eq=False)
class MinimumChange(Problem):
    """Find the fewest columns whose change gives a row another class of a tree model.

    A set S of attributes is a change when some row that differs from x in S only gets another
    class, or the wanted one [1]_. What an attribute may change to is what it can be, see
    :class:`cpx.trees.Attribute`. There is a statement for models of one tree, and for those whose
    scores have few bits, such as votes; ``hitting-sets`` takes all.

    Parameters
    ----------
    tree_model : TreeModel
    x : sequence of d numbers, mapping, pandas.Series or pandas.DataFrame of one row
        The row; NaN for a missing value.
    target : label of a class, optional
        The class to reach; by default any other one than that of x.
    frozen : sequence of int or str
        Attributes that may not change.
    ranges : sequence of int or str
        Attributes of which ``tree_model`` has the values of a range that was asked for. It says so
        in words only.
    weights : sequence of int, optional
        What the change of each attribute costs, 1 if not given.
    label : label of a class, optional
        The class of x, to be sure of it.
    name : str
    context : mapping
        Where the instance comes from, free; ``classes`` is what the classes are called, in order.

    Raises
    ------
    InvalidInstance, DataError
        Naming the argument and its value; DataError for the row.

    References
    ----------
    .. [1] A. Ignatiev, N. Narodytska, N. Asher, J. Marques-Silva: From Contrastive to Abductive
       Explanations and Back Again, AI*IA 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from cpx import solve
    >>> from cpx.trees import read_model
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = read_model(DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y))
    >>> print(solve(MinimumChange(tree, X.iloc[0], target=2)).explanation)
    petal width (cm) > 1.75 (now 0.2) gives class 2 in place of class 0
    """

    tree_model: TreeModel = field(metadata=declared.MODEL)
    x: Row = field(metadata=declared.ROW)
    target: Label | None = field(
        default=None,
        metadata=parameter(declared.WantedClass(), "the class to reach; absent: any other one"),
    )
    frozen: tuple[Any, ...] = field(
        default=(),
        metadata=parameter(declared.Features(), "attributes that may not change", place=1),
    )
    ranges: tuple[Any, ...] = field(
        default=(),
        metadata=parameter(
            declared.Features(), "attributes that have the values of a range only", place=1
        ),
    )
    weights: tuple[int, ...] | None = field(default=None, metadata=WEIGHTS)
    label: Label | None = field(default=None, metadata=declared.LABEL)
    name: str = field(default="", metadata=NAME)
    context: Mapping[str, Any] = field(default_factory=dict, metadata=CONTEXT)

    kind: ClassVar[str] = "contrast"
    encodings: ClassVar[tuple[Encoding[ChangeForm], ...]] = CHANGE_ENCODINGS
    _features_are: ClassVar[str] = "Columns j that may change: value of x"

    @cached_property
    def features(self) -> Features:
        """The attributes, with the values of x."""
        return Features(self.tree_model, self.x, "attributes")

    @cached_property
    def label_index(self) -> int:
        """Index of the class of x."""
        return int(self.tree_model.predict_index(np.array(self.x, dtype=np.float64))[0])

    @property
    def n_features(self) -> int:
        """Number of attributes."""
        return self.tree_model.n_attributes

    @property
    def feature_names(self) -> tuple[str, ...]:
        """What each attribute is in x."""
        return self.features.words

    @cached_property
    def wanted(self) -> tuple[int, ...]:
        """The classes of which one is to be reached, by index."""
        classes = self.tree_model.classes
        if self.target is not None:
            return (list(classes).index(self.target),)
        return tuple(c for c in range(len(classes)) if c != self.label_index)

    @cached_property
    def _unstated(self) -> str:
        """Why there is no statement of an instance; empty where there is one."""
        bits = bits_of_scores(self.form())
        if bits <= _MOST_BITS:
            return ""
        return (
            f"the scores of this model have {bits} bits, a statement has {_MOST_BITS} at most: "
            "ask an engine that needs none, such as hitting-sets"
        )

    def form(self) -> ChangeForm:
        """Return the problem as engines and encodings take it."""
        weights = self.weights or (1,) * self.n_features
        return ChangeForm(self.tree_model, tuple(self.x), self.wanted, self.frozen, weights)

    def model(self, encoding: str | None = None) -> Statement:
        """State the problem in the named encoding.

        Raises InvalidOption: Where the scores of the model have too many bits.
        """
        statement: Statement = stated_in(self, encoding).build(self.form())
        return statement

    def decode(self, values: Values) -> Contrast:
        """Return the change to the cells whose Z is true, of the columns whose X is."""
        chosen, cells = np.flatnonzero(np.asarray(values["X"]) > 0).tolist(), self._cells
        Z = iter(np.asarray(values.get("Z", ())).tolist())
        for a, options in options_of(self.form()):
            cells[a] = next(c for c, one in [*zip(options, Z, strict=False)] if one > 0)
        return self.change(chosen, cells)

    # ------------------------------------------------------------------ answers

    def called(self, c: int) -> str:
        """Return what a class is called, by its index."""
        classes, names = self.tree_model.classes, self.context.get("classes")
        if isinstance(names, list | tuple) and len(names) == len(classes):
            return str(names[c])
        return str(classes[c])

    def explanation(self, features: Iterable[int]) -> Contrast:
        """Return the change of these columns, or of some; without values if there is none."""
        from cpx.models.sufficient_reason.methods.smallest_change import contrastive

        S = sorted({*features})
        kept = [a for a in range(self.n_features) if a not in S or a in self.frozen]
        found = contrastive(self.tree_model, self.x, must_keep=kept, targets=self.wanted)
        if found.cells is not None:
            return self.change(S, found.cells)
        rule = Rule.of(S, self.features.conditions, self.called(self.wanted[0]))
        return Contrast(rule, instead_of=self.called(self.label_index))

    def change(
        self,
        columns: Sequence[int],
        cells: Sequence[int],
        row: Sequence[float] | None = None,
        seen: NDArray[np.float64] | None = None,
    ) -> Contrast:
        """Return a change in words, with the values to change to.

        columns: Those that may differ from x; those that do are the change.
        cells: Those of a row of a wanted class.
        row: That row itself, where no other value of its cells will do.
        seen: Rows whose values are taken where there is a choice.
        """
        model, x, own = self.tree_model, self.x, self._cells
        means: dict[int, ColumnCondition]
        if row is not None:
            label, new = int(model.predict_index(np.array(row))[0]), {a: row[a] for a in columns}
            means = {a: has_value(model.attributes[a], v) for a, v in new.items()}
        else:
            differ = [a for a in columns if cells[a] != own[a]]
            label, ranges = ranges_of_cells(model, x, differ, cells)
            new = new_values(model, x, ranges, seen)
            means = {a: changed(model, a, r, x[a]) for a, r in ranges.items()}
        return Contrast(
            Rule(
                tuple(Literal(a, replace(means[a], now=self._now(a))) for a in sorted(new)),
                self.called(label),
            ),
            instead_of=self.called(self.label_index),
            values={model.attributes[a].name: self._named(a, v) for a, v in new.items()},
            told=tuple(has_value(model.attributes[a], v) for a, v in new.items()),
        )

    @property
    def _cells(self) -> list[int]:
        found: list[int] = self.tree_model.cells(np.array(self.x)).tolist()
        return found

    def _named(self, a: int, value: float) -> Any:
        attribute = self.tree_model.attributes[a]
        if np.isnan(value):
            return math.nan
        return value if attribute.labels is None else attribute.called(value)

    def _now(self, a: int) -> str:
        return replace(self.tree_model.attributes[a], unit="").in_words(self.x[a])

    def changed_row(self, found: Explanation) -> list[float] | None:
        """Return x with the values of a change; None where it has others than the columns."""
        row, attributes = list(self.x), self.tree_model.attributes
        given = dict(found.values) if isinstance(found, Contrast) else {}
        if given.keys() != {attributes[a].name for a in found.features}:
            return None
        for a in found.features:
            value = given[attributes[a].name]
            known = dict(zip(attributes[a].labels or (), attributes[a].values or ()))
            missing = isinstance(value, float) and math.isnan(value)
            called = value if isinstance(value, str) else value_text(value)
            row[a] = value if missing else known.get(called, value)
        return row

    def evaluate(self, explanation: Explanation) -> Evaluation:
        """Return the weight of the columns, and whether the new values give a wanted class."""
        S, weights = explanation.features, self.form().weights
        row = self.changed_row(explanation)
        reached = row is not None and int(self.tree_model.predict_index(row)[0]) in self.wanted
        feasible = reached and not {*S} & {*self.frozen}
        return Evaluation(sum(weights[a] for a in S), feasible=feasible)

    def _trivial_bound(self) -> Value | None:
        """Return the least weight of a column that may change: x itself has no wanted class."""
        weights = self.form().weights
        return min((weights[a] for a in {*range(len(weights))} - {*self.frozen}), default=None)

    def _conclude(
        self, explanation: Explanation, proved: bool, objective: Value | None, bound: Value | None
    ) -> Explanation:
        """Return the change with what is claimed of it; what shows a bound goes without one."""
        if isinstance(explanation, Contrast) and not proved:
            explanation = replace(explanation, sets=(), gains=False)
        return claimed(self, explanation, proved, objective, bound)

    def _hold(self, explanation: Explanation) -> None:
        """Ask the live model of the trees, if there is one, about the changed row."""
        row = self.changed_row(explanation)
        if row is not None:
            hold_change(self.tree_model, self.x, (), row)

    # -------------------------------------------------------------------- words

    def candidate(self) -> str:
        """Name what competes."""
        gives = class_words(self.called(self.wanted[0])) if self.target is not None else ""
        which = " of the columns that may change" * bool(self.frozen)
        return f"change{which} that gives {gives or 'another class'}"

    def _brief(self) -> list[str]:
        free = plural(self.n_features - len(self.frozen), "column")
        to = [f"to {class_words(self.called(self.wanted[0]))}"] if self.target is not None else []
        return [plural(len(self.tree_model.trees), "tree"), f"{free} may change", *to]

    def _facts(self) -> dict[str, str]:
        """Return the model, the class of x, and what is asked."""
        model, names = self.tree_model, [a.name for a in self.tree_model.attributes]
        used = f"{model.n_attributes} attributes, {len(model.used)} tested"
        facts = {
            "model": f"{len(model.trees)} trees, {len(model.classes)} classes, {used}",
            "class": self.called(self.label_index),
            "target": " or ".join(map(self.called, self.wanted)),
        }
        for which in ("frozen", "ranges"):
            if given := getattr(self, which):
                facts[which] = ", ".join(names[a] for a in given)
        if self.weights is not None:
            facts["weights"] = ", ".join(map(str, self.weights))
        return facts
