"""The engine ``certificates``: noise stabilising certificates of Blanc, Lange and Tan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from cpx.answers.result import Termination
from cpx.answers.values import plural
from cpx.backends.base import Outcome, Progress
from cpx.modelling.base import Problem
from cpx.models.certificate.methods.find import Certificate, candidates
from cpx.models.certificate.methods.input_spaces import domain_of
from cpx.models.certificate.methods.noise_stabilising_tree import ImplicitTree
from cpx.models.monomial.form import MonomialForm, monomial_form
from cpx.models.monomial.methods.queries import CountedOracle, QueryMethod, refusal
from cpx.options import EngineOption, SolveOptions
from cpx.support.shares import share_text

__all__ = ["Certificates"]

EPSILON = 0.05
"""Greatest error of a certificate, unless the problem has a least precision below 1."""

DELTA = 0.05
"""Probability that a certificate of a greater error is returned, unless given."""

PATH = 3
"""Features of the path, for each one that a certificate may have, unless given."""


class Certificates(QueryMethod):
    """The most noise stabilising features of x, as soon as they are a certificate.

    See :func:`cpx.models.certificate.methods.certificate`, whose function is f(z) = f(x). The path
    is followed to ``depth`` features, three times the problem's k unless given, and the
    certificate has at most k of them. When none is verified, there is no answer: the status is
    UNKNOWN, and a warning has the figures. The samples of the problem play no part in the search;
    the rule is measured on them like that of every engine.
    """

    name: ClassVar[str] = "certificates"
    requires: ClassVar[dict[str, str]] = {"scipy": "scipy>=1.14,<2"}
    summary: ClassVar[str] = "noise stabilising certificates of Blanc et al."

    def options(self) -> Mapping[str, EngineOption]:
        """Return the depth of the path, and what the paper calls p, and delta."""
        return {
            "depth": EngineOption(int, least=0),
            "noise": EngineOption(float, least=0, most=1),
            "pairs": EngineOption(int, least=1),
            "delta": EngineOption(float, least=0, most=1),
        }

    def ask(
        self, problem: Problem, options: SolveOptions, progress: Progress, counted: CountedOracle
    ) -> Outcome:
        """Walk down the implicit tree; see :class:`~cpx.backends.base.Backend`."""
        form = monomial_form(problem)
        assert form is not None  # accepts() says so
        k, epsilon, own = form.k, _epsilon(form), dict(options.engine)
        distribution, x = counted.oracle.distribution, counted.oracle.x
        domain, delta = domain_of(distribution), own.pop("delta", DELTA)
        depth = min(own.pop("depth", PATH * k), domain.d)
        tree = ImplicitTree(counted.same, domain, depth, seed=options.seed, **own)
        best: Certificate | None = None
        worth = (False, 0.0)
        for found in candidates(tree, x, k, epsilon, delta):
            if len(found.features) <= k:
                holds = found.holds(epsilon)
                here = (holds, 0.0 if holds else found.precision.low)
                if here >= worth:
                    best, worth = found, here
        assert best is not None  # without features it is one of the candidates
        names = distribution.literal_names(counted.oracle.bits)
        listed = ", ".join(names[j] for j in best.features) or "no feature"
        precision = share_text(best.precision.value)
        message = f"{listed} (the most important first): precision {precision}"
        warnings = []
        if not best.holds(epsilon):
            warnings.append(
                f"no certificate of at most {plural(k, 'feature')} was verified: {message}, "
                f"of which only {share_text(best.precision.low)} is sure; "
                f"at least {1 - epsilon:g} was to be"
            )
        else:
            rule = problem.explanation(best.features)
            if progress.found(rule) is None:
                warnings.append(refusal(f"the certificate {message}", rule))
        return Outcome(False, Termination.COMPLETED, message, warnings=warnings)


def _epsilon(form: MonomialForm) -> float:
    """Return the greatest error; no number of samples is enough to verify an error of 0."""
    limit = None if form.limits is None else form.limits.precision
    return float(1 - limit) if limit is not None and limit < 1 else EPSILON
