"""The solvers behind PuLP: which there are, which can run here, and the class of each."""

from __future__ import annotations

from importlib.util import find_spec
from shutil import which
from typing import Any

from cpx.backends.milp.watch import Watch

SUBSOLVERS = {
    "highs": "highspy",
    "cbc": "",
    "scip": "pyscipopt",
    "glpk": "",
    "gurobi": "gurobipy",
    "cplex": "cplex",
    "copt": "coptpy",
    "xpress": "xpress",
    "mosek": "mosek",
}
"""Their names, and the modules that they need."""


def runs(name: str) -> bool:
    """Say whether a solver is installed."""
    if name == "glpk":
        return which("glpsol") is not None
    if name != "cbc":
        return find_spec(SUBSOLVERS[name]) is not None
    from cpx.backends.milp.cbc import cbc_path

    return cbc_path() is not None


def native_solver(name: str, watch: Watch | None, **options: Any) -> Any:
    """Return a PuLP solver, which tells the watch of solutions and bounds while it runs."""
    if name == "cbc":
        from cpx.backends.milp.cbc import CbcSolver

        return CbcSolver(watch, **options)
    if name == "scip":
        from cpx.backends.milp.scip import ScipSolver

        return ScipSolver(watch, **options)
    if name == "glpk":
        from cpx.backends.milp.glpk import GlpkSolver

        return GlpkSolver(watch, **options)
    if name == "gurobi":
        from cpx.backends.milp.gurobi import GurobiSolver

        return GurobiSolver(watch, **options)
    if name != "highs":
        from cpx.backends.milp.commercial import EndSolver

        return EndSolver(name, watch, **options)
    from cpx.backends.milp.highs import HighsSolver

    return HighsSolver(watch, **{"mip_feasibility_tolerance": 1e-9, **options})


def program_of(solver: str) -> tuple[str | None, tuple[str, ...]]:
    """Return the path of a solver that is a program, and what it is asked for its version."""
    if solver == "cbc":
        from cpx.backends.milp.cbc import cbc_path

        return cbc_path(), ("-stop",)
    return (which("glpsol") if solver == "glpk" else None), ("--version",)
