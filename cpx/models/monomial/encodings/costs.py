"""What stating and compiling the encodings takes, predicted from the arrays alone.

A prediction counts work of six kinds, which each encoding has in amounts of its own:

- variables and constraints, and the literals of those that are kept as arrays;
- terms of CPMpy's expressions, apart from those that are reified;
- products of numbers, or words of the search, in counting what features exclude;
- clauses that sums become where there are nothing but clauses.

What a unit of each costs, ``python -m benchmarks stating`` has fitted; the record of statements
has the errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from cpx.modelling.statement import Cost
from cpx.models.monomial.encodings.pairs import MOST_PAIRS
from cpx.models.monomial.encodings.sizes import MOST_WORK
from cpx.models.monomial.encodings.triples import MOST_CLAUSES
from cpx.models.monomial.form import WeightedMonomial
from cpx.models.monomial.search.conflicts import MOST_FEATURES, MOST_SECONDS, WORK_PER_SECOND
from cpx.processes.allowance import allowed

__all__ = ["COEFFICIENTS", "Work", "predictor", "work"]


class Work(NamedTuple):
    """How much there is to do of each kind; the last one is done for ``wcnf`` alone."""

    rows: float = 0
    literals: float = 0
    terms: float = 0
    reified: float = 0
    products: float = 0
    clauses: float = 0

    def __add__(self, other: Work) -> Work:  # type: ignore[override]
        return Work(*map(sum, zip(self, other, strict=True)))


class Fitted(NamedTuple):
    """Seconds, or megabytes, of any statement, and of a million units of each kind of work."""

    constant: float
    rows: float
    literals: float
    terms: float
    reified: float
    products: float
    clauses: float = 0

    def of(self, work: Work) -> float:
        """Return seconds, or megabytes."""
        return self[0] + 1e-6 * float(sum(a * b for a, b in zip(self[1:], work, strict=True)))


COEFFICIENTS: Mapping[str, tuple[Fitted, Fitted]] = {
    "": (
        Fitted(0.0049, 0.24, 0.012, 0.88, 1.6, 0.000078, 0),
        Fitted(3.5, 49, 0.17, 15, 0, 0.0023, 0),
    ),
    "cp-sat": (
        Fitted(0.008, 1.5, 0.18, 0.16, 10, 0, 0),
        Fitted(2.6, 40, 5, 0, 340, 0, 0),
    ),
    "wcnf": (
        Fitted(0.0031, 2.1, 0.18, 0, 1.8, 0, 0.76),
        Fitted(1, 57, 32, 0, 120, 0, 95),
    ),
    "lp": (
        Fitted(0.0058, 8, 1.1, 0.31, 32, 0, 0),
        Fitted(0.88, 360, 36, 0, 370, 0, 0),
    ),
}
"""To state (``""``), and to compile to each form: of the seconds, and of the megabytes."""


_SUMS = ("sizes", "pairs", "branches")
"""Encodings with sums of the costs, which become clauses."""


def predictor(name: str) -> Callable[[WeightedMonomial, str], Cost | None]:
    """Return what predicts the cost of an encoding; see ``Encoding.cost``.

    There is no prediction of how many clauses a sum of unequal costs becomes.
    """

    def cost(form: WeightedMonomial, compiled: str) -> Cost | None:
        costs = np.concatenate([form.cost_covered, form.cost_uncovered])
        if compiled == "wcnf" and name in _SUMS and np.unique(costs[costs > 0]).size > 1:
            return None
        done = work(name, form)
        parts = [COEFFICIENTS[one] for one in dict.fromkeys(("", compiled))]
        return Cost(*(sum(part[at].of(done) for part in parts) for at in range(2)))

    return cost


def work(name: str, form: WeightedMonomial) -> Work:
    """Count what an encoding takes, at most; its sizes are those of its docstring."""
    m, d = form.shape
    rows = int(np.count_nonzero(form.cost_covered)) + int(np.count_nonzero(form.cost_uncovered))
    differing = d * rows * (1 - np.count_nonzero(form.agreement) / max(1, m * d))
    return _WORK[name](_Sizes(rows, d, form.k, differing))


class _Sizes(NamedTuple):
    """Costs of rows, features, the most that are chosen, and pairs of a row and a feature.

    The pairs are those that differ from x.
    """

    rows: int
    d: int
    k: int
    differing: float

    @property
    def pairs(self) -> float:
        return self.d * (self.d - 1) / 2


def _clausal(of: _Sizes) -> Work:
    return Work(rows=2 * of.rows + of.d, literals=of.differing + of.rows)


def _reified(of: _Sizes) -> Work:
    return Work(rows=2 * of.rows + of.d, reified=of.differing)


def _channelling(of: _Sizes) -> Work:
    agreeing = of.rows * of.d - of.differing
    return Work(rows=2 * of.rows + of.d, reified=agreeing, clauses=10 * of.k * agreeing)


def _sizes(of: _Sizes) -> Work:
    if of.k < 2:
        return _clausal(of)
    two, three = of.rows * of.d**2, min(MOST_WORK, of.rows * of.d**3 / 2)
    return _clausal(of) + Work(terms=of.rows + of.d, products=two + three, clauses=of.rows**2)


def _pairs(of: _Sizes) -> Work:
    if of.k < 2 or of.pairs > MOST_PAIRS:
        return _sizes(of)
    sums = 2 * of.k * (of.rows + of.pairs)
    more = Work(
        rows=3 * of.pairs + 2 * of.d * of.k,
        terms=6 * of.pairs + 3 * of.d * of.k + sums,
        clauses=50 * sums,
    )
    return _sizes(of) + more


def _triples(of: _Sizes) -> Work:
    if of.k < 4:
        return _clausal(of)
    words = of.rows / 64
    products = of.rows * of.d + words * of.d**2
    if of.d <= MOST_FEATURES:
        # A quarter of the rows, for each set of three. A word takes as long as nine products.
        counted = min(words / 4 * of.d**4 / 6, WORK_PER_SECOND * min(MOST_SECONDS, allowed()))
        products += 9 * counted + 128 * of.d**3
    stated = min(of.pairs * of.d / 3, MOST_CLAUSES)
    return _clausal(of) + Work(rows=stated + of.d, terms=4 * stated, products=products)


def _branches(of: _Sizes) -> Work:
    return _pairs(of) if of.k < 4 else _pairs(of) + _triples(of)._replace(rows=0, literals=0)


_WORK: Mapping[str, Callable[[_Sizes], Work]] = {
    "clausal": _clausal,
    "channelling": _channelling,
    "table1-literal": _channelling,
    "reified": _reified,
    "sizes": _sizes,
    "pairs": _pairs,
    "triples": _triples,
    "branches": _branches,
}
