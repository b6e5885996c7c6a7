"""The backend ``cpmpy``: every solver that CPMpy has an interface for, as CPMpy compiles for it.

- ``interface``: what they have in common, and the family;
- ``integer_solvers``, ``float_solvers``: one class for each;
- ``run``: their variables to values, their bounds made safe, their claims to an outcome;
- ``magnitudes``: how large the sums of a model can be, for engines with small integers.

No solver is imported before it solves: ``cpx backends`` finds what is installed without.
"""

from cpx.backends.cpmpy import float_solvers, integer_solvers
from cpx.backends.cpmpy.interface import Cpmpy

__all__ = ["Cpmpy", "float_solvers", "integer_solvers"]
