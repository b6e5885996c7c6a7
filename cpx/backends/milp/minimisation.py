"""The minimisation that a program gets in a file of MPS, with its constant.

Import this module lazily: it imports PuLP.
"""

from __future__ import annotations

from typing import Any

import pulp
from pulp import constants

__all__ = ["as_minimisation", "sign_of"]


def sign_of(lp: Any) -> float:
    """Return what the objective of the minimisation is multiplied by."""
    return -1.0 if lp.sense == constants.LpMaximize else 1.0


def as_minimisation(lp: Any) -> Any:
    """Return a problem that shares rows and columns but has no constant and no ``max``.

    CBC's bounds on maximisations have changing signs, and PuLP does not write the constant of an
    objective to MPS. A column fixed at 1 carries it, so that the relative gap of the program is
    that of the problem.
    """
    sign, work = sign_of(lp), lp.copy()
    work.sense = constants.LpMinimize
    work.objective = pulp.LpAffineExpression(
        {var: sign * weight for var, weight in lp.objective.items()}
    )
    if lp.objective.constant:
        one = work.add_variable("cpx_constant", 1, 1)
        work.objective[one] = sign * lp.objective.constant
    return work
