"""Certificates of a given error: the fewest features whose rule is precise."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from cpx.answers.claim import competing
from cpx.answers.evaluation import SampleEvaluation
from cpx.answers.explanation import Explanation
from cpx.answers.values import exact_percent
from cpx.data.samples import Samples
from cpx.errors import InvalidInstance
from cpx.modelling.claims import asked
from cpx.modelling.encodings import stated_in
from cpx.modelling.parameters import NAME, ShareOf, parameter
from cpx.modelling.saved import SAMPLES
from cpx.modelling.side_constraints.form import NO_SIDE_CONSTRAINTS, SideConstraints
from cpx.modelling.side_constraints.parameter import SIDE_CONSTRAINTS
from cpx.modelling.side_constraints.statement import constrained
from cpx.modelling.statement import Encoding, Statement
from cpx.models.certificate.precise_form import PreciseForm
from cpx.models.certificate.problem import OnSamples
from cpx.models.certificate.text import precisely_sought
from cpx.models.monomial.encodings.clausal import clausal
from cpx.models.monomial.text import samples_in_words
from cpx.models.sufficient_reason.minimum_subset.problem import FORBIDDEN, REQUIRED
from cpx.support.validation import Share


def precise_clausal(form: PreciseForm) -> Statement:
    """One-sided clauses: covered samples are counted, and the chosen features minimised.

    Variables: X_j, feature j is chosen; V_i, sample i is counted as covered::

        minimise    sum_j X_j
        subject to  V_i  or  OR_{j : a_ij = 0} X_j     for each i that disagrees
                    X_j  ->  not V_i                   for each i that agrees, and j with a_ij = 0
                    sum_{i: s_i = 1} w_i e V_i  -  sum_{i: s_i = 0} w_i (q - e) V_i  >=  0

    for the error e/q, and some sample is covered.

    Source: the constraints are the limits of the encoding ``clausal`` of monomials.
    """
    import cpmpy as cp

    stated = clausal(form.rule())
    model = cp.Model(*stated.model.constraints, minimize=cp.sum(stated.variables["X"]))
    return replace(stated, model=model)


@dataclass(frozen=True, eq=False)
class PreciseCertificate(OnSamples):
    """Find the fewest features whose certificate error is at most epsilon.

    The error of a set S is the share of the disagreeing weight among the samples that agree with
    x on S. Where the samples are a whole domain with its probabilities
    (:func:`cpx.models.certificate.methods.domain_samples`), the least size is C(f, x, epsilon),
    the certificate complexity of f at x [1]_. The error may rise with a further feature, unlike
    that of :class:`~cpx.MinCertificate`, which counts all samples.

    Parameters
    ----------
    samples : Samples
        Agreement with x, labels and weights.
    epsilon : Fraction, int, float or str
        Greatest error, from 0 to 1; exact, a float means the decimal number it is printed as.
    required, forbidden : sequence of int
        Features that must, and must not, be chosen.
    name : str
        Name of the instance, free.

    Raises
    ------
    InvalidInstance
        Naming the argument and its value.

    References
    ----------
    .. [1] G. Blanc, J. Lange, L.-Y. Tan: Provably Efficient, Succinct, and Precise
       Explanations, NeurIPS 2021, Definitions 1 and 3.

    Examples
    --------
    >>> from cpx import Samples, solve
    >>> samples = Samples([[1, 1, 0], [1, 0, 1], [0, 1, 1]], [1, 0, 0], features=("a", "b", "c"))
    >>> str(solve(PreciseCertificate(samples, epsilon="1/2")).explanation)
    'a => same class as x'
    """

    samples: Samples = field(metadata=SAMPLES)
    epsilon: Share = field(
        default=0,
        metadata=parameter(ShareOf(), "greatest error of what is covered, exact", needed=True),
    )
    required: tuple[int, ...] = field(default=(), metadata=REQUIRED)
    forbidden: tuple[int, ...] = field(default=(), metadata=FORBIDDEN)
    name: str = field(default="", metadata=NAME)
    side_constraints: SideConstraints = field(
        default=NO_SIDE_CONSTRAINTS, kw_only=True, metadata=SIDE_CONSTRAINTS
    )

    kind: ClassVar[str] = "precise-certificate"
    encodings: ClassVar[tuple[Encoding[PreciseForm], ...]] = (
        Encoding("clausal", precise_clausal),
    )

    def _validate(self) -> None:
        """Refuse an error that does not fit 64 bits."""
        try:
            self._form.rule()
        except InvalidInstance as error:
            raise InvalidInstance(
                f"epsilon {self.epsilon} needs samples of a total weight below 2**31, got "
                f"{self.samples.total}"
            ) from error

    @cached_property
    def _form(self) -> PreciseForm:
        samples = self.samples
        return PreciseForm(
            samples.agreement,
            samples.same,
            samples.weights,
            Fraction(self.epsilon),
            self.required,
            self.forbidden,
            self.side_constraints,
        )

    def form(self) -> PreciseForm:
        """Return the problem as plain arrays."""
        return self._form

    def model(self, encoding: str | None = None) -> Statement:
        """State the problem in the named encoding (default: ``clausal``)."""
        statement: Statement = stated_in(self, encoding).build(self._form)
        return constrained(statement, self.side_constraints)

    def evaluate(self, explanation: Explanation) -> SampleEvaluation:
        """Return the number of features, what they cover, and whether their error is small."""
        features = explanation.features
        chosen = set(features)
        allowed = (
            chosen.issuperset(self.required)
            and chosen.isdisjoint(self.forbidden)
            and self.side_constraints.allow(features)
            and self._form.precise(features)
        )
        return replace(self._measure(features), feasible=allowed)

    def _trivial_bound(self) -> int:
        """Return the number of the required features."""
        return len(self.required)

    def _figures(self, found: SampleEvaluation) -> dict[str, int]:
        return {"covered": found.covered}

    def _brief(self) -> list[str]:
        """Return samples, features and the greatest error."""
        share = exact_percent(Fraction(self.epsilon))
        return [*samples_in_words(self.samples), f"error at most {share}"]

    def _facts(self) -> dict[str, str]:
        """Return samples, features and the greatest error."""
        facts = {
            **self._sizes(),
            "error": f"at most epsilon = {self.epsilon} of what is covered",
        }
        for which in ("required", "forbidden"):
            if features := getattr(self, which):
                facts[which] = "{" + ", ".join(map(str, features)) + "}"
        return facts

    def candidate(self) -> str:
        """Name what competes: certificates, with what is required and nothing forbidden."""
        over = asked(self)
        return competing(over, precisely_sought(over))

    def _notes(self) -> tuple[str, ...]:
        """Return what is degenerate; solved all the same."""
        if both := sorted({*self.required} & {*self.forbidden}):
            return (f"required and forbidden contradict: features {both} are in both",)
        return ()
