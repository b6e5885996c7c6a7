"""Sentences about sets of rules: what was proved, what the instance is, what is degenerate."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from cpx.models import wording
from cpx.values import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cpx.models.rule_set import RuleSetSelection

__all__ = ["brief", "conclusion", "facts", "warnings"]

_LIMITS = {
    "max_rules": "at most {} rule",
    "max_literals": "at most {} literal",
    "max_overlap": "a weight of at most {} covered more than once",
}


def conclusion(
    problem: RuleSetSelection, chosen: Sequence[int], proved: bool, bound: Value | None
) -> str:
    """Say what the value of a set is made of, and what was proved of it."""
    error, size = problem.error(chosen), len(chosen)
    value = Fraction(problem.form.cost(list(chosen)), problem.scale)
    price = Fraction(problem.price, problem.scale)
    loss = "error" if problem.loss == "zero-one" else "Hamming loss"
    told = f"{loss} {error} of {problem.total} and {_plural(size, 'rule')} at {_number(price)}"
    told += f", {_number(value)} in all"
    rival = f"set of the {problem.n_features} candidates{_restriction(problem)}"
    if proved:
        return f"{told}, is optimal: no {rival} has less"
    if bound is None:
        return f"{told}, without a bound"
    least = _number(Fraction(bound, problem.scale))
    return f"{told}, not proved optimal: every {rival} has at least {least}"


def brief(problem: RuleSetSelection) -> list[str]:
    """Return samples, candidates, the price of a rule and limits."""
    price = f"penalty {wording.percent(Fraction(problem.penalty))}"
    size = f"{problem.samples.total} samples"
    return [size, _plural(problem.n_features, "candidate"), price, *_limits(problem)]


def facts(problem: RuleSetSelection) -> dict[str, str]:
    """Return samples, candidates, objective and limits."""
    samples = problem.samples
    price = _number(Fraction(problem.price, problem.scale))
    loss = "error(S)" if problem.loss == "zero-one" else "Hamming loss(S)"
    found = {
        "samples": f"m = {samples.m}, weight {samples.total}",
        "of the class": f"{samples.same.sum()} samples, weight {samples.agreeing}",
        "literals": f"d = {samples.d}",
        "candidates": f"R = {problem.n_features}",
        "objective": f"{loss} + {price} |S|: penalty {problem.penalty} of {problem.total}",
    }
    if problem.scale > 1:
        found["unit"] = f"the objective is counted in units of 1/{problem.scale}"
    if limits := _limits(problem):
        found["limits"] = ", ".join(limits)
    for which in ("required", "forbidden"):
        if rules := getattr(problem, which):
            found[which] = "{" + ", ".join(map(str, rules)) + "}"
    if problem.class_weights is not None:
        other, own = problem.class_weights
        found["weights"] = f"an error counts {own} on the class, {other} on another one"
    return found


def warnings(problem: RuleSetSelection) -> tuple[str, ...]:
    """Return what is degenerate in the instance."""
    out, samples = [], problem.samples
    if both := sorted({*problem.required} & {*problem.forbidden}):
        out.append(f"required and forbidden contradict: rules {both} are in both")
    elif not problem.form.allows(problem.required):
        out.append("the required rules alone break a limit: there is no solution")
    if samples.same.all():
        out.append("all samples are of the class: a rule that covers all is right everywhere")
    elif not samples.same.any():
        out.append("no sample is of the class: no rule saves an error")
    if problem.max_rules == 0:
        out.append("max_rules = 0: the empty set is the only candidate")
    counts = problem.covers.sum(axis=1)
    for value, meaning in ((0, "cover no sample"), (samples.m, "cover every sample")):
        constant = np.flatnonzero(counts == value).tolist()
        if constant:
            more = f" and {len(constant) - 5} more" if len(constant) > 5 else ""
            out.append(f"candidates that {meaning}: {', '.join(map(str, constant[:5]))}{more}")
    return tuple(out)


def _limits(problem: RuleSetSelection) -> list[str]:
    found = []
    for name, text in _LIMITS.items():
        most = getattr(problem, name)
        if most is not None:
            plural = "s" * (most != 1 and name != "max_overlap")
            found.append(text.format(most) + plural)
    return found


def _restriction(problem: RuleSetSelection) -> str:
    parts = [f"has {limit}" for limit in _limits(problem)]
    if problem.required:
        parts.append("has what is required")
    if problem.forbidden:
        parts.append("has nothing forbidden")
    return f" that {' and '.join(parts)}" if parts else ""


def _plural(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"


def _number(value: Fraction) -> str:
    """Return a fraction as a decimal number where that is exact."""
    text = f"{float(value):.12g}"
    return text if "e" not in text and Fraction(text) == value else str(value)
