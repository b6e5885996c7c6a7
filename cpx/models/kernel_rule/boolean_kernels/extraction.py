"""The rule of maximum weight of a trained machine, with what is proved of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from cpx.data.condition import told
from cpx.models.kernel_rule.boolean_kernels.machine import KernelMachine, read_svc
from cpx.models.kernel_rule.form import DNF
from cpx.options import TIME_LIMIT

if TYPE_CHECKING:
    from cpx.answers.result import Result
    from cpx.models.kernel_rule.boolean_kernels.base import BooleanKernel


@dataclass(frozen=True)
class ExtractedRule:
    """A rule of a machine.

    Attributes
    ----------
    rule : tuple of tuple of int
        The clauses, each with its features.
    text : str
        The rule in words.
    weight : Fraction
        Its weight, exact.
    bound : Fraction or None
        No rule weighs more; None where nothing was proved. It allows for the rounding of
        weights to integers.
    proved : bool
        No rule weighs more than this one, but for the rounding: its value in rounded weights is
        the greatest. Where ``bound`` is the weight itself, nothing is left to rounding.
    result : Result
        What the engine said about the problem with rounded weights.
    """

    rule: DNF
    text: str
    weight: Fraction
    bound: Fraction | None
    proved: bool
    result: Result


def best_rule(
    svc: Any,
    X: ArrayLike,
    max_clauses: int | None = None,
    max_literals: int | None = None,
    *,
    kernel: BooleanKernel | None = None,
    positive: Any = None,
    features: Sequence[str] = (),
    unit: Fraction | str | int | None = None,
    backend: str | None = None,
    time_limit: float | None = TIME_LIMIT,
    seed: int = 0,
) -> ExtractedRule | None:
    """Find the rule of maximum weight of a support vector machine with a Boolean kernel.

    Parameters
    ----------
    svc, X, kernel, positive
        The fitted machine; see :func:`read_svc`.
    max_clauses, max_literals, features, unit
        The rules that compete; see :meth:`KernelMachine.problem`.
    backend : str, optional
        Default: the exact search; ``genetic`` is the algorithm of the paper; any engine will do.
    time_limit, seed
        As in :func:`cpx.solve`; the exact search makes the same random choices each time.

    Returns
    -------
    ExtractedRule or None
        None when the time was over before there was a rule.

    Raises
    ------
    InvalidInstance, InvalidOption, DataError
        Naming what is wrong.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from cpx.models.kernel_rule.boolean_kernels import BoundedDNFKernel, monks
    >>> data = monks(1)
    >>> svc = SVC(kernel=BoundedDNFKernel(10, 5), C=1e6).fit(data.X, data.y)
    >>> found = best_rule(svc, data.X, features=data.features)
    >>> found.text
    '(a1 = 1 and a2 = 1) or (a1 = 2 and a2 = 2) or (a1 = 3 and a2 = 3) or a5 = 1'
    >>> found.proved, found.weight == found.bound, found.rule == data.rule
    (True, True, True)
    """
    machine = read_svc(svc, X, kernel, positive)
    return extract(
        machine,
        max_clauses,
        max_literals,
        features=features,
        unit=unit,
        backend=backend,
        time_limit=time_limit,
        seed=seed,
    )


def extract(
    machine: KernelMachine,
    max_clauses: int | None = None,
    max_literals: int | None = None,
    *,
    features: Sequence[str] = (),
    unit: Fraction | str | int | None = None,
    backend: str | None = None,
    time_limit: float | None = TIME_LIMIT,
    seed: int = 0,
) -> ExtractedRule | None:
    """Do what :func:`best_rule` does, with a machine that was read already."""
    from cpx.solving import solve

    problem = machine.problem(max_clauses, max_literals, unit=unit, features=features)
    result = solve(problem, backend, time_limit=time_limit, seed=seed)
    if result.explanation is None:
        return None
    rule = problem.rule(result.explanation)
    weight, greatest = machine.weight(rule), machine.greatest
    bound = None
    if result.bound is not None:
        size = Fraction(problem.unit)
        bound = min(greatest, result.bound * size + machine.rounding(size))
    if weight == greatest:
        bound = greatest
    return ExtractedRule(
        rule,
        told(tuple(tuple(problem.features[j] for j in clause) for clause in rule)),
        weight,
        bound,
        result.proved or weight == greatest,
        result,
    )
