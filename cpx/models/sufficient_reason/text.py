"""Sufficient reasons in words: what is forced, in what sense, what is degenerate."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace

from cpx.answers.explanation import Explanation
from cpx.answers.rule import Rule
from cpx.answers.values import Value, listed
from cpx.models.sufficient_reason.features import Level
from cpx.models.sufficient_reason.form import Definition, votes_needed
from cpx.models.sufficient_reason.minimum_subset.problem import MinimumSubset
from cpx.support.validation import Share
from cpx.trees.form import Label, TreeModel


class ReasonText(MinimumSubset):
    """What a sufficient reason says of itself and of its answers."""

    tree_model: TreeModel
    level: Level
    definition: Definition | None
    label: Label | None
    unit: Share | None

    @property
    @abstractmethod
    def label_index(self) -> int:
        """Index of the class of x."""

    def claim(self) -> str:
        """Name the definition: ``"sufficient reason"``, ``"majoritary reason"``."""
        return f"{self.definition} reason{' by the rounded losses' * bool(self.unit)}"

    def _brief(self) -> list[str]:
        """Return definition, level and sizes of the model."""
        trees = len(self.tree_model.trees)
        size = [f"{trees} tree{'s' * (trees != 1)}", self.units(self.n_features)]
        return [str(self.definition), *size]

    def _facts(self) -> dict[str, str]:
        """Return the model, x, definition, level and ties."""
        model = self.tree_model
        kinds = f"{len(model.trees)} trees, {len(model.classes)} classes, rule {model.rule}"
        return {
            "model": f"{kinds}, {model.n_attributes} attributes, {len(model.used)} tested",
            "class": str(self.label),
            "definition": str(self.definition),
            "level": f"{self.level}, {self.units(self.n_features)}",
            "unit": f"{self.unit}" if self.unit else "0, exact",
            "ties": self._ties(),
            **self.choice_facts(),
        }

    def conclude(
        self, explanation: Explanation, proved: bool, objective: Value | None, bound: Value | None
    ) -> Explanation:
        """Return the explanation with what was proved, what it forces, and in what sense."""
        told = super().conclude(explanation, proved, objective, bound)
        return replace(told, guarantee=self._forces(told.rule), notes=self._sense())

    def _forces(self, rule: Rule) -> str:
        """Say what holds of every row with the values of the reason."""
        words, rest = rule.words, self.n_features - len(rule)
        lacking = self._lacking({*rule.features})
        columns = self.level == "attributes"
        what = ("column" if columns else "condition") + "s" * (rest != 1)
        others = f"the other {rest} {what} {'are' if rest != 1 else 'is'}"
        if not words:
            case = "in every case"
            if lacking:
                case += f", whatever the columns are{lacking}"
            return f"{rule.conclusion} {case}: no other class is ever given"
        text = f"{' and '.join(words)} force{'s' * (len(words) == 1)} {rule.conclusion}"
        if not rest:
            return text
        return f"{text}, whatever {others}{'' if columns else ', each free'}{lacking}"

    def _lacking(self, chosen: set[int]) -> str:
        """Say which columns that are not chosen may be missing, where the model may test them."""
        model = self.tree_model
        if self.level == "conditions":
            chosen = set()
        rest = [a for a in range(model.n_attributes) if a not in chosen]
        tested = [a for a in rest if a in model.used]
        if all(model.refuses_missing(a) for a in tested):
            return ""
        if self.level == "conditions":
            return ", no column missing"
        may = [model.attributes[a].name for a in rest if model.attributes[a].missing]
        if all(model.attributes[a].missing for a in tested):
            return ", missing or not"
        if may:
            return f", of which only {listed(may)} may be missing"
        return ", none of them missing" if len(rest) > 1 else ", not missing"

    def _sense(self) -> tuple[str, ...]:
        """Return notes on definition, level and ties."""
        level = {
            "attributes": "attributes: columns are kept in the interval of x between thresholds "
            "of the model; the others take any value they can have",
            "conditions": "conditions: each test of the model is free, also where tests of a "
            "column contradict each other",
        }[self.level]
        return self._definition(), f"level {level}", f"ties: {self._ties()}"

    def _definition(self) -> str:
        if self.definition == "sufficient":
            return "sufficient: every such row gets the class, by the exact sums of the model"
        model = self.tree_model
        if self.definition == "majoritary":
            needed = votes_needed(model, self.label_index)
            return (
                f"majoritary: the same {needed} of {len(model.trees)} trees vote for the class on "
                "every such row, and win whatever the others vote for"
            )
        told = (
            "tree-specific: the class wins even if every tree is at the worst of its leaves that "
            "such a row can reach, each tree by itself"
        )
        if not self.unit:
            return told
        return f"{told}; losses of leaves are rounded up to multiples of {self.unit}"

    def _ties(self) -> str:
        """Say which class is given when scores are equal."""
        decision, classes = self.tree_model.decision, self.tree_model.classes
        if decision == "first":
            return "of classes with equal scores the first one is given"
        score = "above 0" if decision == "positive" else "of 0 or more"
        return f"a score {score} is {classes[1]}"

    def _notes(self) -> tuple[str, ...]:
        """Return what is degenerate; solved all the same."""
        found, used = self.base_notes(), {*self.tree_model.used}
        model = self.tree_model
        if not used:
            found.append("the model tests nothing: every row has the same class")
        elif self.level == "attributes":
            idle = [model.attributes[a].name for a in self.required if a not in used]
            if idle:
                found.append(f"required and never tested by the model: {', '.join(idle)}")
        if not self.unstated and any(slack < 0 for slack in self.losses.slacks):
            found.append(
                f"x has the class {self.label} without a majority of the votes that wins "
                "whatever the others vote for: there is no majoritary reason"
            )
        if self.unit:
            found.append(
                f"losses of leaves are rounded up to multiples of {self.unit}: the answer is a "
                "reason of the exact model, and a minimum of the rounded one"
            )
        return tuple(found)
