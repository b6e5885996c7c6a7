"""The objective of a PuLP problem as engines take it: its constant as a column, minimised.

Import this module lazily: it imports PuLP.
"""

from __future__ import annotations

from typing import Any

import pulp
from pulp import constants


def sign_of(lp: Any) -> float:
    """Return what the objective of the minimisation is multiplied by."""
    return -1.0 if lp.sense == constants.LpMaximize else 1.0


def as_minimisation(lp: Any) -> Any:
    """Return a problem that shares rows and columns but has no constant and no ``max``.

    CBC's bounds on maximisations have changing signs.
    """
    work = with_constant(lp, sign_of(lp))
    work.sense = constants.LpMinimize
    return work


def with_constant(lp: Any, sign: float = 1.0) -> Any:
    """Return a problem that shares rows and columns, and has the objective times a sign.

    PuLP writes the constant of an objective neither to MPS nor to the models of most libraries. A
    column fixed at 1 carries it, so that the relative gap of an engine is that of the problem.
    """
    work = lp.copy()
    work.objective = pulp.LpAffineExpression(
        {var: sign * weight for var, weight in lp.objective.items()}
    )
    if lp.objective.constant:
        one = work.add_variable("cpx_constant", 1, 1)
        work.objective[one] = sign * lp.objective.constant
    return work
