"""Each kind is asked about a row; one that has no answer says why."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from cpx.answers.explanation import AboutRow, Explanation
from cpx.answers.explanations import unanswered
from cpx.answers.result import Status
from cpx.data.condition import told
from cpx.errors import (
    CheckFailed,
    CpxError,
    EngineError,
    Infeasible,
    InvalidInstance,
    InvalidOption,
    UnknownName,
    shown,
)
from cpx.explainers import Explainer
from cpx.explainers.doors import kind as kind_named
from cpx.explainers.preparation import counted, solve_in_time
from cpx.explainers.rows import row_of
from cpx.models.all_kinds.answer import AllKinds
from cpx.models.all_kinds.parts import OneKind
from cpx.models.all_kinds.relations import Related, greatest_expected
from cpx.models.certificate.problem import MinCertificate
from cpx.models.expected_prediction.answer import ExpectedExplanation
from cpx.models.monomial.explainers.rule import RuleExplainer
from cpx.options import TIME_LIMIT
from cpx.support.validation import Share, integer

ASKS = {
    "rule": "Which rule is the most precise on the rows?",
    "certificate": "Which fewest conditions leave no row of another class?",
    "expectation": "Which values suggest the class, when nothing else is known?",
    "reason": "Which fewest columns force the class, whatever the others are?",
    "contrast": "Which fewest columns have to change for another class?",
}
"""What each kind tells of a row, in the order in which they are shown."""

_MOST = 5
"""Conditions and values, where the reason has more columns or there is none."""

_WRONG = InvalidOption, InvalidInstance, UnknownName, CheckFailed


def all_kinds(
    explainer: Explainer,
    x: Any,
    k: int | None = None,
    *,
    min_coverage: Share | None = None,
    epsilon: Share | None = None,
    target: Any = None,
    frozen: Any = (),
    time_limit: float | None = TIME_LIMIT,
) -> AllKinds:
    """Answer a row by all kinds of explanations; see :meth:`cpx.Explainer.all_kinds`."""
    row = row_of(explainer.X, x)
    if k is not None and (integer(k) or 0) < 1:
        raise InvalidOption(f"k must be an integer of at least 1, got {shown(k)}")
    on_rows = explainer
    if "distribution" in explainer.options:
        own = {n: v for n, v in explainer.options.items() if n != "distribution"}
        on_rows = Explainer(explainer.model, explainer.X, **own)
    limit: dict[str, Any] = {"time_limit": time_limit}

    def of(name: str, **asked: Any) -> OneKind:
        by = on_rows if name == "rule" else explainer
        given = {n: v for n, v in asked.items() if v is not None}
        return _one(
            name,
            lambda: _made(by, name),
            lambda: by.explain(row, kind=name, **given, **limit),
            lambda: by.problem(row, kind=name, **given),
        )

    reason = of("reason")
    k = k or min(_MOST, len(reason.columns) or _MOST)
    rule = of("rule", k=k, min_coverage=min_coverage)
    certificate = _one(
        "certificate",
        lambda: _made(on_rows, "rule"),
        lambda: _certificate(on_rows.of("rule"), row, epsilon, time_limit),
        lambda: _certificate_problem(on_rows.of("rule"), row, epsilon),
    )
    others = [one.columns for one in (rule, certificate, reason) if not one.why]
    expectation = _one(
        "expectation",
        lambda: _made(explainer, "expectation"),
        lambda: explainer.explain(
            row, k, "expectation", hint=_likeliest(explainer, row, k, others), **limit
        ),
        lambda: explainer.problem(row, k, "expectation"),
    )
    contrast = of("contrast", target=target, frozen=frozen)
    kinds = (rule, certificate, expectation, reason, contrast)
    found = Related(explainer, on_rows, row, k, {one.kind: one for one in kinds})
    answered = [one.found for one in kinds if not one.why]
    label = next((f.row_class for f in answered), "")
    about = next((f.row for f in answered if f.row is not None), AboutRow(()))
    return AllKinds(
        label, replace(about, values=()), kinds, found.known(), found.measure, found.relations()
    )


def _made(by: Explainer, name: str) -> None:
    """Make what explains; X is missing, or the model is of another kind, where that fails."""
    if by.X is None and kind_named(name).needs_rows:
        raise EngineError("needs X, rows that say what the data look like")
    by.of(name)


def _one(
    name: str, make: Callable[[], None], ask: Callable[[], Explanation], state: Callable[[], Any]
) -> OneKind:
    """Ask one kind; only what is wrong with the arguments is raised."""
    began = time.process_time()
    try:
        make()
    except CpxError as error:
        return OneKind(name, ASKS[name], unanswered(EngineError(str(error))), {})
    try:
        found = ask()
    except _WRONG:
        raise
    except EngineError as error:
        found = unanswered(error)
    except CpxError as error:
        found = unanswered(EngineError(str(error)))
    seconds = time.process_time() - began
    if found.why:
        return OneKind(name, ASKS[name], found, {}, seconds=seconds, problem=state)
    return OneKind(name, ASKS[name], found, _columns(found), *_figures(found), seconds, state)


def _certificate_problem(by: RuleExplainer, x: Any, epsilon: Share | None) -> MinCertificate:
    """State it with the conditions of the rule.

    epsilon: Share of all rows; by default the one that no condition tells from x.
    """
    samples = by.samples(x)
    if epsilon is None:
        alike = samples.agreement.all(axis=1) & ~samples.same
        epsilon = Fraction(int(samples.weights[alike].sum()), samples.total)
    return MinCertificate(samples, epsilon=epsilon)


def _certificate(by: RuleExplainer, x: Any, epsilon: Share | None, limit: Any) -> Explanation:
    """Find the fewest conditions of the rule's that leave few rows of another class."""
    with counted():
        problem = _certificate_problem(by, x, epsilon)
        result = solve_in_time(problem, None, by.seed, {"time_limit": limit})
    found = result.explanation
    if result.status is Status.INFEASIBLE:
        raise Infeasible(f"there is no {problem.candidate()}; {result.engine} proved it", result)
    if found is None or result.status is Status.ERROR:
        told = f"{result.engine} found no certificate: {result.status}, {result.raw_status}"
        raise EngineError(told, result)
    return replace(by.in_words(found, x), result=result)


def _likeliest(explainer: Explainer, row: Any, k: int, others: Sequence[Any]) -> Any:
    """Return the columns of another kind that make the model expect its class most surely."""
    problem = explainer.problem(row, k, "expectation")
    names = [*problem.coding.names]
    sets = [tuple(sorted({*columns})) for columns in others if {*columns} <= {*names}]
    numbered = [[names.index(column) for column in S] for S in sets if len(S) <= k]
    return max(numbered, key=problem.scores.expected, default=None)


def _columns(found: Explanation) -> dict[str, str]:
    """Return the columns that an answer names, with what it says of each."""
    if found.panels:
        return {panel.name: panel.text for panel in found.panels}
    rule = found.rule
    said = rule.conditions or tuple(literal.means for literal in rule.literals)
    named: dict[str, str] = {}
    for one in said:
        column = getattr(one, "column", None) or told(one)
        named[column] = f"{named[column]} and {told(one)}" if column in named else told(one)
    return named


def _figures(found: Explanation) -> tuple[str, float | None, float | None]:
    """Return what value and bound count, the value and the bound of an answer."""
    claim = found.claim
    if claim is None:
        return "", None, None
    value, bound = claim.value, claim.bound
    if isinstance(found, ExpectedExplanation):
        return found.measure, found.expected, greatest_expected(found)
    measure = {"max-precision": "precision", "min-certificate": "condition"}
    return (
        measure.get(claim.problem, "column"),
        None if value is None else float(value),
        None if bound is None else float(bound),
    )
