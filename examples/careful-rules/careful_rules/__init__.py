"""Rules that are precise first of all, as a problem for cpx."""

from careful_rules.problem import Careful

__all__ = ["Careful"]
