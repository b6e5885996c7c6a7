"""The methods that are compared at equal numbers of calls, and how each spends them."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from benchmarks.papers.anchor_package import AnchorsSettings
from benchmarks.papers.koriche.equal_calls.anchors import capped_anchor
from benchmarks.papers.koriche.methods import METHODS as TABLE_METHODS
from benchmarks.papers.koriche.methods import Method

if TYPE_CHECKING:
    from cpx.models.monomial.explainers.rule import RuleExplainer

__all__ = ["METHODS", "Answer", "answer"]


@dataclass(frozen=True)
class Answer:
    """A rule and what it took.

    Attributes
    ----------
    features : tuple of int or None
        None for no rule.
    calls : int
        Rows that the classifier labelled.
    status : str
        ``OPTIMAL`` where the rule is proved the best on its samples.
    stopped : str
        What ended the method before it was done, as far as it says.
    """

    features: tuple[int, ...] | None
    calls: int
    status: str
    stopped: str = ""


def _method(name: str, title: str, kind: str, backend: str, **parameters: Any) -> Method:
    return Method(name, title, kind, backend, parameters=MappingProxyType(parameters))


_PRECISION = replace(TABLE_METHODS["precision"], title="precision")
_ALL = (
    # What Cop and Sat look for, found and proved by the search in place of CP-SAT.
    _method("cop", "Cop's loss", "k-monomial", "search"),
    _method("sat", "Sat's loss", "negative-only", "search"),
    _PRECISION,
    _method(
        "adaptive",
        "adaptive",
        "max-precision",
        "search",
        epsilon=0.01,
        delta=0.05,
        **_PRECISION.parameters,
    ),
    _method("certificates", "certificates", "k-monomial", "certificates", noise=0.1),
    _method("anchors", "Anchors", "anchors", "anchors"),
    # "ten beams, tolerance 99 %, precision 99.5 %": as written, and as 1 - 99 %.
    _method(
        "anchors-99",
        "Anchors, tolerance .99",
        "anchors",
        "anchors",
        precision=0.995,
        tolerance=0.99,
        beam=10,
    ),
    _method(
        "anchors-01",
        "Anchors, tolerance .01",
        "anchors",
        "anchors",
        precision=0.995,
        tolerance=0.01,
        beam=10,
    ),
)

METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _ALL})
"""The methods by name, in the order of the columns."""


def answer(
    method: Method, explainer: RuleExplainer, x: Any, k: int, calls: int, time_limit: float | None
) -> Answer:
    """Explain x by a rule of at most k features, with at most so many calls.

    The label of x itself is one call more for the methods that draw all samples at once.

    Parameters
    ----------
    method : Method
        Of :data:`METHODS`.
    explainer, x
        Of :meth:`benchmarks.papers.koriche.protocol.BlackBox.instance`.
    k, calls : int
    time_limit : float or None
        In seconds, for each solve.
    """
    counted = _Counted(explainer.classifier)
    own = copy(explainer)
    own.classifier = counted
    ask = {
        "adaptive": _adaptive,
        "certificates": _certificates,
        "anchors": _anchors,
    }.get(method.name.partition("-")[0], _on_samples)
    features, status, stopped = ask(method, own, x, k, calls, time_limit)
    return Answer(features, counted.calls, status, stopped)


class _Counted:
    """A classifier that counts the rows it labels."""

    def __init__(self, classifier: Any) -> None:
        self.classifier, self.calls = classifier, 0

    def predict(self, rows: Any) -> Any:
        self.calls += len(rows)
        return self.classifier.predict(rows)


_Found = tuple[tuple[int, ...] | None, str, str]


def _on_samples(
    method: Method, explainer: RuleExplainer, x: Any, k: int, calls: int, time_limit: float | None
) -> _Found:
    from cpx.models import problem_class
    from cpx.solving import solve

    make: Any = problem_class(method.kind)
    problem = make(explainer.samples(x, calls), k, **method.parameters)
    found = solve(problem, method.backend, time_limit=time_limit, seed=explainer.seed)
    rule = found.explanation
    return None if rule is None else rule.features, str(found.status), ""


def _adaptive(
    method: Method, explainer: RuleExplainer, x: Any, k: int, calls: int, time_limit: float | None
) -> _Found:
    options: dict[str, Any] = dict(method.parameters)
    # The one fresh sample that the explainer asks for is one of the calls.
    found = explainer.solve(
        x,
        k,
        objective="precision",
        max_queries=calls,
        fresh=1,
        time_limit=time_limit,
        **options,
    )
    rule = found.explanation
    if rule is None:
        return None, str(found.status), ""
    return rule.features, str(found.status), "; ".join(rule.notes)


def _certificates(
    method: Method, explainer: RuleExplainer, x: Any, k: int, calls: int, time_limit: float | None
) -> _Found:
    """Walk down k levels; the calls that would verify the certificate are spent on the walk."""
    from cpx.models.certificate.methods.noise_stabilising_tree import ImplicitTree

    oracle = explainer.oracle(x)
    d = len(oracle.bits)
    depth = min(k, d)
    pairs = max(1, (calls - 1) // (2 * max(1, depth)))
    noise = float(method.parameters["noise"])
    tree = ImplicitTree(oracle.same, d, depth, noise=noise, pairs=pairs, seed=explainer.seed)
    node: dict[int, int] = {}
    while not tree.is_leaf(node):
        j = tree.query(node)
        node[j] = int(oracle.bits[j])
    return tuple(sorted(node)), "FEASIBLE", ""


def _anchors(
    method: Method, explainer: RuleExplainer, x: Any, k: int, calls: int, time_limit: float | None
) -> _Found:
    settings = AnchorsSettings(**method.parameters)
    oracle = explainer.oracle(x)
    oracle.label  # noqa: B018 - x is asked about before the calls are counted down
    found, stopped = capped_anchor(oracle, k, calls - 1, explainer.seed, settings, time_limit)
    return found, "FEASIBLE", stopped
