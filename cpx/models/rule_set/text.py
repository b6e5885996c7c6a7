"""Sentences about sets of rules: what was proved, what the instance is, what is degenerate."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from cpx.answers.values import Value
from cpx.models.monomial import text as wording

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cpx.models.rule_set.problem import RuleSetProblem
    from cpx.models.rule_set.selection import RuleSetSelection

__all__ = [
    "brief",
    "chosen",
    "conclusion",
    "facts",
    "limits",
    "one_class",
    "plural",
    "rival",
    "warnings",
]

_LIMITS = {
    "max_rules": "at most {} rule",
    "max_literals": "at most {} literal",
    "max_overlap": "a weight of at most {} covered more than once",
}


def conclusion(
    problem: RuleSetProblem, chosen: Sequence[int], proved: bool, bound: Value | None
) -> str:
    """Say what the value of a set is made of, and what was proved of it."""
    error, size = problem.error(chosen), len(chosen)
    value = Fraction(problem.cost(chosen), problem.scale)
    price = Fraction(problem.price, problem.scale)
    loss = "error" if problem.loss == "zero-one" else "Hamming loss"
    told = f"{loss} {error} of {problem.total} and {plural(size, 'rule')} at {_number(price)}"
    told += f", {_number(value)} in all"
    if proved:
        return f"{told}, is optimal: no {problem.rival} has less"
    if bound is None:
        return f"{told}, without a bound"
    least = _number(Fraction(bound, problem.scale))
    return f"{told}, not proved optimal: every {problem.rival} has at least {least}"


def brief(problem: RuleSetProblem, *more: str) -> list[str]:
    """Return samples, what rules there are, the price of one, and more."""
    rules, *rest = more
    price = f"penalty {wording.percent(Fraction(problem.penalty))}"
    loss = ["Hamming loss"] * (problem.loss == "hamming")
    return [f"{problem.samples.total} samples", rules, price, *loss, *rest]


def facts(problem: RuleSetProblem, rules: Mapping[str, str]) -> dict[str, str]:
    """Return samples, what rules there are, objective and unit."""
    samples = problem.samples
    price = _number(Fraction(problem.price, problem.scale))
    loss = "error(S)" if problem.loss == "zero-one" else "Hamming loss(S)"
    found = {
        "samples": f"m = {samples.m}, weight {samples.total}",
        "of the class": f"{samples.same.sum()} samples, weight {samples.agreeing}",
        "literals": f"d = {samples.d}",
        **rules,
        "objective": f"{loss} + {price} |S|: penalty {problem.penalty} of {problem.total}",
    }
    if problem.scale > 1:
        found["unit"] = f"the objective is counted in units of 1/{problem.scale}"
    if problem.class_weights is not None:
        other, own = problem.class_weights
        found["weights"] = f"an error counts {own} on the class, {other} on another one"
    return found


def one_class(problem: RuleSetProblem) -> tuple[str, ...]:
    """Say that all samples, or none, are of the class."""
    same = problem.samples.same
    if same.all():
        return ("all samples are of the class: a rule that covers all is right everywhere",)
    if not same.any():
        return ("no sample is of the class: no rule saves an error",)
    return ()


def warnings(problem: RuleSetSelection) -> tuple[str, ...]:
    """Return what is degenerate in a selection."""
    out, samples = [], problem.samples
    if both := sorted({*problem.required} & {*problem.forbidden}):
        out.append(f"required and forbidden contradict: rules {both} are in both")
    elif not problem.form.allows(problem.required):
        out.append("the required rules alone break a limit: there is no solution")
    out += one_class(problem)
    if problem.max_rules == 0:
        out.append("max_rules = 0: the empty set is the only candidate")
    counts = problem.covers.sum(axis=1)
    for value, meaning in ((0, "cover no sample"), (samples.m, "cover every sample")):
        constant = np.flatnonzero(counts == value).tolist()
        if constant:
            more = f" and {len(constant) - 5} more" if len(constant) > 5 else ""
            out.append(f"candidates that {meaning}: {', '.join(map(str, constant[:5]))}{more}")
    return tuple(out)


def limits(problem: RuleSetSelection) -> list[str]:
    """Return the limits of a selection in words."""
    found = []
    for name, text in _LIMITS.items():
        most = getattr(problem, name)
        if most is not None:
            several = "s" * (most != 1 and name != "max_overlap")
            found.append(text.format(most) + several)
    return found


def chosen(problem: RuleSetSelection) -> dict[str, str]:
    """Return the limits of a selection, and what it must and must not have, by what they are."""
    found = {"limits": ", ".join(limits(problem))} if limits(problem) else {}
    for which in ("required", "forbidden"):
        if rules := getattr(problem, which):
            found[which] = "{" + ", ".join(map(str, rules)) + "}"
    return found


def rival(problem: RuleSetSelection) -> str:
    """Return what a selection is compared with."""
    parts = [f"has {limit}" for limit in limits(problem)]
    if problem.required:
        parts.append("has what is required")
    if problem.forbidden:
        parts.append("has nothing forbidden")
    limited = f" that {' and '.join(parts)}" if parts else ""
    return f"set of the {problem.n_features} candidates{limited}"


def plural(n: int, what: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> plural(1, "rule"), plural(2, "rule")
    ('1 rule', '2 rules')
    """
    return f"{n} {what}{'s' * (n != 1)}"


def _number(value: Fraction) -> str:
    """Return a fraction as a decimal number where that is exact."""
    text = f"{float(value):.12g}"
    return text if "e" not in text and Fraction(text) == value else str(value)
