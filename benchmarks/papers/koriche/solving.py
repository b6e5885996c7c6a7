"""Solving one task of the experiment: its problem, stated and given to its method."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cpx.answers.result import Status
from cpx.data.samples import Samples
from cpx.models import KMonomial, problem_class
from cpx.options import SolveOptions

if TYPE_CHECKING:
    from benchmarks.papers.koriche.records import Task
    from cpx.answers.result import Result
    from cpx.backends import Event
    from cpx.models.monomial.explainers.rule import RuleExplainer

__all__ = ["ask", "exactly", "solve"]


def solve(
    task: Task,
    explainer: RuleExplainer,
    x: Any,
    cancel: threading.Event,
    hear: Callable[[Event], None] | None = None,
) -> Result:
    """Solve the problem of a task in a worker process.

    Parameters
    ----------
    task : Task
        Of a method that solves a problem on samples.
    explainer, x
        Of :meth:`benchmarks.papers.koriche.protocol.BlackBox.instance`.
    cancel : threading.Event
        Stops the solve.
    hear : callable, optional
        Called with each event of the solve.
    """
    from cpx.solving.isolate import run_isolated

    method, protocol = task.method, task.protocol
    samples = explainer.samples(x, task.m)
    options = SolveOptions(protocol.time_limit, seed=protocol.seed, encoding=method.encoding)
    if not method.exact:
        make: Any = problem_class(method.kind)
        problem = make(samples, task.k, **method.parameters)
        return run_isolated(problem, method.backend, options, hear, cancel=cancel)
    asked = KMonomial(samples, task.k)
    longer = KMonomial(exactly(samples), task.k)
    result = run_isolated(longer, method.backend, options, hear, cancel=cancel)
    return _of_exact_size(result, asked)


def exactly(samples: Samples) -> Samples:
    """Return samples on which the best rules of at most k features have exactly k.

    For each feature one sample is added that differs from x in that feature only, has
    another class, and weighs more than all given samples together: to leave it uncovered,
    the feature must be chosen. So the loss of S on the result is the loss of S on the given
    samples plus ``samples.total + 1`` for each feature not in S, and a rule of k features
    beats every shorter one.

    Parameters
    ----------
    samples : Samples
        m samples of d features.

    Returns
    -------
    Samples
        m + d samples.

    Examples
    --------
    >>> from cpx import solve
    >>> samples = Samples([[1, 0, 1], [1, 1, 0], [0, 1, 1]], [1, 1, 0])
    >>> solve(KMonomial(samples, k=2), "cpsat").explanation.features
    (0,)
    >>> len(solve(KMonomial(exactly(samples), k=2), "cpsat").explanation.features)
    2
    """
    d = samples.d
    return Samples(
        np.vstack([samples.agreement, ~np.eye(d, dtype=bool)]),
        np.concatenate([samples.same, np.zeros(d, dtype=bool)]),
        np.concatenate([samples.weights, np.full(d, samples.total + 1)]),
        samples.features,
        samples.groups,
        samples.context,
    )


def _of_exact_size(result: Result, asked: KMonomial) -> Result:
    """Translate a result on the longer samples back to those of the problem asked."""
    offset = (asked.samples.total + 1) * (asked.n_features - asked.k)
    found = result.explanation
    bound = None if result.bound is None else max(0, result.bound - offset)
    if found is None or len(found.features) < asked.k:
        # Stopped early: a shorter rule is none of those that were asked for.
        status = Status.UNKNOWN if result.status is Status.FEASIBLE else result.status
        return replace(result, status=status, explanation=None, objective=None, bound=bound)
    explanation = asked.explanation(found.features)
    objective = asked.evaluate(explanation).objective
    return replace(result, explanation=explanation, objective=objective, bound=bound)


def ask(
    explainer: RuleExplainer, x: Any, backend: str, k: int, m: int, time_limit: float | None
) -> Result:
    """Run a method that draws samples of its own and asks the classifier itself."""
    from cpx.backends import backend as find_backend
    from cpx.solving import solve as solve_here

    problem = explainer.problem(x, k, objective="loss", m=m)
    # Loading the package is no part of the limit.
    find_backend(backend)._preload()
    return solve_here(problem, backend, time_limit=time_limit, seed=explainer.seed)
