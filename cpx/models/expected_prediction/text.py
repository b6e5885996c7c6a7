"""Expected predictions in words: what was proved, what is likely, what is degenerate."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cpx.answers.explanation import Explanation
from cpx.answers.values import Value, class_words, listed, plural
from cpx.data.coding import Coding
from cpx.data.fitted.tree_mixture import TreeMixture
from cpx.modelling.base import Problem
from cpx.models.expected_prediction.answer import ExpectedExplanation
from cpx.models.expected_prediction.exact_scores import ExactScores
from cpx.models.expected_prediction.leaves import LeafForm
from cpx.models.sufficient_reason.features import between
from cpx.support.shares import at_most, significant
from cpx.support.validation import Share
from cpx.trees.attribute import condition_text, value_text
from cpx.trees.form import Label, TreeModel
from cpx.trees.tree import MISSING

MEASURES = {"sum": "score", "average": "probability", "vote": "share of votes"}
"""What the score of a class is, by the rule of the model."""

_DIGITS = 1000


def rounded_down(share: Fraction) -> float:
    """Return a share in thousandths, never more than it is.

    >>> rounded_down(Fraction(2, 3)), rounded_down(Fraction(1))
    (0.666, 1.0)
    """
    return math.floor(share * _DIGITS) / _DIGITS


class ExpectationText(Problem):
    """What a problem of expected predictions says of itself and of its answers."""

    tree_model: TreeModel
    coding: Coding
    distribution: TreeMixture
    required: tuple[int, ...]
    forbidden: tuple[int, ...]
    label: Label | None
    context: Mapping[str, Any]
    unit: Share | None

    _features_are: ClassVar[str] = "Attributes: what is known of x"

    @property
    @abstractmethod
    def leaves(self) -> LeafForm:
        """The leaves of the model, signed for the class of x."""

    @property
    @abstractmethod
    def scores(self) -> ExactScores:
        """Exact expected scores and probabilities of sets of attributes."""

    @property
    @abstractmethod
    def codes(self) -> NDArray[np.int32]:
        """The states of x, shape (A,)."""

    @property
    def measured(self) -> str:
        """What the score of the class is."""
        return MEASURES[self.tree_model.rule]

    # ------------------------------------------------------------------ what was found

    def figures(self, explanation: Explanation) -> ExpectedExplanation:
        """Return the explanation with its figures, each correctly rounded from its exact value."""
        S, scores = explanation.features, self.scores
        probability = scores.probability(S)
        likely = math.log(probability.numerator) - math.log(probability.denominator)
        return ExpectedExplanation(
            explanation.rule,
            fresh=explanation.fresh,
            measure=self.measured,
            expected=float(scores.expected(S)),
            of_x=float(scores.greatest(range(len(self.codes)))),
            of_nothing=float(scores.expected(())),
            log_likelihood=likely,
            threshold=float(self.leaves.threshold),
            greatest=float(scores.greatest(S)),
            bound=rounded_down(scores.bound(S)),
        )

    def conclude(
        self, explanation: Explanation, proved: bool, objective: Value | None, bound: Value | None
    ) -> Explanation:
        """Return the explanation with its figures, what was proved, and what follows from it."""
        found = self.figures(explanation)
        told = self.proved(found, proved, bound)
        return replace(found, proved=told, guarantee=self._follows(found), notes=self._sense())

    @abstractmethod
    def proved(self, found: ExpectedExplanation, proved: bool, bound: Value | None) -> str:
        """Say what was proved of the expected score, or of the number of attributes."""

    def _follows(self, found: ExpectedExplanation) -> str:
        """Say how many rows with the known values get the class at least, if that is known."""
        if not found.bound:
            return ""
        values = "these values" if found.features else "all values"
        return (
            f"of the rows with {values} at least the share {found.bound:g} gets "
            f"{found.rule.conclusion}, under the {self.distribution.structure} distribution"
        )

    def _sense(self) -> tuple[str, ...]:
        rounding = (
            f"each leaf is rounded {self.rounding_words}"
            if self.distribution.factorised
            else "their sum is rounded"
        )
        units = f"scores are counted in units of {self._unit_words()}: {rounding}"
        return (units, *self.missing_notes())

    def missing_notes(self) -> tuple[str, ...]:
        """Say which values rows may lack, where the model takes any row that lacks one."""
        model, coding = self.tree_model, self.coding
        if all(model.refuses_missing(c) for c in model.used):
            return ()
        names = [
            coding.column_names[c]
            for a, columns in enumerate(coding.columns)
            for i, c in enumerate(columns)
            if (coding.states[a][:, i] == MISSING).any()
        ]
        if not names:
            return ("missing values: none; rows that lack a value are left out",)
        return (f"missing values: of {listed(names)} only, as often as the distribution says",)

    @property
    def rounding_words(self) -> str:
        """How leaves are rounded."""
        return "to the nearest"

    def _unit_words(self) -> str:
        return f"{float(Fraction(self.unit or 0)):.3g}"

    def in_units(self, value: Value) -> str:
        """Return so many units as a score, rounded up."""
        return at_most(value * Fraction(self.unit or 0), 6)

    # ------------------------------------------------------------------ the instance

    def _brief(self) -> list[str]:
        """Return sizes of the model, and the distribution."""
        trees = plural(len(self.tree_model.trees), "tree")
        return [trees, plural(len(self.codes), "attribute"), self.distribution.structure]

    def _facts(self) -> dict[str, str]:
        """Return the model, the class, the distribution and the parameters."""
        model, mixture = self.tree_model, self.distribution
        kinds = f"{len(model.trees)} trees, {len(model.classes)} classes, rule {model.rule}"
        parts = plural(mixture.n_components, "component")
        own = float(self.scores.greatest(range(len(self.codes))))
        facts = {
            "model": f"{kinds}, {len(self.leaves.values)} leaves",
            "class": f"{self.label}, {self.measured} {significant(own)}",
            "attributes": f"{len(self.codes)}, {len(self.leaves.used)} tested",
            "distribution": f"{mixture.structure}, {parts}",
            "unit": f"{self.unit}",
        }
        for which in ("required", "forbidden"):
            if chosen := getattr(self, which):
                facts[which] = "{" + ", ".join(map(str, chosen)) + "}"
        return facts

    def _notes(self) -> tuple[str, ...]:
        """Return what is degenerate; solved all the same."""
        found, names = list[str](), self.coding.names
        if both := sorted({*self.required} & {*self.forbidden}):
            found.append(f"required and forbidden contradict: attributes {both} are in both")
        if not self.leaves.used:
            found.append("the model tests nothing: every row has the same score")
        idle = [names[a] for a in self.required if a not in self.leaves.used]
        if idle and self.leaves.used and self.distribution.factorised:
            found.append(f"required and never tested by the model: {listed(idle)}")
        constant = [n for n, K in zip(names, self.distribution.cardinalities) if K == 1]
        if constant:
            found.append(f"attributes of one state, which tell nothing: {listed(constant)}")
        own = self.scores.greatest(range(len(self.codes)))
        if own <= self.leaves.threshold:
            found.append(
                f"the {self.measured} of x is not above {float(self.leaves.threshold):g}: no "
                f"expectation bounds the probability of {class_words(str(self.label))}"
            )
        return tuple(found)


def state_words(
    model: TreeModel, coding: Coding, x: tuple[float, ...], codes: NDArray[np.int32]
) -> tuple[str, ...]:
    """Return for each attribute what is known when the state of x is known.

    A column is said to be between the cuts around its value; to have its value where it is the
    only one listed there, or where nothing is cut. A group of columns is said to have those that
    are not 0.

    coding: Of the columns of the model.
    codes: The states of x.

    >>> from cpx.data.coding import Coding
    >>> from cpx.trees import Attribute, Tree, TreeModel
    >>> stump = Tree([0, -1, -1], [0] * 3, [0] * 3, [[-1.0], [0.5]], (0,))
    >>> attributes = [Attribute(name) for name in ("size", "hue_red", "hue_blue")]
    >>> model = TreeModel(attributes, [0, 1], [stump], [[2.5], [], []], "sum", "positive", [0])
    >>> rows = np.array([[1.0, 0, 1], [3.0, 1, 0]])
    >>> coding = Coding.fit(rows, names=[a.name for a in attributes], cuts=model.thresholds,
    ...                     groups={"hue": ["hue_red", "hue_blue"]}, max_states=2)
    >>> state_words(model, coding, (3.0, 1.0, 0.0), coding.codes(rows[1])[0])
    ('size > 2.5', 'hue = red')
    """
    return tuple(
        _column(model, coding, columns[0], int(coding.states[a][codes[a], 0]), x[columns[0]])
        if len(columns) == 1
        else _group(coding, a, x)
        for a, columns in enumerate(coding.columns)
    )


def _column(model: TreeModel, coding: Coding, c: int, cell: int, value: float) -> str:
    name, cuts, attribute = coding.column_names[c], coding.cuts[c], model.attributes[c]
    if cell == MISSING:
        return f"{name} is missing"
    listed = (0.0, 1.0) if attribute.kind == "boolean" else attribute.values
    alone = False
    if listed is not None:
        values = np.array(listed, dtype=coding.cast)
        alone = int((np.searchsorted(cuts, values, side="left") == cell).sum()) == 1
    if alone or not len(cuts):
        return f"{name} = {value_text(value)}"
    above, upto = (
        condition_text(name, float(cuts[i]), holds, model.strict, model.cast)
        if 0 <= i < len(cuts)
        else ""
        for i, holds in ((cell - 1, False), (cell, True))
    )
    return between(name, above, upto)


def _group(coding: Coding, a: int, x: tuple[float, ...]) -> str:
    name, columns = coding.names[a], coding.columns[a]
    if any(math.isnan(x[c]) for c in columns):
        return f"{name} is missing"
    present = [(coding.column_names[c], x[c]) for c in columns if x[c] != 0]
    if len(present) == 1 and present[0][1] == 1:
        title = present[0][0]
        return f"{name} = {title.removeprefix(name).lstrip('_=: ') or title}"
    if not present:
        return f"{name} = none of its {len(columns)} columns"
    return f"{name}: " + ", ".join(f"{title} = {value_text(value)}" for title, value in present)
