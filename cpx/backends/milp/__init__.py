"""MILP engines through PuLP.

- ``backend``: the cpx backend ``milp``, with the solvers ``highs`` and ``cbc``;
- ``pulp_solver``: ``CPM_pulp``, CPMpy models on PuLP, usable without the rest of cpx;
- ``highs``, ``cbc``: the two engines as PuLP solvers that report while they run.

Only ``backend`` may be imported without the engines installed.
"""

from cpx.backends.milp.backend import Milp

__all__ = ["Milp"]
