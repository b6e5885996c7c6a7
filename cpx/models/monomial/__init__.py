"""Rules for one prediction: conjunctions of at most k conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpx.support.families import Door, Family, ProofKind, ShellCommand
from cpx.support.lazy_imports import lazily

if TYPE_CHECKING:
    from cpx.models.monomial.branching_tree import search_tree
    from cpx.models.monomial.explainers.rivals import Rivals, rivals

__all__ = ["FAMILY", "Rivals", "rivals", "search_tree"]

_KINDS = ("k-monomial", "negative-only", "max-precision", "max-coverage")
_FORMS = ("cpx.models.monomial.form:WeightedMonomial", "cpx.models.monomial.form:RatioMonomial")

FAMILY = Family(
    name="monomial",
    problems={
        "k-monomial": "cpx.models.monomial.weighted:KMonomial",
        "negative-only": "cpx.models.monomial.weighted:NegativeOnly",
        "max-precision": "cpx.models.monomial.precision_coverage:MaxPrecision",
        "max-coverage": "cpx.models.monomial.precision_coverage:MaxCoverage",
    },
    names={
        "KMonomial": "cpx.models.monomial.weighted:KMonomial",
        "MaxCoverage": "cpx.models.monomial.precision_coverage:MaxCoverage",
        "MaxPrecision": "cpx.models.monomial.precision_coverage:MaxPrecision",
    },
    judges=dict.fromkeys(_KINDS, "cpx.models.monomial.judge:judge"),
    reads_arrays=True,
    words=dict.fromkeys((*_KINDS, "max-precision-step"), "cpx.models.monomial.text:words"),
    trusts=("conditions", "labels", "best_of_ties", "beyond"),
    trusts_infeasible=_KINDS,
    proofs={
        "monomial": ProofKind(
            problems=_KINDS,
            check="cpx.models.monomial.proof_check:check",
            prove="cpx.models.monomial.prove:prove",
        )
    },
    search=dict.fromkeys(_FORMS, "cpx.models.monomial.search:SEARCH"),
    backends={
        "anchors": "cpx.models.monomial.methods.anchors:Anchors",
    },
    starts=dict.fromkeys(_FORMS, "cpx.models.monomial.methods.beam:start"),
    beams=dict.fromkeys(_FORMS, "cpx.models.monomial.methods.beam:MonomialLevels"),
    listings=dict.fromkeys(_FORMS, "cpx.models.monomial.listing:MonomialListing"),
    cases={
        "monomial": "cpx.models.monomial.cases:cases",
        "side-constraints": "cpx.models.monomial.cases:constrained_cases",
    },
    medium="cpx.models.monomial.cases:medium",
    draw=dict.fromkeys(_KINDS, "cpx.models.monomial.draw:draw"),
    brute=dict.fromkeys(_KINDS, "cpx.models.monomial.brute:Monomial"),
    doors={
        "rule": Door(
            "cpx.models.monomial.explainers.rule:RuleExplainer",
            plural="rules",
            about="the best rule of at most k conditions, of any classifier",
            elsewhere=("anchor", "monomial", "k-monomial"),
        )
    },
    reachable=dict.fromkeys(_KINDS, "cpx.models.monomial.explainers.unreachable:with_reachable"),
    library="cpx.models.monomial.library:FAMILIES",
    probes="cpx.models.monomial.cases:probes",
    commands={
        "make rule": ShellCommand(
            "cpx.models.monomial.cli:make_rule",
            "The best short rule for one row of a table.",
            _KINDS,
        ),
        "score": ShellCommand(
            "cpx.models.monomial.cli_score:score",
            "Measure a rule of your own, and compare it with the best.",
        ),
        "tree": ShellCommand(
            "cpx.models.monomial.cli_tree:tree",
            "Draw the branch and bound tree of a small instance.",
            section="Instances",
        ),
    },
)

__getattr__, __dir__ = lazily(
    __name__,
    {
        "Rivals": "explainers.rivals",
        "rivals": "explainers.rivals",
        "search_tree": "branching_tree",
    },
)
