"""The engine ``certificates``: noise stabilising certificates of Blanc, Lange and Tan."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from cpx.answers.result import Termination
from cpx.backends.base import Outcome, Progress
from cpx.data.distributions import Uniform
from cpx.errors import InvalidOption, shown
from cpx.methods.certificates.find import prefixes
from cpx.methods.certificates.tree import ImplicitTree
from cpx.methods.queries import CountedOracle, QueryMethod, refusal
from cpx.models.monomial.form import MonomialForm, monomial_form

if TYPE_CHECKING:
    from cpx.models.base import Problem
    from cpx.options import SolveOptions

__all__ = ["Certificates"]

EPSILON = 0.05
"""Greatest error of a certificate, unless the problem has a least precision below 1."""

DELTA = 0.05
"""Probability that a certificate of a greater error is returned."""


class Certificates(QueryMethod):
    """The most noise stabilising features of x, as soon as they are a certificate.

    See :func:`cpx.methods.certificates.certificate`, whose function is f(z) = f(x) and whose
    depth is the problem's k. When no certificate of at most k features is verified, there is
    no answer: the status is UNKNOWN, and a warning has the figures. The samples of the problem
    play no part in the search; the rule is measured on them like that of every engine.
    """

    name: ClassVar[str] = "certificates"
    requires: ClassVar[dict[str, str]] = {"scipy": "scipy>=1.14,<2"}
    summary: ClassVar[str] = "noise stabilising certificates of Blanc et al., uniform bits only"

    def ask(
        self, problem: Problem, options: SolveOptions, progress: Progress, counted: CountedOracle
    ) -> Outcome:
        """Walk down the implicit tree; see :class:`~cpx.backends.base.Backend`."""
        form = monomial_form(problem)
        assert form is not None  # accepts() says so
        k, epsilon = form.k, _epsilon(form)
        distribution = counted.oracle.distribution
        if not isinstance(distribution, Uniform):
            raise InvalidOption(
                f"backend {shown(self.name)} needs the distribution 'uniform', the problem has "
                f"{shown(distribution.name)}"
            )
        bits = counted.oracle.bits
        tree = ImplicitTree(counted.same, len(bits), k, seed=options.seed)
        for found in prefixes(tree, bits, epsilon, DELTA):
            if found.precision.low >= 1 - epsilon:
                break
        names = distribution.literal_names(bits)
        listed = ", ".join(names[j] for j in found.features) or "no feature"
        verified = found.precision.low >= 1 - epsilon
        message = f"{listed} (the most important first): precision {found.precision.value:.3f}"
        warnings = []
        if not verified:
            warnings.append(
                f"no certificate of at most {k} feature{'s' * (k != 1)} was verified: {message}, "
                f"of which only {found.precision.low:.3f} is sure; "
                f"at least {1 - epsilon:g} was to be"
            )
        else:
            rule = problem.explanation(found.features)
            if progress.found(rule) is None:
                warnings.append(refusal(f"the certificate {message}", rule))
        return Outcome(False, Termination.COMPLETED, message, warnings=warnings)


def _epsilon(form: MonomialForm) -> float:
    """Return the greatest error; no number of samples is enough to verify an error of 0."""
    limit = None if form.limits is None else form.limits.precision
    return float(1 - limit) if limit is not None and limit < 1 else EPSILON
