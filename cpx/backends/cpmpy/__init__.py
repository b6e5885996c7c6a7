"""The backend ``cpmpy``: solvers that CPMpy has an interface for, as CPMpy compiles for them.

- ``interface``: what they have in common, and the family;
- ``solvers``: one class for each;
- ``run``: their variables to values, their claims to an outcome;
- ``magnitudes``: how large the sums of a model can be, for engines with small integers.

No solver is imported before it solves: ``cpx backends`` finds what is installed without.
"""

from cpx.backends.cpmpy import solvers
from cpx.backends.cpmpy.interface import Cpmpy

__all__ = ["Cpmpy", "solvers"]
