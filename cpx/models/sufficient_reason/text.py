"""Sentences about sufficient reasons: what is forced, in what sense, what is degenerate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpx.models.sufficient_reason.margins import votes_needed

if TYPE_CHECKING:
    from cpx.answers.rule import Rule
    from cpx.models.sufficient_reason.problem import SufficientReason

__all__ = ["claim", "forces", "sense", "ties", "warnings"]


def claim(problem: SufficientReason) -> str:
    """Name the definition: ``"sufficient reason"``, ``"majoritary reason"``."""
    return f"{problem.definition} reason{' by the rounded losses' * bool(problem.unit)}"


def forces(problem: SufficientReason, rule: Rule) -> str:
    """Say what holds of every row with the values of the reason."""
    words, rest = rule.words, problem.n_features - len(rule)
    columns = problem.level == "attributes"
    what = ("column" if columns else "condition") + "s" * (rest != 1)
    others = f"the other {rest} {what} {'are' if rest != 1 else 'is'}"
    if not words:
        return f"{rule.conclusion} in every case: no other class is ever given"
    text = f"{' and '.join(words)} force{'s' * (len(words) == 1)} {rule.conclusion}"
    if not rest:
        return text
    return f"{text}, whatever {others}{'' if columns else ', each free'}"


def sense(problem: SufficientReason) -> tuple[str, ...]:
    """Return notes on definition, level and ties."""
    level = {
        "attributes": "attributes: columns are kept in the interval of x between thresholds of "
        "the model; the others take any value they can have",
        "conditions": "conditions: each test of the model is free, also where tests of a column "
        "contradict each other",
    }[problem.level]
    return _definition(problem), f"level {level}", f"ties: {ties(problem)}"


def _definition(problem: SufficientReason) -> str:
    if problem.definition == "sufficient":
        return "sufficient: every such row gets the class, by the exact sums of the model"
    model = problem.tree_model
    if problem.definition == "majoritary":
        needed = votes_needed(model, problem.label_index)
        return (
            f"majoritary: the same {needed} of {len(model.trees)} trees vote for the class on "
            "every such row, and win whatever the others vote for"
        )
    told = (
        "tree-specific: the class wins even if every tree is at the worst of its leaves that "
        "such a row can reach, each tree by itself"
    )
    if not problem.unit:
        return told
    return f"{told}; losses of leaves are rounded up to multiples of {problem.unit}"


def ties(problem: SufficientReason) -> str:
    """Say which class is given when scores are equal."""
    decision, classes = problem.tree_model.decision, problem.tree_model.classes
    if decision == "first":
        return "of classes with equal scores the first one is given"
    score = "above 0" if decision == "positive" else "of 0 or more"
    return f"a score {score} is {classes[1]}"


def warnings(problem: SufficientReason) -> list[str]:
    """Return what is degenerate in the instance."""
    found, used = [], {*problem.tree_model.used}
    model = problem.tree_model
    if not used:
        found.append("the model tests nothing: every row has the same class")
    elif problem.level == "attributes":
        idle = [model.attributes[a].name for a in problem.required if a not in used]
        if idle:
            found.append(f"required and never tested by the model: {', '.join(idle)}")
    if problem.stated and any(slack < 0 for slack in problem.form.slacks):
        found.append(
            f"x has the class {problem.label} without a majority of the votes that wins "
            "whatever the others vote for: there is no majoritary reason"
        )
    if problem.unit:
        found.append(
            f"losses of leaves are rounded up to multiples of {problem.unit}: the answer is a "
            "reason of the exact model, and a minimum of the rounded one"
        )
    return found
