"""Exact search for one rule: branch and bound over sets of features, on bitsets.

- ``presolve``: good and bad samples; fewer samples and features;
- ``root``: the packed problem; ``objective``: the cost of a set of features, and its limits;
- ``bounds``: bounds for all sets below a node, with proofs;
- ``tree``, ``stack``: the depth-first walk, and branch and bound;
- ``pairs``, ``bad_columns``: the last two levels of the tree;
- ``conflicts``: features, pairs and triples that no better set has, for statements;
- ``beam``: the first incumbent, by beam search;
- ``driver``: root, threads, global bound, tie-break among the optimal sets;
- ``cluster``: the branches of one search on the workers of a Dask cluster;
- ``optimise``: the search for a linear objective, and around it for precision;
- ``enumeration``, ``solution_pool``: the n best sets, or all optimal ones, on the same walk;
- ``max_weight``: the same for weights of either sign, as pricing needs it.
"""

from __future__ import annotations

from cpx.answers.result import Termination
from cpx.backends.base import Outcome, Progress
from cpx.backends.search.form_search import FormSearch
from cpx.modelling.base import Problem
from cpx.models.monomial.form import RatioMonomial, WeightedMonomial
from cpx.models.monomial.search import optimise
from cpx.models.monomial.search.presolve import reduce


def solve(problem: Problem, form: WeightedMonomial | RatioMonomial, progress: Progress) -> Outcome:
    """Presolve and search; see :class:`~cpx.backends.base.Backend`."""
    with progress.phase("compile"):
        reduced = reduce(form)
    if reduced is None:
        return Outcome(True, Termination.COMPLETED, "the constraints contradict each other")
    with progress.phase("solve"):
        ratio = isinstance(form, RatioMonomial)
        search = optimise.optimise_ratio if ratio else optimise.optimise
        outcome = search(problem, reduced, progress)
    outcome.sizes = {"samples": reduced.weights.size, "features": reduced.features.size}
    return outcome


SEARCH = FormSearch(solve, keeps_side_constraints=True, tells_phases=True, takes_cluster=True)
