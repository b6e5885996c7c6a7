"""Linear constraints over Boolean literals as clauses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import gcd, prod
from typing import Any

from cpx.backends.maxsat.cardinality import at_most_clauses

__all__ = ["linear_clauses", "normalised"]

Clauses = list[list[int]]

# Sequential counters have 2 n bound clauses; networks take over where that would hurt.
_COUNTER_LIMIT = 12

# A decision diagram of more nodes can fill the memory, and nothing stops its making. Many
# different weights leave fewer of them to be merged.
_FEW_WEIGHTS, _MOST_NODES, _MOST_OF_MANY = 16, 2_000_000, 200_000


def normalised(terms: Iterable[tuple[int, int]]) -> tuple[dict[int, int], int]:
    """Merge terms ``weight * literal``: positive weights, one literal per variable.

    terms: Weights, which may be negative, and literals.
    Returns weights: Literal to weight > 0.
    Returns constant: What is to be added to their sum.

    >>> normalised([(3, 1), (-2, 4), (1, -1)])
    ({1: 2, -4: 2}, -1)
    """
    coefficients: dict[int, int] = {}
    constant = 0
    for weight, literal in terms:
        if literal < 0:  # w (1 - x)
            constant += weight
            weight, literal = -weight, -literal
        coefficients[literal] = coefficients.get(literal, 0) + weight
    weights: dict[int, int] = {}
    for variable, weight in coefficients.items():
        if weight > 0:
            weights[variable] = weight
        elif weight < 0:  # w x = w + |w| (1 - x)
            weights[-variable] = -weight
            constant += weight
    return weights, constant


def linear_clauses(
    terms: Iterable[tuple[int, int]],
    operator: str,
    bound: int,
    pool: Any,
    premise: int | None = None,
    at_most: str | None = None,
    parts: int | None = None,
) -> Clauses:
    """Return clauses for ``sum weight * literal  operator  bound``.

    terms: Weights, of any sign, and literals; literals may repeat.
    operator: The relation.
    bound: Right-hand side, any integer; trivial constraints give no clause or a false one.
    pool: Where auxiliary variables are taken from.
    premise: A literal: the constraint has to hold only where it is true.
    at_most: The encoding of cardinalities; None for what is small here.
    parts: Weights of a sum of many values are rounded down to so many parts of the bound: the
        clauses say less.

    Cardinalities are encoded as sequential counters (C. Sinz, CP 2005) of the true or the
    false literals, or as PySAT's cardinality networks (R. Asin et al., Constraints 2011);
    weighted sums by Pindakaas through ``pysat.pb``.

    >>> from pysat.formula import IDPool
    >>> linear_clauses([(2, 1), (2, 2), (2, 3)], "<=", 5, IDPool(start_from=4))
    [[-1, -2, -3]]
    """
    weights, constant = normalised(terms)
    bound -= constant
    unless = [] if premise is None else [-premise]
    clauses: Clauses = []
    if operator in ("<=", "=="):
        clauses += _at_most(weights, bound, pool, unless, at_most, parts)
    if operator in (">=", "=="):
        flipped = {-literal: weight for literal, weight in weights.items()}
        most = sum(weights.values()) - bound
        clauses += _at_most(flipped, most, pool, unless, at_most, parts)
    return clauses


def has_many_sums(terms: Iterable[tuple[int, int]], operator: str, bound: int) -> bool:
    """Say whether a constraint has too many partial sums for a decision diagram.

    >>> has_many_sums([(2**n, n + 1) for n in range(20)], "<=", 999_999)
    True
    """
    weights, constant = normalised(terms)
    bound -= constant
    left = sum(weights.values()) - bound
    sides = {"<=": [bound], ">=": [left], "==": [bound, left]}[operator]
    for most in sides:
        few = [weight for weight in weights.values() if weight <= most]
        if few and sum(few) > most and _many_sums(few, most):
            return True
    return False


def _many_sums(weights: list[int], bound: int) -> bool:
    times = sorted(Counter(weights).values())
    # What Pindakaas holds best is a decision diagram: a node for each literal and partial sum.
    # Those that differ in the last of the weights alone are counted, not told apart.
    sums = min(bound // gcd(*weights), prod(n + 1 for n in times[:-1]))
    return len(weights) * sums > (_MOST_OF_MANY if len(times) > _FEW_WEIGHTS else _MOST_NODES)


def _at_most(
    weights: dict[int, int],
    bound: int,
    pool: Any,
    unless: list[int],
    at_most: str | None,
    parts: int | None,
) -> Clauses:
    if bound < 0:
        return [list(unless)]
    clauses = [[*unless, -literal] for literal, weight in weights.items() if weight > bound]
    weights = {literal: weight for literal, weight in weights.items() if weight <= bound}
    if sum(weights.values()) <= bound:
        return clauses
    wide = _many_sums(list(weights.values()), bound)
    if wide and parts is not None:
        # A sum of weights rounded down is at most the sum, rounded down.
        divisor = bound // parts + 1
        weights = {x: weight // divisor for x, weight in weights.items() if weight >= divisor}
        return clauses + _at_most(weights, bound // divisor, pool, unless, at_most, None)
    divisor = gcd(*weights.values())
    bound //= divisor
    literals = list(weights)
    if all(weight == divisor for weight in weights.values()):
        return clauses + _cardinality(literals, bound, pool, unless, at_most)
    return clauses + _weighted(
        literals, [weights[x] // divisor for x in literals], bound, pool, unless, wide
    )


def _cardinality(
    literals: list[int], bound: int, pool: Any, unless: list[int], at_most: str | None
) -> Clauses:
    """At most ``bound`` of the literals, 0 < bound < len(literals)."""
    size = len(literals)
    if bound == size - 1:
        return [[*unless, *(-literal for literal in literals)]]
    if at_most is not None:
        clauses = at_most_clauses(at_most, literals, bound, pool)
        return [[*unless, *clause] for clause in clauses]
    if bound == 1 and size <= 6:
        return [[*unless, -a, -b] for i, a in enumerate(literals) for b in literals[i + 1 :]]
    if bound <= _COUNTER_LIMIT:
        return _count_up(literals, bound, pool, unless)
    if size - bound <= _COUNTER_LIMIT:
        return _count_down([-literal for literal in literals], size - bound, pool, unless)
    clauses = at_most_clauses("cardinality-network", literals, bound, pool)
    return [[*unless, *clause] for clause in clauses]


def _count_up(literals: list[int], bound: int, pool: Any, unless: list[int]) -> Clauses:
    """Sequential counter: ``count[j]`` is implied by j + 1 true literals so far."""
    clauses: Clauses = []
    count: list[int] = []
    for literal in literals:
        if len(count) == bound:
            clauses.append([*unless, -literal, -count[-1]])
        after = [pool.id() for _ in range(min(len(count) + 1, bound))]
        clauses += [[-before, now] for before, now in zip(count, after, strict=False)]
        clauses.append([-literal, after[0]])
        clauses += [
            [-literal, -before, now] for before, now in zip(count, after[1:], strict=False)
        ]
        count = after
    return clauses


def _count_down(literals: list[int], least: int, pool: Any, unless: list[int]) -> Clauses:
    """Sequential counter: ``count[j]`` implies j + 1 true literals so far; at least ``least``."""
    clauses: Clauses = []
    count: list[int] = []
    for literal in literals:
        after = [pool.id() for _ in range(min(len(count) + 1, least))]
        for place, now in enumerate(after):
            # One of the last literal and the literals before makes up for it.
            kept = count[place : place + 1]
            clauses.append([-now, literal, *kept])
            if place:
                clauses.append([-now, count[place - 1], *kept])
        count = after
    clauses.append([*unless, count[-1]])
    return clauses


def _weighted(
    literals: list[int],
    weights: list[int],
    bound: int,
    pool: Any,
    unless: list[int],
    wide: bool,
) -> Clauses:
    from pysat.pb import EncType, PBEnc

    formula = PBEnc.atmost(
        literals,
        weights,
        bound,
        top_id=pool.top,
        conditionals=[-literal for literal in unless],
        encoding=EncType.adder if wide else EncType.best,
    )
    pool.top = max(pool.top, formula.nv)
    return list(formula.clauses)
