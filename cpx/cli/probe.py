"""The self-test of ``cpx doctor``: engines on a tiny problem whose optimum is known."""

from __future__ import annotations

import time
from importlib import import_module
from typing import Any

_LIMIT = 60.0


def probe(engines: list[str]) -> dict[str, object]:
    """Load the engines and solve one tiny problem with each, in this process.

    Return the seconds to load and to solve, and ``error``: empty when every engine proved the
    known optimum of a problem of a kind that it takes, and every heuristic found it.
    """
    import numpy as np

    from cpx.backends import backend
    from cpx.data import Oracle, Samples, Uniform
    from cpx.models.kernel_rule.problem import KernelRule
    from cpx.models.monomial.weighted import KMonomial
    from cpx.models.rule_set.learning import RuleSetLearning
    from cpx.models.rule_set.selection import RuleSetSelection
    from cpx.models.sufficient_reason.problem import SufficientReason
    from cpx.solving import solve
    from cpx.trees import Attribute, Tree, TreeModel

    start = time.perf_counter()
    for name in engines:
        for module in backend(name).requires:
            import_module(module)
    load = time.perf_counter() - start
    # The best monomial of one feature is the first: it covers one sample too many.
    agreement = np.array([[1, 1], [1, 0], [0, 1], [1, 1]], dtype=bool)
    samples = Samples(agreement, np.array([True, True, False, False]))
    problem = KMonomial(samples, k=1)
    problem = problem.with_oracle(Oracle(_first_bit, [1, 1], Uniform(2)))
    # For what takes no monomial: the one attribute of a stump is the reason for its class.
    tested, zeros = np.array([0, -1, -1], dtype=np.int32), np.zeros(3, dtype=np.int32)
    stump = Tree(tested, zeros, zeros, np.array([[-1.0], [1.0]]), (0,))
    attributes, thresholds = (Attribute("a"),), (np.array([0.5]),)
    model = TreeModel(attributes, (0, 1), (stump,), thresholds, "sum", "positive", (0.0,))
    # For what takes neither: the same monomial as the only candidate, or as the best of all, or
    # the feature that the positive row has and the negative one has not.
    rules = RuleSetSelection(samples, ((0,),))
    kernel = KernelRule(np.eye(2, dtype=bool), (1, -1), 1, 1)
    learning = RuleSetLearning(samples, 1, 0)
    known = (problem, SufficientReason(model, (1.0,)), rules, learning, kernel)
    start = time.perf_counter()
    errors = []
    for name in engines:
        asked = next(one for one in known if backend(name).accepts(one))
        result = solve(asked, name, time_limit=_LIMIT)
        wanted = ("OPTIMAL", 1, 1) if backend(name).exact else ("FEASIBLE", 1, None)
        if (str(result.status), result.objective, result.bound) != wanted:
            errors.append(
                f"{name}: {result.status}, value {result.objective}, bound {result.bound}; "
                f"expected {', '.join(map(str, wanted))} ({result.raw_status})"
            )
    return {"load": load, "solve": time.perf_counter() - start, "error": "\n".join(errors)}


def _first_bit(rows: Any) -> Any:
    """Classify by the feature of the best monomial, for what asks the classifier."""
    return rows[:, 0]
